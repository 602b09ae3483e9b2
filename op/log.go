package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Log returns the natural logarithm of a, element by element: correctly rounded
// in float32, within 0.501 ulp in float64. Log(±0) is −∞, Log of a negative
// number and of NaN is NaN. ONNX Log.
func Log[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	log.call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var log = pointwise{about: about{name: "Log", onnx: []int{6, 13}}, rough: exec.One(&simd.FastLog, nil), function: true, cost: 20, rows: exec.One(&simd.Log, &rows1{F32: logRow32, F64: logRow64}),
	fixed: &fixed1{FP8x23: fixed.Log[fixed.FP8x23], FP16x16: fixed.Log[fixed.FP16x16], FP32x32: fixed.Log[fixed.FP32x32], FP64x64: fixed.Log[fixed.FP64x64]}}

// logRow32 and logRow64 define Log.
func logRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Log32(x)
	}
}

func logRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = num.Log64(x)
	}
}
