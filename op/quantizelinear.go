package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QuantizeLinear returns for each element x the q that stands for it:
//
//	q = saturate(round(x / Scale) + Zero)
//
// The quotient is rounded to Scale's type, round is to nearest, even on a tie, and a
// number too large or too small becomes the largest or smallest q. NaN gives 0. A float8 is
// the quotient plus Zero, rounded; a number too large is an infinity, or NaN where there
// is none, unless Saturate. It panics when the shapes don't fit. ONNX QuantizeLinear,
// whose attribute saturate is 1 by default.
func QuantizeLinear[S num.Native | num.Narrow, Q Quantized](x tensor.Tensor[S], q Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	s := plan.Read("QuantizeLinear", 0, opts)
	quantizing(x.Any(), q.Scale.Any(), q.Zero.Any(), dtype.Of[Q](), dtype.Of[S](), q.Axis, q.Block, s.Saturate).Into(exec.Ref(&r), opts)
	return r
}

func quantizing(x, scale, zero tensor.Any, d, precision dtype.DType, axis, block int, saturate bool) *move.Transfer {
	const name = "QuantizeLinear"
	plan.Present(name, &x, &scale)
	g := grainOf(name, x, scale, zero, axis, block)
	alike := g.alike(scale, zero)
	return &move.Transfer{Name: name, D: d, Shape: x.Shape(), In: move.OperandsOf(x, scale, zero), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, by, off, to := move.NumericOf(in[0]), move.NumericOf(in[1]), move.NumericOf(in[2]), move.NumericOf(dst)
		if !dst.Orion && plan.Bytes8.Has(d) && precision == dtype.Float32 && in[0].Of.DType() == precision && in[1].Of.DType() == precision {
			a, all := move.ElemsOf[float32](in[0].Of), alike(in[1], in[2])
			exec.Split(name, ctx, dst.Len(), 2, func(from, till int) {
				g.singles(all, in[1], in[2], from, till, func(at int, scale, zero []float32) {
					if n := at + len(scale); d == dtype.Int8 {
						cast.Quantize(move.ElemsOf[int8](dst.Of)[at:n], a[at:n], scale, zero)
					} else {
						cast.Quantize(dst.Mem[at:n], a[at:n], scale, zero)
					}
				})
			})
			return
		}
		round := roundedTo(precision)
		exec.Split(name, ctx, dst.Len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				at, z := g.at(i), 0.0
				if !in[2].Absent() {
					z = off.Real(at)
				}
				v := round(src.Real(i) / by.Real(at))
				if dst.Orion && precision.IsInteger() {
					v = math.Trunc(v)
				}
				to.SetQuantized(i, v, z, saturate)
			}
		})
	}}
}

var quantizeLinear = plan.Operator{About: plan.About{Name: "QuantizeLinear", Shared: true, TakesUp: plan.InWidened, FLOPs: plan.FLOPs{Each: 2}, Orion: &inOrion{also: plan.Fixeds, instead: orionQuantize}, Versions: []int{10, 13, 19, 21, 23, 24, 25},
	Attrs: []string{"axis", "block_size", "output_dtype", "precision", "saturate"}}, Fast: quantizeFast, Least: 2, Most: 3, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QuantizeLinear"
		d, precision := dtype.Uint8, c.In(1).DType()
		if precision == dtype.Float8E8M0 { // powers of two; quotients have more digits
			precision = c.In(0).DType()
		}
		if code := c.Attrs.Int("output_dtype", 0); code != 0 {
			d = pointwise.TypeOf(name, code)
		}
		if zero := c.In(2); !zero.IsZero() {
			if c.Attrs.Int("output_dtype", 0) != 0 && zero.DType() != d {
				panic(plan.Fail(name, tensor.ErrDType, "output_dtype is %v, the zero point holds %v", d, zero.DType()))
			}
			d = zero.DType()
		}
		plan.Must(name, plan.Quantized.Has(d), d)
		if code := c.Attrs.Int("precision", 0); code != 0 {
			precision = pointwise.TypeOf(name, code)
			plan.Must(name, plan.Floats.Has(precision), precision)
		}
		return quantizing(c.In(0), c.In(1), c.In(2), d, precision, plan.AttrInt(c, "axis", 1), plan.AttrInt(c, "block_size", 0), c.Attrs.Int("saturate", 1) != 0)
	}}
