package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Swish returns x·Sigmoid(alpha·x). Each of the three steps is rounded to T. SiLU is Swish with an alpha of 1. −∞ becomes NaN, as −∞·0 is. ONNX
// Swish, and QuickGelu of the domain com.microsoft, whose alpha is 1.702 unless the attribute says otherwise. Source of the latter:
// docs/ContribOperators.md of github.com/microsoft/onnxruntime.
func Swish[T num.Float | num.Narrow](x tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	swished(exec.Ref(&r), "Swish", exec.Ref(&x), alpha, opts)
	return r
}

// swished is Swish for a run-time element type.
func swished(r *tensor.Any, name string, x *tensor.Any, alpha float64, opts []Option) {
	plan.Present(name, x)
	d, s := x.DType(), plan.Read(opts)
	plan.Must(name, d != dtype.Invalid && plan.Floats.Has(d), d)
	var shape []int
	plan.AimShape(r, name, &s, d, plan.AppendShape(shape, x.LayoutRef()))
	out, quiet, f := plan.Beside(r, false, x), s.Quiet(), numberOf(d, alpha)
	mul.Call(out, onto(out, quiet), x, &f)
	sigmoid.Call(out, onto(out, quiet), out)
	mul.Call(out, onto(out, quiet), x, out)
	plan.Put(r, out)
}

// planSwish plans Swish, whose alpha is this one if no attribute says another.
func planSwish(p *plan.Draft, c *plan.Use, alpha float32) {
	name := p.Name()
	a, by := c.With(name, 0), float64(c.Attrs.Float("alpha", alpha))
	p.Stretched(a.DType(), c, 1)
	p.By(c, 0, func(r *tensor.Any, opts []Option) { swished(r, name, a, by, opts) })
}

var swish = plan.Operator{About: plan.About{Name: "Swish", FLOPs: plan.FLOPs{Each: 1}, Versions: []int{24}, Attrs: []string{"alpha"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planSwish(p, c, 1) }}

var quickGelu = plan.Operator{About: plan.About{Name: "QuickGelu", FLOPs: plan.FLOPs{Each: 1}, Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"alpha"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planSwish(p, c, 1.702) }}
