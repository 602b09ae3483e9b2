package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// HannWindow returns ½ − ½·cos(2πi/n) for i below size, where n is size, or size − 1
// unless periodic: then the window is symmetric. It is computed in float64, each step
// rounded, and rounded once to T. A symmetric window of one element is 1. ONNX HannWindow.
func HannWindow[T num.Native | num.Narrow](size int, periodic bool) (r tensor.Tensor[T]) {
	windowFunction("HannWindow", dtype.Of[T](), size, periodic, 0.5, 0.5, 0).into(exec.Ref(&r), nil)
	return r
}

// windowFunction is a − b·cos(2πi/n) + c·cos(4πi/n).
func windowFunction(name string, d dtype.DType, size int, periodic bool, a, b, c float64) *transfer {
	must(name, reals.has(d), d)
	if size < 0 {
		panic(fail(name, tensor.ErrShape, "a window of %d elements", size))
	}
	return &transfer{name: name, d: d, shape: []int{size}, fill: cosines(size, periodic, a, b, c)}
}

// windowed is the run-time form of a window function.
func windowed(name string, c *Call, p, q, r float64) *transfer {
	v, _ := ints(name, c, 0)
	if len(v) != 1 {
		panic(fail(name, tensor.ErrShape, "size has %d elements; want one", len(v)))
	}
	return windowFunction(name, typeOf(name, c.Attrs.Int("output_datatype", 1)), v[0], c.Attrs.Int("periodic", 1) != 0, p, q, r)
}

var hannWindow = opN{about: about{name: "HannWindow", onnx: []int{17}, attrs: []string{"output_datatype", "periodic"}, why: "the operand is a size, int32 or int64"}, least: 1, takes: indices,
	move: func(c *Call) *transfer { return windowed("HannWindow", c, 0.5, 0.5, 0) }}
