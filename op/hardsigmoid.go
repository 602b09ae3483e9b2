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

// HardSigmoid returns alpha·a + beta limited to 0 … 1, element by element; NaN
// stays. It is computed in float64 and rounded once; in fixed point alpha and beta are
// rounded to the format, and the exact sum once. ONNX HardSigmoid, whose alpha
// is 0.2 and beta 0.5 by default.
func HardSigmoid[T num.Fractional](a tensor.Tensor[T], alpha, beta float64, opts ...Option) (r tensor.Tensor[T]) {
	hardSigmoid.Formula(exec.Ref(&r), exec.Ref(&a), alpha, beta, opts)
	return r
}

var hardSigmoid = pointwise.Operator{About: plan.About{Name: "HardSigmoid", Versions: []int{6, 22}, Attrs: []string{"alpha", "beta"}}, Def: [2]float32{0.2, 0.5}, Cost: 4,
	Rows:  exec.With(&simd.HardSigmoid, &rowsP{F32: hardSigmoidRow[float32], F64: hardSigmoidRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: hardSigmoidFixed[fixed.FP8x23], FP16x16: hardSigmoidFixed[fixed.FP16x16], FP32x32: hardSigmoidFixed[fixed.FP32x32], FP64x64: hardSigmoidFixed[fixed.FP64x64]}}

// hardSigmoidRow defines HardSigmoid.
func hardSigmoidRow[T num.Float](dst, a []T, alpha, beta T) {
	p, q := float64(alpha), float64(beta)
	for i, x := range a[:len(dst)] {
		dst[i] = T(max(0, min(1, float64(p*float64(x))+q)))
	}
}
