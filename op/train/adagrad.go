package train

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// AdagradOptions says how the rate of Adagrad falls.
type AdagradOptions struct {
	RateDecay float64 // decay_factor: how much the rate falls with each step
	Epsilon   float64 // the addend of the root of the sums; with none a first gradient of 0 gives NaN
}

// Adagrad makes a step along the gradient g of parameters x with sums of squares h, and returns
// the new parameters and the new sums:
//
//	g' = Decay·x + g
//	h' = h + g'²
//	x' = x − Rate/(1 + Step·RateDecay)·g'/(√h' + Epsilon)
//
// Each step, from the left, is rounded to float64, and each result once to T. An Into target
// takes the parameters. It panics when shapes differ. Adagrad of ONNX's domain
// ai.onnx.preview.training.
func Adagrad[T num.Floating](x, g, h tensor.Tensor[T], t Options, o AdagradOptions, opts ...op.Option) (newX, newH tensor.Tensor[T]) {
	u := adagradOf(t, o)
	u.apply([]*tensor.Any{exec.Ref(&newX), exec.Ref(&newH)}, []*tensor.Any{exec.Ref(&x), exec.Ref(&g), exec.Ref(&h)}, opts)
	return newX, newH
}

func adagradOf(t Options, o AdagradOptions) *update {
	rate := t.Rate / (1 + float64(float64(t.Step)*o.RateDecay))
	return &update{name: "Adagrad", kept: 1, new: func(x, g float64, kept [2]float64) (float64, [2]float64) {
		g += float64(t.Decay * x)
		h := kept[0] + float64(g*g)
		return x - float64(rate*g)/(math.Sqrt(h)+o.Epsilon), [2]float64{h}
	}}
}

var adagrad = plan.Operator{About: plan.About{Name: "Adagrad", Domain: trainingDomain, Versions: []int{1}, Attrs: []string{"decay_factor", "epsilon", "norm_coefficient"}}, Least: 5, Most: -1, By: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		o := AdagradOptions{RateDecay: float64(c.Attrs.Float("decay_factor", 0)), Epsilon: float64(c.Attrs.Float("epsilon", 1e-6))}
		planTraining(p, c, func(t Options) *update { return adagradOf(t, o) })
	}}
