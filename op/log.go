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

// Log returns the natural logarithm of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. Log(±0) is −∞, Log of a negative
// number and of NaN is NaN. ONNX Log.
func Log[T num.Fractional](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	log.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var log = pointwise.Operator{About: plan.About{Name: "Log", Versions: []int{6, 13}}, Rough: exec.One(&simd.FastLog, nil), Function: true, Cost: 20, Rows: exec.One(&simd.Log, &rows1{F32: logRow32, F64: logRow64}),
	Fixed: &pointwise.Fixed1{FP8x23: fixed.Log[fixed.FP8x23], FP16x16: fixed.Log[fixed.FP16x16], FP32x32: fixed.Log[fixed.FP32x32], FP64x64: fixed.Log[fixed.FP64x64]}}

// logRow32 and logRow64 define Log.
func logRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log32(x)
	}
}

func logRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Log64(x)
	}
}
