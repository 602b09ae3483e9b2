package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceL1 returns the sums of magnitudes over axes, or over all when axes is nil,
// added in float64 in the fixed order of this package and rounded once; 0 for
// nothing. Integers wrap. The reduced axes go, unless KeepDims. ONNX ReduceL1.
func ReduceL1[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceL1", a, axes, opts, &fixedL1)
	}
	return reduceTo("ReduceL1", a, axes, opts, l1Folder[T])
}

func l1Folder[T num.Elem]() folder[T, T] {
	if f := intFolder[T](magnitudes); f != nil {
		return f
	}
	return floatFolder[T](newAbsSum[float32], newAbsSum[float64])
}

// absSum adds magnitudes.
type absSum[T num.Float] struct {
	summer
	abs [foldLen]T
}

func newAbsSum[T num.Float]() folder[T, float64] { return new(absSum[T]) }

func (f *absSum[T]) take(x []T) {
	for i, v := range x {
		if v <= 0 {
			v = 0 - v // +0 for both zeros
		}
		f.abs[i] = v
	}
	addTerms(&f.summer, f.abs[:len(x)])
}

func (f *absSum[T]) result() float64 { return f.total() }

var reduceL1 = opN{about: about{name: "ReduceL1", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceL1", c, 18) },
	typed: perType{dtype.Int8: runReduceL1[int8], dtype.Int16: runReduceL1[int16], dtype.Int32: runReduceL1[int32], dtype.Int64: runReduceL1[int64],
		dtype.Uint8: runReduceL1[uint8], dtype.Uint16: runReduceL1[uint16], dtype.Uint32: runReduceL1[uint32], dtype.Uint64: runReduceL1[uint64],
		dtype.Float8E4M3: runReduceL1[num.F8E4M3], dtype.Float8E5M2: runReduceL1[num.F8E5M2],
		dtype.Float16: runReduceL1[num.F16], dtype.BFloat16: runReduceL1[num.BF16],
		dtype.Float32: runReduceL1[float32], dtype.Float64: runReduceL1[float64],
		dtype.FP8x23: runReduceL1[num.FP8x23], dtype.FP16x16: runReduceL1[num.FP16x16], dtype.FP32x32: runReduceL1[num.FP32x32], dtype.FP64x64: runReduceL1[num.FP64x64]}}

func runReduceL1[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceL1", c, 18)
	return one(ReduceL1(as[T]("ReduceL1", c, 0), axes, opts...).Any())
}
