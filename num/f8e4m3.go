package num

import "math"

// F8E4M3 is the OCP 8-bit format E4M3 (float8_e4m3fn elsewhere): 4 bits of exponent, 3 of fraction, subnormal numbers, no infinity, and
// of NaNs only 7f and ff. The largest finite value is 448, the smallest positive one 2^-9. The zero value is +0.
//
// Source: OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
type F8E4M3 struct{ bits uint8 }

// f8e4m3From32 rounds f to nearest, ties to even. NaN, infinities and everything beyond ±464, the last value that rounds to
// ±448, give the NaN 7f.
func f8e4m3From32(f float32) F8E4M3 {
	b := math.Float32bits(f)
	c := narrow32(b&abs32, 3, 7)
	if c >= CanonF8E4M3 {
		return F8E4M3{CanonF8E4M3}
	}
	return F8E4M3{uint8(c) | uint8(b>>31)<<7}
}

// f8e4m3From64 rounds f to nearest, ties to even, once. It gives NaN where [f8e4m3From32] does.
func f8e4m3From64(f float64) F8E4M3 {
	b := math.Float64bits(f)
	c := narrow64(b&abs64, 3, 7)
	if c >= CanonF8E4M3 {
		return F8E4M3{CanonF8E4M3}
	}
	return F8E4M3{uint8(c) | uint8(b>>63)<<7}
}

// Bits returns the bits of x.
func (x F8E4M3) Bits() uint8 { return x.bits }

// IsNaN reports whether x is a NaN.
func (x F8E4M3) IsNaN() bool { return x.bits&0x7f == 0x7f }

// Float32 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F8E4M3) Float32() float32 {
	if x.IsNaN() {
		return NaN32()
	}
	return widenF8E4M3(uint32(x.bits))
}

// Float64 returns the value of x, exactly; for a NaN it returns the canonical NaN.
func (x F8E4M3) Float64() float64 {
	if x.IsNaN() {
		return NaN64()
	}
	return float64(widenF8E4M3(uint32(x.bits)))
}

// String returns the value of x as a float32 prints.
func (x F8E4M3) String() string { return format(x.Float64(), 32) }

// widenF8E4M3 is widenF16 for this format; only the code 7f is special.
func widenF8E4M3(h uint32) float32 {
	f := math.Float32bits(math.Float32frombits(h&0x7f<<20) * 0x1p120)
	if f == 0x43f00000 { // 480, were it a number
		f = Canon32
	}
	return math.Float32frombits(f | h&0x80<<24)
}
