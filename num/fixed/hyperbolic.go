package fixed

import (
	"math/big"
	"math/bits"
)

// fastExps returns e^|x| and e^-|x|, times 2^(frac+30): half the scale of fast.
func fastExps(w int64, frac uint) (up, down, e int64) {
	if absInt64(w) >= 32<<frac {
		return beyond, 0, 1 << 9
	}
	x := int64(absInt64(w)) << (58 - frac)
	m, n := expParts64(x)
	if n > 32-int(frac) {
		return beyond, 0, 1 << 9
	}
	up = int64(min(m>>uint(33-int(frac)-n), 3<<61)) // the sum of both stays below 2^63
	m, n = expParts64(-x)
	return up, int64(m >> min(uint(33-int(frac)-n), 63)), 1 << 9
}

// wideExps returns e^|x| and e^-|x|. It takes an |x| above 64 as 64.
func wideExps(x *big.Int, frac, q uint) (up, down *big.Int) {
	x = new(big.Int).Abs(clamped(x, frac, 64))
	x.Lsh(x, q-frac)
	up = wideExp(x, q)
	return up, wideExp(x.Neg(x), q)
}

// Sinh returns the hyperbolic sine of x, correctly rounded.
func Sinh[T Number](x T, mode ...Mode) (T, error) { return call(&sinhFunc, x, mode) }

var sinhFunc = function{name: "Sinh", limbs: limbsSinh, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	up, down, e := fastExps(w, frac)
	y = up - down
	if w < 0 {
		y = -y
	}
	return y, 2 * e
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	up, down := wideExps(x, frac, p+wideGuard)
	up.Sub(up, down)
	return signed(up.Rsh(up, wideGuard+1), x.Sign() < 0)
}}

// Cosh returns the hyperbolic cosine of x, correctly rounded.
func Cosh[T Number](x T, mode ...Mode) (T, error) { return call(&coshFunc, x, mode) }

var coshFunc = function{name: "Cosh", limbs: limbsCosh, exact: oneAt0, fast: func(w int64, frac uint) (y, e int64) {
	up, down, e := fastExps(w, frac)
	return up + down, 2 * e
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	up, down := wideExps(x, frac, p+wideGuard)
	up.Add(up, down)
	return up.Rsh(up, wideGuard+1)
}}

// decay returns e^-|x| in Q62, to 2^-54. From |x| = 32 on it returns 0; the value is below 2^-46 there.
func decay(abs uint64, frac uint) uint64 {
	if abs >= 32<<frac {
		return 0
	}
	m, n := expParts64(-int64(abs << (58 - frac)))
	return m >> min(uint(1-n), 63)
}

// Tanh returns the hyperbolic tangent of x, correctly rounded.
func Tanh[T Number](x T, mode ...Mode) (T, error) { return call(&tanhFunc, x, mode) }

var tanhFunc = function{name: "Tanh", limbs: limbsTanh, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	v := decay(2*absInt64(w), frac)
	n := 1<<62 - v
	q, _ := bits.Div64(n>>(33-frac), n<<(31+frac), 1<<62+v)
	if w < 0 {
		return -int64(q), 1 << 10
	}
	return int64(q), 1 << 10
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	up, down := wideExps(x, frac, q)
	sum := new(big.Int).Add(up, down)
	t := divQ(up.Sub(up, down), sum, q)
	return signed(t.Rsh(t, wideGuard), x.Sign() < 0)
}}

// Sigmoid returns 1 / (1 + e^-x), correctly rounded.
func Sigmoid[T Number](x T, mode ...Mode) (T, error) {
	return call(&sigmoidFunc, x, mode)
}

var sigmoidFunc = function{name: "Sigmoid", limbs: limbsSigmoid, exact: func(w Int128, f *format) (magnitude, bool) {
	if w.Hi < 0 && f.atLeast(w, 64) {
		return magnitude{}, true
	}
	return f.one().magnitude().shiftRight(1, 0), w.isZero()
}, fast: func(w int64, frac uint) (y, e int64) {
	v := decay(absInt64(w), frac)
	n := v
	if w > 0 {
		n = 1 << 62
	}
	q, _ := bits.Div64(n>>(33-frac), n<<(31+frac), 1<<62+v)
	return int64(q), 1 << 10
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	_, down := wideExps(x, frac, q)
	n := unit(q)
	if x.Sign() < 0 {
		n.Set(down)
	}
	s := divQ(n, down.Add(down, unit(q)), q)
	return s.Rsh(s, wideGuard)
}}

// Softplus returns log(1 + e^x), correctly rounded.
func Softplus[T Number](x T, mode ...Mode) (T, error) {
	return call(&softplusFunc, x, mode)
}

var softplusFunc = function{name: "Softplus", limbs: limbsSoftplus, exact: func(w Int128, f *format) (magnitude, bool) {
	if w.Hi < 0 {
		return magnitude{}, f.atLeast(w, 64)
	}
	return w.magnitude(), f.atLeast(w, 64) // x + e^-64
}, fast: func(w int64, frac uint) (y, e int64) {
	y = logQ57(1<<62+decay(absInt64(w), frac), 62) >> (26 - frac)
	return y + max(w, 0)<<31, 1 << 10
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	_, down := wideExps(x, frac, q)
	s := wideLog(down.Add(down, unit(q)), q, q)
	if x.Sign() > 0 {
		s.Add(s, new(big.Int).Lsh(x, q-frac))
	}
	return s.Rsh(s, wideGuard)
}}

