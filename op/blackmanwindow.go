package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BlackmanWindow returns (0.42 − ½·cos(2πi/n)) + 0.08·cos(4πi/n) for i below size, where n
// is size, or size − 1 with o.Symmetric. It is computed in
// float64, each step rounded, and rounded once to T. A symmetric window of one element
// is 1. ONNX BlackmanWindow.
func BlackmanWindow[T num.Native | num.Narrow](size int, o WindowFunctionOptions, opts ...Option) (r tensor.Tensor[T]) {
	windowFunction("BlackmanWindow", dtype.Of[T](), size, !o.Symmetric, 0.42, 0.5, 0.08).Into(exec.Ref(&r), opts)
	return r
}

func cosines(size int, periodic bool, a, b, c float64) func(ctx context.Context, dst move.Words, _ []move.Words) {
	n := size
	if !periodic {
		n--
	}
	return func(_ context.Context, dst move.Words, _ []move.Words) {
		to := move.NumericOf(dst)
		for i := range size {
			v := 1.0
			if n > 0 {
				v = a - float64(b*float.Cos64(2*math.Pi*float64(i)/float64(n)))
				v += float64(c * float.Cos64(4*math.Pi*float64(i)/float64(n)))
			}
			to.SetReal(i, v)
		}
	}
}

var blackmanWindow = plan.Operator{About: plan.About{Name: "BlackmanWindow", Versions: []int{17}, Attrs: []string{"output_datatype", "periodic"}, Why: "the operand is a size, int32 or int64"}, Least: 1, Takes: plan.Indices,
	Move: func(c *plan.Use) plan.Mover { return windowed("BlackmanWindow", c, 0.42, 0.5, 0.08) }}
