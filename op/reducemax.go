package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMax returns the largest elements over axes, or over all when axes is nil: NaN
// if any is NaN, −0 < +0, and false < true. Of nothing it is the type's smallest
// value, −∞ where there is one. The reduced axes go, unless KeepDims. ONNX ReduceMax.
func ReduceMax[T bool | num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceBy("ReduceMax", &a, axes, opts, maxReducer[T]{})
}

// maxReducer is the reducer of ReduceMax.
type maxReducer[T num.Elem] struct{}

func (maxReducer[T]) folder() folder[T, T] { return maxFolder[T]() }

func (maxReducer[T]) lines(out, x []T, step, n int) bool { return extremeLines(out, x, step, n, false) }

func (maxReducer[T]) rows(out, x []T, from int, down sequence) bool {
	return extremeRows(&maxOp, out, x, from, down, false)
}

func maxFolder[T num.Elem]() folder[T, T] {
	return &extreme[T]{better: greaterOf[T](), none: lowest[T](), whole: maxOf[T]}
}

var reduceMax = opN{about: about{name: "ReduceMax", onnx: []int{1, 11, 12, 13, 18, 20}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2, fast: extremeFast,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceMax", c, 18) },
	typed: perType{dtype.Bool: runReduceMax[bool], dtype.Int8: runReduceMax[int8], dtype.Int16: runReduceMax[int16], dtype.Int32: runReduceMax[int32],
		dtype.Int64: runReduceMax[int64], dtype.Uint8: runReduceMax[uint8], dtype.Uint16: runReduceMax[uint16],
		dtype.Uint32: runReduceMax[uint32], dtype.Uint64: runReduceMax[uint64],
		dtype.Float8E4M3: runReduceMax[num.F8E4M3], dtype.Float8E5M2: runReduceMax[num.F8E5M2],
		dtype.Float16: runReduceMax[num.F16], dtype.BFloat16: runReduceMax[num.BF16],
		dtype.Float32: runReduceMax[float32], dtype.Float64: runReduceMax[float64],
		dtype.FP8x23: runReduceMax[num.FP8x23], dtype.FP16x16: runReduceMax[num.FP16x16], dtype.FP32x32: runReduceMax[num.FP32x32], dtype.FP64x64: runReduceMax[num.FP64x64]}}

func runReduceMax[T bool | num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceMax", c, 18)
	return one(ReduceMax(as[T]("ReduceMax", c, 0), axes, opts...).Any())
}
