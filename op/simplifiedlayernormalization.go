package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/tensor"
)

// SimplifiedLayerNormalization is RMSNormalization as ONNX Runtime has it, in ONNX's own domain from opset 1 on. Its second output is the factor of each line, in
// float32. Typed programs call RMSNormalization. Source: onnxruntime/core/graph/contrib_ops of github.com/microsoft/onnxruntime.
var simplifiedLayerNormalization = opN{about: about{name: "SimplifiedLayerNormalization", takesUp: inTailLine, flops: flops{each: 4}, onnx: []int{1}, attrs: []string{"axis", "epsilon", "stash_type"}}, least: 2, takes: floats,
	planned: func(c *Call, p *Plan) {
		const name = "SimplifiedLayerNormalization"
		x, scale, axis, epsilon := c.with(name, 0), c.with(name, 1), attrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5))
		if !p.brief {
			t := rmsNormalized(*x, *scale, axis, 0, nil)
			p.out = []tensor.Any{spec(name, t.d, t.shape...), spec(name, dtype.Float32, perLine(x, axis)...)}[:min(max(c.Outputs, 1), 2)]
		}
		if c.Outputs <= 1 { // of an empty operand there may be any number of lines
			p.by(c, 0, func(r *tensor.Any, opts []Option) { rmsNormal(r, x, scale, axis, epsilon, opts) })
			return
		}
		p.list(c, 2, func(to []tensor.Any, opts []Option) {
			factor := tensor.New[float32](perLine(x, axis)...)
			rmsNormalized(*x, *scale, axis, epsilon, func(k int, f float64) { factor.Elems()[k] = float32(f) }).into(&to[0], opts)
			conv.Canon32(factor.Elems())
			to[1] = factor.Any()
		})
	}}
