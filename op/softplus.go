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

// Softplus returns log(1 + eᵃ), element by element: correctly rounded in
// float32, within 0.501 ulp in float64. −∞ gives 0, +∞ stays. ONNX Softplus.
func Softplus[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	softplus.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var softplus = pointwise.Operator{About: plan.About{Name: "Softplus", Versions: []int{1, 22}}, Function: true, Cost: 45, Rows: exec.One(nil, &rows1{F32: softplusRow32, F64: softplusRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Softplus[fixed.FP8x23], FP16x16: fixed.Softplus[fixed.FP16x16], FP32x32: fixed.Softplus[fixed.FP32x32], FP64x64: fixed.Softplus[fixed.FP64x64]}}

// softplusRow32 and softplusRow64 define Softplus.
func softplusRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Softplus32(x)
	}
}

func softplusRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Softplus64(x)
	}
}
