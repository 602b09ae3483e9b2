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

// Sinh returns the hyperbolic sine of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. ±0 and ±∞ stay. ONNX Sinh.
func Sinh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sinh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var sinh = pointwise.Operator{About: plan.About{Name: "Sinh", Versions: []int{9, 22}}, Function: true, Cost: 30, Rows: exec.One(nil, &rows1{F32: sinhRow32, F64: sinhRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Sinh[fixed.FP8x23], FP16x16: fixed.Sinh[fixed.FP16x16], FP32x32: fixed.Sinh[fixed.FP32x32], FP64x64: fixed.Sinh[fixed.FP64x64]}}

// sinhRow32 and sinhRow64 define Sinh.
func sinhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sinh32(x)
	}
}

func sinhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sinh64(x)
	}
}
