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

// Atanh returns the inverse hyperbolic tangent of a, element by element:
// correctly rounded in float32, within 0.501 ulp in float64. ±0 stays, ±1 gives
// ±∞; NaN where |a| > 1. ONNX Atanh.
func Atanh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	atanh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var atanh = pointwise.Operator{About: plan.About{Name: "Atanh", Versions: []int{9, 22}}, Function: true, Cost: 50, Rows: exec.One(nil, &rows1{F32: atanhRow32, F64: atanhRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Atanh[fixed.FP8x23], FP16x16: fixed.Atanh[fixed.FP16x16], FP32x32: fixed.Atanh[fixed.FP32x32], FP64x64: fixed.Atanh[fixed.FP64x64]}}

// atanhRow32 and atanhRow64 define Atanh.
func atanhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Atanh32(x)
	}
}

func atanhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Atanh64(x)
	}
}
