package fixed

import (
	"math/big"
	"math/bits"
	"sync"
)

// trigTables holds the constants of sines and arc tangents.
type trigTables struct {
	twoOverPi [3]uint64 // Q190, the high limb first, rounded down
	halfPi    u128      // Q127
	atan      [65]u128  // Q126: the arc tangent of j/64
}

var trigConstants = sync.OnceValue(func() *trigTables {
	const q = 256
	t := new(trigTables)
	pi := widePi.at(q)
	two := divQ(unit(q+1), pi, q)
	for i := range t.twoOverPi {
		t.twoOverPi[i] = magnitudeOf(new(big.Int).Rsh(two, q-190+128-64*uint(i))).lo
	}
	t.halfPi = limbsOf(pi, q-126)
	for j := range t.atan {
		t.atan[j] = limbsOf(wideAngle(big.NewInt(int64(j)), big.NewInt(64), q), q-126)
	}
	return t
})

// limbAngle is |x| less a multiple of π/2.
type limbAngle struct {
	quadrant uint64 // which multiple, modulo 4
	neg      bool
	r, z     u128 // the absolute value of the rest, at most π/4, in Q127, and its square in Q128
}

// limbReduce returns the angle of a number of the wide formats: r to 8 units.
func limbReduce(abs u128, frac uint) (a limbAngle) {
	t := trigConstants()
	w := abs.shl(64 - frac) // Q64
	// These are the limbs of |x| 2/π in Q254 without the lowest: the constant's error makes 2^-127. Quadrants count modulo 4, so higher limbs are left
	// out.
	k := &t.twoOverPi
	h00, _ := bits.Mul64(w.lo, k[2])
	h01, l01 := bits.Mul64(w.lo, k[1])
	h10, l10 := bits.Mul64(w.hi, k[2])
	h02, l02 := bits.Mul64(w.lo, k[0])
	h11, l11 := bits.Mul64(w.hi, k[1])
	l12 := w.hi * k[0]
	p1, c := bits.Add64(h00, l01, 0)
	p2, c := bits.Add64(h01, l02, c)
	p3 := h02 + c
	p1, c = bits.Add64(p1, l10, 0)
	p2, c = bits.Add64(p2, h10, c)
	p3 += c
	p2, c = bits.Add64(p2, l11, 0)
	p3 += h11 + l12 + c
	a.quadrant = p3 >> 62
	u := u128{p3<<2 | p2>>62, p2<<2 | p1>>62} // Q128
	if u.hi>>63 != 0 {
		a.quadrant++
		a.neg = true
		u = u128{}.sub(u)
	}
	a.r = u.mulHigh(t.halfPi)
	a.z = a.r.mulHigh(a.r).shl(2)
	return a
}

// trigError bounds the error of sine and cosine of angles up to π/4, in units of Q126. It counts the errors of r and z, of some ten products, and
// of the terms left out, 2^-112.
const trigError = 1 << 16

func (a *limbAngle) sin() u128 {
	f := &limbConstants().factorial
	p := f[27]
	for n := 25; n >= 3; n -= 2 {
		p = f[n].sub(a.z.mulHigh(p))
	}
	return a.r.sub(a.r.mulHigh(a.z.mulHigh(p))).shr(1)
}

func (a *limbAngle) cos() u128 {
	f := &limbConstants().factorial
	p := f[28]
	for n := 26; n >= 2; n -= 2 {
		p = f[n].sub(a.z.mulHigh(p))
	}
	return u128{1 << 62, 0}.sub(a.z.mulHigh(p).shr(2))
}

// value returns the sine of the angle and quarter turns.
func (a *limbAngle) value(quarters uint64) (m u128, neg bool) {
	switch q := (a.quadrant + quarters) & 3; q {
	case 0, 2:
		return a.sin(), a.neg != (q == 2)
	default:
		return a.cos(), q == 3
	}
}

func limbsSin(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	a := limbReduce(abs, frac)
	m, minus := a.value(0)
	return approximation{m: m, n: 126 - int(frac), e: trigError, neg: neg != minus}
}

func limbsCos(w Int128, frac uint) approximation {
	abs, _ := abs128(w)
	a := limbReduce(abs, frac)
	m, neg := a.value(1)
	return approximation{m: m, n: 126 - int(frac), e: trigError, neg: neg}
}

func limbsTan(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	a := limbReduce(abs, frac)
	s, minusS := a.value(0)
	c, minusC := a.value(1)
	z := c.leadingZeros() // 1 and more
	if z > 40 {
		return approximation{}
	}
	// The cosine is at least 2^(1-z), so the tangent is at most 2^(z-1). Sine and cosine have errors of 2^-110. The error of the quotient is below
	// 2^(2z-110): 2^(z+18) in Q(128-z).
	return approximation{m: s.quo(c.shl(z)), n: 128 - int(z) - int(frac), e: 1 << (z + 19), neg: neg != (minusS != minusC)}
}

