package fixed

import (
	"errors"
	"math/bits"
)

// The fixed-point numbers are integers of 32, 64 or 128 bits, two's complement, counted in units of a power of two. There is one zero, and no
// infinity or NaN: a function without a result returns an error. The names and the split of the bits are Orion's (gizatechxyz/orion). Orion's words
// have a separate sign; here the sign takes the top bit, so that FP8x23 and FP16x16 end at 256 and 32768.

// FP8x23 is a number of 32 bits in units of 2^-23: at least -256 and less than 256.
type FP8x23 struct{ bits int32 }

// FP16x16 is a number of 32 bits in units of 2^-16: at least -32768 and less than 32768.
type FP16x16 struct{ bits int32 }

// FP32x32 is a number of 64 bits in units of 2^-32: at least -2^31 and less than 2^31.
type FP32x32 struct{ bits int64 }

// FP64x64 is a number of 128 bits in units of 2^-64: at least -2^63 and less than 2^63.
type FP64x64 struct{ bits Int128 }

// Number is the constraint of the fixed-point numbers.
type Number interface {
	FP8x23 | FP16x16 | FP32x32 | FP64x64
}

// FP8x23FromBits returns b·2^-23.
func FP8x23FromBits(b int32) FP8x23 { return FP8x23{b} }

// FP16x16FromBits returns b·2^-16.
func FP16x16FromBits(b int32) FP16x16 { return FP16x16{b} }

// FP32x32FromBits returns b·2^-32.
func FP32x32FromBits(b int64) FP32x32 { return FP32x32{b} }

// FP64x64FromBits returns b·2^-64.
func FP64x64FromBits(b Int128) FP64x64 { return FP64x64{b} }

// Bits returns x·2^23.
func (x FP8x23) Bits() int32 { return x.bits }

// Bits returns x·2^16.
func (x FP16x16) Bits() int32 { return x.bits }

// Bits returns x·2^32.
func (x FP32x32) Bits() int64 { return x.bits }

// Bits returns x·2^64.
func (x FP64x64) Bits() Int128 { return x.bits }

// String returns the decimal with the fewest digits after the point that [Parse] turns back into x.
func (x FP8x23) String() string { return Format(x, -1) }

// String returns the decimal with the fewest digits after the point that [Parse] turns back into x.
func (x FP16x16) String() string { return Format(x, -1) }

// String returns the decimal with the fewest digits after the point that [Parse] turns back into x.
func (x FP32x32) String() string { return Format(x, -1) }

// String returns the decimal with the fewest digits after the point that [Parse] turns back into x.
func (x FP64x64) String() string { return Format(x, -1) }

// A Mode sets how a result is rounded, or the value of a result beyond the format. Functions take any number of modes. Without one they round to
// nearest, ties to even, and return an error for a result beyond the format.
type Mode uint8

const (
	// TowardZero rounds toward zero.
	TowardZero Mode = 1 << iota
	// Saturate gives the format's largest or smallest number in place of a result beyond it. The logarithm of 0 stays an error.
	Saturate
	// Wrap gives the low bits of the rounded integer, and takes precedence over Saturate. It is for arithmetic and conversions; in other functions,
	// and for infinities, an overflow stays an error.
	Wrap
)

func joinModes(modes []Mode) (m Mode) {
	for _, x := range modes {
		m |= x
	}
	return m
}

// The errors that an [Error] wraps.
var (
	// ErrOverflow: the result is beyond the numbers of the format.
	ErrOverflow = errors.New("overflow")
	// ErrDomain: the function has no value for the arguments.
	ErrDomain = errors.New("no value")
	// ErrSyntax: the text isn't a decimal number.
	ErrSyntax = errors.New("syntax")
)

// An Error reports that a function has no result for its arguments.
type Error struct {
	Func   string // the function's name
	Format string // the format of the result
	Index  int    // in functions of rows, the index of the number
	Err    error  // one of the errors above

	reason string  // why there is no result
	text   string  // the argument as text, if args has none
	of     *format // the format of args
	args   [2]Int128
	n      int
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	arg := e.text
	for i, a := range e.args[:e.n] {
		if i > 0 {
			arg += ", "
		}
		arg += e.of.text(a, -1)
	}
	s := "fixed." + e.Func + "(" + arg + ") in " + e.Format + ": " + e.Err.Error()
	if e.Err == ErrOverflow {
		f := formatNamed(e.Format)
		return s + ": the numbers end at " + f.text(f.last(true), -1) + " and " + f.text(f.last(false), -1)
	}
	return s + ": " + e.reason
}

