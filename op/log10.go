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

// Log10 returns the logarithm of a to base 10, element by element: correctly
// rounded in float32, within 0.501 ulp in float64, exact for powers of 10. ±0
// gives −∞, +∞ stays; NaN where a < 0. NumPy log10; not an operator of ONNX.
func Log10[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	log10.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var log10 = pointwise.Operator{About: plan.About{Name: "Log10"}, Function: true, Cost: 30, Rows: exec.One(nil, &rows1{F32: log10Row32, F64: log10Row64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Log10[fixed.FP8x23], FP16x16: fixed.Log10[fixed.FP16x16], FP32x32: fixed.Log10[fixed.FP32x32], FP64x64: fixed.Log10[fixed.FP64x64]}}

// log10Row32 and log10Row64 define Log10.
func log10Row32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log10x32(x)
	}
}

func log10Row64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log10x64(x)
	}
}
