package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Bernoulli returns a tensor of p's shape in which an element is 1, or true, with the
// probability that p has there, and else 0: 1 if u < p, u being the element of
// tensor.RandomUniform of float64 from 0 to 1 with that seed. So the same seed gives the same
// result always. A p of 0 or less and NaN give 0, one of 1 or more gives 1. ONNX Bernoulli.
func Bernoulli[T bool | num.Native | num.Narrow, P num.Float | num.Narrow](p tensor.Tensor[P], seed uint64, opts ...Option) (r tensor.Tensor[T]) {
	flipped(p.Any(), dtype.Of[T](), seed).into(exec.Ref(&r), opts)
	return r
}

func flipped(p tensor.Any, d dtype.DType, seed uint64) *transfer {
	const name = "Bernoulli"
	present(name, &p)
	checkFloats(name, p)
	must(name, (bools | reals).has(d), d)
	return &transfer{name: name, d: d, shape: p.Shape(), in: operandsOf(p), scratch: bytesIn(8, p.Shape()), fill: func(ctx context.Context, dst words, in []words) {
		u := tensor.RandomUniform[float64](seed, 0, 1, dst.len())
		src, to, yes := numericOf(in[0]), numericOf(dst), numeric{words{mem: unit(d), size: d.Size()}, d}.bits(0)
		exec.Split(name, ctx, dst.len(), 10, func(from, till int) {
			for i, v := range u.Elems()[from:till] {
				if v < src.float(from+i) {
					to.setBits(from+i, yes)
				} else {
					to.setBits(from+i, 0)
				}
			}
		})
	}}
}

// bernoulli has the seed of RandomUniform.
var bernoulli = opN{about: about{name: "Bernoulli", unsteady: true, onnx: []int{15, 22}, attrs: []string{"dtype", "seed"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer {
		d := c.in(0).DType()
		if c.Attrs.Has("dtype") {
			d = typeOf("Bernoulli", c.Attrs.Int("dtype", 0))
		}
		return flipped(c.in(0), d, seedOf(c))
	}}
