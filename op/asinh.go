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

// Asinh returns the inverse hyperbolic sine of a, element by element: correctly
// rounded in float32, within 0.501 ulp in float64. ±0 and ±∞ stay. ONNX Asinh.
func Asinh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	asinh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var asinh = pointwise.Operator{About: plan.About{Name: "Asinh", Versions: []int{9, 22}}, Function: true, Cost: 50, Rows: exec.One(nil, &rows1{F32: asinhRow32, F64: asinhRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Asinh[fixed.FP8x23], FP16x16: fixed.Asinh[fixed.FP16x16], FP32x32: fixed.Asinh[fixed.FP32x32], FP64x64: fixed.Asinh[fixed.FP64x64]}}

// asinhRow32 and asinhRow64 define Asinh.
func asinhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Asinh32(x)
	}
}

func asinhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Asinh64(x)
	}
}
