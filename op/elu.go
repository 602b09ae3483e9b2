package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Elu returns alpha·(eᵃ − 1) where a < 0 and a elsewhere, element by element; NaN
// stays. It is computed in float64 and rounded once; in fixed point eᵃ is rounded, and then
// the product. ONNX Elu, whose alpha is 1 by
// default.
func Elu[T num.Fractional](a tensor.Tensor[T], alpha float64, opts ...Option) (r tensor.Tensor[T]) {
	elu.Formula(exec.Ref(&r), exec.Ref(&a), alpha, 0, opts)
	return r
}

var elu = pointwise.Operator{About: plan.About{Name: "Elu", Versions: []int{6, 22}, Attrs: []string{"alpha"}}, Def: [2]float32{1}, Cost: 25,
	Rows:  exec.With(nil, &rowsP{F32: eluRow[float32], F64: eluRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: eluFixed[fixed.FP8x23], FP16x16: eluFixed[fixed.FP16x16], FP32x32: eluFixed[fixed.FP32x32], FP64x64: eluFixed[fixed.FP64x64]}}

// eluRow defines Elu.
func eluRow[T num.Float](dst, a []T, alpha, _ T) {
	for i, x := range a[:len(dst)] {
		if x < 0 {
			x = T(float64(alpha) * float.Expm1x64(float64(x)))
		}
		dst[i] = x
	}
}
