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

// Atan returns the arc tangent of a, element by element: correctly rounded in
// float32, within 0.501 ulp in float64. ±0 stays, ±∞ gives ±π/2. ONNX Atan.
func Atan[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	atan.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var atan = pointwise.Operator{About: plan.About{Name: "Atan", Versions: []int{7, 22}}, Function: true, Cost: 40, Rows: exec.One(nil, &rows1{F32: atanRow32, F64: atanRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Atan[fixed.FP8x23], FP16x16: fixed.Atan[fixed.FP16x16], FP32x32: fixed.Atan[fixed.FP32x32], FP64x64: fixed.Atan[fixed.FP64x64]}}

// atanRow32 and atanRow64 define Atan.
func atanRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Atan32(x)
	}
}

func atanRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Atan64(x)
	}
}
