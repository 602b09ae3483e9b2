package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LossOptions is how a loss is put together. Reduction is "none", "sum" or "mean", and mean if
// empty. Where a target is Ignore, unless that is nil, the loss is 0, and so is its weight.
type LossOptions struct {
	Reduction string
	Ignore    *int
}

// NegativeLogLikelihoodLoss returns −weight[t]·x[n, t, d…] for each target t of target [N,
// D1, …], where x [N, C, D1, …] holds logarithms of probabilities and weight [C] is 1 if
// it is the zero Tensor: with "none" each product rounded to x's type; with "sum" the
// products in float64 added in the fixed order of this package, with "mean" that sum
// divided by the sum of the weights of the targets, in the same order; rounded once. It
// panics when shapes don't fit or a target is no class. ONNX NegativeLogLikelihoodLoss.
func NegativeLogLikelihoodLoss[T num.Floating, I int32 | int64](x tensor.Tensor[T], target tensor.Tensor[I], weight tensor.Tensor[T], o LossOptions, opts ...Option) (r tensor.Tensor[T]) {
	likelihoodLoss(exec.Ref(&r), "NegativeLogLikelihoodLoss", x.Any(), target.Any(), weight.Any(), o, opts)
	return r
}

// lossShape checks the operands of a loss and returns its shape.
func lossShape(name string, x, target, weight tensor.Any, o LossOptions) []int {
	plan.Present(name, &x, &target)
	checkFloats(name, x, weight)
	move.WantInt(name, 1, target)
	if x.Rank() < 2 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	shape := x.Shape()
	want := append([]int{shape[0]}, shape[2:]...)
	if lay := target.Layout(); !plan.SameShape(&lay, want) {
		panic(plan.Fail(name, tensor.ErrShape, "the targets have shape %s; scores of %s want %s", lay.ShapeString(), plan.ShapeText(shape), plan.ShapeText(want)))
	}
	if !weight.IsZero() && (weight.Rank() != 1 || weight.Dim(0) != shape[1]) {
		panic(plan.Fail(name, tensor.ErrShape, "the weights are %s; want one for each of %d classes", tensor.Describe(weight), shape[1]))
	}
	switch o.Reduction {
	case "none":
		return want
	case "", "sum", "mean":
		return nil
	}
	panic(plan.Fail(name, tensor.ErrValue, "reduction %q; want none, sum or mean", o.Reduction))
}

// likelihoodLoss is NegativeLogLikelihoodLoss for a run-time element type.
func likelihoodLoss(r *tensor.Any, name string, x, target, weight tensor.Any, o LossOptions, opts []Option) {
	s := plan.Read(name, opts)
	shape := lossShape(name, x, target, weight, o)
	for i, a := range []tensor.Any{x, target, weight} {
		if a.IsSpec() {
			panic(plan.Unknown(name, i))
		}
	}
	in := move.OperandsOf(x, target, weight)
	src, at, by := move.NumericOf(move.WordsOf(in[0])), move.WordsOf(in[1]).Int64s(name), move.NumericOf(move.WordsOf(in[2]))
	_, classes, plane := move.Around(x.Shape(), 1)
	out, err := tensor.Make(x.DType(), shape...)
	if err != nil {
		panic(plan.Fail(name, tensor.ErrShape, "the result: %v", err))
	}
	to := move.NumericOf(move.WordsOf(out))
	losses, weights := make([]float64, len(at)), make([]float64, len(at))
	for i, t := range at {
		if i%4096 == 0 {
			exec.Look(name, s.Ctx())
		}
		if o.Ignore != nil && t == int64(*o.Ignore) {
			continue
		}
		if t < 0 || t >= int64(classes) {
			panic(plan.Fail(name, tensor.ErrIndex, "target %s is %d; there are %d classes", plan.ShapeText(plan.Unravel(i, target.Shape())), t, classes))
		}
		weights[i] = 1
		if !by.Absent() {
			weights[i] = by.Float(int(t))
		}
		losses[i] = float64(-src.Float((i/plane*classes+int(t))*plane+i%plane) * weights[i])
	}
	runtime.KeepAlive(in)
	switch o.Reduction {
	case "none":
		for i, v := range losses {
			to.SetFloat(i, v)
		}
	case "sum":
		to.SetFloat(0, reduce.SumRow(losses))
	default:
		to.SetFloat(0, reduce.SumRow(losses)/reduce.SumRow(weights))
	}
	plan.Deliver(r, name, &s, out)
}

// lossOf reads the attributes of a loss.
func lossOf(c *plan.Use) LossOptions {
	o := LossOptions{Reduction: c.Attrs.Str("reduction", "mean")}
	if c.Attrs.Has("ignore_index") {
		i := plan.AttrInt(c, "ignore_index", 0)
		o.Ignore = &i
	}
	return o
}

var negativeLogLikelihoodLoss = plan.Operator{About: plan.About{Name: "NegativeLogLikelihoodLoss", Versions: []int{12, 13, 22}, Attrs: []string{"ignore_index", "reduction"}}, Least: 2, Most: 3, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "NegativeLogLikelihoodLoss"
		o := lossOf(c)
		p.Gives(c.In(0).DType(), lossShape(name, c.In(0), c.In(1), c.In(2), o)...)
		p.List(c, 1, func(to []tensor.Any, opts []Option) { likelihoodLoss(&to[0], name, c.In(0), c.In(1), c.In(2), o, opts) })
	}}
