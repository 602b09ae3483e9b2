package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// SimplifiedLayerNormalization is RMSNormalization as ONNX Runtime has it, in ONNX's own domain from opset 1 on. Its second output is the factor of each line, in
// float32. Typed programs call RMSNormalization. Source: onnxruntime/core/graph/contrib_ops of github.com/microsoft/onnxruntime.
var simplifiedLayerNormalization = plan.Operator{About: plan.About{Name: "SimplifiedLayerNormalization", FLOPs: plan.FLOPs{Each: 4}, Versions: []int{1}, Attrs: []string{"axis", "epsilon", "stash_type"}}, Least: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "SimplifiedLayerNormalization"
		x, scale, axis, epsilon := c.With(name, 0), c.With(name, 1), plan.AttrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5))
		if !p.Brief {
			t := rmsNormalized(*x, *scale, axis, 0, nil)
			takesLine(&p.Price, x, axis)
			p.Out = []tensor.Any{plan.Spec(name, t.D, t.Shape...), plan.Spec(name, dtype.Float32, perLine(x, axis)...)}[:min(max(c.Outputs, 1), 2)]
		}
		if c.Outputs <= 1 { // of an empty operand there may be any number of lines
			p.By(c, 0, func(r *tensor.Any, opts []Option) { rmsNormal(r, x, scale, axis, epsilon, opts) })
			return
		}
		p.List(c, 2, func(to []tensor.Any, opts []Option) {
			factor := tensor.New[float32](perLine(x, axis)...)
			rmsNormalized(*x, *scale, axis, epsilon, func(k int, _, f float64) { factor.Elems()[k] = float32(f) }).Into(&to[0], opts)
			conv.Canon32(factor.Elems())
			to[1] = factor.Any()
		})
	}}
