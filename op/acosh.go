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

// Acosh returns the inverse hyperbolic cosine of a, element by element:
// correctly rounded in float32, within 0.501 ulp in float64. 1 gives +0, +∞
// stays; NaN where a < 1. ONNX Acosh.
func Acosh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	acosh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var acosh = pointwise.Operator{About: plan.About{Name: "Acosh", Versions: []int{9, 22}}, Function: true, Cost: 50, Rows: exec.One(nil, &rows1{F32: acoshRow32, F64: acoshRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Acosh[fixed.FP8x23], FP16x16: fixed.Acosh[fixed.FP16x16], FP32x32: fixed.Acosh[fixed.FP32x32], FP64x64: fixed.Acosh[fixed.FP64x64]}}

// acoshRow32 and acoshRow64 define Acosh.
func acoshRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Acosh32(x)
	}
}

func acoshRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Acosh64(x)
	}
}
