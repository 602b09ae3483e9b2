package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QuantizeLinear returns for each element x the q that stands for it:
//
//	q = saturate(round(x / Scale) + Zero)
//
// The quotient is rounded to Scale's type, round is to nearest, even on a tie, and what
// is too large or too small becomes the largest or smallest q. NaN gives 0. A float8 is
// the quotient plus Zero, rounded; what is too large is an infinity, or NaN where there
// is none, unless Saturate. It panics when the shapes don't fit. ONNX QuantizeLinear,
// whose attribute saturate is 1 by default.
func QuantizeLinear[S num.Native | num.Narrow, Q Quantized](x tensor.Tensor[S], q Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	s := read(opts)
	quantizing(x.Any(), q.Scale.Any(), q.Zero.Any(), dtype.Of[Q](), dtype.Of[S](), q.Axis, q.Block, s.saturate).into(exec.Ref(&r), opts)
	return r
}

func quantizing(x, scale, zero tensor.Any, d, precision dtype.DType, axis, block int, saturate bool) *transfer {
	const name = "QuantizeLinear"
	present(name, &x, &scale)
	g := grainOf(name, x, scale, zero, axis, block)
	return &transfer{name: name, d: d, shape: x.Shape(), in: operandsOf(x, scale, zero), fill: func(ctx context.Context, dst words, in []words) {
		src, by, off, to := numericOf(in[0]), numericOf(in[1]), numericOf(in[2]), numericOf(dst)
		round := roundedTo(precision)
		exec.Split(name, ctx, dst.len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				at, z := g.at(i), 0.0
				if !in[2].absent() {
					z = off.real(at)
				}
				v := round(src.real(i) / by.real(at))
				if dst.orion && precision.IsInteger() {
					v = math.Trunc(v)
				}
				to.setQuantized(i, v, z, saturate)
			}
		})
	}}
}

var quantizeLinear = opN{about: about{name: "QuantizeLinear", takesUp: inWidened, flops: flops{each: 2}, orion: &inOrion{also: fixeds, instead: orionQuantize}, onnx: []int{10, 13, 19, 21, 23, 24, 25},
	attrs: []string{"axis", "block_size", "output_dtype", "precision", "saturate"}}, least: 2, most: 3, takes: reals,
	move: func(c *Call) *transfer {
		const name = "QuantizeLinear"
		d, precision := dtype.Uint8, c.in(1).DType()
		if precision == dtype.Float8E8M0 { // powers of two; quotients have more digits
			precision = c.in(0).DType()
		}
		if code := c.Attrs.Int("output_dtype", 0); code != 0 {
			d = typeOf(name, code)
		}
		if zero := c.in(2); !zero.IsZero() {
			if c.Attrs.Int("output_dtype", 0) != 0 && zero.DType() != d {
				panic(fail(name, tensor.ErrDType, "output_dtype is %v, the zero point holds %v", d, zero.DType()))
			}
			d = zero.DType()
		}
		must(name, quantized.has(d), d)
		if code := c.Attrs.Int("precision", 0); code != 0 {
			precision = typeOf(name, code)
			must(name, floats.has(precision), precision)
		}
		return quantizing(c.in(0), c.in(1), c.in(2), d, precision, attrInt(c, "axis", 1), attrInt(c, "block_size", 0), c.Attrs.Int("saturate", 1) != 0)
	}}
