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

// Sin returns the sine of a, in radians, element by element: correctly rounded
// in float32, within 0.501 ulp in float64, however large a is. ±0 stays, ±∞
// gives NaN. ONNX Sin.
func Sin[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sin.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var sin = pointwise.Operator{About: plan.About{Name: "Sin", Versions: []int{7, 22}}, Function: true, Cost: 40, Rows: exec.One(&simd.Sin, &rows1{F32: sinRow32, F64: sinRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Sin[fixed.FP8x23], FP16x16: fixed.Sin[fixed.FP16x16], FP32x32: fixed.Sin[fixed.FP32x32], FP64x64: fixed.Sin[fixed.FP64x64]}}

// sinRow32 and sinRow64 define Sin.
func sinRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sin32(x)
	}
}

func sinRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Sin64(x)
	}
}
