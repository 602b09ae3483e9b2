package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DequantizeLinear returns the numbers that the elements of x stand for, (x − Zero)·Scale,
// in Scale's type: the difference is exact, the product is rounded to float64 and
// then to that type; to an integer to the nearest, even on a tie, saturating. It
// panics when the shapes don't fit. ONNX DequantizeLinear.
func DequantizeLinear[S num.Native | num.Narrow, Q Quantized](x tensor.Tensor[Q], q Quantization[S, Q], opts ...Option) (r tensor.Tensor[S]) {
	dequantized(x.Any(), q.Scale.Any(), q.Zero.Any(), dtype.Of[S](), q.Axis, q.Block).into(exec.Ref(&r), opts)
	return r
}

func dequantized(x, scale, zero tensor.Any, d dtype.DType, axis, block int) *transfer {
	const name = "DequantizeLinear"
	present(name, &x, &scale)
	g := grainOf(name, x, scale, zero, axis, block)
	if !zero.IsZero() && zero.DType() != x.DType() {
		panic(fail(name, tensor.ErrDType, "the zero point holds %v, what it belongs to %v", zero.DType(), x.DType()))
	}
	return &transfer{name: name, d: d, shape: x.Shape(), in: operandsOf(x, scale, zero), fill: func(ctx context.Context, dst words, in []words) {
		src, by, off, to := numericOf(in[0]), numericOf(in[1]), numericOf(in[2]), numericOf(dst)
		exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				at := g.at(i)
				q := quantum{scale: by.real(at)}
				if !in[2].absent() {
					q.zero = off.real(at)
				}
				to.setReal(i, q.real(src, i))
			}
		})
	}}
}

var dequantizeLinear = opN{about: about{name: "DequantizeLinear", flops: flops{each: 2}, orion: &inOrion{instead: orionDequantize}, onnx: []int{10, 13, 19, 21, 23, 24, 25}, why: "of quantized numbers: 8 and 16 bits and int32",
	attrs: []string{"axis", "block_size", "output_dtype"}}, least: 2, most: 3, takes: quantized,
	move: func(c *Call) *transfer {
		d := c.in(1).DType()
		if code := c.Attrs.Int("output_dtype", 0); code != 0 {
			d = typeOf("DequantizeLinear", code)
		}
		must("DequantizeLinear", reals.has(d), d) // also of the scale: float8_e8m0 needs output_dtype
		return dequantized(c.in(0), c.in(1), c.in(2), d, attrInt(c, "axis", 1), attrInt(c, "block_size", 0))
	}}
