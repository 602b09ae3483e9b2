package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearLeakyRelu is LeakyRelu of quantized x, quantized as qy says. With v = (x −
// Zero)·Scale, each step rounded to float64, and round to nearest, even on a tie:
//
//	y = saturate(round((v < 0 ? alpha·v : v) / scale of y) + zero point of y)
//
// Every scale and zero point is one number. ONNX Runtime's QLinearLeakyRelu, of the
// domain com.microsoft, whose alpha is 0.01 by default.
func QLinearLeakyRelu[S num.Float | num.Narrow, Q int8 | uint8](x tensor.Tensor[Q], qx Quantization[S, Q], qy Quantization[S, Q], alpha float64, opts ...Option) (r tensor.Tensor[Q]) {
	quantizedLeaky([]tensor.Any{x.Any(), qx.Scale.Any(), qx.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, alpha).into(exec.Ref(&r), opts)
	return r
}

func quantizedLeaky(in []tensor.Any, alpha float64) *transfer {
	const name = "QLinearLeakyRelu"
	d := in[0].DType()
	checkQuantum(name, 1, in[1], in[2], d)
	checkQuantum(name, 3, in[3], in[4], d)
	return &transfer{name: name, d: d, shape: in[0].Shape(), in: operandsOf(in...), fill: func(ctx context.Context, dst words, in []words) {
		qx, qy := quantumOf(in[1], in[2]), quantumOf(in[3], in[4])
		x, to := numericOf(in[0]), numericOf(dst)
		exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				v := qx.real(x, i)
				if v < 0 {
					v *= alpha
				}
				to.setQuantized(i, v/qy.scale, qy.zero, true)
			}
		})
	}}
}

var qLinearLeakyRelu = opN{about: about{name: "QLinearLeakyRelu", attrs: []string{"alpha"}, why: "of integers of 8 bits alone"}, least: 4, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		return quantizedLeaky([]tensor.Any{c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)}, float64(c.Attrs.Float("alpha", 0.01)))
	}}
