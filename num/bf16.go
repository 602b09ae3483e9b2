package num

import "math"

// BF16 is a float32 cut to its upper half: 8 bits of exponent, 7 of fraction, infinities, NaNs and subnormal numbers. The largest
// finite value is about 3.39e38, the smallest positive one 2^-133. The zero value is +0.
type BF16 struct{ bits uint16 }

// bf16From32 rounds f to nearest, ties to even; NaN gives the NaN 7fc0.
func bf16From32(f float32) BF16 {
	b := math.Float32bits(f)
	if b&abs32 > inf32 {
		return BF16{CanonBF16}
	}
	return BF16{uint16((b + 0x7fff + b>>16&1) >> 16)} // the carry of the largest values makes infinity
}

// bf16From64 rounds f to nearest, ties to even, once; NaN gives the NaN 7fc0.
func bf16From64(f float64) BF16 {
	b := math.Float64bits(f)
	if b&abs64 > inf64 {
		return BF16{CanonBF16}
	}
	return BF16{uint16(min(narrow64(b&abs64, 7, 127), 0x7f80)) | uint16(b>>63)<<15}
}

// Bits returns the bits of x.
func (x BF16) Bits() uint16 { return x.bits }

// IsNaN reports whether x is a NaN.
func (x BF16) IsNaN() bool { return x.bits&0x7fff > 0x7f80 }

// Float32 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x BF16) Float32() float32 {
	if x.IsNaN() {
		return NaN32()
	}
	return math.Float32frombits(uint32(x.bits) << 16)
}

// Float64 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x BF16) Float64() float64 {
	if x.IsNaN() {
		return NaN64()
	}
	return float64(x.Float32())
}

// String returns the shortest decimal that [FromFloat64] turns back into x.
func (x BF16) String() string {
	return shortest(x.Float64(), func(y float64) bool { return bf16From64(y) == x || x.IsNaN() })
}
