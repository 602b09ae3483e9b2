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

// Trunc returns the integer nearest to a that is not farther from 0, element by
// element. ±0, ±∞ and NaN stay. NumPy trunc.
func Trunc[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	trunc.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var trunc = pointwise.Operator{About: plan.About{Name: "Trunc", Why: "integers are whole"}, Rows: exec.One(&simd.Trunc, &rows1{F32: truncRow[float32], F64: truncRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Trunc[fixed.FP8x23], FP16x16: fixed.Trunc[fixed.FP16x16], FP32x32: fixed.Trunc[fixed.FP32x32], FP64x64: fixed.Trunc[fixed.FP64x64]}}

// truncRow defines Trunc.
func truncRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Trunc(float64(x)))
	}
}
