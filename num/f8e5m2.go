package num

import "math"

// F8E5M2 is the OCP 8-bit format E5M2, the upper half of an [F16]: 5 bits of exponent, 2 of fraction, infinities, NaNs and subnormal
// numbers. The largest finite value is 57344, the smallest positive one 2^-16. The zero value is +0.
//
// Source: OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
type F8E5M2 struct{ bits uint8 }

// F8E5M2FromBits returns the F8E5M2 with these bits, NaNs included.
func F8E5M2FromBits(b uint8) F8E5M2 { return F8E5M2{b} }

// F8E5M2FromFloat32 rounds f to nearest, ties to even; from 61440 on it returns infinity. NaN gives the NaN 7e. [F8E5M2Saturate]
// saturates instead.
func F8E5M2FromFloat32(f float32) F8E5M2 {
	b := math.Float32bits(f)
	if b&abs32 > inf32 {
		return F8E5M2{CanonF8E5M2}
	}
	return F8E5M2{uint8(min(narrow32(b&abs32, 2, 15), 0x7c)) | uint8(b>>31)<<7}
}

// F8E5M2FromFloat64 rounds f to nearest, ties to even, once; from 61440 on it returns infinity. NaN gives the NaN 7e.
func F8E5M2FromFloat64(f float64) F8E5M2 {
	b := math.Float64bits(f)
	if b&abs64 > inf64 {
		return F8E5M2{CanonF8E5M2}
	}
	return F8E5M2{uint8(min(narrow64(b&abs64, 2, 15), 0x7c)) | uint8(b>>63)<<7}
}

// F8E5M2Saturate rounds f to nearest, ties to even, once; numbers that are too large, infinities included, become ±57344. NaN gives
// the NaN 7e.
func F8E5M2Saturate(f float64) F8E5M2 {
	if math.Abs(f) > 57344 {
		f = math.Copysign(57344, f)
	}
	return F8E5M2FromFloat64(f)
}

// Bits returns the bits of x.
func (x F8E5M2) Bits() uint8 { return x.bits }

// IsNaN reports whether x is a NaN.
func (x F8E5M2) IsNaN() bool { return x.bits&0x7f > 0x7c }

// Float32 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F8E5M2) Float32() float32 {
	if x.IsNaN() {
		return NaN32()
	}
	return widenF16(uint32(x.bits) << 8)
}

// Float64 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F8E5M2) Float64() float64 {
	if x.IsNaN() {
		return NaN64()
	}
	return float64(widenF16(uint32(x.bits) << 8))
}

// String returns the value of x as a float32 prints.
func (x F8E5M2) String() string { return format(x.Float64(), 32) }

// WidenF8E5M2 sets dst[i] to the value of src[i] for the first len(dst) elements. NaNs keep sign and payload.
func WidenF8E5M2(dst []float32, src []F8E5M2) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = widenF16(uint32(src[i].bits) << 8)
	}
}

// NarrowF8E5M2 sets dst[i] to [F8E5M2FromFloat32](src[i]) for the first len(dst) elements.
func NarrowF8E5M2(dst []F8E5M2, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = F8E5M2FromFloat32(src[i])
	}
}
