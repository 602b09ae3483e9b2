package fixed

import (
	"math/big"
	"math/bits"
)

// Pow returns x to the power y, correctly rounded; 1 for y = 0. For x = 0 and y < 0, and for x < 0 and a y that isn't an integer, it is an
// error.
func Pow[T Number](x, y T, mode ...Mode) (T, error) {
	f, a, b, how := formatOf[T](), wordOf(x), wordOf(y), joinModes(mode)&^Wrap
	abs, exponent := a.magnitude(), b.magnitude()
	whole := exponent.shiftRight(f.frac, TowardZero)
	odd := abs.neg && whole.lo&1 == 1
	integer := whole.shiftLeft(f.frac) == exponent
	var zero T
	switch {
	case b.isZero():
		return finish[T]("Pow", f.one().magnitude(), how, f, 2, a, b)
	case a.isZero() && b.Hi < 0:
		return zero, noValue("Pow", "0 to a negative power", f, 2, a, b)
	case a.isZero():
		return zero, nil
	case abs.neg && !integer:
		return zero, noValue("Pow", "a negative number to a power that isn't an integer", f, 2, a, b)
	}
	var m magnitude
	ok := false
	if f.width == 32 {
		v, e := fastPow(abs.lo, int64(b.Lo), f.frac)
		m, ok = settleFast(v, e, how)
	} else {
		m, ok = limbPow(u128{abs.hi, abs.lo}, b, f.frac).settle(how)
	}
	if !ok {
		m, ok = exactPow(abs.big(), b, f, how)
	}
	if !ok {
		m = settleWide(f, how, func(p uint) *big.Int { return widePow(abs.big(), b.Big(), f.frac, p) })
	}
	m.neg = odd
	return finish[T]("Pow", m, how, f, 2, a, b)
}

// fastPow returns (x 2^-frac)^(y 2^-frac) as the fast functions do.
func fastPow(x uint64, v int64, frac uint) (y, e int64) {
	l, n := logParts(x, frac)
	log2 := n<<58 + mulHighSigned(l, log2eQ62)>>1 // Q61 and Q62 make Q59, and Q58 has room for n
	hi, lo := bits.Mul64(absInt64(log2), absInt64(v))
	t := magnitude{hi: hi, lo: lo}.shiftRight(frac+2, TowardZero) // Q56
	neg := (log2 < 0) != (v < 0)
	if t.hi != 0 || t.lo >= 1<<62 {
		if neg {
			return 0, 1
		}
		return beyond, 0
	}
	if neg {
		t.lo = -t.lo
	}
	m, k := exp2Parts(int64(t.lo))
	y, e = scaled(m, k, frac)
	return y, e + y>>(24+frac) // the logarithm is right to 2^-57, and |y| is at most 2^(31-frac)
}

// exactPow returns x^y if that has finitely many bits, and few enough to lie between two numbers or on one. x is in units, above 0.
func exactPow(x *big.Int, y Int128, f *format, mode Mode) (magnitude, bool) {
	zeros := x.TrailingZeroBits()
	m := new(big.Int).Rsh(x, zeros)
	e := int(zeros) - int(f.frac) // x is m 2^e, m odd
	n := y.Big()
	k := uint(0)
	for ; k < f.frac && n.Bit(0) == 0; k++ {
		n.Rsh(n, 1)
	}
	// y is n 2^(k-frac): frac-k square roots, which must be exact.
	for ; k < f.frac; k++ {
		root := new(big.Int).Sqrt(m)
		if e&1 != 0 || new(big.Int).Mul(root, root).Cmp(m) != 0 {
			return magnitude{}, false
		}
		m, e = root, e/2
		if e == 0 && m.BitLen() == 1 {
			break
		}
	}
	one := m.BitLen() == 1
	switch {
	case one && e == 0:
		return f.one().magnitude(), true
	case !one && (n.Sign() < 0 || n.BitLen() > 8):
		return magnitude{}, false // a fraction with another denominator, or at least 3^256
	case n.BitLen() > 20: // a power of 2, far away
		if (n.Sign() < 0) == (e < 0) {
			return overflows, true
		}
		return magnitude{}, true
	}
	power := int(n.Int64())
	if !one {
		m.Exp(m, n, nil)
	}
	shift := e*power + int(f.frac)
	switch {
	case shift > 128:
		return overflows, true
	case shift >= 0:
		return magnitudeOf(m.Lsh(m, uint(shift))), true
	case m.BitLen()+shift < -1: // below a quarter
		return magnitude{}, true
	}
	return magnitudeOf(quotient(m, unit(uint(-shift)), mode)), true
}

// widePow returns (x 2^-frac)^(y 2^-frac) times 2^p. Its logarithm has 2^16 units of error times |y|, and the power e^64 times that.
func widePow(x, y *big.Int, frac, p uint) *big.Int {
	const guard = wideGuard + 80
	q := p + guard
	t := wideLog(x, frac, q)
	t.Rsh(t.Mul(t, y), frac)
	if limit := unit(q + 6); t.CmpAbs(limit) >= 0 { // e^64 is beyond all formats, e^-64 below half a unit of all
		if t.Sign() < 0 {
			return new(big.Int)
		}
		return unit(p + 92)
	}
	t = wideExp(t, q)
	return t.Rsh(t, guard)
}
