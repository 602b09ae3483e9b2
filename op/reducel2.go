package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL2 returns the square roots of the sums of squares over axes, or over all
// when axes is nil: summed as ReduceSumSquare, the root taken in float64, rounded
// once. The reduced axes go, unless KeepDims. ONNX ReduceL2.
func ReduceL2[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceL2", a, axes, opts, &fixedL2)
	}
	return reduceTo("ReduceL2", a, axes, opts, l2Folder[T])
}

func l2Folder[T num.Elem]() folder[T, T] {
	return floatFolder[T](newRootSum[float32], newRootSum[float64])
}

// rootSum is the root of the sum of squares.
type rootSum[T num.Float] struct{ squareSum[T] }

func newRootSum[T num.Float]() folder[T, float64] { return new(rootSum[T]) }

func (f *rootSum[T]) result() float64 { return math.Sqrt(f.total()) }

var reduceL2 = opN{about: about{name: "ReduceL2", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceL2", c, 18) },
	typed: perType{dtype.Float8E4M3: runReduceL2[num.F8E4M3], dtype.Float8E5M2: runReduceL2[num.F8E5M2],
		dtype.Float16: runReduceL2[num.F16], dtype.BFloat16: runReduceL2[num.BF16],
		dtype.Float32: runReduceL2[float32], dtype.Float64: runReduceL2[float64],
		dtype.FP8x23: runReduceL2[num.FP8x23], dtype.FP16x16: runReduceL2[num.FP16x16], dtype.FP32x32: runReduceL2[num.FP32x32], dtype.FP64x64: runReduceL2[num.FP64x64]}}

func runReduceL2[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceL2", c, 18)
	return one(ReduceL2(as[T]("ReduceL2", c, 0), axes, opts...).Any())
}
