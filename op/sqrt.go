package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sqrt returns the square root of a, element by element, correctly rounded. −0
// stays; a negative number and NaN give NaN, in fixed point an error. ONNX Sqrt.
func Sqrt[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sqrt.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var sqrt = pointwise.Operator{About: plan.About{Name: "Sqrt", Shapes: true, Versions: []int{6, 13}}, Cost: 4,
	Rows:  exec.One(&simd.Sqrt, &rows1{F32: sqrtRow[float32], F64: sqrtRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Sqrt[fixed.FP8x23], FP16x16: fixed.Sqrt[fixed.FP16x16], FP32x32: fixed.Sqrt[fixed.FP32x32], FP64x64: fixed.Sqrt[fixed.FP64x64]}}

// sqrtRow defines Sqrt. The square root of a float32, taken in float64, rounds to
// the right float32: no such root is close enough to a midpoint.
func sqrtRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Sqrt(float64(x)))
	}
}
