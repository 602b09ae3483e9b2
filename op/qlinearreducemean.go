package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearReduceMean of the domain com.microsoft is ReduceMean in float64 of the numbers that a
// quantized operand stands for, quantized again; the inputs are those of QLinearSigmoid. Typed
// programs call DequantizeLinear, ReduceMean and QuantizeLinear. Source: docs/ContribOperators.md
// of github.com/microsoft/onnxruntime.
var qLinearReduceMean = opN{about: about{name: "QLinearReduceMean", takesUp: inDoubles, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"axes", "keepdims"}, why: "of integers of 8 bits alone"}, least: 2, most: 5, takes: bytes8,
	move: func(c *Call) *transfer {
		const name = "QLinearReduceMean"
		in := unaryQuantized(name, c)
		wide := spec(name, dtype.Float64, in[0].Shape()...)
		axes, keep := reduceMean.args(&Call{Inputs: []tensor.Any{wide}, Attrs: c.Attrs, Opset: 1})
		return quantizedBy(name, in, reducedShape(name, wide.LayoutRef(), axes, keep), byMeans, func(y, x *tensor.Any, opts []Option) {
			if keep {
				opts = append(opts, KeepDims())
			}
			reduceMean.call(y, x, axes, 0, opts)
		})
	}}
