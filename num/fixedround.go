package num

import (
	"math/big"
	"math/bits"
	"strconv"
)

// FixedBits returns x in units of its format; the method Bits gives each format's own word.
func FixedBits[T Fixed](x T) Int128 { return fixedWord(x) }

// FixedFromBits returns the number of w units, or an overflow.
func FixedFromBits[T Fixed](w Int128, mode ...FixedMode) (T, error) {
	x, err := finish[T]("FixedFromBits", w.magnitude(), joinModes(mode), fixedFormatOf[T](), 0, Int128{}, Int128{})
	if e, ok := err.(*FixedError); ok {
		e.text = w.String() + " units"
	}
	return x, err
}

// FixedFromBig returns n·2^-frac, rounded once, or an overflow. It takes n over.
func FixedFromBig[T Fixed](n *big.Int, frac uint, mode ...FixedMode) (T, error) {
	f, how := fixedFormatOf[T](), joinModes(mode)
	neg := n.Sign() < 0
	n.Abs(n)
	if frac > f.frac {
		n = quotient(n, new(big.Int).Lsh(big.NewInt(1), frac-f.frac), how)
	} else {
		n.Lsh(n, f.frac-frac)
	}
	m := magnitudeOf(n)
	m.neg = neg
	x, err := finish[T]("FixedFromBig", m, how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*FixedError); ok {
		e.text = "a number of " + strconv.Itoa(max(0, n.BitLen()-int(f.frac))) + " bits before the point"
	}
	return x, err
}

// FloorFixed returns the largest integer that isn't above x.
func FloorFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	return fromFixedWord[T](floorWord(fixedWord(x), fixedFormatOf[T]().frac)), nil
}

// CeilFixed returns the smallest integer that isn't below x, or an overflow.
func CeilFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	f, w := fixedFormatOf[T](), fixedWord(x)
	down := floorWord(w, f.frac)
	return roundedTo[T]("CeilFixed", x, down, down != w, mode)
}

// TruncFixed returns x without what is after the point.
func TruncFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	f, w := fixedFormatOf[T](), fixedWord(x)
	down := floorWord(w, f.frac)
	return roundedTo[T]("TruncFixed", x, down, down != w && w.Hi < 0, mode)
}

// RoundFixed returns the integer nearest to x, the even one of two, or an overflow.
func RoundFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	f, w := fixedFormatOf[T](), fixedWord(x)
	down := floorWord(w, f.frac)
	rest, half := w.plus(down.neg()), int128(1).shl(f.frac-1)
	odd := f.frac == 64 && down.Hi&1 != 0 || f.frac < 64 && down.Lo>>f.frac&1 != 0
	c := rest.cmp(half)
	return roundedTo[T]("RoundFixed", x, down, c > 0 || c == 0 && odd, mode)
}

// RoundAwayFixed is RoundFixed with ties away from zero.
func RoundAwayFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	f, w := fixedFormatOf[T](), fixedWord(x)
	down := floorWord(w, f.frac)
	c := w.plus(down.neg()).cmp(int128(1).shl(f.frac - 1))
	return roundedTo[T]("RoundAwayFixed", x, down, c > 0 || c == 0 && w.Hi >= 0, mode)
}

// floorWord clears the bits after the point.
func floorWord(w Int128, frac uint) Int128 {
	if frac == 64 {
		return Int128{w.Hi, 0}
	}
	return Int128{w.Hi, w.Lo &^ (1<<frac - 1)}
}

// roundedTo returns the integer down, or the next one.
func roundedTo[T Fixed](name string, x T, down Int128, next bool, mode []FixedMode) (T, error) {
	f := fixedFormatOf[T]()
	if !next {
		return fromFixedWord[T](down), nil
	}
	m := down.magnitude()
	if one := f.one().magnitude(); m.neg {
		m = down.plus(f.one()).magnitude()
	} else {
		var c uint64
		m.lo, c = bits.Add64(m.lo, one.lo, 0)
		m.hi, _ = bits.Add64(m.hi, one.hi, c)
	}
	return finish[T](name, m, joinModes(mode), f, 1, fixedWord(x), Int128{})
}

// SoftsignFixed returns x/(1 + |x|), rounded once.
func SoftsignFixed[T Fixed](x T, mode ...FixedMode) (T, error) {
	f, how := fixedFormatOf[T](), joinModes(mode)
	w := fixedWord(x).magnitude()
	var m magnitude
	if f.width == 32 { // |x| 2^frac is below 2^55
		d := w.lo + 1<<f.frac
		q, r := w.lo<<f.frac/d, w.lo<<f.frac%d
		m = magnitude{lo: q}.rounded(order(2*r, d), how)
	} else {
		n, d := w.big(), new(big.Int).Lsh(big.NewInt(1), f.frac)
		n.Abs(n)
		d.Add(d, n)
		m = magnitudeOf(quotient(n.Lsh(n, f.frac), d, how))
	}
	m.neg = w.neg
	return finish[T]("SoftsignFixed", m, how, f, 1, fixedWord(x), Int128{})
}
