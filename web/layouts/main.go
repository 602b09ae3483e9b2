//go:build js && wasm

// Command layouts is the program that answers the page's questions about layouts, compiled
// to WebAssembly. It gives the worker one function, ashlarAnswer, from JSON to JSON.
package main

import (
	"context"
	"syscall/js"

	"github.com/ashlar-go/ashlar/judge/ask"
)

func main() {
	js.Global().Set("ashlarAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(ask.Answer(context.Background(), []byte(args[0].String())))
	}))
	select {}
}
