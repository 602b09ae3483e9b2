package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shrink returns x + bias where x < −lambd, x − bias where x > lambd, and +0 elsewhere,
// element by element; NaN gives +0. Sums are in float64, rounded once. ONNX Shrink, whose
// lambd is 0.5 and bias 0 by default.
func Shrink[T num.Floating](x tensor.Tensor[T], lambd, bias float64, opts ...Option) (r tensor.Tensor[T]) {
	shrunk(x.Any(), lambd, bias).Into(exec.Ref(&r), opts)
	return r
}

func shrunk(x tensor.Any, lambd, bias float64) *move.Transfer {
	plan.Present("Shrink", &x)
	return &move.Transfer{Name: "Shrink", D: x.DType(), Shape: x.Shape(), In: move.OperandsOf(x), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split("Shrink", ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				v := src.Float(i)
				switch {
				case v < -lambd:
					v += bias
				case v > lambd:
					v -= bias
				default:
					v = 0
				}
				to.SetFloat(i, v)
			}
		})
	}}
}

var shrink = plan.Operator{About: plan.About{Name: "Shrink", Versions: []int{9}, Attrs: []string{"bias", "lambd"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return shrunk(c.In(0), float64(c.Attrs.Float("lambd", 0.5)), float64(c.Attrs.Float("bias", 0)))
	}}
