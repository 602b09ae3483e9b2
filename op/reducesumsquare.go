package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceSumSquare returns the sums of squares over axes, or over all when axes is
// nil: each square enters a float64 sum in the fixed order of this package with
// one rounding, and the total is rounded once; 0 for nothing. Integers wrap. The reduced axes
// go, unless KeepDims. ONNX ReduceSumSquare.
func ReduceSumSquare[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceSumSquare", a, axes, opts, &fixedSumSquare)
	}
	return reduceTo("ReduceSumSquare", a, axes, opts, sumSquareFolder[T])
}

func sumSquareFolder[T num.Elem]() folder[T, T] {
	if f := intFolder[T](squares); f != nil {
		return f
	}
	return floatFolder[T](newSquareSum[float32], newSquareSum[float64])
}

// squareSum adds squares.
type squareSum[T num.Float] struct{ summer }

func newSquareSum[T num.Float]() folder[T, float64] { return new(squareSum[T]) }

func (f *squareSum[T]) take(x []T)      { addSquares(&f.summer, x, 0) }
func (f *squareSum[T]) result() float64 { return f.total() }

var reduceSumSquare = opN{about: about{name: "ReduceSumSquare", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceSumSquare", c, 18) },
	typed: perType{dtype.Int8: runReduceSumSquare[int8], dtype.Int16: runReduceSumSquare[int16], dtype.Int32: runReduceSumSquare[int32], dtype.Int64: runReduceSumSquare[int64],
		dtype.Uint8: runReduceSumSquare[uint8], dtype.Uint16: runReduceSumSquare[uint16], dtype.Uint32: runReduceSumSquare[uint32], dtype.Uint64: runReduceSumSquare[uint64],
		dtype.Float8E4M3: runReduceSumSquare[num.F8E4M3], dtype.Float8E5M2: runReduceSumSquare[num.F8E5M2],
		dtype.Float16: runReduceSumSquare[num.F16], dtype.BFloat16: runReduceSumSquare[num.BF16],
		dtype.Float32: runReduceSumSquare[float32], dtype.Float64: runReduceSumSquare[float64],
		dtype.FP8x23: runReduceSumSquare[num.FP8x23], dtype.FP16x16: runReduceSumSquare[num.FP16x16], dtype.FP32x32: runReduceSumSquare[num.FP32x32], dtype.FP64x64: runReduceSumSquare[num.FP64x64]}}

func runReduceSumSquare[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceSumSquare", c, 18)
	return one(ReduceSumSquare(as[T]("ReduceSumSquare", c, 0), axes, opts...).Any())
}
