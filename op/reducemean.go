package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceMean returns the means over axes, or over all when axes is nil: the sum in
// float64 in the fixed order of this package, divided by the count, rounded once.
// The mean of nothing is NaN. Of integers it is the exact mean toward zero, and 0 of
// nothing; Cast them for NumPy's mean. Of fixed point it is the exact mean rounded once,
// and of nothing an error. The parts of complex
// numbers are reduced by themselves. The reduced axes go, unless KeepDims. ONNX
// ReduceMean.
func ReduceMean[T num.Number](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if t := ready(opts, dtype.Of[T]()); t != nil && directly(&a, axes, exec.Typed[T](t), meanReducer[T]{}) { // floats alone
		return *exec.Typed[T](t)
	}
	d := dtype.Of[T]()
	if d.IsFixed() {
		return reduceFixed("ReduceMean", a, axes, opts, &fixedMean)
	}
	if d.IsComplex() {
		return byParts("ReduceMean", a, opts, func(a tensor.Tensor[float32], opts ...Option) tensor.Tensor[float32] {
			return ReduceMean(a, axes, opts...)
		},
			func(a tensor.Tensor[float64], opts ...Option) tensor.Tensor[float64] {
				return ReduceMean(a, axes, opts...)
			})
	}
	return reduceAny("ReduceMean", &a, axes, opts, meanReducer[T]{})
}

// meanReducer is the reducer of ReduceMean.
type meanReducer[T num.Elem] struct{}

func (meanReducer[T]) lines(out, x []T, step, n int) bool { return sumLines(out, x, step, n, true) }

func (meanReducer[T]) rows(out, x []T, from int, down sequence) bool {
	return sumRows(out, x, from, down, true)
}

func (meanReducer[T]) folder() folder[T, T] {
	if f := intFolder[T](averages); f != nil {
		return f
	}
	return floatFolder[T](newTermMean[float32], newTermMean[float64])
}

// termMean divides the sum by the count.
type termMean[T num.Float] struct {
	termSum[T]
	n int
}

func newTermMean[T num.Float]() folder[T, float64] { return new(termMean[T]) }

func (f *termMean[T]) start() {
	f.termSum.start()
	f.n = 0
}

func (f *termMean[T]) take(x []T) {
	f.termSum.take(x)
	f.n += len(x)
}

func (f *termMean[T]) result() float64 { return f.total() / float64(f.n) }

var reduceMean = opN{about: about{name: "ReduceMean", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2, fast: sumFast,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceMean", c, 18) },
	typed: perType{dtype.Int8: runReduceMean[int8], dtype.Int16: runReduceMean[int16], dtype.Int32: runReduceMean[int32], dtype.Int64: runReduceMean[int64],
		dtype.Uint8: runReduceMean[uint8], dtype.Uint16: runReduceMean[uint16], dtype.Uint32: runReduceMean[uint32], dtype.Uint64: runReduceMean[uint64],
		dtype.Float8E4M3: runReduceMean[num.F8E4M3], dtype.Float8E5M2: runReduceMean[num.F8E5M2],
		dtype.Float16: runReduceMean[num.F16], dtype.BFloat16: runReduceMean[num.BF16],
		dtype.Float32: runReduceMean[float32], dtype.Float64: runReduceMean[float64],
		dtype.Complex64: runReduceMean[complex64], dtype.Complex128: runReduceMean[complex128],
		dtype.FP8x23: runReduceMean[num.FP8x23], dtype.FP16x16: runReduceMean[num.FP16x16], dtype.FP32x32: runReduceMean[num.FP32x32], dtype.FP64x64: runReduceMean[num.FP64x64]}}

func runReduceMean[T num.Number](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceMean", c, 18)
	return one(ReduceMean(as[T]("ReduceMean", c, 0), axes, opts...).Any())
}
