package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Softsign returns a ÷ (1 + |a|), element by element: ±1 for ±∞; ±0 and NaN stay.
// It is computed in float64 and rounded once. ONNX Softsign.
func Softsign[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	softsign.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var softsign = pointwise.Operator{About: plan.About{Name: "Softsign", Versions: []int{1, 22}}, Cost: 5, Rows: exec.One(nil, &rows1{F32: softsignRow[float32], F64: softsignRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Softsign[fixed.FP8x23], FP16x16: fixed.Softsign[fixed.FP16x16], FP32x32: fixed.Softsign[fixed.FP32x32], FP64x64: fixed.Softsign[fixed.FP64x64]}}

// softsignRow defines Softsign.
func softsignRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		v := math.Abs(float64(x))
		if v > math.MaxFloat64 {
			v = 1
		} else {
			v /= 1 + v
		}
		dst[i] = T(math.Copysign(v, float64(x)))
	}
}
