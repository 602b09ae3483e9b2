package num

import "math"

// F16 is the IEEE 754 binary16 format: 5 bits of exponent, 10 of fraction, infinities, NaNs and subnormal numbers. The largest finite
// value is 65504, the smallest positive one 2^-24. The zero value is +0.
type F16 struct{ bits uint16 }

// f16From32 rounds f to nearest, ties to even; from 65520 on it returns infinity. NaN gives the NaN 7e00.
func f16From32(f float32) F16 {
	b := math.Float32bits(f)
	if b&abs32 > inf32 {
		return F16{CanonF16}
	}
	return F16{uint16(min(narrow32(b&abs32, 10, 15), 0x7c00)) | uint16(b>>31)<<15}
}

// f16From64 rounds f to nearest, ties to even, once; from 65520 on it returns infinity. NaN gives the NaN 7e00.
func f16From64(f float64) F16 {
	b := math.Float64bits(f)
	if b&abs64 > inf64 {
		return F16{CanonF16}
	}
	return F16{uint16(min(narrow64(b&abs64, 10, 15), 0x7c00)) | uint16(b>>63)<<15}
}

// Bits returns the bits of x.
func (x F16) Bits() uint16 { return x.bits }

// IsNaN reports whether x is a NaN.
func (x F16) IsNaN() bool { return x.bits&0x7fff > 0x7c00 }

// Float32 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F16) Float32() float32 {
	if x.IsNaN() {
		return NaN32()
	}
	return widenF16(uint32(x.bits))
}

// Float64 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F16) Float64() float64 {
	if x.IsNaN() {
		return NaN64()
	}
	return float64(widenF16(uint32(x.bits)))
}

// String returns the shortest decimal that [FromFloat64] turns back into x.
func (x F16) String() string {
	return shortest(x.Float64(), func(y float64) bool { return f16From64(y) == x || x.IsNaN() })
}

// widenF16 puts exponent and fraction where float32 has them and corrects the bias by an exact product, which makes subnormal numbers
// normal. Infinities and NaNs have products of at least 65536. They then get the exponent of float32 infinities and NaNs.
func widenF16(h uint32) float32 {
	f := math.Float32bits(math.Float32frombits(h&0x7fff<<13) * 0x1p112)
	if f >= 0x47800000 {
		f |= inf32
	}
	return math.Float32frombits(f | h&0x8000<<16)
}
