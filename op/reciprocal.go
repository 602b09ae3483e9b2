package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Reciprocal returns 1 ÷ a, element by element, correctly rounded in float32 and
// float64. ±0 gives ±∞ and the other way round. ONNX Reciprocal.
func Reciprocal[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	reciprocal.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var reciprocal = pointwise.Operator{About: plan.About{Name: "Reciprocal", Versions: []int{6, 13}}, Cost: 4,
	Rows:  exec.One(&simd.Reciprocal, &rows1{F32: reciprocalRow[float32], F64: reciprocalRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Reciprocal[fixed.FP8x23], FP16x16: fixed.Reciprocal[fixed.FP16x16], FP32x32: fixed.Reciprocal[fixed.FP32x32], FP64x64: fixed.Reciprocal[fixed.FP64x64]}}

// reciprocalRow defines Reciprocal.
func reciprocalRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = 1 / x
	}
}
