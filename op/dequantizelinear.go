package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DequantizeLinear returns the numbers that the elements of x stand for, (x − Zero)·Scale,
// in Scale's type: the difference is exact, the product is rounded to float64 and
// then to that type; to an integer to the nearest, even on a tie, saturating. It
// panics when the shapes don't fit. ONNX DequantizeLinear.
func DequantizeLinear[S num.Native | num.Narrow, Q Quantized](x tensor.Tensor[Q], q Quantization[S, Q], opts ...Option) (r tensor.Tensor[S]) {
	dequantized(x.Any(), q.Scale.Any(), q.Zero.Any(), dtype.Of[S](), q.Axis, q.Block).Into(exec.Ref(&r), opts)
	return r
}

func dequantized(x, scale, zero tensor.Any, d dtype.DType, axis, block int) *move.Transfer {
	const name = "DequantizeLinear"
	plan.Present(name, &x, &scale)
	g := grainOf(name, x, scale, zero, axis, block)
	if !zero.IsZero() && zero.DType() != x.DType() {
		panic(plan.Fail(name, tensor.ErrDType, "the zero point holds %v, what it belongs to %v", zero.DType(), x.DType()))
	}
	return &move.Transfer{Name: name, D: d, Shape: x.Shape(), Lies: g.lies(), In: move.OperandsOf(x, scale, zero), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		if dequantizedSingly(name, ctx, &g, dst, in) {
			return
		}
		to, src := move.NumericOf(dst), move.NumericOf(in[0])
		exec.Split(name, ctx, dst.Len(), 3, func(from, till int) {
			var v, scales, zeros [scaledBlock]float64
			grained(&g, in[1], in[2], from, till, func(at, n int, scale, zero []float64) {
				for end := at + n; at < end; at += scaledBlock {
					v := v[:min(scaledBlock, end-at)]
					src.Reals(v, at)
					cast.Differences(v, listed(zeros[:], zero, len(v)), listed(scales[:], scale, len(v)))
					to.SetReals(at, v)
				}
			})
		})
	}}
}

// dequantizedSingly computes float32s from integers of 16 bits or less in float32, which gives the same products. It reports whether it
// has done so.
func dequantizedSingly(name string, ctx context.Context, g *grain, dst move.Words, in []move.Words) bool {
	if dst.Of.DType() != dtype.Float32 || in[1].Of.DType() != dtype.Float32 {
		return false
	}
	switch d := in[0].Of.DType(); {
	case d == dtype.Int16:
		dequantizedFrom(name, ctx, g, dst, move.ElemsOf[int16](in[0].Of), in)
	case d == dtype.Uint16:
		dequantizedFrom(name, ctx, g, dst, move.ElemsOf[uint16](in[0].Of), in)
	case d.IsInteger() && d.Size() == 1 && d.IsSigned():
		dequantizedFrom(name, ctx, g, dst, exec.Of[int8](exec.RunOf(in[0].Mem)), in)
	case d.IsInteger() && d.Size() == 1:
		dequantizedFrom(name, ctx, g, dst, in[0].Mem, in)
	default:
		return false
	}
	return true
}

func dequantizedFrom[T int8 | uint8 | int16 | uint16](name string, ctx context.Context, g *grain, dst move.Words, a []T, in []move.Words) {
	r := move.ElemsOf[float32](dst.Of)
	exec.Split(name, ctx, len(r), 2, func(from, till int) {
		grained(g, in[1], in[2], from, till, func(at, n int, scale, zero []float32) {
			if row := r[at : at+n]; len(scale) == 1 {
				cast.DequantizeRow(row, a[at:], scale[0], zero[0])
			} else {
				cast.Dequantize(row, a[at:], scale, zero)
			}
		})
	})
}

var dequantizeLinear = plan.Operator{About: plan.About{Name: "DequantizeLinear", Shared: true, FLOPs: plan.FLOPs{Each: 2}, Orion: &inOrion{instead: orionDequantize}, Versions: []int{10, 13, 19, 21, 23, 24, 25}, Why: "of quantized numbers: 8 and 16 bits and int32",
	Attrs: []string{"axis", "block_size", "output_dtype"}}, Least: 2, Most: 3, Takes: plan.Quantized,
	Move: func(c *plan.Use) plan.Mover {
		d := c.In(1).DType()
		if code := c.Attrs.Int("output_dtype", 0); code != 0 {
			d = pointwise.TypeOf("DequantizeLinear", code)
		}
		plan.Must("DequantizeLinear", plan.Reals.Has(d), d) // also of the scale: float8_e8m0 needs output_dtype
		return dequantized(c.In(0), c.In(1), c.In(2), d, plan.AttrInt(c, "axis", 1), plan.AttrInt(c, "block_size", 0))
	}}
