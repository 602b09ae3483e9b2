package fixed

import (
	"math/big"
	"math/bits"
)

// fastSinCos returns sine and cosine in Q62, to 2^-60.
func fastSinCos(w int64, frac uint) (sin, cos int64) {
	// |x| 2/π in quadrants, modulo 4, in Q126. The constant is right to 2^-(126-frac), and |w| is at most 2^31.
	k := Int128{int64(uint64(twoOverPiHigh) >> (frac + 2)), uint64(twoOverPiHigh)<<(62-frac) | uint64(twoOverPiLow)>>(frac+2)}
	abs := absInt64(w)
	hi, lo := bits.Mul64(abs, k.Lo)
	hi += abs * uint64(k.Hi)
	quadrant, u := hi>>62, int64(hi<<2|lo>>62) // u in Q64, -1/2 to 1/2 after the carry
	if u < 0 {
		quadrant++
	}
	r := mulHigh(absInt64(u), halfPiQ63) // Q63, up to π/4
	z := mulHigh(r, r) << 2              // Q64
	c := &inverseFactorialQ64
	p := c[15] - mulHigh(z, c[17])
	p = c[13] - mulHigh(z, p)
	p = c[11] - mulHigh(z, p)
	p = c[9] - mulHigh(z, p)
	p = c[7] - mulHigh(z, p)
	p = c[5] - mulHigh(z, p)
	p = c[3] - mulHigh(z, p)
	sin = int64((r - mulHigh(r, mulHigh(z, p))) >> 1)
	p = c[16] - mulHigh(z, c[18])
	p = c[14] - mulHigh(z, p)
	p = c[12] - mulHigh(z, p)
	p = c[10] - mulHigh(z, p)
	p = c[8] - mulHigh(z, p)
	p = c[6] - mulHigh(z, p)
	p = c[4] - mulHigh(z, p)
	p = c[2] - mulHigh(z, p)
	cos = 1<<62 - int64(mulHigh(z, p)>>2)
	if u < 0 {
		sin = -sin
	}
	switch quadrant & 3 {
	case 1:
		sin, cos = cos, -sin
	case 2:
		sin, cos = -sin, -cos
	case 3:
		sin, cos = -cos, sin
	}
	if w < 0 {
		sin = -sin
	}
	return sin, cos
}

// Sin returns the sine of x, in radians, correctly rounded.
func Sin[T Number](x T, mode ...Mode) (T, error) { return call(&sinFunc, x, mode) }

var sinFunc = function{name: "Sin", limbs: limbsSin, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	sin, _ := fastSinCos(w, frac)
	return sin >> (31 - frac), 1 << 4
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	sin, _ := wideSinCos(x.Lsh(x, q-frac), q)
	return sin.Rsh(sin, wideGuard)
}}

// Cos returns the cosine of x, in radians, correctly rounded.
func Cos[T Number](x T, mode ...Mode) (T, error) { return call(&cosFunc, x, mode) }

var cosFunc = function{name: "Cos", limbs: limbsCos, exact: oneAt0, fast: func(w int64, frac uint) (y, e int64) {
	_, cos := fastSinCos(w, frac)
	return cos >> (31 - frac), 1 << 4
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	_, cos := wideSinCos(x.Lsh(x, q-frac), q)
	return cos.Rsh(cos, wideGuard)
}}

// Tan returns the tangent of x, in radians, correctly rounded. It overflows near odd multiples of π/2.
func Tan[T Number](x T, mode ...Mode) (T, error) { return call(&tanFunc, x, mode) }

var tanFunc = function{name: "Tan", limbs: limbsTan, exact: zeroAt0, fast: fastTan, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	sin, cos := wideSinCos(x.Lsh(x, q-frac), q)
	// A tangent of 2^65 or more overflows. Below that, errors grow by 2^130 at most; they are 2^16 units of 2^-q.
	if limit := new(big.Int).Abs(sin); limit.Rsh(limit, 65).CmpAbs(cos) >= 0 {
		huge := unit(p + 65)
		if sin.Sign() != cos.Sign() {
			huge.Neg(huge)
		}
		return huge
	}
	t := divQ(sin, cos, q)
	return t.Rsh(t, wideGuard)
}}

func fastTan(w int64, frac uint) (y, e int64) {
	sin, cos := fastSinCos(w, frac)
	n, d := absInt64(sin), absInt64(cos)
	y = beyond
	if hi := n >> (33 - frac); hi < d>>2 { // below 2^62
		q, _ := bits.Div64(hi, n<<(31+frac), d)
		y = int64(q)
		// The error of the cosine counts tan² fold, and a tangent here is below 2^(31-frac).
		e = 1<<5 + y>>(27+frac)
	}
	if (sin < 0) != (cos < 0) {
		y = -y
	}
	return y, e
}

