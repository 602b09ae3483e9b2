package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/tensor"
)

// SimplifiedLayerNormalization is RMSNormalization as ONNX Runtime has it, in ONNX's own domain from opset 1 on. Its second output is the factor of each line, in
// float32. Typed programs call RMSNormalization. Source: onnxruntime/core/graph/contrib_ops of github.com/microsoft/onnxruntime.
var simplifiedLayerNormalization = opN{about: about{name: "SimplifiedLayerNormalization", takesUp: inTailLine, flops: flops{each: 4}, onnx: []int{1}, attrs: []string{"axis", "epsilon", "stash_type"}}, least: 2, takes: floats,
	infer: func(c *Call) []tensor.Any {
		const name = "SimplifiedLayerNormalization"
		t := rmsNormalized(c.in(0), c.in(1), attrInt(c, "axis", -1), 0, nil)
		return []tensor.Any{spec(name, t.d, t.shape...), spec(name, dtype.Float32, perLine(c)...)}[:min(max(c.Outputs, 1), 2)]
	},
	run: func(c *Call) []tensor.Any {
		const name = "SimplifiedLayerNormalization"
		allThere(name, c)
		axis, epsilon := attrInt(c, "axis", -1), float64(c.Attrs.Float("epsilon", 1e-5))
		if c.Outputs <= 1 { // of an empty operand there may be any number of lines
			var y tensor.Any
			rmsNormal(&y, c.or(0), c.or(1), axis, epsilon, options(c))
			return one(y)
		}
		factor := tensor.New[float32](perLine(c)...)
		y := rmsNormalized(c.in(0), c.in(1), axis, epsilon, func(k int, f float64) { factor.Elems()[k] = float32(f) }).run(c.Context)
		conv.Canon32(factor.Elems())
		return []tensor.Any{y, factor.Any()}
	}}
