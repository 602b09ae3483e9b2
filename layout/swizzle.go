package layout

import (
	"fmt"
	"math/bits"
)

// A Swizzle permutes offsets so that neighbours in a column fall into different
// memory banks: it flips bits of an offset by other bits of it. With b bits, base m
// and shift s,
//
//	x → x XOR ((x AND Y) >> s), Y = (2^b − 1) << (m + max(0,s)),
//
// where >> by a negative shift is <<. It is its own inverse, and permutes every
// stretch of 2^(b+m+|s|) offsets that begins at a multiple of that. The zero value
// changes nothing. Source: CuTe's Swizzle<B,M,S>.
type Swizzle struct{ bits, base, shift int }

// NewSwizzle returns the Swizzle of b bits, base m and shift s. It fails when bits
// or base is negative, the shift is smaller than bits in magnitude (bits would flip
// themselves), or 2^(b+m+|s|) does not fit an int.
func NewSwizzle(b, m, s int) (Swizzle, error) {
	w := Swizzle{b, m, s}
	size := s
	if s < 0 {
		size = -s
	}
	const limit = bits.UintSize - 2
	switch {
	case b < 0 || m < 0:
		return Swizzle{}, fail("NewSwizzle", ErrRange, "%v: bits and base aren't negative", w)
	case size < b && size >= 0:
		return Swizzle{}, fail("NewSwizzle", ErrRange, "%v: a shift of less than %d bits lets bits flip themselves", w, b)
	case size < 0 || size > limit || b > limit || m > limit || b+m+size > limit:
		return Swizzle{}, fail("NewSwizzle", ErrOverflow, "%v: more than %d bits don't fit an int", w, limit)
	}
	return w, nil
}

// Bits returns how many bits of an offset change.
func (w Swizzle) Bits() int { return w.bits }

// Base returns the lowest bit that is read or changes.
func (w Swizzle) Base() int { return w.base }

// Shift returns how far the bits that are read lie above the bits that change.
func (w Swizzle) Shift() int { return w.shift }

// Size returns how many offsets are permuted among each other: 2^(b+m+|s|).
func (w Swizzle) Size() int { return 1 << (w.bits + w.base + max(w.shift, -w.shift)) }

// At returns the offset that x goes to. Negative offsets work too, as the bits of
// their two's complement.
func (w Swizzle) At(x int) int {
	y := x & ((1<<w.bits - 1) << (w.base + max(0, w.shift)))
	if w.shift < 0 {
		return x ^ y<<-w.shift
	}
	return x ^ y>>w.shift
}

// String writes the swizzle as CuTe prints it: Sw<2,0,3>.
func (w Swizzle) String() string { return fmt.Sprintf("Sw<%d,%d,%d>", w.bits, w.base, w.shift) }

// Upcast returns the swizzle of elements n times as wide: U with
//
//	U(x) = ⌊w(n·x + i) / n⌋ for every 0 ≤ i < n.
//
// It fails when n isn't a power of two, or when there is none because bits inside a
// wide element decide where it goes.
func (w Swizzle) Upcast(n int) (Swizzle, error) {
	k, err := log2("Swizzle.Upcast", w, n)
	if err != nil {
		return Swizzle{}, err
	}
	inside := k - w.base - max(0, -w.shift) // how many of the flipped bits lie inside a wide element
	switch {
	case w.base >= k:
		return Swizzle{w.bits, w.base - k, w.shift}, nil
	case inside >= w.bits || w.bits == 0:
		return Swizzle{}, nil
	case w.shift < 0:
		return Swizzle{}, fail("Swizzle.Upcast", ErrDivide, "%v by %d: bits inside a wide element decide where it goes", w, n)
	}
	return Swizzle{w.bits - inside, 0, w.shift}, nil
}

// Downcast returns the swizzle of elements n times as narrow: D with
//
//	D(n·x + i) = n·w(x) + i for 0 ≤ i < n.
//
// It fails when n isn't a power of two, or the result doesn't fit an int.
func (w Swizzle) Downcast(n int) (Swizzle, error) {
	k, err := log2("Swizzle.Downcast", w, n)
	if err != nil {
		return Swizzle{}, err
	}
	d, err := NewSwizzle(w.bits, w.base+k, w.shift)
	if err != nil {
		return Swizzle{}, renamed("Swizzle.Downcast", err)
	}
	return d, nil
}

func log2(op string, w Swizzle, n int) (int, error) {
	if n <= 0 || n&(n-1) != 0 {
		return 0, fail(op, ErrDivide, "%v by %d, which is no power of two", w, n)
	}
	return bits.TrailingZeros(uint(n)), nil
}
