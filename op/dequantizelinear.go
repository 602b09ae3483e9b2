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
	alike := g.alike(scale, zero)
	if !zero.IsZero() && zero.DType() != x.DType() {
		panic(plan.Fail(name, tensor.ErrDType, "the zero point holds %v, what it belongs to %v", zero.DType(), x.DType()))
	}
	return &move.Transfer{Name: name, D: d, Shape: x.Shape(), In: move.OperandsOf(x, scale, zero), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, by, off, to := move.NumericOf(in[0]), move.NumericOf(in[1]), move.NumericOf(in[2]), move.NumericOf(dst)
		if from := in[0].Of.DType(); plan.Bytes8.Has(from) && d == dtype.Float32 && in[1].Of.DType() == d {
			r, all := move.ElemsOf[float32](dst.Of), alike(in[1], in[2])
			exec.Split(name, ctx, dst.Len(), 2, func(first, till int) {
				g.singles(all, in[1], in[2], first, till, func(at int, scale, zero []float32) {
					if n := at + len(scale); from == dtype.Int8 {
						cast.Dequantize(r[at:n], move.ElemsOf[int8](in[0].Of)[at:n], scale, zero)
					} else {
						cast.Dequantize(r[at:n], in[0].Mem[at:n], scale, zero)
					}
				})
			})
			return
		}
		exec.Split(name, ctx, dst.Len(), 20, func(from, till int) {
			for i := from; i < till; i++ {
				at := g.at(i)
				q := quantum{scale: by.Real(at)}
				if !in[2].Absent() {
					q.zero = off.Real(at)
				}
				to.SetReal(i, q.real(src, i))
			}
		})
	}}
}

var dequantizeLinear = plan.Operator{About: plan.About{Name: "DequantizeLinear", Shared: true, FLOPs: plan.FLOPs{Each: 2}, Orion: &inOrion{instead: orionDequantize}, Versions: []int{10, 13, 19, 21, 23, 24, 25}, Why: "of quantized numbers: 8 and 16 bits and int32",
	Attrs: []string{"axis", "block_size", "output_dtype"}}, Fast: dequantizeFast, Least: 2, Most: 3, Takes: plan.Quantized,
	Move: func(c *plan.Use) plan.Mover {
		d := c.In(1).DType()
		if code := c.Attrs.Int("output_dtype", 0); code != 0 {
			d = pointwise.TypeOf("DequantizeLinear", code)
		}
		plan.Must("DequantizeLinear", plan.Reals.Has(d), d) // also of the scale: float8_e8m0 needs output_dtype
		return dequantized(c.In(0), c.In(1), c.In(2), d, plan.AttrInt(c, "axis", 1), plan.AttrInt(c, "block_size", 0))
	}}
