package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMin returns the smallest elements over axes, or over all when axes is nil: NaN
// if any is NaN, −0 < +0, and false < true. Of nothing it is the type's largest
// value, +∞ where there is one. The reduced axes go, unless KeepDims. ONNX ReduceMin.
func ReduceMin[T bool | num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceBy("ReduceMin", &a, axes, opts, minReducer[T]{})
}

// minReducer is the reducer of ReduceMin.
type minReducer[T num.Elem] struct{}

func (minReducer[T]) folder() folder[T, T] { return minFolder[T]() }

func (minReducer[T]) lines(out, x []T, step, n int) bool { return extremeLines(out, x, step, n, true) }

func (minReducer[T]) rows(out, x []T, from int, down sequence) bool {
	return extremeRows(&minOp, out, x, from, down, true)
}

func minFolder[T num.Elem]() folder[T, T] {
	return &extreme[T]{better: lessOf[T](), none: highest[T](), whole: minOf[T]}
}

var reduceMin = opN{about: about{name: "ReduceMin", onnx: []int{1, 11, 12, 13, 18, 20}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2, fast: extremeFast,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceMin", c, 18) },
	typed: perType{dtype.Bool: runReduceMin[bool], dtype.Int8: runReduceMin[int8], dtype.Int16: runReduceMin[int16], dtype.Int32: runReduceMin[int32],
		dtype.Int64: runReduceMin[int64], dtype.Uint8: runReduceMin[uint8], dtype.Uint16: runReduceMin[uint16],
		dtype.Uint32: runReduceMin[uint32], dtype.Uint64: runReduceMin[uint64],
		dtype.Float8E4M3: runReduceMin[num.F8E4M3], dtype.Float8E5M2: runReduceMin[num.F8E5M2],
		dtype.Float16: runReduceMin[num.F16], dtype.BFloat16: runReduceMin[num.BF16],
		dtype.Float32: runReduceMin[float32], dtype.Float64: runReduceMin[float64],
		dtype.FP8x23: runReduceMin[num.FP8x23], dtype.FP16x16: runReduceMin[num.FP16x16], dtype.FP32x32: runReduceMin[num.FP32x32], dtype.FP64x64: runReduceMin[num.FP64x64]}}

func runReduceMin[T bool | num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceMin", c, 18)
	return one(ReduceMin(as[T]("ReduceMin", c, 0), axes, opts...).Any())
}
