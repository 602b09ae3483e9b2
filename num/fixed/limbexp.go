package fixed

import (
	"math/big"
	"math/bits"
	"sync"
)

// limbExp returns e^x as m 2^n, to a relative error of 2^-124. x is in Q120, with |x| below 64; m is in Q127, between 1 and 2.
func limbExp(x Int128) (m u128, n int) {
	t := limbConstants()
	// x is k ln2/64 + r. The quotient is right to 2^-40, so that k is too small or too large by one at most.
	k := mulHighSigned(x.Hi<<1|int64(x.Lo>>63), log2eQ62) >> 49 // Q57 and Q62 make Q55
	c := u128{t.ln2Over64[0], t.ln2Over64[1]}
	abs := absInt64(k)
	h0, _ := bits.Mul64(t.ln2Over64[2], abs)
	h1, l1 := bits.Mul64(c.lo, abs)
	h2, l2 := bits.Mul64(c.hi, abs)
	lo, carry := bits.Add64(l1, h0, 0)
	hi, carry := bits.Add64(l2, h1, carry)
	top := h2 + carry
	r := u128{uint64(x.Hi)<<8 | x.Lo>>56, x.Lo << 8} // the fraction of x in Q128; above holds the sign and the integer part
	above := uint64(x.Hi >> 56)
	if k < 0 {
		r.lo, carry = bits.Add64(r.lo, lo, 0)
		r.hi, carry = bits.Add64(r.hi, hi, carry)
		above += top + carry
	} else {
		r.lo, carry = bits.Sub64(r.lo, lo, 0)
		r.hi, carry = bits.Sub64(r.hi, hi, carry)
		above -= top + carry
	}
	if above != 0 {
		k--
		r = r.add(c)
	} else if !r.less(c) {
		k++
		r = r.sub(c)
	}
	// e^r - 1, r below 2^-6.5. The first term left out is 2^-138. The terms from r^10 on have 64 bits: an error of 2^-129.
	f := &inverseFactorialQ64
	h := f[13] + mulHigh(r.hi, f[14])
	h = f[12] + mulHigh(r.hi, h)
	h = f[11] + mulHigh(r.hi, h)
	p := u128{f[10] + mulHigh(r.hi, h), 0}
	for i := 9; i >= 2; i-- {
		p = t.factorial[i].add(r.mulHigh(p))
	}
	q := r.add(r.mulHigh(r.mulHigh(p)))
	m = t.exp2[k&63]
	if m = m.add(m.mulHigh(q)); m.hi>>63 == 0 { // rounded up to 2
		m = u128{1<<64 - 1, 1<<64 - 1}
	}
	return m, int(k >> 6)
}

// limbScaled returns m 2^n as an approximation, m in Q127 with an error of e units. The wide formats have frac bits before the point too, with the
// sign.
func limbScaled(m u128, n int, frac uint, e uint64, neg bool) approximation {
	return approximation{m: m, n: 127 - int(frac) - n, e: e, neg: neg, over: n >= int(frac)}
}

// limbDecay returns e^-d in Q127 and a bound of its error in units of 2^-127, for d >= 0. From d = 64 on, v is one unit; e^-64 is 2^-92, or 2^35
// units.
func limbDecay(d u128, frac uint) (v u128, e uint64) {
	if !d.less(u128{0, 64}.shl(frac)) {
		return u128{0, 1}, 1 << 35
	}
	if d == (u128{}) {
		return u128{1<<63 - 1, 1<<64 - 1}, 1 // it stays below 1
	}
	m, n := limbExp(d.shl(120 - frac).int128(true))
	return m.shr(min(uint(-n), 127)), 17
}

// limbArgument returns |x|, whether x is negative, and whether it is below 64 in absolute value.
func limbArgument(w Int128, frac uint) (abs u128, neg, ok bool) {
	abs, neg = abs128(w)
	return abs, neg, abs.less(u128{0, 64}.shl(frac))
}

// limbLogParts returns the logarithm of u 2^-frac, u > 0, as l + n ln2 with l in Q120, to 4 units.
func limbLogParts(u u128, frac int) (l Int128, n int) {
	t := limbConstants()
	z := u.leadingZeros()
	m := u.shl(z) // Q127, between 1 and 2
	j := m.hi >> 57 & 63
	c := u128{(2*j + 129) << 56, 0}
	d, neg := m.sub(c), m.less(c)
	if neg {
		d = c.sub(m)
	}
	// s = (m-c)/(m+c) is at most 2^-8. log(m/c) is 2 atanh(s). The first term left out of its series is 2^-139.
	y := d.quo(m.shr(1).add(c.shr(1))) // Q128: 2s
	s := y.mulHigh(y).shr(2)
	h := t.inverse[13].hi + mulHigh(s.hi, t.inverse[15].hi) // 2^-64 of s⁸ is 2^-128
	h = t.inverse[11].hi + mulHigh(s.hi, h)
	p := u128{t.inverse[9].hi + mulHigh(s.hi, h), 0}
	for k := 3; k >= 1; k-- {
		p = t.inverse[2*k+1].add(s.mulHigh(p))
	}
	y = y.add(y.mulHigh(s.mulHigh(p)))
	return t.log[j].shr(8).int128(false).plus(y.shr(8).int128(neg)), 127 - int(z) - frac
}