// A format is a format by its parameters.
type format struct {
	name  string
	width uint // bits
	frac  uint // of which after the point
}

var formats = [4]format{{"FP8x23", 32, 23}, {"FP16x16", 32, 16}, {"FP32x32", 64, 32}, {"FP64x64", 128, 64}}

func formatNamed(name string) *format {
	for i := range formats {
		if formats[i].name == name {
			return &formats[i]
		}
	}
	return nil
}

// formatOf returns the format of a type.
func formatOf[T Number]() *format {
	var x T
	switch any(x).(type) {
	case FP8x23:
		return &formats[0]
	case FP16x16:
		return &formats[1]
	case FP32x32:
		return &formats[2]
	}
	return &formats[3]
}

// wordOf returns x in units of its format.
func wordOf[T Number](x T) Int128 {
	switch x := any(x).(type) {
	case FP8x23:
		return int128(int64(x.bits))
	case FP16x16:
		return int128(int64(x.bits))
	case FP32x32:
		return int128(x.bits)
	case FP64x64:
		return x.bits
	}
	panic("unreachable")
}

// fromWord returns the number whose word is the low bits of w.
func fromWord[T Number](w Int128) (x T) {
	switch x := any(&x).(type) {
	case *FP8x23:
		x.bits = int32(w.Lo)
	case *FP16x16:
		x.bits = int32(w.Lo)
	case *FP32x32:
		x.bits = int64(w.Lo)
	case *FP64x64:
		x.bits = w
	}
	return x
}

// last returns the number of that sign with the largest absolute value.
func (f *format) last(neg bool) Int128 {
	least := Int128{Hi: -1 << 63}
	if f.width < 128 {
		least = int128(-1 << (f.width - 1))
	}
	if neg {
		return least
	}
	return Int128{^least.Hi, ^least.Lo}
}

// one returns 1 in units.
func (f *format) one() Int128 { return int128(1).shl(f.frac) }

// A magnitude is an integer by sign and absolute value. over says that the absolute value has more than 128 bits.
type magnitude struct {
	hi, lo    uint64
	neg, over bool
}

// fits reports whether m is a number of the format.
func (f *format) fits(m magnitude) bool {
	if m.over {
		return false
	}
	hi, lo := uint64(0), uint64(1)<<(f.width-1)
	if f.width == 128 {
		hi, lo = 1<<63, 0
	}
	if m.neg { // least is one more than last
		return m.hi < hi || m.hi == hi && m.lo <= lo
	}
	return m.hi < hi || m.hi == hi && m.lo < lo
}

// finish returns m as a T, or the overflow of the function called name. The error shows the first n of x and y, numbers of the format of.
func finish[T Number](name string, m magnitude, mode Mode, of *format, n int, x, y Int128) (T, error) {
	f := formatOf[T]()
	switch {
	case f.fits(m) || mode&Wrap != 0:
		w := Int128{int64(m.hi), m.lo}
		if m.neg {
			w = w.neg()
		}
		return fromWord[T](w), nil
	case mode&Saturate != 0:
		return fromWord[T](f.last(m.neg)), nil
	}
	var zero T
	return zero, &Error{Func: name, Format: f.name, Err: ErrOverflow, of: of, args: [2]Int128{x, y}, n: n}
}

// noValue returns the error of a function that has no value for the first n of x and y.
func noValue(name, reason string, f *format, n int, x, y Int128) error {
	return &Error{Func: name, Format: f.name, Err: ErrDomain, reason: reason, of: f, args: [2]Int128{x, y}, n: n}
}

// rounded returns m + 1 if the part below m's unit rounds up: cmp is the order of that part relative to a half.
func (m magnitude) rounded(cmp int, mode Mode) magnitude {
	if mode&TowardZero == 0 && (cmp > 0 || cmp == 0 && m.lo&1 == 1) {
		var c uint64
		m.lo, c = bits.Add64(m.lo, 1, 0)
		m.hi, c = bits.Add64(m.hi, 0, c)
		m.over = m.over || c != 0
	}
	return m
}