// rootOfSquare returns |x| + √(x²+sign) times 2^(frac+31), for sign 1 or -1: less than a unit below it.
func rootOfSquare(w int64, frac uint, sign int64) uint64 {
	a := absInt64(w)
	n := magnitude{lo: a*a + uint64(sign)<<(2*frac)}.shiftLeft(62)
	return a<<31 + sqrt128(n.hi, n.lo)
}

// wideRootOfSquare returns |x| + √(x²+sign).
func wideRootOfSquare(x *big.Int, frac, q uint, sign int64) *big.Int {
	n := big.NewInt(sign)
	n.Lsh(n, 2*frac)
	n.Add(n, new(big.Int).Mul(x, x))
	n.Lsh(n, 2*(q-frac))
	a := new(big.Int).Abs(x)
	return n.Add(n.Sqrt(n), a.Lsh(a, q-frac))
}

// Asinh returns the inverse hyperbolic sine of x, correctly rounded.
func Asinh[T Number](x T, mode ...Mode) (T, error) { return call(&asinhFunc, x, mode) }

var asinhFunc = function{name: "Asinh", limbs: limbsAsinh, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	y = logQ57(rootOfSquare(w, frac, 1), frac+31) >> (26 - frac)
	if w < 0 {
		y = -y
	}
	return y, 1 << 5
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	l := wideLog(wideRootOfSquare(x, frac, q, 1), q, q)
	return signed(l.Rsh(l, wideGuard), x.Sign() < 0)
}}

// Acosh returns the inverse hyperbolic cosine of x, from 0 on, correctly rounded. For x < 1 it is an error.
func Acosh[T Number](x T, mode ...Mode) (T, error) { return call(&acoshFunc, x, mode) }

var acoshFunc = function{name: "Acosh", limbs: limbsAcosh, wants: "it wants a number from 1 on", exact: zeroAt1, defined: func(w Int128, f *format) bool {
	return w.cmp(f.one()) >= 0
}, fast: func(w int64, frac uint) (y, e int64) {
	return logQ57(rootOfSquare(w, frac, -1), frac+31) >> (26 - frac), 1 << 5
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	l := wideLog(wideRootOfSquare(x, frac, q, -1), q, q)
	return l.Rsh(l, wideGuard)
}}

// Atanh returns the inverse hyperbolic tangent of x, correctly rounded. At ±1 and beyond it is an error.
func Atanh[T Number](x T, mode ...Mode) (T, error) { return call(&atanhFunc, x, mode) }

var atanhFunc = function{name: "Atanh", limbs: limbsAtanh, wants: "it wants a number between -1 and 1", exact: zeroAt0, defined: func(w Int128, f *format) bool {
	return withinOne(w, f) && w != f.one() && w != f.one().neg()
}, fast: func(w int64, frac uint) (y, e int64) {
	one := int64(1) << frac
	return (logQ57(uint64(one+w), frac) - logQ57(uint64(one-w), frac)) >> (27 - frac), 1 << 5
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q, one := p+wideGuard, unit(frac)
	l := wideLog(new(big.Int).Add(one, x), frac, q)
	l.Sub(l, wideLog(one.Sub(one, x), frac, q))
	return l.Rsh(l, wideGuard+1)
}}

// Erf returns the error function of x, correctly rounded.
func Erf[T Number](x T, mode ...Mode) (T, error) { return call(&erfFunc, x, mode) }

var erfFunc = function{name: "Erf", limbs: limbsErf, exact: zeroAt0, fast: fastErf, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	a := new(big.Int).Abs(clamped(x, frac, 12)) // 1 - erf(12) is 2^-210: larger numbers of FP64x64 round like 12
	v := wideErf(a.Lsh(a, q-frac), q)
	return signed(v.Rsh(v, wideGuard), x.Sign() < 0)
}}

// fastErf computes the Taylor series at the nearest c = j/16, with the Hermite polynomials H:
//
//	erf(c+h) = erf(c) + h Σ p[n]/(n+1)
//	p[n] = 2/√π e^(-c²) (-h)ⁿ H[n](c)/n!
//	|H[n](c)| < 1.09 e^(c²/2) 2^(n/2) √n!
//
// |h| is at most 1/32, so the terms from n = 10 on are below 2^-60.
func fastErf(w int64, frac uint) (y, e int64) {
	abs := absInt64(w)
	if 4*abs >= 17<<frac { // 1 - erf(4.25) is 2^-28.9
		y, e = 1<<(frac+31), 1<<26
	} else {
		j := int64(abs>>(frac-5)+1) >> 1
		h := (int64(abs) - j<<(frac-4)) << (62 - frac)          // Q62
		m, n := expParts64(-j * j << 50)                        // Q58
		p := int64(mulHigh(m>>uint(-n), twoOverRootPiQ62)) << 1 // Q63 and Q62 make Q61
		last := int64(0)
		sum := p
		ch, hh := j*(h>>3), mulHighSigned(h, h)<<3 // 2ch and 2h² in Q62
		for n := int64(1); n < 10; n++ {
			p, last = -(mulHighSigned(ch, p)+mulHighSigned(hh, last))*4/n, p
			sum += p / (n + 1)
		}
		y, e = (erfTableQ62[j]+mulHighSigned(h, sum)<<2)>>(31-frac), 1<<7
	}
	if w < 0 {
		y = -y
	}
	return y, e
}
