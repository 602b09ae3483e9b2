package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Binarizer returns 1 where x > threshold and 0 elsewhere, in x's type; NaN gives 0. An
// integer of 64 bits is compared as a float64. Binarizer of the domain ai.onnx.ml, whose
// threshold is 0 by default.
func Binarizer[T num.Native | num.Narrow](x tensor.Tensor[T], threshold float64, opts ...Option) (r tensor.Tensor[T]) {
	binarized(x.Any(), threshold).into(exec.Ref(&r), opts)
	return r
}

func binarized(x tensor.Any, threshold float64) *transfer {
	present("Binarizer", &x)
	return &transfer{name: "Binarizer", d: x.DType(), shape: x.Shape(), in: operandsOf(x), fill: func(ctx context.Context, dst words, in []words) {
		src, to := numericOf(in[0]), numericOf(dst)
		exec.Split("Binarizer", ctx, dst.len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				v := 0.0
				if src.real(i) > threshold {
					v = 1
				}
				to.setReal(i, v)
			}
		})
	}}
}

var binarizer = opN{about: about{name: "Binarizer", domain: "ai.onnx.ml", onnx: []int{1}, attrs: []string{"threshold"}}, least: 1, takes: reals,
	move: func(c *Call) *transfer { return binarized(c.in(0), float64(c.Attrs.Float("threshold", 0))) }}
