package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceSum returns the sums over axes, or over all when axes is nil; an empty
// list of axes reduces none. The parts of complex
// numbers are reduced by themselves. The reduced axes go, unless KeepDims. Integers
// wrap. Floats are added in float64 in the fixed order of this package and
// rounded once. Fixed point is added exactly: only the sum can be beyond the format.
// The sum of nothing is 0. ONNX ReduceSum.
func ReduceSum[T num.Number](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if t := ready(opts, dtype.Of[T]()); t != nil && directly(&a, axes, exec.Typed[T](t), sumReducer[T]{}) { // floats alone
		return *exec.Typed[T](t)
	}
	d := dtype.Of[T]()
	if d.IsFixed() {
		return reduceFixed("ReduceSum", a, axes, opts, &fixedSum)
	}
	if d.IsComplex() {
		return byParts("ReduceSum", a, opts, func(a tensor.Tensor[float32], opts ...Option) tensor.Tensor[float32] {
			return ReduceSum(a, axes, opts...)
		},
			func(a tensor.Tensor[float64], opts ...Option) tensor.Tensor[float64] {
				return ReduceSum(a, axes, opts...)
			})
	}
	return reduceAny("ReduceSum", &a, axes, opts, sumReducer[T]{})
}

// sumReducer is the reducer of ReduceSum.
type sumReducer[T num.Elem] struct{}

func (sumReducer[T]) lines(out, x []T, step, n int) bool { return sumLines(out, x, step, n, false) }

func (sumReducer[T]) rows(out, x []T, from int, down sequence) bool {
	return sumRows(out, x, from, down, false)
}

func (sumReducer[T]) folder() folder[T, T] {
	if f := intFolder[T](plain); f != nil {
		return f
	}
	return floatFolder[T](newTermSum[float32], newTermSum[float64])
}

// termSum adds the elements in the fixed order.
type termSum[T num.Float] struct{ summer }

func newTermSum[T num.Float]() folder[T, float64] { return new(termSum[T]) }

func (f *termSum[T]) take(x []T)      { addTerms(&f.summer, x) }
func (f *termSum[T]) result() float64 { return f.total() }

var reduceSum = opN{about: about{name: "ReduceSum", onnx: []int{1, 11, 13}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2, fast: sumFast,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceSum", c, 13) },
	typed: perType{dtype.Int8: runReduceSum[int8], dtype.Int16: runReduceSum[int16], dtype.Int32: runReduceSum[int32],
		dtype.Int64: runReduceSum[int64], dtype.Uint8: runReduceSum[uint8], dtype.Uint16: runReduceSum[uint16],
		dtype.Uint32: runReduceSum[uint32], dtype.Uint64: runReduceSum[uint64], dtype.Float8E4M3: runReduceSum[num.F8E4M3],
		dtype.Float8E5M2: runReduceSum[num.F8E5M2], dtype.Float16: runReduceSum[num.F16], dtype.BFloat16: runReduceSum[num.BF16],
		dtype.Float32: runReduceSum[float32], dtype.Float64: runReduceSum[float64],
		dtype.Complex64: runReduceSum[complex64], dtype.Complex128: runReduceSum[complex128],
		dtype.FP8x23: runReduceSum[num.FP8x23], dtype.FP16x16: runReduceSum[num.FP16x16], dtype.FP32x32: runReduceSum[num.FP32x32], dtype.FP64x64: runReduceSum[num.FP64x64]}}

func runReduceSum[T num.Number](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceSum", c, 13)
	return one(ReduceSum(as[T]("ReduceSum", c, 0), axes, opts...).Any())
}
