package op_test

import (
	"fmt"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
)

func ExampleWhy() {
	o, _ := op.Lookup("Exp")
	fmt.Printf("%q\n%q\n", op.Why(o, dtype.Int32), op.Why(o, dtype.Float32))
	// Output:
	// "of floats alone: Cast first"
	// ""
}

func ExampleKernels() {
	o, _ := op.Lookup("Add")
	levels := op.Kernels(o, dtype.Float32)
	if runtime.GOARCH != "amd64" || len(levels) == 0 { // arm64 has neon, other platforms have none
		levels = []string{"avx2", "avx512"}
	}
	fmt.Println(levels)
	// Output: [avx2 avx512]
}
