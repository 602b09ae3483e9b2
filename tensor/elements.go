package tensor

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// A boxed is the elements of a storage for code that takes them one by one, whatever
// their type: printing and encoding.
type boxed interface {
	at(i int) any                   // element i
	ref(i int) any                  // a pointer to element i
	elems() any                     // all of them, a []T
	nest(from int, shape []int) any // a copy of the elements that fill a shape, as Nested has them
}

type sliceOf[T num.Elem] []T

func (s sliceOf[T]) at(i int) any  { return s[i] }
func (s sliceOf[T]) ref(i int) any { return &s[i] }
func (s sliceOf[T]) elems() any    { return []T(s) }

// boxed returns the elements, for a caller who knows that they are there.
func (m *storage) boxed() boxed {
	switch m.dtype {
	case dtype.Bool:
		return sliceOf[bool](elems[bool](m))
	case dtype.Int8:
		return sliceOf[int8](elems[int8](m))
	case dtype.Int16:
		return sliceOf[int16](elems[int16](m))
	case dtype.Int32:
		return sliceOf[int32](elems[int32](m))
	case dtype.Int64:
		return sliceOf[int64](elems[int64](m))
	case dtype.Uint8:
		return sliceOf[uint8](elems[uint8](m))
	case dtype.Uint16:
		return sliceOf[uint16](elems[uint16](m))
	case dtype.Uint32:
		return sliceOf[uint32](elems[uint32](m))
	case dtype.Uint64:
		return sliceOf[uint64](elems[uint64](m))
	case dtype.Float8E4M3:
		return sliceOf[num.F8E4M3](elems[num.F8E4M3](m))
	case dtype.Float8E5M2:
		return sliceOf[num.F8E5M2](elems[num.F8E5M2](m))
	case dtype.Float16:
		return sliceOf[num.F16](elems[num.F16](m))
	case dtype.BFloat16:
		return sliceOf[num.BF16](elems[num.BF16](m))
	case dtype.Float32:
		return sliceOf[float32](elems[float32](m))
	case dtype.Float64:
		return sliceOf[float64](elems[float64](m))
	case dtype.Complex64:
		return sliceOf[complex64](elems[complex64](m))
	case dtype.Complex128:
		return sliceOf[complex128](elems[complex128](m))
	case dtype.FP8x23:
		return sliceOf[fixed.FP8x23](elems[fixed.FP8x23](m))
	case dtype.FP16x16:
		return sliceOf[fixed.FP16x16](elems[fixed.FP16x16](m))
	case dtype.FP32x32:
		return sliceOf[fixed.FP32x32](elems[fixed.FP32x32](m))
	case dtype.FP64x64:
		return sliceOf[fixed.FP64x64](elems[fixed.FP64x64](m))
	case dtype.Int2:
		return sliceOf[num.Int2](elems[num.Int2](m))
	case dtype.Int4:
		return sliceOf[num.Int4](elems[num.Int4](m))
	case dtype.Uint2:
		return sliceOf[num.Uint2](elems[num.Uint2](m))
	case dtype.Uint4:
		return sliceOf[num.Uint4](elems[num.Uint4](m))
	case dtype.Float4E2M1:
		return sliceOf[num.F4E2M1](elems[num.F4E2M1](m))
	case dtype.Float8E4M3FNUZ:
		return sliceOf[num.F8E4M3FNUZ](elems[num.F8E4M3FNUZ](m))
	case dtype.Float8E5M2FNUZ:
		return sliceOf[num.F8E5M2FNUZ](elems[num.F8E5M2FNUZ](m))
	case dtype.Float8E8M0:
		return sliceOf[num.F8E8M0](elems[num.F8E8M0](m))
	}
	panic(noType("tensor", m.dtype))
}

func noType(op string, d dtype.DType) *Error {
	return &Error{op, sprintf("no Go type holds %v", d), ErrDType}
}
