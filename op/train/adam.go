package train

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// AdamOptions says how Adam keeps averages of gradients and their squares.
type AdamOptions struct {
	Alpha, Beta float64 // how much of each is kept
	Epsilon     float64 // the addend of the root of the squares
	After       float64 // norm_coefficient_post: how much of the new parameters is taken away
}

// Adam makes a step along the gradient g of parameters x with averages v of gradients and h of
// squares, and returns the new ones of the three:
//
//	g' = Decay·x + g
//	v' = Alpha·v + (1 − Alpha)·g'
//	h' = Beta·h + (1 − Beta)·g'²
//	x' = (1 − After)·(x − R·v'/(√h' + Epsilon))
//
// R is the Rate in step 0, and after it Rate·√(1 − Beta^Step)/(1 − Alpha^Step). Each step, from
// the left, is rounded to float64, and each result once to T. An Into target takes the
// parameters. It panics when shapes differ. Adam of ONNX's domain ai.onnx.preview.training.
func Adam[T num.Floating](x, g, v, h tensor.Tensor[T], t Options, o AdamOptions, opts ...op.Option) (newX, newV, newH tensor.Tensor[T]) {
	u := adamOf(t, o)
	u.apply([]*tensor.Any{exec.Ref(&newX), exec.Ref(&newV), exec.Ref(&newH)}, []*tensor.Any{exec.Ref(&x), exec.Ref(&g), exec.Ref(&v), exec.Ref(&h)}, opts)
	return newX, newV, newH
}

func adamOf(t Options, o AdamOptions) *update {
	rate := t.Rate
	if t.Step > 0 {
		rate = float64(rate*math.Sqrt(1-float.Pow64(o.Beta, float64(t.Step)))) / (1 - float.Pow64(o.Alpha, float64(t.Step)))
	}
	return &update{name: "Adam", kept: 2, new: func(x, g float64, kept [2]float64) (float64, [2]float64) {
		g += float64(t.Decay * x)
		v := float64(o.Alpha*kept[0]) + float64((1-o.Alpha)*g)
		h := float64(o.Beta*kept[1]) + float64((1-o.Beta)*float64(g*g))
		return float64((1 - o.After) * (x - float64(rate*v)/(math.Sqrt(h)+o.Epsilon))), [2]float64{v, h}
	}}
}

var adam = plan.Operator{About: plan.About{Name: "Adam", Domain: trainingDomain, Versions: []int{1}, Attrs: []string{"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"}}, Least: 6, Most: -1, By: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		o := AdamOptions{Alpha: float64(c.Attrs.Float("alpha", 0.9)), Beta: float64(c.Attrs.Float("beta", 0.999)),
			Epsilon: float64(c.Attrs.Float("epsilon", 1e-6)), After: float64(c.Attrs.Float("norm_coefficient_post", 0))}
		planTraining(p, c, func(t Options) *update { return adamOf(t, o) })
	}}
