package ml

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Binarizer returns 1 where x > threshold and 0 elsewhere, in x's type; NaN gives 0. An
// integer of 64 bits is compared as a float64. Binarizer of the domain ai.onnx.ml, whose
// threshold is 0 by default.
func Binarizer[T num.Native | num.Narrow](x tensor.Tensor[T], threshold float64, opts ...op.Option) (r tensor.Tensor[T]) {
	binarized(x.Any(), threshold).Into(exec.Ref(&r), opts)
	return r
}

func binarized(x tensor.Any, threshold float64) *move.Transfer {
	plan.Present("Binarizer", &x)
	return &move.Transfer{Name: "Binarizer", D: x.DType(), Shape: x.Shape(), In: move.OperandsOf(x), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split("Binarizer", ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				v := 0.0
				if src.Real(i) > threshold {
					v = 1
				}
				to.SetReal(i, v)
			}
		})
	}}
}

var binarizer = plan.Operator{About: plan.About{Name: "Binarizer", Domain: "ai.onnx.ml", Versions: []int{1}, Attrs: []string{"threshold"}}, Least: 1, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover { return binarized(c.In(0), float64(c.Attrs.Float("threshold", 0))) }}
