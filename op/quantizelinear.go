package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
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
	s := plan.Read("QuantizeLinear", opts)
	quantizing(x.Any(), q.Scale.Any(), q.Zero.Any(), dtype.Of[Q](), dtype.Of[S](), q.Axis, q.Block, s.Saturate).Into(exec.Ref(&r), opts)
	return r
}

func quantizing(x, scale, zero tensor.Any, d, precision dtype.DType, axis, block int, saturate bool) *move.Transfer {
	const name = "QuantizeLinear"
	plan.Present(name, &x, &scale)
	g := grainOf(name, x, scale, zero, axis, block)
	return &move.Transfer{Name: name, D: d, Shape: x.Shape(), Lies: g.lies(), In: move.OperandsOf(x, scale, zero), Price: plan.Copying(4, 1, 1), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		if !dst.Orion && quantizedToCodes(name, ctx, &g, dst, in, precision) {
			return
		}
		to, src := move.NumericOf(dst), move.NumericOf(in[0])
		exec.Split(name, ctx, dst.Len(), 4, func(from, till int) {
			var v, scales, zeros [scaledBlock]float64
			grained(&g, in[1], in[2], from, till, func(at, n int, scale, zero []float64) {
				for end := at + n; at < end; at += scaledBlock {
					n := min(scaledBlock, end-at)
					v, zero := v[:n], listed(zeros[:], zero, n)
					src.Reals(v, at)
					cast.Quotients(v, listed(scales[:], scale, n), precision)
					switch {
					case dst.Orion:
						for i, q := range v {
							if precision.IsInteger() {
								q = math.Trunc(q)
							}
							to.SetQuantized(at+i, q, zero[i], saturate)
						}
					case d.IsFloat():
						cast.Offset(v, zero, false)
						cast.StoreFloats(exec.RunOf(dst.Mem), d, at, v, cast.Saturating(saturate))
					default:
						cast.Offset(v, zero, true)
						to.SetReals(at, v)
					}
				}
			})
		})
	}}
}

// quantizedToCodes quantizes to integers of 16 bits or less, and reports whether it has done so.
func quantizedToCodes(name string, ctx context.Context, g *grain, dst move.Words, in []move.Words, precision dtype.DType) bool {
	switch d := dst.Of.DType(); {
	case d == dtype.Int16:
		quantizedTo(name, ctx, g, move.ElemsOf[int16](dst.Of), dst, in, precision)
	case d == dtype.Uint16:
		quantizedTo(name, ctx, g, move.ElemsOf[uint16](dst.Of), dst, in, precision)
	case d.IsInteger() && d.Size() == 1 && d.IsSigned():
		quantizedTo(name, ctx, g, exec.Of[int8](exec.RunOf(dst.Mem)), dst, in, precision)
	case d.IsInteger() && d.Size() == 1:
		quantizedTo(name, ctx, g, dst.Mem, dst, in, precision)
	default:
		return false
	}
	return true
}

// quantizedTo quantizes to codes. Quotients of one type of 32 bits or less are computed in float32, others in float64 and rounded to whole numbers:
// float32 has all these that don't saturate.
func quantizedTo[T int8 | uint8 | int16 | uint16](name string, ctx context.Context, g *grain, dst []T, to move.Words, in []move.Words, precision dtype.DType) {
	src, d := move.NumericOf(in[0]), to.Of.DType()
	alike, cost := src.D == precision && in[1].Of.DType() == precision, 4
	if alike && precision == dtype.Float32 {
		cost = 2
	}
	exec.Split(name, ctx, len(dst), cost, func(from, till int) {
		switch {
		case cost == 2:
			a := move.ElemsOf[float32](in[0].Of)
			grained(g, in[1], in[2], from, till, func(at, n int, scale, zero []float32) {
				if row := dst[at : at+n]; len(scale) == 1 {
					cast.QuantizeRow(row, a[at:], scale[0], zero[0])
				} else {
					cast.Quantize(row, a[at:], scale, zero)
				}
			})
		case alike && (precision == dtype.Float16 || precision == dtype.BFloat16):
			var v [scaledBlock]float32
			wholes := wholesTo(dst)
			grained(g, in[1], in[2], from, till, func(at, n int, scale, zero []float32) {
				for end := at + n; at < end; at += scaledBlock {
					v := v[:min(scaledBlock, end-at)]
					src.Singles(v, at)
					cast.NarrowQuotients(v, scale, precision)
					wholes(at, v, zero)
				}
			})
		default:
			var v, scales [scaledBlock]float64
			var w, zeros [scaledBlock]float32
			wholes := wholesTo(dst)
			grained(g, in[1], in[2], from, till, func(at, n int, scale, zero []float64) {
				z := zeros[:len(zero)]
				conv.NarrowF64(z, zero)
				for end := at + n; at < end; at += scaledBlock {
					v := v[:min(scaledBlock, end-at)]
					src.Reals(v, at)
					cast.Quotients(v, listed(scales[:], scale, len(v)), precision)
					cast.Rounded(w[:len(v)], v)
					wholes(at, w[:len(v)], z)
				}
			})
		}
		if d.Bits() < 8 {
			cast.Clamp(to.Mem[from:till], d)
		}
	})
}

// wholesTo returns a function that sets codes from one on to the sums of numbers, rounded, and of zero points, or of one zero point.
func wholesTo[T int8 | uint8 | int16 | uint16](dst []T) func(at int, v, zero []float32) {
	var ones [scaledBlock]float32
	conv.Fill(ones[:], 1)
	return func(at int, v, zero []float32) {
		if row := dst[at : at+len(v)]; len(zero) == 1 {
			cast.QuantizeRow(row, v, 1, zero[0])
		} else {
			cast.Quantize(row, v, ones[:len(v)], zero)
		}
	}
}

var quantizeLinear = plan.Operator{About: plan.About{Name: "QuantizeLinear", Shared: true, FLOPs: plan.FLOPs{Each: 2}, Orion: &inOrion{also: plan.Fixeds, instead: orionQuantize}, Versions: []int{10, 13, 19, 21, 23, 24, 25},
	Attrs: []string{"axis", "block_size", "output_dtype", "precision", "saturate"}}, Least: 2, Most: 3, Takes: plan.Reals,
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
