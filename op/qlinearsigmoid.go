package op

import (
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
)

// QLinearSigmoid of the domain com.microsoft is Sigmoid of a quantized operand, quantized again. The
// inputs, from 0 on, are x, its scale and zero point, and the scale and zero point of the result y.
// Each step is rounded to float64, and round is to nearest, ties to even:
//
//	y = saturate(round(Sigmoid((x − zero)·scale) / scale of y) + zero point of y)
//
// Each scale and zero point is one number; a zero point may be absent. Typed programs call
// DequantizeLinear, Sigmoid and QuantizeLinear. Source: docs/ContribOperators.md of
// github.com/microsoft/onnxruntime.
var qLinearSigmoid = plan.Operator{About: plan.About{Name: "QLinearSigmoid", Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		return quantizedMap("QLinearSigmoid", unaryQuantized("QLinearSigmoid", c), float.Sigmoid64)
	}}
