//go:build !unix

package main

// used is the time of the processor that this process has had, which isn't known here.
func used() float64 { panic("-cpu needs a Unix") }