// limbLog returns the logarithm of u 2^-frac in Q120: to 4 + |n|/2 units. n is that of limbLogParts, at most 128.
func limbLog(u u128, frac int) Int128 {
	l, n := limbLogParts(u, frac)
	abs := absInt64(int64(n))
	c := limbConstants().ln2Q120
	hi, lo := bits.Mul64(c.Lo, abs)
	return l.plus(u128{hi + uint64(c.Hi)*abs, lo}.int128(n < 0))
}

// logError bounds the error of limbLog, and of functions that call it, in units of Q120.
const logError = 1 << 8

func limbsExp(w Int128, frac uint) approximation {
	abs, neg, ok := limbArgument(w, frac)
	if !ok {
		return approximation{}
	}
	m, n := limbExp(abs.shl(120 - frac).int128(neg))
	return limbScaled(m, n, frac, 1<<5, false)
}

func limbsExp2(w Int128, frac uint) approximation {
	abs, neg, ok := limbArgument(w, frac)
	if !ok {
		return approximation{}
	}
	m, n := limbExp(abs.shl(120 - frac).mulHigh(limbConstants().ln2).int128(neg)) // a unit of Q120 is 2^-120 of the result
	return limbScaled(m, n, frac, 1<<10, false)
}

func limbsLog(w Int128, frac uint) approximation {
	u, _ := abs128(w)
	return signedApproximation(limbLog(u, int(frac)), 120-int(frac), logError)
}

func limbsLog2(w Int128, frac uint) approximation {
	u, _ := abs128(w)
	l, n := limbLogParts(u, int(frac))
	m, neg := abs128(l)
	l = m.mulHigh(limbConstants().log2e).shl(1).int128(neg) // Q120 and Q127 make Q119
	return signedApproximation(l.plus(int128(int64(n)).shl(120)), 120-int(frac), logError)
}

func limbsLog10(w Int128, frac uint) approximation {
	u, _ := abs128(w)
	m, neg := abs128(limbLog(u, int(frac)))
	return approximation{m: m.mulHigh(limbConstants().invLn10), n: 120 - int(frac), e: logError, neg: neg}
}

// limbExps returns (e^|x| + e^-|x|)/2, or their difference.
func limbExps(w Int128, frac uint, minus bool) approximation {
	abs, neg, ok := limbArgument(w, frac)
	if !ok { // e^64 is beyond the wide formats, and all else
		return approximation{over: true, neg: neg && minus}
	}
	x := abs.shl(120 - frac)
	up, n := limbExp(x.int128(false))
	down, k := limbExp(x.int128(true))
	up, down = up.shr(1), down.shr(min(uint(1+n-k), 127))
	if minus {
		a := limbScaled(up.sub(down), n, frac, 1<<6, neg)
		a.over = n > int(frac) // it is half of 2^n, and a bit less
		return a
	}
	return limbScaled(up.add(down), n, frac, 1<<6, false)
}

func limbsSinh(w Int128, frac uint) approximation { return limbExps(w, frac, true) }
func limbsCosh(w Int128, frac uint) approximation { return limbExps(w, frac, false) }

func limbsTanh(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	one := u128{1 << 63, 0}
	if abs.hi>>62 != 0 {
		abs = u128{1 << 62, 0}
	}
	v, e := limbDecay(abs.shl(1), frac)
	// An error of v counts twice in (1-v)/(1+v), and a unit of Q127 is two of Q128.
	return approximation{m: one.sub(v).quo(one.add(v)), n: 128 - int(frac), e: 8 * e, neg: neg}
}

func limbsSigmoid(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	v, e := limbDecay(abs, frac)
	one := u128{1 << 63, 0}
	n := one
	if neg {
		n = v
	}
	return approximation{m: n.quo(one.add(v)), n: 128 - int(frac), e: 8 * e}
}

func limbsSoftplus(w Int128, frac uint) approximation {
	abs, neg, ok := limbArgument(w, frac)
	if !ok {
		return approximation{}
	}
	v, _ := limbDecay(abs, frac)
	l := limbLog(u128{1 << 63, 0}.add(v), 127)
	if !neg {
		l = l.plus(abs.shl(120 - frac).int128(false))
	}
	return signedApproximation(l, 120-int(frac), logError)
}

func limbsAtanh(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	one := u128{0, 1}.shl(frac)
	up, down := limbLog(one.add(abs), int(frac)), limbLog(one.sub(abs), int(frac))
	a := signedApproximation(up.plus(down.neg()), 121-int(frac), 2*logError)
	a.neg = neg
	return a
}

