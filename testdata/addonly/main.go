// Command addonly adds two tensors and does nothing else: a test looks at what the linker put into it.
package main

import (
	"os"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	a := tensor.FromSlice([]float32{1, 2, 3}, 3)
	b := tensor.FromSlice([]float32{10, 20, 30}, 3)
	if op.Add(a, b).At(2) != 33 {
		os.Exit(1)
	}
}
