package all_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op/all"
)

func ExampleLookup() {
	for _, name := range []string{"Gemm", "Scaler", "Adam"} {
		o, _ := all.Lookup(name)
		fmt.Printf("%s of %q\n", o.Name(), o.Domain())
	}
	// Output:
	// Gemm of ""
	// Scaler of "ai.onnx.ml"
	// Adam of "ai.onnx.preview.training"
}