// angleError bounds the error of limbArc, and of functions that call it, in units of Q126.
const angleError = 1 << 12

// limbArc returns the arc tangent of y/x in Q126, to 2^-118. y and x have the same unit and aren't both 0. Their errors count relative to √(x²+y²).
func limbArc(y, x u128) u128 {
	t := trigConstants()
	if x.less(y) {
		return t.halfPi.shr(1).sub(limbArc(x, y))
	}
	// Shift x to 120 bits.
	if z := x.leadingZeros(); z >= 8 {
		x, y = x.shl(z-8), y.shl(z-8)
	} else {
		x, y = x.shr(8-z), y.shr(8-z)
	}
	j, _ := bits.Div64(y.hi>>57, y.hi<<7, x.hi)
	j = min((j+1)/2, 64)                         // 64y/x, nearly to nearest
	num, den := y.shl(6), x.shl(6).add(y.mul(j)) // (y/x - j/64) / (1 + j/64 y/x)
	jx := x.mul(j)
	neg := num.less(jx)
	if neg {
		num = jx.sub(num)
	} else {
		num = num.sub(jx)
	}
	z := den.leadingZeros()
	s := num.shl(z).quo(den.shl(z)) // Q128, below 2^-6
	// s - s³/3 + s⁵/5 - …: the first term left out is below 2^-124. The terms from s^10 on have 64 bits: an error below 2^-124.
	sq := s.mulHigh(s)
	f := &limbConstants().inverse
	h := f[15].hi - mulHigh(sq.hi, f[17].hi)
	h = f[13].hi - mulHigh(sq.hi, h)
	p := u128{f[11].hi - mulHigh(sq.hi, h), 0}
	for k := 4; k >= 1; k-- {
		p = f[2*k+1].sub(sq.mulHigh(p))
	}
	s = s.sub(s.mulHigh(sq.mulHigh(p))).shr(2)
	if neg {
		if t.atan[j].less(s) {
			return u128{}
		}
		return t.atan[j].sub(s)
	}
	return t.atan[j].add(s)
}

// mul returns a n, below 2^128.
func (a u128) mul(n uint64) u128 {
	hi, lo := bits.Mul64(a.lo, n)
	return u128{hi + a.hi*n, lo}
}

func limbsAtan(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	return approximation{m: limbArc(abs, u128{0, 1}.shl(frac)), n: 126 - int(frac), e: angleError, neg: neg}
}

// limbSqrt returns √n as m 2^-s, for n > 0, to a relative error of 2^-125. m is at least 2^127.
func limbSqrt(n u128) (m u128, s int) {
	z := n.leadingZeros() &^ 1
	n = n.shl(z)
	root := sqrt128(n.hi, n.lo)
	h, l := bits.Mul64(root, root)
	rest := n.sub(u128{h, l}) // at most twice the root
	low := uint64(1<<64 - 1)
	if hi := rest.shr(1).lo; hi < root {
		low, _ = bits.Div64(hi, rest.lo<<63, root) // √(root² + rest) is root + rest/(2 root), less than a unit more of the lower limb
	}
	return u128{root, low}, 64 + int(z/2)
}

// limbLegs returns |x| and √(1-x²) in Q119, for |x| up to 1.
func limbLegs(w Int128, frac uint) (a, b u128) {
	abs, _ := abs128(w)
	square := u128{}.sub(abs.mul128(abs)) // in Q(2 frac): 1 - x² modulo 2^128
	if frac < 64 {
		square = u128{0, 1}.shl(2 * frac).sub(abs.mul128(abs))
	}
	a = abs.shl(119 - frac)
	switch {
	case abs == u128{}:
		return a, u128{1 << 55, 0}
	case square == u128{}:
		return a, u128{}
	}
	m, s := limbSqrt(square)
	return a, m.shr(uint(s + int(frac) - 119))
}

// mul128 returns a b modulo 2^128.
func (a u128) mul128(b u128) u128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return u128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

func limbsAsin(w Int128, frac uint) approximation {
	a, b := limbLegs(w, frac)
	return approximation{m: limbArc(a, b), n: 126 - int(frac), e: angleError, neg: w.Hi < 0}
}

func limbsAcos(w Int128, frac uint) approximation {
	a, b := limbLegs(w, frac)
	m := limbArc(b, a)
	if w.Hi < 0 {
		m = trigConstants().halfPi.sub(m)
	}
	return approximation{m: m, n: 126 - int(frac), e: angleError}
}
