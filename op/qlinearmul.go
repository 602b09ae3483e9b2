package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// QLinearMul returns the product of quantized a and b, quantized as qy says. Shapes
// broadcast. With each step rounded to float64, and round to nearest, even on a tie:
//
//	y = saturate(round(((a − Zero)·Scale · (b − Zero)·Scale) / scale of y) + zero point of y)
//
// Every scale and zero point is one number. It panics if the shapes don't broadcast.
// ONNX Runtime's QLinearMul, of the domain com.microsoft.
func QLinearMul[S num.Floating, Q int8 | uint8](a tensor.Tensor[Q], qa Quantization[S, Q], b tensor.Tensor[Q], qb Quantization[S, Q], qy Quantization[S, Q], opts ...Option) (r tensor.Tensor[Q]) {
	quantizedPair("QLinearMul", []tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, productOf2, false).Into(exec.Ref(&r), opts)
	return r
}

var qLinearMul = plan.Operator{About: plan.About{Name: "QLinearMul", Domain: "com.microsoft", Versions: []int{1}, Why: "of integers of 8 bits alone"}, Least: 2, Most: 8, Takes: plan.Bytes8,
	Move: func(c *plan.Use) plan.Mover { return pairOf("QLinearMul", c, productOf2, false) }}
