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

// Tanh returns the hyperbolic tangent of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. ±0 stays, ±∞ gives ±1. ONNX Tanh.
func Tanh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	tanh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var tanh = pointwise.Operator{About: plan.About{Name: "Tanh", Versions: []int{6, 13}}, Rough: exec.One(&simd.FastTanh, nil), Function: true, Cost: 20, Rows: exec.One(&simd.Tanh, &rows1{F32: tanhRow32, F64: tanhRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Tanh[fixed.FP8x23], FP16x16: fixed.Tanh[fixed.FP16x16], FP32x32: fixed.Tanh[fixed.FP32x32], FP64x64: fixed.Tanh[fixed.FP64x64]}}

// tanhRow32 and tanhRow64 define Tanh.
func tanhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Tanh32(x)
	}
}

func tanhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Tanh64(x)
	}
}
