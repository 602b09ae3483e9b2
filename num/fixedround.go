package num

import "math/bits"

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
