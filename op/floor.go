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

// Floor returns the largest integer not above a, element by element. ±0, ±∞ and
// NaN stay. ONNX Floor.
func Floor[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	floor.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var floor = pointwise.Operator{About: plan.About{Name: "Floor", Shapes: true, Versions: []int{6, 13}, Why: "integers are whole"}, Rows: exec.One(&simd.Floor, &rows1{F32: floorRow[float32], F64: floorRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Floor[fixed.FP8x23], FP16x16: fixed.Floor[fixed.FP16x16], FP32x32: fixed.Floor[fixed.FP32x32], FP64x64: fixed.Floor[fixed.FP64x64]}}

// floorRow defines Floor.
func floorRow[T num.Float](dst, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(math.Floor(float64(x)))
	}
}
