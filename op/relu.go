package op

import (
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Relu returns a where a > 0 and 0 elsewhere; NaN stays NaN, −0 gives +0. Signed
// integers, floats and fixed point. ONNX Relu.
func Relu[T num.Int | num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	relu.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var relu = pointwise.Operator{About: plan.About{Name: "Relu", Rectifier: true, Versions: []int{6, 13, 14}, Why: "unsigned integers are never negative"},
	Rows: exec.One(&simd.Relu, &rows1{I8: reluRow[int8], I16: reluRow[int16], I32: reluRow[int32], I64: reluRow[int64],
		F32: reluRow[float32], F64: reluRow[float64]}),
	Fixed: &pointwise.Fixed1{FP8x23: reluFixed[fixed.FP8x23], FP16x16: reluFixed[fixed.FP16x16], FP32x32: reluFixed[fixed.FP32x32], FP64x64: reluFixed[fixed.FP64x64], W32: reluWords[int32], W64: reluWords[int64]}}

// reluRow defines Relu.
func reluRow[T num.Int | num.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		v := a[i]
		if v <= 0 {
			v = 0
		}
		dst[i] = v
	}
}

func reluWords[T pointwise.FixedWords](dst, a []T, _ *cast.State) { reluRow(dst, a) }
