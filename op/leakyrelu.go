package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// LeakyRelu returns alpha·a where a < 0 and a elsewhere; −0 and NaN stay. ONNX
// LeakyRelu, whose alpha is 0.01 by default.
func LeakyRelu[T num.Fractional](a tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	leakyRelu.Formula(exec.Ref(&r), exec.Ref(&a), alpha, 0, opts)
	return r
}

var leakyRelu = pointwise.Operator{About: plan.About{Name: "LeakyRelu", Versions: []int{6, 16}, Attrs: []string{"alpha"}}, Def: [2]float32{0.01},
	Rows:  exec.With(&simd.LeakyRelu, &rowsP{F32: leakyReluRow[float32], F64: leakyReluRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: leakyReluFixed[fixed.FP8x23], FP16x16: leakyReluFixed[fixed.FP16x16], FP32x32: leakyReluFixed[fixed.FP32x32], FP64x64: leakyReluFixed[fixed.FP64x64]}}

// leakyReluRow defines LeakyRelu.
func leakyReluRow[T num.Float](dst, a []T, alpha, _ T) {
	for i, x := range a[:len(dst)] {
		if x < 0 {
			x *= alpha
		}
		dst[i] = x
	}
}
