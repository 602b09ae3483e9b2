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

// Cosh returns the hyperbolic cosine of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. ±∞ gives +∞. ONNX Cosh.
func Cosh[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	cosh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var cosh = pointwise.Operator{About: plan.About{Name: "Cosh", Versions: []int{9, 22}}, Function: true, Cost: 30, Rows: exec.One(nil, &rows1{F32: coshRow32, F64: coshRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Cosh[fixed.FP8x23], FP16x16: fixed.Cosh[fixed.FP16x16], FP32x32: fixed.Cosh[fixed.FP32x32], FP64x64: fixed.Cosh[fixed.FP64x64]}}

// coshRow32 and coshRow64 define Cosh.
func coshRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cosh32(x)
	}
}

func coshRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Cosh64(x)
	}
}
