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

// Dropout is dropout outside of training. It returns a itself, or with
// Into a copy, and a mask of a's shape that is true throughout: nothing was
// dropped. ONNX Dropout.
func Dropout[T num.Floating](a tensor.Tensor[T], opts ...Option) (tensor.Tensor[T], tensor.Tensor[bool]) {
	plan.Present("Dropout", exec.Ref(&a))
	return Identity(a, opts...), tensor.Full(true, a.Shape()...)
}

// TrainingDropout is dropout in training. It returns a with elements dropped, which are
// then +0, and the others times 1/(1 − ratio). The quotient and the product are rounded to float64,
// and the result to T. The mask is true for the elements that are left. An element is dropped if u < ratio, u being the
// element of tensor.RandomUniform of float64 from 0 to 1 with that seed. So the same seed gives the
// same results always. A ratio of 0 drops nothing. An Into target takes the first result. It panics
// unless 0 ≤ ratio < 1. ONNX Dropout with training_mode.
func TrainingDropout[T num.Floating](a tensor.Tensor[T], ratio float64, seed uint64, opts ...Option) (r tensor.Tensor[T], mask tensor.Tensor[bool]) {
	keep := keepsOf(a.Any(), ratio, seed)
	keep.Into(exec.Ref(&mask), plan.WithoutInto(opts))
	thinned(a.Any(), mask.Any(), ratio).Into(exec.Ref(&r), opts)
	return r, mask
}

// keepsOf is the mask of the elements that are left of a.
func keepsOf(a tensor.Any, ratio float64, seed uint64) *move.Transfer {
	const name = "Dropout"
	plan.Present(name, &a)
	plan.Must(name, plan.Floats.Has(a.DType()), a.DType())
	if !(0 <= ratio && ratio < 1) {
		panic(plan.Fail(name, tensor.ErrValue, "the ratio is %v; want 0 or more, and less than 1", ratio))
	}
	return &move.Transfer{Name: name, D: dtype.Bool, Shape: a.Shape(), Fill: func(_ context.Context, dst move.Words, _ []move.Words) {
		for i, u := range tensor.RandomUniform[float64](seed, 0, 1, dst.Len()).Elems() {
			dst.Mem[i] = 0
			if u >= ratio {
				dst.Mem[i] = 1
			}
		}
	}}
}

// thinned is a without the elements that the mask drops.
func thinned(a, mask tensor.Any, ratio float64) *move.Transfer {
	const name = "Dropout"
	return &move.Transfer{Name: name, D: a.DType(), Shape: a.Shape(), In: move.OperandsOf(a, mask), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to, factor := move.NumericOf(in[0]), move.NumericOf(dst), 1/(1-ratio)
		exec.Split(name, ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				if in[1].Mem[i] == 0 {
					to.SetBits(i, 0)
				} else {
					to.SetFloat(i, float64(src.Float(i)*factor))
				}
			}
		})
	}}
}

var dropout = plan.Operator{About: plan.About{Name: "Dropout", Unsteady: true, Trims: true, FLOPs: plan.FLOPs{Free: true}, Versions: []int{7, 10, 12, 13, 22}, Attrs: []string{"ratio", "seed"}}, Least: 1, Most: 3, Takes: plan.Floats,
	Planned: planDropout}

// planDropout gives the mask only if asked for. Before opset 10 it had the type
// of the data, from opset 12 on the ratio and whether to train are inputs. The seed, an
// integer here, is 0 without the attribute; see RandomUniform.
func planDropout(c *plan.Use, p *plan.Draft) {
	const name = "Dropout"
	if c.Opset < 12 {
		plan.Takes(name, c, 1)
	}
	a, r, train, n, mask := c.With(name, 0), c.Or(1), c.Or(2), max(1, min(c.Outputs, 2)), dtype.Bool
	if c.Opset < 10 {
		mask = a.DType()
	}
	if !p.Brief {
		p.Out = []tensor.Any{plan.Spec(name, a.DType(), a.Shape()...), plan.Spec(name, mask, a.Shape()...)}[:n]
	}
	trains := !train.IsZero()
	if trains && (c.With(name, 2).DType() != dtype.Bool || train.Len() != 1) {
		panic(plan.Fail(name, tensor.ErrDType, "training_mode, input 2, is %s; want one bool", tensor.Describe(*train)))
	}
	if trains && !r.IsZero() && (!c.With(name, 1).DType().IsFloat() || r.Len() != 1) {
		panic(plan.Fail(name, tensor.ErrDType, "the ratio, input 1, is %s; want one float", tensor.Describe(*r)))
	}
	seed := uint64(c.Attrs.Int("seed", 0))
	p.Views = !trains && n == 1
	p.Run = func() {
		ratio := 0.0
		if trains && move.WordsOf(*train).Mem[0] != 0 {
			if ratio = 0.5; !r.IsZero() {
				ratio = move.NumericOf(move.WordsOf(*r)).Float(0)
			}
		}
		switch ctx := p.Call.Context; {
		case ratio != 0:
			keep := keepsOf(*a, ratio, seed).Run(ctx)
			p.To = []tensor.Any{thinned(*a, keep, ratio).Run(ctx), keep}[:n]
		case n == 1:
			p.To = plan.One(*a)
		default:
			p.To = []tensor.Any{*a, pointwise.InType(tensor.Full(true, a.Shape()...).Any(), mask)}
		}
	}
}
