package op

import (
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// FastGelu of the domain com.microsoft is GeluTanh of the sum of its first input and its
// second, a bias that stretches to it and may be absent. BiasGelu is Gelu of such a sum. The
// sum is rounded as Add rounds it. Typed programs call Add, and Gelu or GeluTanh. Source:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
var fastGelu = plan.Operator{About: plan.About{Name: "FastGelu", FLOPs: plan.FLOPs{Each: 1}, Domain: "com.microsoft", Versions: []int{1}}, Least: 1, Most: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planGelu(p, c, &geluTanh) }}

var biasGelu = plan.Operator{About: plan.About{Name: "BiasGelu", FLOPs: plan.FLOPs{Each: 2}, Domain: "com.microsoft", Versions: []int{1}}, Least: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planGelu(p, c, &gelu) }}

// planGelu plans a function of the first input and the second, if there is one, which stretches to it.
func planGelu(p *plan.Draft, c *plan.Use, by *pointwise.Operator) {
	name := p.Name()
	plan.OneType(name, c.Inputs...)
	x, bias := c.With(name, 0), c.Or(1)
	if !bias.IsZero() && !move.Stretches(bias.LayoutRef(), x.Shape()) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias, input 1, has shape %s, which doesn't stretch to %s", plan.ShapeText(bias.Shape()), plan.ShapeText(x.Shape())))
	}
	p.Stretched(x.DType(), c, 1)
	p.By(c, 0, func(r *tensor.Any, opts []Option) {
		if bias.IsZero() {
			by.Call(r, opts, x)
			return
		}
		add.Call(r, opts, x, bias)
		by.Call(r, []Option{plan.WriteTo(r)}, r)
	})
}