// angleQ62 returns the arc tangent of a/b in Q62, for a and b below 2^57, not both 0: to 2^-60.
func angleQ62(a, b uint64) int64 {
	if a > b {
		return halfPiQ62 - angleQ62(b, a)
	}
	// atan(a/b) = atan(j/32) + atan(t) for t = (32a - j b)/(32b + j a), at most 1/64.
	j := (64*a + b) / (2 * b)
	n := int64(32*a - j*b)
	abs := absInt64(n)
	t, _ := bits.Div64(abs>>2, abs<<62, 32*b+j*a) // Q62
	square := mulHigh(t<<6, t<<6) >> 8            // Q64
	p := inverseQ64[7] - mulHigh(square, inverseQ64[9])
	p = inverseQ64[5] - mulHigh(square, p)
	p = inverseQ64[3] - mulHigh(square, p)
	s := int64(t - mulHigh(t, mulHigh(square, p)))
	if n < 0 {
		s = -s
	}
	return atanTableQ62[j] + s
}

// Atan returns the arc tangent of x, correctly rounded.
func Atan[T Number](x T, mode ...Mode) (T, error) { return call(&atanFunc, x, mode) }

var atanFunc = function{name: "Atan", limbs: limbsAtan, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	y = angleQ62(absInt64(w), 1<<frac) >> (31 - frac)
	if w < 0 {
		y = -y
	}
	return y, 1 << 4
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	neg := x.Sign() < 0
	a := wideAngle(x.Abs(x), unit(frac), p+wideGuard)
	return signed(a.Rsh(a, wideGuard), neg)
}}

func signed(a *big.Int, neg bool) *big.Int {
	if neg {
		a.Neg(a)
	}
	return a
}

const wantsUnit = "it wants a number from -1 to 1"

func withinOne(w Int128, f *format) bool {
	m, one := w.magnitude(), f.one()
	return m.hi < uint64(one.Hi) || m.hi == uint64(one.Hi) && m.lo <= one.Lo
}

// legs returns |x| and √(1-x²) times 2^56.
func legs(w int64, frac uint) (a, b uint64) {
	abs := absInt64(w)
	n := magnitude{lo: 1<<(2*frac) - abs*abs}.shiftLeft(2 * (56 - frac))
	return abs << (56 - frac), sqrt128(n.hi, n.lo)
}

// wideLegs returns |x| and √(1-x²) in units of 2^-q.
func wideLegs(x *big.Int, frac, q uint) (a, b *big.Int) {
	one := unit(2 * frac)
	b = one.Sub(one, new(big.Int).Mul(x, x))
	b.Lsh(b, 2*(q-frac))
	a = new(big.Int).Abs(x)
	return a.Lsh(a, q-frac), b.Sqrt(b)
}

// Asin returns the arc sine of x, correctly rounded. Beyond ±1 it is an error.
func Asin[T Number](x T, mode ...Mode) (T, error) { return call(&asinFunc, x, mode) }

var asinFunc = function{name: "Asin", limbs: limbsAsin, wants: wantsUnit, defined: withinOne, exact: zeroAt0, fast: func(w int64, frac uint) (y, e int64) {
	y = angleQ62(legs(w, frac)) >> (31 - frac)
	if w < 0 {
		y = -y
	}
	return y, 1 << 5
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	y, c := wideLegs(x, frac, q)
	a := wideAngle(y, c, q)
	return signed(a.Rsh(a, wideGuard), x.Sign() < 0)
}}

// Acos returns the arc cosine of x, between 0 and π, correctly rounded. Beyond ±1 it is an error.
func Acos[T Number](x T, mode ...Mode) (T, error) { return call(&acosFunc, x, mode) }

var acosFunc = function{name: "Acos", limbs: limbsAcos, wants: wantsUnit, defined: withinOne, exact: zeroAt1, fast: func(w int64, frac uint) (y, e int64) {
	a, b := legs(w, frac)
	y = angleQ62(b, a) >> 1
	if w < 0 {
		y = piQ61 - y
	}
	return y >> (30 - frac), 1 << 5
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	c, y := wideLegs(x, frac, q)
	a := wideAngle(y, c, q)
	if x.Sign() < 0 {
		pi := widePi.at(q)
		a = pi.Sub(pi, a)
	}
	return a.Rsh(a, wideGuard)
}}
