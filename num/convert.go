package num

import "math"

// FromBits returns the number with these bits, NaNs included. The low bits count, as many as the type has: FromBits[Int4](8) is -8.
func FromBits[T Narrow | Stored](b uint16) (x T) {
	switch x := any(&x).(type) {
	case *F16:
		x.bits = b
	case *BF16:
		x.bits = b
	case *F8E4M3:
		x.bits = uint8(b)
	case *F8E5M2:
		x.bits = uint8(b)
	case *F8E4M3FNUZ:
		x.bits = uint8(b)
	case *F8E5M2FNUZ:
		x.bits = uint8(b)
	case *F8E8M0:
		x.bits = uint8(b)
	case *F4E2M1:
		x.bits = uint8(b & 0xf)
	case *Int4:
		x.v = int8(b<<4) >> 4
	case *Uint4:
		x.v = uint8(b & 0xf)
	case *Int2:
		x.v = int8(b<<6) >> 6
	case *Uint2:
		x.v = uint8(b & 3)
	}
	return x
}

// FromFloat64 rounds v to nearest, ties to even, once. A float32 converts to float64 exactly, so that it is rounded once, too. This is
// the result for numbers that are too large, from the first that doesn't round to the largest number on, and for NaN:
//
//	F16         65520 on             infinity          7e00
//	BF16        3.396e38 on          infinity          7fc0
//	F8E4M3      above 464            7f, which is NaN  7f
//	F8E5M2      61440 on             infinity          7e
//	F8E4M3FNUZ  248 on               80, which is NaN  80
//	F8E5M2FNUZ  61440 on             80, which is NaN  80
//	F4E2M1      above 6              6                 -0
//
// Infinities are too large. The result keeps their sign, and NaN has none. In the FNUZ formats numbers that round to -0 give 0. NaN
// becomes -0 in F4E2M1 as in ONNX's node tests; ONNX's page on the format has 6.
func FromFloat64[T Narrow | F4E2M1 | F8E4M3FNUZ | F8E5M2FNUZ](v float64) (x T) {
	switch x := any(&x).(type) {
	case *F16:
		*x = f16From64(v)
	case *BF16:
		*x = bf16From64(v)
	case *F8E4M3:
		*x = f8e4m3From64(v)
	case *F8E5M2:
		*x = f8e5m2From64(v)
	case *F4E2M1:
		x.bits = uint8(FormatF4E2M1.Round(v))
	case *F8E4M3FNUZ:
		x.bits = uint8(FormatF8E4M3FNUZ.Round(v))
	case *F8E5M2FNUZ:
		x.bits = uint8(FormatF8E5M2FNUZ.Round(v))
	}
	return x
}

// Saturate is [FromFloat64], but numbers that are too large, infinities included, become the largest number of their sign. NaN gives
// what it gives there.
func Saturate[T Narrow | F4E2M1 | F8E4M3FNUZ | F8E5M2FNUZ](v float64) T {
	var f Format
	switch any(*new(T)).(type) {
	case F16:
		f = FormatF16
	case BF16:
		f = FormatBF16
	case F8E4M3:
		f = FormatF8E4M3
	case F8E5M2:
		f = FormatF8E5M2
	case F4E2M1:
		f = FormatF4E2M1
	case F8E4M3FNUZ:
		f = FormatF8E4M3FNUZ
	case F8E5M2FNUZ:
		f = FormatF8E5M2FNUZ
	}
	return FromBits[T](f.Saturate(v))
}

// WidenRow sets dst[i] to the value of src[i] for the first len(dst) elements. NaNs keep sign and payload.
func WidenRow[T Narrow](dst []float32, src []T) {
	switch src := any(src).(type) {
	case []F16:
		for i, x := range src[:len(dst)] {
			dst[i] = widenF16(uint32(x.bits))
		}
	case []BF16:
		for i, x := range src[:len(dst)] {
			dst[i] = math.Float32frombits(uint32(x.bits) << 16)
		}
	case []F8E4M3:
		for i, x := range src[:len(dst)] {
			dst[i] = widenF8E4M3(uint32(x.bits))
		}
	case []F8E5M2:
		for i, x := range src[:len(dst)] {
			dst[i] = widenF16(uint32(x.bits) << 8)
		}
	}
}

// NarrowRow sets dst[i] to src[i] as [FromFloat64] rounds it, for the first len(dst) elements.
func NarrowRow[T Narrow](dst []T, src []float32) {
	switch dst := any(dst).(type) {
	case []F16:
		for i, v := range src[:len(dst)] {
			dst[i] = f16From32(v)
		}
	case []BF16:
		for i, v := range src[:len(dst)] {
			dst[i] = bf16From32(v)
		}
	case []F8E4M3:
		for i, v := range src[:len(dst)] {
			dst[i] = f8e4m3From32(v)
		}
	case []F8E5M2:
		for i, v := range src[:len(dst)] {
			dst[i] = f8e5m2From32(v)
		}
	}
}
