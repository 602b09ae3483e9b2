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

// Ceil returns the smallest integer not below a, element by element: −0 between −1
// and 0. ±0, ±∞ and NaN stay. ONNX Ceil.
func Ceil[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	ceil.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var ceil = pointwise.Operator{About: plan.About{Name: "Ceil", Shapes: true, Versions: []int{6, 13}, Why: "integers are whole"}, Rows: exec.One(&simd.Ceil, &rows1{F32: ceilRow[float32], F64: ceilRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Ceil[fixed.FP8x23], FP16x16: fixed.Ceil[fixed.FP16x16], FP32x32: fixed.Ceil[fixed.FP32x32], FP64x64: fixed.Ceil[fixed.FP64x64]}}

// ceilRow defines Ceil.
func ceilRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Ceil(float64(x)))
	}
}
