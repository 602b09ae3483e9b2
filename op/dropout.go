package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Dropout is what dropout does outside of training: it returns a itself, or with
// Into a copy, and a mask of a's shape that is true throughout: nothing was
// dropped. ONNX Dropout.
func Dropout[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) (tensor.Tensor[T], tensor.Tensor[bool]) {
	present("Dropout", exec.Ref(&a))
	return Identity(a, opts...), tensor.Full(true, a.Shape()...)
}

// TrainingDropout is what dropout does in training: it returns a with elements dropped, which are
// then +0, and the others times 1/(1 − ratio), the quotient and the product rounded to float64 and
// the result to T; and a mask of what is left. An element is dropped if u < ratio, u being the
// element of tensor.RandomUniform of float64 from 0 to 1 with that seed. So the same seed gives the
// same results always. A ratio of 0 drops nothing. An Into target takes the first result. It panics
// unless 0 ≤ ratio < 1. ONNX Dropout with training_mode.
func TrainingDropout[T num.Float | num.Narrow](a tensor.Tensor[T], ratio float64, seed uint64, opts ...Option) (r tensor.Tensor[T], mask tensor.Tensor[bool]) {
	keep := keepsOf(a.Any(), ratio, seed)
	keep.into(exec.Ref(&mask), withoutInto(opts))
	thinned(a.Any(), mask.Any(), ratio).into(exec.Ref(&r), opts)
	return r, mask
}

// keepsOf is the mask of what is left of a.
func keepsOf(a tensor.Any, ratio float64, seed uint64) *transfer {
	const name = "Dropout"
	present(name, &a)
	must(name, floats.has(a.DType()), a.DType())
	if !(0 <= ratio && ratio < 1) {
		panic(fail(name, tensor.ErrValue, "the ratio is %v; want 0 or more, and less than 1", ratio))
	}
	return &transfer{name: name, d: dtype.Bool, shape: a.Shape(), fill: func(_ context.Context, dst words, _ []words) {
		for i, u := range tensor.RandomUniform[float64](seed, 0, 1, dst.len()).Elems() {
			dst.mem[i] = 0
			if u >= ratio {
				dst.mem[i] = 1
			}
		}
	}}
}

// thinned is a without what the mask drops.
func thinned(a, mask tensor.Any, ratio float64) *transfer {
	const name = "Dropout"
	return &transfer{name: name, d: a.DType(), shape: a.Shape(), in: operandsOf(a, mask), fill: func(ctx context.Context, dst words, in []words) {
		src, to, factor := numericOf(in[0]), numericOf(dst), 1/(1-ratio)
		exec.Split(name, ctx, dst.len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				if in[1].mem[i] == 0 {
					to.setBits(i, 0)
				} else {
					to.setFloat(i, float64(src.float(i)*factor))
				}
			}
		})
	}}
}

var dropout = opN{about: about{name: "Dropout", unsteady: true, flops: flops{free: true}, onnx: []int{7, 10, 12, 13, 22}, attrs: []string{"ratio", "seed"}}, least: 1, most: 3, takes: floats,
	planned: planDropout}

// planDropout gives the mask only if asked for. Before opset 10 it had the type
// of the data, from opset 12 on the ratio and whether to train are inputs. The seed, an
// integer here, is 0 without the attribute; see RandomUniform.
func planDropout(c *Call, p *Plan) {
	const name = "Dropout"
	if c.Opset < 12 {
		takes(name, c, 1)
	}
	a, r, train, n, mask := c.with(name, 0), c.or(1), c.or(2), max(1, min(c.Outputs, 2)), dtype.Bool
	if c.Opset < 10 {
		mask = a.DType()
	}
	if !p.brief {
		p.out = []tensor.Any{spec(name, a.DType(), a.Shape()...), spec(name, mask, a.Shape()...)}[:n]
	}
	trains := !train.IsZero()
	if trains && (c.with(name, 2).DType() != dtype.Bool || train.Len() != 1) {
		panic(fail(name, tensor.ErrDType, "training_mode, input 2, is %s; want one bool", tensor.Describe(*train)))
	}
	if trains && !r.IsZero() && (!c.with(name, 1).DType().IsFloat() || r.Len() != 1) {
		panic(fail(name, tensor.ErrDType, "the ratio, input 1, is %s; want one float", tensor.Describe(*r)))
	}
	seed := uint64(c.Attrs.Int("seed", 0))
	p.views = !trains && n == 1
	p.run = func() {
		ratio := 0.0
		if trains && wordsOf(*train).mem[0] != 0 {
			if ratio = 0.5; !r.IsZero() {
				ratio = numericOf(wordsOf(*r)).float(0)
			}
		}
		switch ctx := p.call.Context; {
		case ratio != 0:
			keep := keepsOf(*a, ratio, seed).run(ctx)
			p.to = []tensor.Any{thinned(*a, keep, ratio).run(ctx), keep}[:n]
		case n == 1:
			p.to = one(*a)
		default:
			p.to = []tensor.Any{*a, inType(tensor.Full(true, a.Shape()...).Any(), mask)}
		}
	}
}
