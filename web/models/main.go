//go:build js && wasm

// Command models is the program that reads files of tensors and models for the page.
package main

func main() {}
