package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// LogSoftmax returns the logarithm of Softmax along axis: d − log(sum of eᵈ),
// where d = a − max rounded, the sum in the fixed order of this package and its
// logarithm rounded, and then the difference. ONNX LogSoftmax; before opset 13 a
// line is axis and all after it.
func LogSoftmax[T num.Fractional](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	logSoftmax.Along(exec.Ref(&r), exec.Ref(&a), axis, opts)
	return r
}

// logSoftmaxLines defines LogSoftmax.
func logSoftmaxLines[T num.Float](dst, w, a []T, n int, stream bool) {
	if softmaxLong(dst, w, a, n, true, stream) {
		return
	}
	var top [1]T
	var sum [1]float64
	for ; len(a) > 0; dst, a = dst[n:], a[n:] {
		largestLines(top[:], a, n)
		exponentials(w[:n], a, top[0])
		reduce.SumEach(sum[:], w, n, n)
		s := T(sum[0])
		switch p := any(&s).(type) {
		case *float32:
			*p = float.Log32(*p)
		case *float64:
			*p = float.Log64(*p)
		}
		subtract(w[:n], a, top[0], false)
		subtract(dst[:n], w, s, stream)
	}
}

func logSoftmaxFixed[T num.Fixed](dst, x []T, mode []fixed.Mode) error {
	return fixed.LogSoftmax(dst, x, mode...)
}

var logSoftmax = reduce.Liner{About: plan.About{Name: "LogSoftmax", Versions: []int{1, 11, 13}, Attrs: []string{"axis"}},
	F32: logSoftmaxLines[float32], F64: logSoftmaxLines[float64],
	Fixed: reduce.FixedMap{FP8x23: logSoftmaxFixed[fixed.FP8x23], FP16x16: logSoftmaxFixed[fixed.FP16x16], FP32x32: logSoftmaxFixed[fixed.FP32x32], FP64x64: logSoftmaxFixed[fixed.FP64x64]}}
