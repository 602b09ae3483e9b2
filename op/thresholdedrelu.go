package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// ThresholdedRelu returns a where a > alpha and 0 elsewhere, element by element;
// NaN stays. ONNX ThresholdedRelu, whose alpha is 1 by default.
func ThresholdedRelu[T num.Fractional](a tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	thresholdedRelu.Formula(exec.Ref(&r), exec.Ref(&a), alpha, 0, opts)
	return r
}

var thresholdedRelu = pointwise.Operator{About: plan.About{Name: "ThresholdedRelu", Versions: []int{10, 22}, Attrs: []string{"alpha"}}, Def: [2]float32{1}, Cost: 1,
	Rows:  exec.With(nil, &rowsP{F32: thresholdedReluRow[float32], F64: thresholdedReluRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: thresholdedReluFixed[fixed.FP8x23], FP16x16: thresholdedReluFixed[fixed.FP16x16], FP32x32: thresholdedReluFixed[fixed.FP32x32], FP64x64: thresholdedReluFixed[fixed.FP64x64]}}

// thresholdedReluRow defines ThresholdedRelu.
func thresholdedReluRow[T num.Float](dst, a []T, alpha, _ T) {
	for i, x := range a[:len(dst)] {
		if x <= alpha {
			x = 0
		}
		dst[i] = x
	}
}
