package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shrink returns x + bias where x < −lambd, x − bias where x > lambd, and +0 elsewhere,
// element by element; NaN gives +0. Sums are in float64, rounded once. ONNX Shrink, whose
// lambd is 0.5 and bias 0 by default.
func Shrink[T num.Float | num.Narrow](x tensor.Tensor[T], lambd, bias float64, opts ...Option) (r tensor.Tensor[T]) {
	shrunk(x.Any(), lambd, bias).into(exec.Ref(&r), opts)
	return r
}

func shrunk(x tensor.Any, lambd, bias float64) *transfer {
	present("Shrink", &x)
	return &transfer{name: "Shrink", d: x.DType(), shape: x.Shape(), in: operandsOf(x), fill: func(ctx context.Context, dst words, in []words) {
		src, to := numericOf(in[0]), numericOf(dst)
		exec.Split("Shrink", ctx, dst.len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				v := src.float(i)
				switch {
				case v < -lambd:
					v += bias
				case v > lambd:
					v -= bias
				default:
					v = 0
				}
				to.setFloat(i, v)
			}
		})
	}}
}

var shrink = opN{about: about{name: "Shrink", onnx: []int{9}, attrs: []string{"bias", "lambd"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer {
		return shrunk(c.in(0), float64(c.Attrs.Float("lambd", 0.5)), float64(c.Attrs.Float("bias", 0)))
	}}
