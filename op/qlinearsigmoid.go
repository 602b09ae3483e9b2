package op

import "github.com/ashlar-go/ashlar/num"

// QLinearSigmoid of the domain com.microsoft is Sigmoid of a quantized operand, quantized again:
// input 1 and 2 are the scale and the zero point of input 0, 3 and 4 those of the result. With
// each step rounded to float64, and round to nearest, even on a tie:
//
//	y = saturate(round(Sigmoid((x − zero)·scale) / scale of y) + zero point of y)
//
// Each scale and zero point is one number; a zero point may be absent. Typed programs call
// DequantizeLinear, Sigmoid and QuantizeLinear. Source: docs/ContribOperators.md of
// github.com/microsoft/onnxruntime.
var qLinearSigmoid = opN{about: about{name: "QLinearSigmoid", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, why: "of integers of 8 bits alone"}, least: 2, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		return quantizedMap("QLinearSigmoid", unaryQuantized("QLinearSigmoid", c), num.Sigmoid64)
	}}
