package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearSoftmax of the domain com.microsoft is Softmax in float64 of the numbers that a quantized
// operand stands for, quantized again; the inputs are as in QLinearSigmoid. The attribute opset
// says whose Softmax it is: one axis since 13, and all axes from that one on before. The result is
// rounded once. ONNX Runtime 1.30.0 differs by 1 where 1 / scale of y isn't an integer, which it rounds
// down. Typed programs call DequantizeLinear, Softmax and QuantizeLinear. Source: docs/ContribOperators.md of
// github.com/microsoft/onnxruntime.
var qLinearSoftmax = plan.Operator{About: plan.About{Name: "QLinearSoftmax", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"axis", "opset"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QLinearSoftmax"
		in, rank := unaryQuantized(name, c), c.In(0).Rank()
		axis, tail := plan.AxisOf(name, plan.AttrInt(c, "axis", -1), rank), 1
		if c.Attrs.Int("opset", 13) < 13 {
			tail = rank - axis
		}
		return quantizedBy(name, in, in[0].Shape(), byReals, func(y, x *tensor.Any, opts []Option) { softmax.Call(y, x, axis, tail, opts) })
	}}
