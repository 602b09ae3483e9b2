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

// Asin returns the arc sine of a, between −π/2 and π/2, element by element:
// correctly rounded in float32, within 0.501 ulp in float64. ±0 stays; NaN where
// |a| > 1. ONNX Asin.
func Asin[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	asin.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var asin = pointwise.Operator{About: plan.About{Name: "Asin", Versions: []int{7, 22}}, Function: true, Cost: 40, Rows: exec.One(nil, &rows1{F32: asinRow32, F64: asinRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Asin[fixed.FP8x23], FP16x16: fixed.Asin[fixed.FP16x16], FP32x32: fixed.Asin[fixed.FP32x32], FP64x64: fixed.Asin[fixed.FP64x64]}}

// asinRow32 and asinRow64 define Asin.
func asinRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Asin32(x)
	}
}

func asinRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Asin64(x)
	}
}
