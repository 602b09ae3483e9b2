package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReduceProd returns the products over axes, or over all when axes is nil; 1 for
// nothing. Integers wrap. Floats are multiplied in float64, one after the other
// in row-major order, and rounded once; fixed point is multiplied exactly and rounded
// once. The reduced axes go, unless KeepDims.
// ONNX ReduceProd.
func ReduceProd[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return reduceFixed("ReduceProd", a, axes, opts, &fixedProd)
	}
	return reduceTo("ReduceProd", a, axes, opts, prodFolder[T])
}

func prodFolder[T num.Elem]() folder[T, T] {
	var f any
	switch any((*T)(nil)).(type) {
	case *int8:
		f = new(intProd[int8])
	case *int16:
		f = new(intProd[int16])
	case *int32:
		f = new(intProd[int32])
	case *int64:
		f = new(intProd[int64])
	case *uint8:
		f = new(intProd[uint8])
	case *uint16:
		f = new(intProd[uint16])
	case *uint32:
		f = new(intProd[uint32])
	case *uint64:
		f = new(intProd[uint64])
	default:
		return floatFolder[T](newTermProd[float32], newTermProd[float64])
	}
	return f.(folder[T, T])
}

type intProd[T num.Integer] struct{ prod T }

func (f *intProd[T]) start() { f.prod = 1 }
func (f *intProd[T]) take(x []T) {
	for _, v := range x {
		f.prod *= v
	}
}
func (f *intProd[T]) result() T { return f.prod }

type termProd[T num.Float] struct{ prod float64 }

func newTermProd[T num.Float]() folder[T, float64] { return new(termProd[T]) }

func (f *termProd[T]) start() { f.prod = 1 }
func (f *termProd[T]) take(x []T) {
	for _, v := range x {
		f.prod *= float64(v)
	}
}
func (f *termProd[T]) result() float64 { return f.prod }

var reduceProd = opN{about: about{name: "ReduceProd", onnx: []int{1, 11, 13, 18}, attrs: []string{"axes", "keepdims", "noop_with_empty_axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("ReduceProd", c, 18) },
	typed: perType{dtype.Int8: runReduceProd[int8], dtype.Int16: runReduceProd[int16], dtype.Int32: runReduceProd[int32],
		dtype.Int64: runReduceProd[int64], dtype.Uint8: runReduceProd[uint8], dtype.Uint16: runReduceProd[uint16],
		dtype.Uint32: runReduceProd[uint32], dtype.Uint64: runReduceProd[uint64],
		dtype.Float8E4M3: runReduceProd[num.F8E4M3], dtype.Float8E5M2: runReduceProd[num.F8E5M2],
		dtype.Float16: runReduceProd[num.F16], dtype.BFloat16: runReduceProd[num.BF16],
		dtype.Float32: runReduceProd[float32], dtype.Float64: runReduceProd[float64],
		dtype.FP8x23: runReduceProd[num.FP8x23], dtype.FP16x16: runReduceProd[num.FP16x16], dtype.FP32x32: runReduceProd[num.FP32x32], dtype.FP64x64: runReduceProd[num.FP64x64]}}

func runReduceProd[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("ReduceProd", c, 18)
	return one(ReduceProd(as[T]("ReduceProd", c, 0), axes, opts...).Any())
}
