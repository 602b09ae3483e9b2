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

// Exp returns eᵃ, element by element: correctly rounded in float32, within 0.501
// ulp in float64. Exp(−∞) is 0, Exp(NaN) is NaN. Fixed point
// is correctly rounded; a result beyond it is an error, with Wrap, too. ONNX Exp.
func Exp[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	exp.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var exp = pointwise.Operator{About: plan.About{Name: "Exp", Versions: []int{6, 13}}, Rough: exec.One(&simd.FastExp, nil), Function: true, Cost: 15, Rows: exec.One(&simd.Exp, &rows1{F32: expRow32, F64: expRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Exp[fixed.FP8x23], FP16x16: fixed.Exp[fixed.FP16x16], FP32x32: fixed.Exp[fixed.FP32x32], FP64x64: fixed.Exp[fixed.FP64x64]}}

// expRow32 and expRow64 define Exp.
func expRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Exp32(x)
	}
}

func expRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Exp64(x)
	}
}
