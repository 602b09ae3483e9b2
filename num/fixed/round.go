package fixed

import "math/bits"

// Floor returns the largest integer that isn't above x.
func Floor[T Number](x T, mode ...Mode) (T, error) {
	return fromWord[T](floorWord(wordOf(x), formatOf[T]().frac)), nil
}

// Ceil returns the smallest integer that isn't below x, or an overflow.
func Ceil[T Number](x T, mode ...Mode) (T, error) {
	f, w := formatOf[T](), wordOf(x)
	down := floorWord(w, f.frac)
	return roundedTo[T]("Ceil", x, down, down != w, mode)
}

// Trunc returns x rounded toward zero to an integer.
func Trunc[T Number](x T, mode ...Mode) (T, error) {
	f, w := formatOf[T](), wordOf(x)
	down := floorWord(w, f.frac)
	return roundedTo[T]("Trunc", x, down, down != w && w.Hi < 0, mode)
}

// Round returns the integer nearest to x, ties to even, or an overflow.
func Round[T Number](x T, mode ...Mode) (T, error) {
	f, w := formatOf[T](), wordOf(x)
	down := floorWord(w, f.frac)
	rest, half := w.plus(down.neg()), int128(1).shl(f.frac-1)
	odd := f.frac == 64 && down.Hi&1 != 0 || f.frac < 64 && down.Lo>>f.frac&1 != 0
	c := rest.cmp(half)
	return roundedTo[T]("Round", x, down, c > 0 || c == 0 && odd, mode)
}

// RoundAway is Round with ties away from zero.
func RoundAway[T Number](x T, mode ...Mode) (T, error) {
	f, w := formatOf[T](), wordOf(x)
	down := floorWord(w, f.frac)
	c := w.plus(down.neg()).cmp(int128(1).shl(f.frac - 1))
	return roundedTo[T]("RoundAway", x, down, c > 0 || c == 0 && w.Hi >= 0, mode)
}

// floorWord clears the bits after the point.
func floorWord(w Int128, frac uint) Int128 {
	if frac == 64 {
		return Int128{w.Hi, 0}
	}
	return Int128{w.Hi, w.Lo &^ (1<<frac - 1)}
}

// roundedTo returns the integer down, or the next one.
func roundedTo[T Number](name string, x T, down Int128, next bool, mode []Mode) (T, error) {
	f := formatOf[T]()
	if !next {
		return fromWord[T](down), nil
	}
	m := down.magnitude()
	if one := f.one().magnitude(); m.neg {
		m = down.plus(f.one()).magnitude()
	} else {
		var c uint64
		m.lo, c = bits.Add64(m.lo, one.lo, 0)
		m.hi, _ = bits.Add64(m.hi, one.hi, c)
	}
	return finish[T](name, m, joinModes(mode), f, 1, wordOf(x), Int128{})
}
