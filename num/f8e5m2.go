package num

import "math"

// F8E5M2 is the OCP 8-bit format E5M2, the upper half of an [F16]: 5 bits of exponent, 2 of fraction, infinities, NaNs and subnormal
// numbers. The largest finite value is 57344, the smallest positive one 2^-16. The zero value is +0.
//
// Source: OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
type F8E5M2 struct{ bits uint8 }

// f8e5m2From32 rounds f to nearest, ties to even; from 61440 on it returns infinity. NaN gives the NaN 7e.
func f8e5m2From32(f float32) F8E5M2 {
	b := math.Float32bits(f)
	if b&abs32 > inf32 {
		return F8E5M2{CanonF8E5M2}
	}
	return F8E5M2{uint8(min(narrow32(b&abs32, 2, 15), 0x7c)) | uint8(b>>31)<<7}
}

// f8e5m2From64 rounds f to nearest, ties to even, once; from 61440 on it returns infinity. NaN gives the NaN 7e.
func f8e5m2From64(f float64) F8E5M2 {
	b := math.Float64bits(f)
	if b&abs64 > inf64 {
		return F8E5M2{CanonF8E5M2}
	}
	return F8E5M2{uint8(min(narrow64(b&abs64, 2, 15), 0x7c)) | uint8(b>>63)<<7}
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
