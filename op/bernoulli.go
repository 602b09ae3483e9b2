package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Bernoulli returns a tensor of p's shape in which an element is 1, or true, with the
// probability that p has there, and else 0: 1 if u < p, u being the element of
// tensor.RandomUniform of float64 from 0 to 1 with that seed. So the same seed gives the same
// result always. Where p ≤ 0 or p is NaN, the result is 0; where p ≥ 1, it is 1. ONNX
// Bernoulli.
func Bernoulli[T bool | num.Native | num.Narrow, P num.Floating](p tensor.Tensor[P], seed uint64, opts ...Option) (r tensor.Tensor[T]) {
	flipped(p.Any(), dtype.Of[T](), seed).Into(exec.Ref(&r), opts)
	return r
}

func flipped(p tensor.Any, d dtype.DType, seed uint64) *move.Transfer {
	const name = "Bernoulli"
	plan.Present(name, &p)
	checkFloats(name, p)
	plan.Must(name, (plan.Bools | plan.Reals).Has(d), d)
	return &move.Transfer{Name: name, D: d, Shape: p.Shape(), In: move.OperandsOf(p), Price: plan.Taking(plan.BytesIn(8, p.Shape()), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		u := tensor.RandomUniform[float64](seed, 0, 1, dst.Len())
		src, to, yes := move.NumericOf(in[0]), move.NumericOf(dst), move.Numeric{Words: move.Words{Mem: unit(d), Size: d.Size()}, D: d}.Bits(0)
		exec.Split(name, ctx, dst.Len(), 10, func(from, till int) {
			for i, v := range u.Elems()[from:till] {
				if v < src.Float(from+i) {
					to.SetBits(from+i, yes)
				} else {
					to.SetBits(from+i, 0)
				}
			}
		})
	}}
}

// bernoulli has the seed of RandomUniform.
var bernoulli = plan.Operator{About: plan.About{Name: "Bernoulli", Unsteady: true, Versions: []int{15, 22}, Attrs: []string{"dtype", "seed"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		d := c.In(0).DType()
		if c.Attrs.Has("dtype") {
			d = pointwise.TypeOf("Bernoulli", c.Attrs.Int("dtype", 0))
		}
		return flipped(c.In(0), d, seedOf(c))
	}}
