package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// HannWindow returns ½ − ½·cos(2πi/n) for i below size, where n is size, or size − 1
// with o.Symmetric. It is computed in float64, each step
// rounded, and rounded once to T. A symmetric window of one element is 1. ONNX HannWindow.
func HannWindow[T num.Native | num.Narrow](size int, o WindowFunctionOptions, opts ...Option) (r tensor.Tensor[T]) {
	windowFunction("HannWindow", dtype.Of[T](), size, !o.Symmetric, 0.5, 0.5, 0).Into(exec.Ref(&r), opts)
	return r
}

// WindowFunctionOptions says how HannWindow, HammingWindow and BlackmanWindow end.
type WindowFunctionOptions struct {
	Symmetric bool // as they begin; else they are a period of a periodic function. 0 of ONNX's attribute periodic
}

// windowFunction is a − b·cos(2πi/n) + c·cos(4πi/n).
func windowFunction(name string, d dtype.DType, size int, periodic bool, a, b, c float64) *move.Transfer {
	plan.Must(name, plan.Reals.Has(d), d)
	if size < 0 {
		panic(plan.Fail(name, tensor.ErrShape, "a window of %d elements", size))
	}
	return &move.Transfer{Name: name, D: d, Shape: []int{size}, Fill: cosines(size, periodic, a, b, c)}
}

// windowed is the run-time form of a window function.
func windowed(name string, c *plan.Use, p, q, r float64) *move.Transfer {
	v, _ := move.Ints(name, c, 0)
	if len(v) != 1 {
		panic(plan.Fail(name, tensor.ErrShape, "size has %d elements; want one", len(v)))
	}
	return windowFunction(name, pointwise.TypeOf(name, c.Attrs.Int("output_datatype", 1)), v[0], c.Attrs.Int("periodic", 1) != 0, p, q, r)
}

var hannWindow = plan.Operator{About: plan.About{Name: "HannWindow", Versions: []int{17}, Attrs: []string{"output_datatype", "periodic"}, Why: "the operand is a size, int32 or int64"}, Least: 1, Takes: plan.Indices,
	Move: func(c *plan.Use) plan.Mover { return windowed("HannWindow", c, 0.5, 0.5, 0) }}
