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

// Acos returns the arc cosine of a, between 0 and π, element by element:
// correctly rounded in float32, within 0.501 ulp in float64. NaN where |a| > 1.
// ONNX Acos.
func Acos[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	acos.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var acos = pointwise.Operator{About: plan.About{Name: "Acos", Versions: []int{7, 22}}, Function: true, Cost: 40, Rows: exec.One(nil, &rows1{F32: acosRow32, F64: acosRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Acos[fixed.FP8x23], FP16x16: fixed.Acos[fixed.FP16x16], FP32x32: fixed.Acos[fixed.FP32x32], FP64x64: fixed.Acos[fixed.FP64x64]}}

// acosRow32 and acosRow64 define Acos.
func acosRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Acos32(x)
	}
}

func acosRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Acos64(x)
	}
}
