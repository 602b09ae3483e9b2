package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Erf returns the error function of a, element by element: correctly rounded in
// float32, within 0.501 ulp in float64. ±0 stays, ±∞ gives ±1. ONNX Erf.
func Erf[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	erf.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var erf = pointwise.Operator{About: plan.About{Name: "Erf", Versions: []int{9, 13}}, Function: true, Cost: 20, Rows: exec.One(&simd.Erf, &rows1{F32: erfRow32, F64: erfRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Erf[fixed.FP8x23], FP16x16: fixed.Erf[fixed.FP16x16], FP32x32: fixed.Erf[fixed.FP32x32], FP64x64: fixed.Erf[fixed.FP64x64]}}

// erfRow32 and erfRow64 define Erf.
func erfRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Erf32(x)
	}
}

func erfRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Erf64(x)
	}
}
