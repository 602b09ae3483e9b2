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

// Exp2 returns 2ᵃ, element by element: correctly rounded in float32, within
// 0.501 ulp in float64, exact for integers. −∞ gives 0, +∞ stays. NumPy exp2;
// not an operator of ONNX.
func Exp2[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	exp2.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var exp2 = pointwise.Operator{About: plan.About{Name: "Exp2"}, Function: true, Cost: 15, Rows: exec.One(nil, &rows1{F32: exp2Row32, F64: exp2Row64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Exp2[fixed.FP8x23], FP16x16: fixed.Exp2[fixed.FP16x16], FP32x32: fixed.Exp2[fixed.FP32x32], FP64x64: fixed.Exp2[fixed.FP64x64]}}

// exp2Row32 and exp2Row64 define Exp2.
func exp2Row32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Exp2x32(x)
	}
}

func exp2Row64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Exp2x64(x)
	}
}
