package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// HammingWindow returns the Hamming window of size elements. Element i is
//
//	25/46 − 21/46·cos(2πi/n)
//
// where n is size, or size − 1 with o.Symmetric. It is computed in float64, each step
// rounded, and rounded once to T. A symmetric window of one element is 1. The factors are
// those in ONNX HammingWindow; NumPy's are 0.54 and 0.46.
func HammingWindow[T num.Native | num.Narrow](size int, o WindowFunctionOptions, opts ...Option) (r tensor.Tensor[T]) {
	windowFunction("HammingWindow", dtype.Of[T](), size, !o.Symmetric, 25.0/46, 21.0/46, 0).Into(exec.Ref(&r), opts)
	return r
}

var hammingWindow = plan.Operator{About: plan.About{Name: "HammingWindow", Versions: []int{17}, Attrs: []string{"output_datatype", "periodic"}, Why: "the operand is a size, int32 or int64"}, Least: 1, Takes: plan.Indices,
	Move: func(c *plan.Use) plan.Mover { return windowed("HammingWindow", c, 25.0/46, 21.0/46, 0) }}
