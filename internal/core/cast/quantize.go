package cast

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// The rows between numbers and their codes in bytes. Scales, zero points and addends are as long as the result.

// Quantize sets dst[i] to a[i]/scale[i], rounded to float32, then to the nearest integer, ties to even, plus zero[i], a whole number, saturated. NaN
// is 0.
func Quantize[T int8 | uint8](dst []T, a, scale, zero []float32) {
	switch dst := any(dst).(type) {
	case []int8:
		if simd.TryQuantizeI8(dst, a, scale, zero) {
			return
		}
	case []uint8:
		if simd.TryQuantizeU8(dst, a, scale, zero) {
			return
		}
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64(float32(a[i]/scale[i]))) + float64(zero[i]))
	}
}

// Dequantize sets dst[i] to (a[i] − zero[i])·scale[i], rounded once. NaN is canonical.
func Dequantize[T int8 | uint8](dst []float32, a []T, scale, zero []float32) {
	switch a := any(a).(type) {
	case []int8:
		if simd.TryDequantizeI8(dst, a, scale, zero) {
			return
		}
	case []uint8:
		if simd.TryDequantizeU8(dst, a, scale, zero) {
			return
		}
	}
	for i := range dst {
		dst[i] = float32((float32(a[i]) - zero[i]) * scale[i])
	}
	if canon := CanonFor[float32](); canon != nil {
		canon(dst)
	}
}

// Requantize sets dst[i] to (sums[i] + plus[i])·factor[i]/scale, rounded to the nearest integer, ties to even, plus zero, saturated. plus has
// whole numbers below 2⁵², so the sum is exact. Every other step is rounded to float64. NaN is 0.
func Requantize[T int8 | uint8](dst []T, sums []int32, factor, plus []float64, scale, zero float64) {
	switch dst := any(dst).(type) {
	case []int8:
		if simd.TryRequantizeI8(dst, sums, factor, plus, scale, zero) {
			return
		}
	case []uint8:
		if simd.TryRequantizeU8(dst, sums, factor, plus, scale, zero) {
			return
		}
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64((float64(sums[i])+plus[i])*factor[i])/scale) + zero)
	}
}

// RequantizeRow is Requantize with one factor and one addend.
func RequantizeRow[T int8 | uint8](dst []T, sums []int32, factor, plus, scale, zero float64) {
	switch dst := any(dst).(type) {
	case []int8:
		if simd.TryRequantizeRowI8(dst, sums, factor, plus, scale, zero) {
			return
		}
	case []uint8:
		if simd.TryRequantizeRowU8(dst, sums, factor, plus, scale, zero) {
			return
		}
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64((float64(sums[i])+plus)*factor)/scale) + zero)
	}
}

// saturated returns a whole number as an element; NaN is 0.
func saturated[T int8 | uint8](v float64) T {
	lo, hi := 0.0, 255.0
	if least := T(0); least-1 < 0 {
		lo, hi = math.MinInt8, math.MaxInt8
	}
	switch {
	case v != v:
		return 0
	case v < lo:
		return T(lo)
	case v > hi:
		return T(hi)
	}
	return T(v)
}
