package tensor

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Float64s returns a function that gives the elements of a by their index as
// float64: for pictures and statistics of a run-time element type. Integers beyond
// 2^53 and fixed-point numbers of more than 53 bits are rounded, a bool is 0 or 1, a complex number its absolute value. The
// function panics as At does. It is nil where a has no elements of its own.
func Float64s(a Any) func(idx ...int) float64 {
	switch t := a.(type) {
	case Tensor[bool]:
		return func(idx ...int) float64 {
			if t.At(idx...) {
				return 1
			}
			return 0
		}
	case Tensor[int8]:
		return plainFloats(t)
	case Tensor[int16]:
		return plainFloats(t)
	case Tensor[int32]:
		return plainFloats(t)
	case Tensor[int64]:
		return plainFloats(t)
	case Tensor[uint8]:
		return plainFloats(t)
	case Tensor[uint16]:
		return plainFloats(t)
	case Tensor[uint32]:
		return plainFloats(t)
	case Tensor[uint64]:
		return plainFloats(t)
	case Tensor[float32]:
		return plainFloats(t)
	case Tensor[float64]:
		return plainFloats(t)
	case Tensor[num.F8E4M3]:
		return roundedFloats(t)
	case Tensor[num.F8E5M2]:
		return roundedFloats(t)
	case Tensor[num.F16]:
		return roundedFloats(t)
	case Tensor[num.BF16]:
		return roundedFloats(t)
	case Tensor[num.FP8x23]:
		return roundedFloats(t)
	case Tensor[num.FP16x16]:
		return roundedFloats(t)
	case Tensor[num.FP32x32]:
		return roundedFloats(t)
	case Tensor[num.FP64x64]:
		return roundedFloats(t)
	case Tensor[complex64]:
		return func(idx ...int) float64 { v := complex128(t.At(idx...)); return magnitude(v) }
	case Tensor[complex128]:
		return func(idx ...int) float64 { return magnitude(t.At(idx...)) }
	}
	return nil
}

func plainFloats[T interface {
	num.Elem
	num.Integer | float32 | float64
}](t Tensor[T]) func(idx ...int) float64 {
	return func(idx ...int) float64 { return float64(t.At(idx...)) }
}

func roundedFloats[T interface {
	num.Elem
	Float64() float64
}](t Tensor[T]) func(idx ...int) float64 {
	return func(idx ...int) float64 { return t.At(idx...).Float64() }
}

// magnitude is the absolute value of a complex number, by steps that are the same on
// every platform.
func magnitude(v complex128) float64 {
	a, b := math.Abs(real(v)), math.Abs(imag(v))
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.Inf(1)
	}
	if a < b {
		a, b = b, a
	}
	if a == 0 || a != a || b != b {
		return a + b
	}
	q := b / a
	return a * math.Sqrt(1+float64(q*q))
}
