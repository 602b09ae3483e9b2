package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LogSoftmax returns the logarithm of Softmax along axis: d − log(sum of eᵈ),
// where d = a − max rounded, the sum in the fixed order of this package and its
// logarithm rounded, and then the difference. ONNX LogSoftmax; before opset 13 a
// line is axis and all after it.
func LogSoftmax[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
	return softened("LogSoftmax", a, axisOf("LogSoftmax", axis, a.Rank()), 1, opts, logSoftmaxLines[float32], logSoftmaxLines[float64])
}

// logSoftmaxLines defines LogSoftmax.
func logSoftmaxLines[T num.Float](dst, w, a []T, n int) {
	if softmaxLong(dst, w, a, n, true) {
		return
	}
	var top [1]T
	var sum [1]float64
	for ; len(a) > 0; dst, a = dst[n:], a[n:] {
		largestLines(top[:], a, n)
		exponentials(w[:n], a, top[0])
		sumEach(sum[:], w, n, n)
		s := T(sum[0])
		switch p := any(&s).(type) {
		case *float32:
			*p = num.Log32(*p)
		case *float64:
			*p = num.Log64(*p)
		}
		subtract(w[:n], a, top[0])
		subtract(dst[:n], w, s)
	}
}

var logSoftmax = opN{about: about{name: "LogSoftmax", onnx: []int{1, 11, 13}, attrs: []string{"axis"}}, least: 1, fast: softmaxFast,
	infer: func(c *Call) []tensor.Any {
		softAxis("LogSoftmax", c, c.in(0).Rank())
		return one(spec("LogSoftmax", c.in(0).DType(), c.in(0).Shape()...))
	},
	typed: perType{dtype.Float8E4M3: runLogSoftmax[num.F8E4M3], dtype.Float8E5M2: runLogSoftmax[num.F8E5M2],
		dtype.Float16: runLogSoftmax[num.F16], dtype.BFloat16: runLogSoftmax[num.BF16],
		dtype.Float32: runLogSoftmax[float32], dtype.Float64: runLogSoftmax[float64],
		dtype.FP8x23: runLogSoftmax[num.FP8x23], dtype.FP16x16: runLogSoftmax[num.FP16x16], dtype.FP32x32: runLogSoftmax[num.FP32x32], dtype.FP64x64: runLogSoftmax[num.FP64x64]}}

func runLogSoftmax[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	a := as[T]("LogSoftmax", c, 0)
	axis, tail := softAxis("LogSoftmax", c, a.Rank())
	return one(softened("LogSoftmax", a, axis, tail, options(c), logSoftmaxLines[float32], logSoftmaxLines[float64]).Any())
}
