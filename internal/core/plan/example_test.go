package plan_test

import (
	"fmt"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// An operator that says the type and shape of its result can be planned from Specs.
func Example() {
	o := plan.OpOf(&plan.Operator{About: plan.About{Name: "Same"}, Least: 1, Planned: func(c *plan.Use, p *plan.Draft) {
		p.Gives(c.In(0).DType(), c.In(0).Shape()...)
	}})
	spec, _ := tensor.NewSpec(dtype.Float32, 2, 3)
	out, err := (*op.Op)(o).Infer(&op.Call{Inputs: []tensor.Any{spec.Any()}})
	fmt.Println(out[0].DType(), out[0].Shape(), err)
	// Output: float32 [2 3] <nil>
}

func ExampleRectified() {
	gemm, _ := op.Lookup("Gemm")
	rectified, ok := plan.Rectified((*plan.Op)(gemm))
	a := tensor.FromSlice([]float32{-1, 2}, 2, 1)
	out, err := (*op.Op)(rectified).Run(&op.Call{Inputs: []tensor.Any{a.Any(), tensor.FromSlice([]float32{3}, 1, 1).Any()}, Attrs: op.AttrMap(nil), Opset: 13})
	fmt.Println(out[0], err, ok)
	// Output:
	// [[0.]
	//  [6.]] <nil> true
}

func ExampleWithWeights() {
	rnn, _ := op.Lookup("RNN")
	w, r := tensor.FromSlice([]float32{2}, 1, 1, 1).Any(), tensor.FromSlice([]float32{0}, 1, 1, 1).Any()
	form, bytes := plan.WithWeights((*plan.Op)(rnn), &plan.Call{Inputs: []tensor.Any{{}, w, r}})
	fmt.Println(bytes, "bytes")
	for _, v := range []float32{0, 0.25} {
		x := tensor.FromSlice([]float32{v}, 1, 1, 1).Any()
		out, err := (*op.Op)(form).Run(&op.Call{Inputs: []tensor.Any{x, w, r}, Attrs: op.AttrMap(nil), Opset: 14})
		fmt.Println(out[0], err)
	}
	// Output:
	// 8 bytes
	// [[[[0.]]]] <nil>
	// [[[[0.46211717]]]] <nil>
}

func ExampleWhy() {
	o, _ := op.Lookup("Exp")
	fmt.Printf("%q\n%q\n", plan.Why((*plan.Op)(o), dtype.Int32), plan.Why((*plan.Op)(o), dtype.Float32))
	// Output:
	// "of floats alone: Cast first"
	// ""
}

func ExampleKernels() {
	o, _ := op.Lookup("Add")
	levels := plan.Kernels((*plan.Op)(o), dtype.Float32)
	if runtime.GOARCH != "amd64" || len(levels) == 0 { // arm64 has neon, other platforms have none
		levels = []string{"avx2", "avx512"}
	}
	fmt.Println(levels)
	// Output: [avx2 avx512]
}
