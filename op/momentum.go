package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Training says how a step of Momentum, Adagrad or Adam goes.
type Training struct {
	Rate  float64 // of learning
	Step  int64   // how many steps were made before
	Decay float64 // norm_coefficient: how much of a parameter is added to its gradient
}

// An update moves parameters along their gradients. It works element by element: of the parameter,
// the gradient and what is kept from step to step, in float64 with every step rounded, and the
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
			panic(fail(u.name, tensor.ErrDType, "the parameter holds %v, and what belongs to it %v; convert one with op.Cast", d, a.DType()))
		}
		if i > 0 && !sameShape(a.LayoutRef(), in[0].Shape()) {
			panic(fail(u.name, tensor.ErrShape, "the parameter has shape %s, and what belongs to it %s", shapeText(in[0].Shape()), shapeText(a.Shape())))
		}
	}
}

// apply computes the results for tensors of one parameter: the parameter, and what is kept.
func (u *update) apply(outs []*tensor.Any, in []*tensor.Any, opts []Option) {
	present(u.name, in...)
	u.check(in)
	s := read(opts)
	src, to := make([]numeric, len(in)), make([]numeric, len(outs))
	for i, a := range in {
		src[i] = numericOf(wordsOf(*a))
	}
	for i, r := range outs {
		*r = tensor.EmptyOf(in[0].DType(), in[0].Shape()...)
		to[i] = numericOf(wordsOf(*r))
	}
	exec.Split(u.name, s.ctx(), src[0].len(), 30, func(from, till int) {
		for i := from; i < till; i++ {
			var kept [2]float64
			for k := range u.kept {
				kept[k] = src[2+k].float(i)
			}
			y, keep := u.new(src[0].float(i), src[1].float(i), kept)
			to[0].setFloat(i, y)
			for k := range u.kept {
				to[1+k].setFloat(i, keep[k])
			}
		}
	})
	if s.into != nil {
		aimShape(outs[0], u.name, &s, in[0].DType(), in[0].Shape())
		outs[0].CopyFrom(*to[0].of)
	}
}

// Momentum makes a step along the gradient g of parameters x with momentum v, and returns the new
// parameters and the new momentum:
//
//	g' = Decay·x + g
//	v' = alpha·v + beta·g'    where beta is 1 in step 0
//	x' = x − Rate·v'          or, if nesterov, x − Rate·(g' + alpha·v')
//
// Each step is rounded to float64, and each result once to T. An Into target takes the
// parameters. It panics when shapes differ. Momentum of ONNX's domain ai.onnx.preview.training.
func Momentum[T num.Float | num.Narrow](x, g, v tensor.Tensor[T], t Training, alpha, beta float64, nesterov bool, opts ...Option) (newX, newV tensor.Tensor[T]) {
	u := momentumOf(t, alpha, beta, nesterov)
	u.apply([]*tensor.Any{exec.Ref(&newX), exec.Ref(&newV)}, []*tensor.Any{exec.Ref(&x), exec.Ref(&g), exec.Ref(&v)}, opts)
	return newX, newV
}

func momentumOf(t Training, alpha, beta float64, nesterov bool) *update {
	if t.Step <= 0 {
		beta = 1
	}
	return &update{name: "Momentum", kept: 1, new: func(x, g float64, kept [2]float64) (float64, [2]float64) {
		g += float64(t.Decay * x)
		v := float64(alpha*kept[0]) + float64(beta*g)
		move := v
		if nesterov {
			move = g + float64(alpha*v)
		}
		return x - float64(t.Rate*move), [2]float64{v}
	}}
}

// groups returns the inputs of each parameter of a node, whose inputs are the rate, the step, and
// then all parameters, all gradients, and so on.
func (u *update) groups(c *Call) [][]*tensor.Any {
	if rate := c.with(u.name, 0); rate.Len() != 1 || !rate.DType().IsFloat() {
		panic(fail(u.name, tensor.ErrShape, "the rate, input 0, is %s; want one float", tensor.Describe(*rate)))
	}
	if step := c.with(u.name, 1); step.Len() != 1 || !indices.has(step.DType()) {
		panic(fail(u.name, tensor.ErrShape, "the step, input 1, is %s; want one integer", tensor.Describe(*step)))
	}
	n, per := len(c.Inputs)-2, 2+u.kept
	if n%per != 0 {
		panic(fail(u.name, tensor.ErrShape, "it has %d inputs; want 2, and %d for each parameter", len(c.Inputs), per))
	}
	groups := make([][]*tensor.Any, n/per)
	for i := range groups {
		for k := range per {
			a := c.with(u.name, 2+k*len(groups)+i)
			must(u.name, floats.has(a.DType()), a.DType())
			groups[i] = append(groups[i], a)
		}
		u.check(groups[i])
	}
	return groups
}

// planTraining plans a node, whose update by makes of the rate, the step and the decay.
func planTraining(p *Plan, c *Call, by func(t Training) *update) {
	u, decay := by(Training{}), float64(c.Attrs.Float("norm_coefficient", 0))
	groups := u.groups(c)
	n := (1 + u.kept) * len(groups)
	for i := 0; i < n && !p.brief; i++ {
		x := groups[i%len(groups)][0]
		p.out = append(p.out, spec(u.name, x.DType(), x.Shape()...))
	}
	p.list(c, n, func(to []tensor.Any, opts []Option) {
		rate, step := numericOf(wordsOf(c.Inputs[0])), wordsOf(c.Inputs[1]).int64s(u.name)
		u := by(Training{Rate: rate.float(0), Step: step[0], Decay: decay})
		for i, g := range groups {
			var outs []*tensor.Any
			for k := i; k < n; k += len(groups) {
				outs = append(outs, &to[k])
			}
			u.apply(outs, g, opts)
		}
	})
}

var momentum = opN{about: about{name: "Momentum", domain: trainingDomain, onnx: []int{1}, attrs: []string{"alpha", "beta", "mode", "norm_coefficient"}}, least: 5, most: -1, by: 2, takes: floats,
	planned: func(c *Call, p *Plan) {
		mode, alpha, beta := c.Attrs.Str("mode", "standard"), float64(c.Attrs.Float("alpha", 0)), float64(c.Attrs.Float("beta", 0))
		known("Momentum", "mode", mode, "standard", "nesterov")
		planTraining(p, c, func(t Training) *update { return momentumOf(t, alpha, beta, mode == "nesterov") })
	}}

const trainingDomain = "ai.onnx.preview.training"
