package num

import "strconv"

// The formats of [Stored]: each is a byte in memory, whatever its bits.

// Int4 is an integer of 4 bits in two's complement, from -8 to 7. It is a byte in memory, the int8 of its value, and half a byte in
// files. The zero value is 0.
type Int4 struct{ v int8 }

// Bits returns the 4 bits of x.
func (x Int4) Bits() uint8 { return uint8(x.v) & 0xf }

// Int64 returns the value of x.
func (x Int4) Int64() int64 { return int64(x.v) }

// String returns the value of x in decimal.
func (x Int4) String() string { return strconv.Itoa(int(x.v)) }

// Uint4 is an integer of 4 bits, from 0 to 15. It is a byte in memory and half a byte in files. The zero value is 0.
type Uint4 struct{ v uint8 }

// Bits returns the 4 bits of x.
func (x Uint4) Bits() uint8 { return x.v }

// Int64 returns the value of x.
func (x Uint4) Int64() int64 { return int64(x.v) }

// String returns the value of x in decimal.
func (x Uint4) String() string { return strconv.Itoa(int(x.v)) }

// Int2 is an integer of 2 bits in two's complement, from -2 to 1. It is a byte in memory, the int8 of its value, and a quarter of one
// in files. The zero value is 0.
type Int2 struct{ v int8 }

// Bits returns the 2 bits of x.
func (x Int2) Bits() uint8 { return uint8(x.v) & 3 }

// Int64 returns the value of x.
func (x Int2) Int64() int64 { return int64(x.v) }

// String returns the value of x in decimal.
func (x Int2) String() string { return strconv.Itoa(int(x.v)) }

// Uint2 is an integer of 2 bits, from 0 to 3. It is a byte in memory and a quarter of one in files. The zero value is 0.
type Uint2 struct{ v uint8 }

// Bits returns the 2 bits of x.
func (x Uint2) Bits() uint8 { return x.v }

// Int64 returns the value of x.
func (x Uint2) Int64() int64 { return int64(x.v) }

// String returns the value of x in decimal.
func (x Uint2) String() string { return strconv.Itoa(int(x.v)) }

// F4E2M1 is the OCP 4-bit format E2M1: 2 bits of exponent, 1 of fraction, neither infinity nor NaN. It is a byte in memory and half a
// byte in files. The zero value is +0. The format has these numbers and their negatives:
//
//	0 0.5 1 1.5 2 3 4 6
//
// Source: OCP Microscaling Formats (MX) Specification, version 1.0.
type F4E2M1 struct{ bits uint8 }

// Bits returns the 4 bits of x.
func (x F4E2M1) Bits() uint8 { return x.bits }

// Float64 returns the value of x, exactly.
func (x F4E2M1) Float64() float64 { return FormatF4E2M1.Value(uint16(x.bits)) }

// Float32 returns the value of x, exactly.
func (x F4E2M1) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x as a float32 prints.
func (x F4E2M1) String() string { return format(x.Float64(), 32) }

// F8E4M3FNUZ is a float of 8 bits: 4 of exponent and 3 of fraction. It has subnormal numbers, no infinity, one zero and one NaN, 80.
// The largest value is 240, the smallest positive one 2^-10. The zero value is 0.
//
// Source: B. Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022.
type F8E4M3FNUZ struct{ bits uint8 }

// Bits returns the bits of x.
func (x F8E4M3FNUZ) Bits() uint8 { return x.bits }

// IsNaN reports whether x is NaN.
func (x F8E4M3FNUZ) IsNaN() bool { return x.bits == CanonFNUZ }

// Float64 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E4M3FNUZ) Float64() float64 { return FormatF8E4M3FNUZ.Value(uint16(x.bits)) }

// Float32 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E4M3FNUZ) Float32() float32 { return single(x.Float64()) }

// String returns the value of x as a float32 prints.
func (x F8E4M3FNUZ) String() string { return format(x.Float64(), 32) }

// F8E5M2FNUZ is a float of 8 bits: 5 of exponent and 2 of fraction. It has subnormal numbers, no infinity, one zero and one NaN, 80.
// The largest value is 57344, the smallest positive one 2^-17. The zero value is 0.
//
// Source: B. Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022.
type F8E5M2FNUZ struct{ bits uint8 }

// Bits returns the bits of x.
func (x F8E5M2FNUZ) Bits() uint8 { return x.bits }

// IsNaN reports whether x is NaN.
func (x F8E5M2FNUZ) IsNaN() bool { return x.bits == CanonFNUZ }

// Float64 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E5M2FNUZ) Float64() float64 { return FormatF8E5M2FNUZ.Value(uint16(x.bits)) }

// Float32 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E5M2FNUZ) Float32() float32 { return single(x.Float64()) }

// String returns the value of x as a float32 prints.
func (x F8E5M2FNUZ) String() string { return format(x.Float64(), 32) }

// F8E8M0 is the OCP format E8M0 for scales: the powers of two from 2^-127 to 2^127, and the NaN ff. There is no sign, no zero and no
// infinity. The zero value is 2^-127.
//
// Source: OCP Microscaling Formats (MX) Specification, version 1.0.
type F8E8M0 struct{ bits uint8 }

// F8E8M0FromFloat64 rounds f to a power of two, once. NaN and numbers below 0 give NaN. So do 0, infinity, and numbers that round to a
// power outside the format, unless saturate is set: then numbers that are too large become 2^127. Numbers that are too small, 0 and -0
// included, become 2^-127.
func F8E8M0FromFloat64(f float64, r Rounding, saturate bool) F8E8M0 {
	return F8E8M0{scaleOf(f, r, saturate)}
}

// Bits returns the bits of x.
func (x F8E8M0) Bits() uint8 { return x.bits }

// IsNaN reports whether x is NaN.
func (x F8E8M0) IsNaN() bool { return x.bits == CanonF8E8M0 }

// Float64 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E8M0) Float64() float64 { return FormatF8E8M0.Value(uint16(x.bits)) }

// Float32 returns the value of x, exactly; for NaN it returns the canonical NaN.
func (x F8E8M0) Float32() float32 { return single(x.Float64()) }

// String returns the value of x as a float32 prints.
func (x F8E8M0) String() string { return format(x.Float64(), 32) }

// single returns v as a float32, which holds it exactly, and the canonical NaN for a NaN.
func single(v float64) float32 {
	if v != v {
		return NaN32()
	}
	return float32(v)
}