// limbRoots returns |x| + √(x²+1), or |x| + √(x²-1), in Qs: to a relative error of 2^-124.
func limbRoots(w Int128, frac uint, minus bool) (sum u128, s int) {
	abs, _ := abs128(w)
	h, l := abs.mulHigh(abs), abs.mul128(abs)
	one := u128{0, 1}.shl(2 * frac) // 0 for 2^128
	carry := u128{}
	if frac == 64 {
		carry = u128{0, 1}
	}
	if minus {
		h = h.sub(carry)
		if l.less(one) {
			h = h.sub(u128{0, 1})
		}
		l = l.sub(one)
	} else {
		h = h.add(carry)
		if l = l.add(one); l.less(one) {
			h = h.add(u128{0, 1})
		}
	}
	drop := uint(0) // the square is n 2^drop
	if h != (u128{}) {
		drop = 128 - h.leadingZeros()&^1
	}
	n := l.shr(drop).add(h.shl(128 - drop))
	root, k := limbSqrt(n)
	k -= int(drop / 2) // root is the root times 2^k
	j := min(k, int(abs.leadingZeros()))
	return root.shr(uint(k - j)).shr(1).add(abs.shl(uint(j)).shr(1)), j - 1 + int(frac)
}

func limbsAsinh(w Int128, frac uint) approximation {
	sum, s := limbRoots(w, frac, false)
	a := signedApproximation(limbLog(sum, s), 120-int(frac), logError)
	a.neg = w.Hi < 0
	return a
}

func limbsAcosh(w Int128, frac uint) approximation {
	sum, s := limbRoots(w, frac, true)
	return signedApproximation(limbLog(sum, s), 120-int(frac), logError)
}

// limbPow returns (x 2^-frac)^(y 2^-frac) for x above 0. If the exponent is 2^32 or more in absolute value, it returns no result.
func limbPow(x u128, y Int128, frac uint) approximation {
	log, negLog := abs128(limbLog(x, int(frac)))
	v, negY := abs128(y)
	neg := negLog != negY
	if v.shr(frac).hi != 0 || v.shr(frac).lo >= 1<<32 {
		return approximation{}
	}
	hi, lo := log.mulHigh(v), log.mul128(v)
	t := lo.shr(frac).add(hi.shl(128 - frac))
	if t.hi>>62 != 0 || hi.shr(frac) != (u128{}) { // e^64 is beyond the wide formats, e^-64 below 2^-92
		return approximation{n: 64, e: 1 << 37, over: !neg}
	}
	m, n := limbExp(t.int128(neg))
	// The logarithm's error times |y|, and a unit, in Q120, are the relative error of the result, which has 128 bits.
	return limbScaled(m, n, frac, (v.shr(frac).lo+2)*logError<<8, false)
}

// erfTables holds the constants of the error function.
type erfTables struct {
	erf           [109]Int128 // Q126: the error function of j/16
	twoOverRootPi u128        // Q127
}

var erfConstants = sync.OnceValue(func() *erfTables {
	const q = 256
	t := new(erfTables)
	for j := range t.erf {
		t.erf[j] = limbsOf(wideErf(new(big.Int).Lsh(big.NewInt(int64(j)), q-4), q), q-126).int128(false)
	}
	t.twoOverRootPi = limbsOf(divQ(unit(q+1), sqrtQ(widePi.at(q), q), q), q-127)
	return t
})

func limbsErf(w Int128, frac uint) approximation {
	abs, neg := abs128(w)
	one := u128{1 << 62, 0} // Q126
	if !abs.less(u128{0, 27}.shl(frac - 2)) {
		return approximation{m: one, n: 126 - int(frac), e: 1 << 58, neg: neg} // 1 - erf(6.75) is 2^-69
	}
	t := erfConstants()
	j := int64(abs.shr(frac-5).lo+1) >> 1 // x is j/16 + h, and h up to 1/32
	h := abs.int128(false).plus(int128(-j).shl(frac - 4)).shl(126 - frac)
	// erf(c+h) is erf(c) + h Σ p[n]/(n+1). p[n] is hⁿ/n! times the n-th derivative of 2/√π exp(-x²) at c. By the recurrence of the Hermite polynomials
	// it is -(2ch p[n-1] + 2h² p[n-2]) / n. p[24] is below 2^-118 for every c.
	m, n := limbExp(Int128{-(j * j) << 48, 0})
	p, last := m.shr(min(uint(-n), 127)).mulHigh(t.twoOverRootPi).int128(false), Int128{}
	sum := p
	d, minus := abs128(h)
	ch, hh := d.shr(3).mul(uint64(j)).int128(minus), h.timesQ126(h)
	hh = hh.plus(hh)
	inverse := &limbConstants().inverse
	for n := 1; n < 24; n++ {
		next := p.timesQ126(ch).plus(last.timesQ126(hh))
		p, last = next.neg(), p
		if n > 1 {
			a, minus := abs128(p)
			p = a.mulHigh(inverse[n]).int128(minus)
		}
		a, minus := abs128(p)
		sum = sum.plus(a.mulHigh(inverse[n+1]).int128(minus))
	}
	a := signedApproximation(t.erf[j].plus(h.timesQ126(sum)), 126-int(frac), 1<<12)
	a.neg = neg
	return a
}
