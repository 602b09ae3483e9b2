package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearReduceMean of the domain com.microsoft is ReduceMean in float64 of the numbers that a
// quantized operand stands for, quantized again; the inputs are as in QLinearSigmoid. Typed
// programs call DequantizeLinear, ReduceMean and QuantizeLinear. Source: docs/ContribOperators.md
// of github.com/microsoft/onnxruntime.
var qLinearReduceMean = plan.Operator{About: plan.About{Name: "QLinearReduceMean", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"axes", "keepdims"}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 5, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover {
		const name = "QLinearReduceMean"
		in := unaryQuantized(name, c)
		wide := plan.Spec(name, dtype.Float64, in[0].Shape()...)
		axes, keep := reduceMean.Args(&plan.Use{Call: plan.Call{Inputs: []tensor.Any{wide}, Attrs: c.Attrs, Opset: 1}})
		return quantizedBy(name, in, reduce.ReducedShape(name, wide.LayoutRef(), axes, keep), byMeans, func(y, x *tensor.Any, opts []Option) {
			if keep {
				opts = append(opts, KeepDims())
			}
			reduceMean.Call(y, x, axes, 0, opts)
		})
	}}
