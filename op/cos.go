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

// Cos returns the cosine of a, in radians, element by element: correctly rounded
// in float32, within 0.501 ulp in float64, however large a is. ±∞ gives NaN.
// ONNX Cos.
func Cos[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	cos.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var cos = pointwise.Operator{About: plan.About{Name: "Cos", Versions: []int{7, 22}}, Function: true, Cost: 40, Rows: exec.One(&simd.Cos, &rows1{F32: cosRow32, F64: cosRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Cos[fixed.FP8x23], FP16x16: fixed.Cos[fixed.FP16x16], FP32x32: fixed.Cos[fixed.FP32x32], FP64x64: fixed.Cos[fixed.FP64x64]}}

// cosRow32 and cosRow64 define Cos.
func cosRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cos32(x)
	}
}

func cosRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cos64(x)
	}
}
