package train

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Options says how a step of Momentum, Adagrad or Adam goes.
type Options struct {
	Rate  float64 // of learning
	Step  int64   // how many steps were made before
	Decay float64 // norm_coefficient: how much of a parameter is added to its gradient
}

// An update moves parameters along their gradients. It works element by element: of the parameter,
// the gradient and the tensors kept from step to step, in float64 with every step rounded, and the
// results are rounded once.
type update struct {
	name string
	kept int // tensors that are kept from step to step, for each parameter
	new  func(x, g float64, kept [2]float64) (y float64, keep [2]float64)
}

// check panics unless the tensors of one parameter have one type and shape.
func (u *update) check(in []*tensor.Any) {
	for i, a := range in {
		if d := in[0].DType(); a.DType() != d {
			panic(plan.Fail(u.name, tensor.ErrDType, "the parameter holds %v, and what belongs to it %v; convert one with op.Cast", d, a.DType()))
		}
		if i > 0 && !plan.SameShape(a.LayoutRef(), in[0].Shape()) {
			panic(plan.Fail(u.name, tensor.ErrShape, "the parameter has shape %s, and what belongs to it %s", plan.ShapeText(in[0].Shape()), plan.ShapeText(a.Shape())))
		}
	}
}

// apply computes the results for tensors of one parameter: the parameter, and the tensors kept.
func (u *update) apply(outs []*tensor.Any, in []*tensor.Any, opts []op.Option) {
	plan.Present(u.name, in...)
	u.check(in)
	s := plan.Read(u.name, opts)
	src, to := make([]move.Numeric, len(in)), make([]move.Numeric, len(outs))
	for i, a := range in {
		src[i] = move.NumericOf(move.WordsOf(*a))
	}
	for i, r := range outs {
		*r = tensor.EmptyOf(in[0].DType(), in[0].Shape()...)
		to[i] = move.NumericOf(move.WordsOf(*r))
	}
	exec.Split(u.name, s.Ctx(), src[0].Len(), 30, func(from, till int) {
		for i := from; i < till; i++ {
			var kept [2]float64
			for k := range u.kept {
				kept[k] = src[2+k].Float(i)
			}
			y, keep := u.new(src[0].Float(i), src[1].Float(i), kept)
			to[0].SetFloat(i, y)
			for k := range u.kept {
				to[1+k].SetFloat(i, keep[k])
			}
		}
	})
	plan.Deliver(outs[0], u.name, &s, *to[0].Of)
}

// MomentumOptions says how Momentum keeps and follows a momentum.
type MomentumOptions struct {
	Alpha, Beta float64 // how much of the momentum is kept, and how much of the gradient is added; with 0 none
	Nesterov    bool    // a step by the gradient at the place that the momentum leads to: "nesterov" of ONNX's attribute mode
}

// Momentum makes a step along the gradient g of parameters x with momentum v, and returns the new
// parameters and the new momentum:
//
//	g' = Decay·x + g
//	v' = Alpha·v + Beta·g'    where Beta is 1 in step 0
//	x' = x − Rate·v'          or, with Nesterov, x − Rate·(g' + Alpha·v')
//
// Each step is rounded to float64, and each result once to T. An Into target takes the
// parameters. It panics when shapes differ. Momentum of ONNX's domain ai.onnx.preview.training.
func Momentum[T num.Floating](x, g, v tensor.Tensor[T], t Options, o MomentumOptions, opts ...op.Option) (newX, newV tensor.Tensor[T]) {
	u := momentumOf(t, o)
	u.apply([]*tensor.Any{exec.Ref(&newX), exec.Ref(&newV)}, []*tensor.Any{exec.Ref(&x), exec.Ref(&g), exec.Ref(&v)}, opts)
	return newX, newV
}

func momentumOf(t Options, o MomentumOptions) *update {
	if t.Step <= 0 {
		o.Beta = 1
	}
	return &update{name: "Momentum", kept: 1, new: func(x, g float64, kept [2]float64) (float64, [2]float64) {
		g += float64(t.Decay * x)
		v := float64(o.Alpha*kept[0]) + float64(o.Beta*g)
		step := v
		if o.Nesterov {
			step = g + float64(o.Alpha*v)
		}
		return x - float64(t.Rate*step), [2]float64{v}
	}}
}

// groups returns the inputs of each parameter of a node, whose inputs are the rate, the step, and
// then all parameters, all gradients, and so on.
func (u *update) groups(c *plan.Use) [][]*tensor.Any {
	if rate := c.With(u.name, 0); rate.Len() != 1 || !rate.DType().IsFloat() {
		panic(plan.Fail(u.name, tensor.ErrShape, "the rate, input 0, is %s; want one float", tensor.Describe(*rate)))
	}
	if step := c.With(u.name, 1); step.Len() != 1 || !plan.Indices.Has(step.DType()) {
		panic(plan.Fail(u.name, tensor.ErrShape, "the step, input 1, is %s; want one integer", tensor.Describe(*step)))
	}
	n, per := len(c.Inputs)-2, 2+u.kept
	if n%per != 0 {
		panic(plan.Fail(u.name, tensor.ErrShape, "it has %d inputs; want 2, and %d for each parameter", len(c.Inputs), per))
	}
	groups := make([][]*tensor.Any, n/per)
	for i := range groups {
		for k := range per {
			a := c.With(u.name, 2+k*len(groups)+i)
			plan.Must(u.name, plan.Floats.Has(a.DType()), a.DType())
			groups[i] = append(groups[i], a)
		}
		u.check(groups[i])
	}
	return groups
}

// planTraining plans a node, whose update by makes of the rate, the step and the decay.
func planTraining(p *plan.Draft, c *plan.Use, by func(t Options) *update) {
	u, decay := by(Options{}), float64(c.Attrs.Float("norm_coefficient", 0))
	groups := u.groups(c)
	n := (1 + u.kept) * len(groups)
	for i := 0; i < n && !p.Brief; i++ {
		x := groups[i%len(groups)][0]
		p.Out = append(p.Out, plan.Spec(u.name, x.DType(), x.Shape()...))
	}
	p.List(c, n, func(to []tensor.Any, opts []op.Option) {
		rate, step := move.NumericOf(move.WordsOf(c.Inputs[0])), move.WordsOf(c.Inputs[1]).Int64s(u.name)
		u := by(Options{Rate: rate.Float(0), Step: step[0], Decay: decay})
		for i, g := range groups {
			var outs []*tensor.Any
			for k := i; k < n; k += len(groups) {
				outs = append(outs, &to[k])
			}
			u.apply(outs, g, opts)
		}
	})
}

var momentum = plan.Operator{About: plan.About{Name: "Momentum", Domain: trainingDomain, Versions: []int{1}, Attrs: []string{"alpha", "beta", "mode", "norm_coefficient"}}, Least: 5, Most: -1, By: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		mode := c.Attrs.Str("mode", "standard")
		plan.OneOf("Momentum", "mode", mode, "standard", "nesterov")
		o := MomentumOptions{Alpha: float64(c.Attrs.Float("alpha", 0)), Beta: float64(c.Attrs.Float("beta", 0)), Nesterov: mode == "nesterov"}
		planTraining(p, c, func(t Options) *update { return momentumOf(t, o) })
	}}

const trainingDomain = "ai.onnx.preview.training"
