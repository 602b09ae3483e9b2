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

// Sigmoid returns 1 ÷ (1 + e⁻ᵃ), element by element: correctly rounded in
// float32, within 0.501 ulp in float64. −∞ gives 0, +∞ gives 1. ONNX Sigmoid.
func Sigmoid[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sigmoid.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var sigmoid = pointwise.Operator{About: plan.About{Name: "Sigmoid", Versions: []int{6, 13}}, Rough: exec.One(&simd.FastSigmoid, nil), Function: true, Cost: 20, Rows: exec.One(&simd.Sigmoid, &rows1{F32: sigmoidRow32, F64: sigmoidRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Sigmoid[fixed.FP8x23], FP16x16: fixed.Sigmoid[fixed.FP16x16], FP32x32: fixed.Sigmoid[fixed.FP32x32], FP64x64: fixed.Sigmoid[fixed.FP64x64]}}

// sigmoidRow32 and sigmoidRow64 define Sigmoid.
func sigmoidRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sigmoid32(x)
	}
}

func sigmoidRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sigmoid64(x)
	}
}
