package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	present(name, x)
	d, s := x.DType(), read(opts)
	must(name, d != dtype.Invalid && floats.has(d), d)
	var shape []int
	aimShape(r, name, &s, d, appendShape(shape, x.LayoutRef()))
	out, quiet, f := beside(r, false, x), s.quiet(), numberOf(d, alpha)
	mul.call(out, onto(out, quiet), x, &f)
	sigmoid.call(out, onto(out, quiet), out)
	mul.call(out, onto(out, quiet), x, out)
	put(r, out)
}

// planSwish plans Swish, whose alpha is this one if no attribute says another.
func planSwish(p *Plan, c *Call, alpha float32) {
	name := p.op.name
	a, by := c.with(name, 0), float64(c.Attrs.Float("alpha", alpha))
	p.stretched(a.DType(), c, 1)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { swished(r, name, a, by, opts) })
}

var swish = opN{about: about{name: "Swish", flops: flops{each: 1}, onnx: []int{24}, attrs: []string{"alpha"}}, least: 1, takes: floats,
	planned: func(c *Call, p *Plan) { planSwish(p, c, 1) }}

var quickGelu = opN{about: about{name: "QuickGelu", flops: flops{each: 1}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha"}}, least: 1, takes: floats,
	planned: func(c *Call, p *Plan) { planSwish(p, c, 1.702) }}
