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

// Tan returns the tangent of a, in radians, element by element: correctly
// rounded in float32, within 0.501 ulp in float64, however large a is. ±0 stays,
// ±∞ gives NaN; no float is a pole. ONNX Tan.
func Tan[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	tan.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var tan = pointwise.Operator{About: plan.About{Name: "Tan", Versions: []int{7, 22}}, Function: true, Cost: 60, Rows: exec.One(&simd.Tan, &rows1{F32: tanRow32, F64: tanRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Tan[fixed.FP8x23], FP16x16: fixed.Tan[fixed.FP16x16], FP32x32: fixed.Tan[fixed.FP32x32], FP64x64: fixed.Tan[fixed.FP64x64]}}

// tanRow32 and tanRow64 define Tan.
func tanRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Tan32(x)
	}
}

func tanRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Tan64(x)
	}
}
