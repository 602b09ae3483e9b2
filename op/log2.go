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

// Log2 returns the logarithm of a to base 2, element by element: correctly
// rounded in float32, within 0.501 ulp in float64, exact for powers of 2. ±0
// gives −∞, +∞ stays; NaN where a < 0. NumPy log2; not an operator of ONNX.
func Log2[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	log2.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var log2 = pointwise.Operator{About: plan.About{Name: "Log2"}, Function: true, Cost: 30, Rows: exec.One(nil, &rows1{F32: log2Row32, F64: log2Row64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Log2[fixed.FP8x23], FP16x16: fixed.Log2[fixed.FP16x16], FP32x32: fixed.Log2[fixed.FP32x32], FP64x64: fixed.Log2[fixed.FP64x64]}}

// log2Row32 and log2Row64 define Log2.
func log2Row32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log2x32(x)
	}
}

func log2Row64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log2x64(x)
	}
}
