package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Loss is how a loss is put together. Reduction is "none", "sum" or "mean", and mean if
// empty. Where a target is Ignore, unless that is nil, the loss is 0, and so is its weight.
type Loss struct {
	Reduction string
	Ignore    *int
}

// NegativeLogLikelihoodLoss returns −weight[t]·x[n, t, d…] for each target t of target [N,
// D1, …], where x [N, C, D1, …] holds logarithms of probabilities and weight [C] is 1 if
// it is the zero Tensor: with "none" each product rounded to x's type; with "sum" the
// products in float64 added in the fixed order of this package, with "mean" that sum
// divided by the sum of the weights of the targets, in the same order; rounded once. It
// panics when shapes don't fit or a target is no class. ONNX NegativeLogLikelihoodLoss.
func NegativeLogLikelihoodLoss[T num.Float | num.Narrow, I int32 | int64](x tensor.Tensor[T], target tensor.Tensor[I], weight tensor.Tensor[T], l Loss) (r tensor.Tensor[T]) {
	*exec.Ref(&r) = likelihoodLoss("NegativeLogLikelihoodLoss", x.Any(), target.Any(), weight.Any(), l)
	return r
}

// lossShape checks the operands of a loss and returns its shape.
func lossShape(name string, x, target, weight tensor.Any, l Loss) []int {
	present(name, &x, &target)
	checkFloats(name, x, weight)
	wantInt(name, 1, target)
	if x.Rank() < 2 {
		panic(fail(name, tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	shape := x.Shape()
	want := append([]int{shape[0]}, shape[2:]...)
	if lay := target.Layout(); !sameShape(&lay, want) {
		panic(fail(name, tensor.ErrShape, "the targets have shape %s; scores of %s want %s", lay.ShapeString(), shapeText(shape), shapeText(want)))
	}
	if !weight.IsZero() && (weight.Rank() != 1 || weight.Dim(0) != shape[1]) {
		panic(fail(name, tensor.ErrShape, "the weights are %s; want one for each of %d classes", tensor.Describe(weight), shape[1]))
	}
	switch l.Reduction {
	case "none":
		return want
	case "", "sum", "mean":
		return nil
	}
	panic(fail(name, tensor.ErrValue, "reduction %q; want none, sum or mean", l.Reduction))
}

func likelihoodLoss(name string, x, target, weight tensor.Any, l Loss) tensor.Any {
	shape := lossShape(name, x, target, weight, l)
	for i, a := range []tensor.Any{x, target, weight} {
		if a.IsSpec() {
			panic(unknown(name, i))
		}
	}
	in := operandsOf(x, target, weight)
	src, at, by := numericOf(wordsOf(in[0])), wordsOf(in[1]).int64s(name), numericOf(wordsOf(in[2]))
	_, classes, plane := around(x.Shape(), 1)
	out, err := tensor.Make(x.DType(), shape...)
	if err != nil {
		panic(fail(name, tensor.ErrShape, "the result: %v", err))
	}
	to := numericOf(wordsOf(out))
	losses, weights := make([]float64, len(at)), make([]float64, len(at))
	for i, t := range at {
		if l.Ignore != nil && t == int64(*l.Ignore) {
			continue
		}
		if t < 0 || t >= int64(classes) {
			panic(fail(name, tensor.ErrIndex, "target %s is %d; there are %d classes", shapeText(unravel(i, target.Shape())), t, classes))
		}
		weights[i] = 1
		if !by.absent() {
			weights[i] = by.float(int(t))
		}
		losses[i] = float64(-src.float((i/plane*classes+int(t))*plane+i%plane) * weights[i])
	}
	runtime.KeepAlive(in)
	switch l.Reduction {
	case "none":
		for i, v := range losses {
			to.setFloat(i, v)
		}
	case "sum":
		to.setFloat(0, sumRow(losses))
	default:
		to.setFloat(0, sumRow(losses)/sumRow(weights))
	}
	return out
}

// lossOf reads the attributes of a loss.
func lossOf(c *Call) Loss {
	l := Loss{Reduction: c.Attrs.Str("reduction", "mean")}
	if c.Attrs.Has("ignore_index") {
		i := attrInt(c, "ignore_index", 0)
		l.Ignore = &i
	}
	return l
}

var negativeLogLikelihoodLoss = opN{about: about{name: "NegativeLogLikelihoodLoss", onnx: []int{12, 13, 22}, attrs: []string{"ignore_index", "reduction"}}, least: 2, most: 3, takes: floats,
	planned: func(c *Call, p *Plan) {
		const name = "NegativeLogLikelihoodLoss"
		how := lossOf(c)
		p.gives(c.in(0).DType(), lossShape(name, c.in(0), c.in(1), c.in(2), how)...)
		p.list(c, 1, func(to []tensor.Any, _ []Option) { to[0] = likelihoodLoss(name, c.in(0), c.in(1), c.in(2), how) })
	}}
