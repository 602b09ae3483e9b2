package tensor

import (
	"math/big"
	"math/bits"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Numbers of fixed point in a row are computed on their words, which are integers.

// numbers are the element types of Linspace and the random numbers.
type numbers interface{ num.Float | num.Fixed }

// floatOf returns v as a float64; fixed point of more than 53 bits is rounded.
func floatOf[T numbers](v T) float64 {
	switch v := any(v).(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	case interface{ Float64() float64 }:
		return v.Float64()
	}
	return 0
}

// word returns the word of fixed point; of anything else it is 0.
func word(v any) (w fixed.Int128) {
	switch v := v.(type) {
	case fixed.FP8x23:
		w = fixed.Bits(v)
	case fixed.FP16x16:
		w = fixed.Bits(v)
	case fixed.FP32x32:
		w = fixed.Bits(v)
	case fixed.FP64x64:
		w = fixed.Bits(v)
	}
	return w
}

// setWords sets each element of a slice of fixed point to the word that next gives for it.
func setWords(data any, next func(i int) fixed.Int128) {
	switch d := data.(type) {
	case []fixed.FP8x23:
		for i := range d {
			d[i] = fixed.FP8x23FromBits(int32(next(i).Lo))
		}
	case []fixed.FP16x16:
		for i := range d {
			d[i] = fixed.FP16x16FromBits(int32(next(i).Lo))
		}
	case []fixed.FP32x32:
		for i := range d {
			d[i] = fixed.FP32x32FromBits(int64(next(i).Lo))
		}
	case []fixed.FP64x64:
		for i := range d {
			d[i] = fixed.FP64x64FromBits(next(i))
		}
	}
}

// sum adds words; the part beyond 128 bits is lost, and comes back with the next term where
// the result is between numbers that aren't.
func sum(a, b fixed.Int128) fixed.Int128 {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), c)
	return fixed.Int128{Hi: int64(hi), Lo: lo}
}

// distance returns b - a.
func distance(a, b fixed.Int128) *big.Int { return new(big.Int).Sub(b.Big(), a.Big()) }

// line returns the words a + i·(b-a)/n one after the other, rounded to nearest, ties to even. It
// keeps the whole part and the rest of each, which grow by the part and rest of the first step.
func line(a, b fixed.Int128, n int) func(int) fixed.Int128 {
	q, r := new(big.Int).DivMod(distance(a, b), big.NewInt(int64(n)), new(big.Int))
	step, _ := fixed.Int128FromBig(q) // q fits where it is used: from n = 2 on
	more, rest, all, one := r.Uint64(), uint64(0), uint64(n), fixed.Int128{Lo: 1}
	return func(int) fixed.Int128 {
		v := a
		if 2*rest > all || 2*rest == all && v.Lo&1 == 1 {
			v = sum(v, one)
		}
		a = sum(a, step)
		if rest += more; rest >= all {
			rest -= all
			a = sum(a, one)
		}
		return v
	}
}

// countTo returns how many words a, a + step, … come before b.
func countTo(a, b, step fixed.Int128) (int, bool) {
	d, s := distance(a, b), step.Big()
	if s.Sign() == 0 {
		return 0, false
	}
	if d.Sign() != s.Sign() {
		return 0, true
	}
	n, rest := new(big.Int).QuoRem(d, s, new(big.Int))
	if rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	return int(n.Int64()), n.IsInt64() && n.Int64() <= int64(maxInt)
}

// uniformWords returns words of [low, high): low + ⌊w·(high-low)/2^128⌋ for the 128 bits w of block i.
func uniformWords(seed uint64, low, high fixed.Int128) func(i int) fixed.Int128 {
	lo, borrow := bits.Sub64(high.Lo, low.Lo, 0)
	hi, _ := bits.Sub64(uint64(high.Hi), uint64(low.Hi), borrow)
	return func(i int) fixed.Int128 {
		w := block(seed, uint64(i), 0, kindUniform)
		// p is the upper 128 bits of the product of w and high-low.
		p1, p0 := bits.Mul64(w[1], hi)
		a1, a0 := bits.Mul64(w[1], lo)
		b1, b0 := bits.Mul64(w[0], hi)
		c1, _ := bits.Mul64(w[0], lo)
		m, k := bits.Add64(a0, b0, 0)
		_, k2 := bits.Add64(m, c1, 0)
		var c uint64
		p0, c = bits.Add64(p0, a1, k)
		p1 += c
		p0, c = bits.Add64(p0, b1, k2)
		p1 += c
		return sum(low, fixed.Int128{Hi: int64(p1), Lo: p0})
	}
}

// setFixed sets each element of a slice of fixed point to the number that next gives, rounded once.
func setFixed(op string, data any, next func(i int) float64) {
	switch d := data.(type) {
	case []fixed.FP8x23:
		roundFixed(op, d, next)
	case []fixed.FP16x16:
		roundFixed(op, d, next)
	case []fixed.FP32x32:
		roundFixed(op, d, next)
	case []fixed.FP64x64:
		roundFixed(op, d, next)
	}
}

func roundFixed[T num.Fixed](op string, d []T, next func(i int) float64) {
	for i := range d {
		v, err := fixed.FromFloat64[T](next(i))
		if err != nil {
			panic(&Error{op, sprintf("element %d: %v", i, err), fixed.ErrOverflow})
		}
		d[i] = v
	}
}
