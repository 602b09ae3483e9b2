package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceLogSum returns the natural logarithms of the sums over axes, or over all
// when axes is nil: summed as ReduceSum, the logarithm of the float64 sum, rounded
// once; −∞ for nothing. The reduced axes go, unless KeepDims. ONNX ReduceLogSum.
func ReduceLogSum[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceLogSum", a, axes, opts, &fixedLogSum)
	}
	return reduceTo("ReduceLogSum", a, axes, opts, logSumFolder[T])
}

func logSumFolder[T num.Elem]() folder[T, T] {
	return floatFolder[T](newTermLog[float32], newTermLog[float64])
}

// termLog is the logarithm of the sum.
type termLog[T num.Float] struct{ termSum[T] }

func newTermLog[T num.Float]() folder[T, float64] { return new(termLog[T]) }

func (f *termLog[T]) result() float64 { return num.Log64(f.total()) }

var reduceLogSum = opN{about: about{name: "ReduceLogSum", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceLogSum", c, 18) },
	typed: perType{dtype.Float8E4M3: runReduceLogSum[num.F8E4M3], dtype.Float8E5M2: runReduceLogSum[num.F8E5M2],
		dtype.Float16: runReduceLogSum[num.F16], dtype.BFloat16: runReduceLogSum[num.BF16],
		dtype.Float32: runReduceLogSum[float32], dtype.Float64: runReduceLogSum[float64],
		dtype.FP8x23: runReduceLogSum[num.FP8x23], dtype.FP16x16: runReduceLogSum[num.FP16x16], dtype.FP32x32: runReduceLogSum[num.FP32x32], dtype.FP64x64: runReduceLogSum[num.FP64x64]}}

func runReduceLogSum[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceLogSum", c, 18)
	return one(ReduceLogSum(as[T]("ReduceLogSum", c, 0), axes, opts...).Any())
}
