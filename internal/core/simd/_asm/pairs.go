package main

import "math"

// Fast paths of float32 whose values are pairs: the sum of two float32, of which the second is at most about half a unit of the first. A
// vector has twice as many pairs as float64. A pair has some 36 bits, so a rounding in doubt takes the steps of float64. About one result of
// the exponential in 8,000 is in doubt, and as many of the sigmoid. Errors here are in units of half a last place of the
// result, the largest over all arguments.

// eighths has a column for each j below 8: a small d and 2^(j/8)·e^d. d is a multiple of 2^-28. It makes the number a float32, but for an error
// of 2^-42.
var eighths = [2][8]float32{
	{0, 0x1.183f8p-11, -0x1.0b79p-12, -0x1.ace8p-13, -0x1.18fb8p-11, 0x1.fabp-14, -0x1.2f7ap-11, -0x1.790ap-11},
	{1, 0x1.1751bap+0, 0x1.305cp+0, 0x1.4bec4cp+0, 0x1.69d83ep+0, 0x1.8ada8ap+0, 0x1.ae4a32p+0, 0x1.d52b26p+0},
}

// expPair returns n, in the low bits, and u and rest, for |z| up to 90:
//
//	exp(z) = 2^(n div 8)·t·(1 + u)·(1 + rest)
//
// t is the number of eighths for the last three bits of n. The relative error is below 2^-37.9. rest is below 2^-22.
func expPair(m machine, z value) (n value, u parts, rest value) {
	const eighth = 0x1.62e43p-4 // ln2/8
	k := m.fma(z, f32(m, 0x1.715476p3), f32(m, shifter32))
	n = m.as(I32, k)
	k = m.sub(k, f32(m, shifter32))
	r := m.sub(m.fnma(k, f32(m, eighth), z), m.pick(n, twice(eighths[0]))) // exact
	s := m.mul(r, r)
	q := horner32(m, r, 1.0/6, 0x1.555a1cp-5, 0x1.111408p-7) // minimax beside 1 + r + r²/2
	u.hi = m.fma(m.fma(q, r, f32(m, 0.5)), s, r)
	cubic := m.mul(q, r)
	u.lo = m.fma(cubic, s, m.fma(m.mul(r, f32(m, 0.5)), r, m.sub(r, u.hi)))
	return n, u, m.mul(k, f32(m, float32(eighth-math.Ln2/8)))
}

// twice returns a table for pick whose eight entries repeat.
func twice(t [8]float32) (w [16]float32) {
	copy(w[:], t[:])
	copy(w[8:], t[:])
	return w
}

// scaledEighth returns 2^(n/8)·e^d, where that is normal.
func scaledEighth(m machine, n value) value {
	var t [8]float32
	for j, x := range eighths[1] {
		t[j] = math.Float32frombits(math.Float32bits(x) - uint32(j)<<20)
	}
	return m.as(F32, m.add(m.as(I32, m.pick(n, twice(t))), m.shl(n, 20)))
}

// plusOne returns t·(1 + u)·(1 + rest).
func plusOne(m machine, t value, u parts, rest value) parts {
	e := m.fma(t, u.hi, t)
	low := m.fma(t, u.lo, m.fma(t, u.hi, m.sub(t, e)))
	return parts{e, m.fma(rest, e, low)}
}

// rounded rounds y.hi + y.lo to float32. It is in doubt where a relative error of y.lo could change the result. So y.lo should be small.
func rounded(m machine, y parts, err float32) value {
	v, w := m.fma(y.lo, f32(m, 1-err), y.hi), m.fma(y.lo, f32(m, 1+err), y.hi)
	m.differ(v, w)
	return w
}

// usualExp has errors up to 2^-13.4. It scales the result at the end, so that y.lo is not subnormal.
func usualExp(m machine, a value) value {
	within(m, a, 87)
	n, u, rest := expPair(m, a)
	y := rounded(m, plusOne(m, m.pick(n, twice(eighths[1])), u, rest), 0x1p-13)
	return m.as(F32, m.add(m.as(I32, y), m.shl(m.and(n, m.constant(I32, 1<<32-8)), 20)))
}

// usualSigmoid returns 1/(1+e) with e = exp(−a). Its errors are up to 2^-13.3.
func usualSigmoid(m machine, a value) value {
	within(m, a, 44)
	n, u, rest := expPair(m, m.xor(a, m.constant(F32, 1<<31)))
	return rounded(m, divided(m, f32(m, 1), plusOne(m, scaledEighth(m, n), u, rest)), 0x1p-13)
}

// divided returns a/(1+e).
func divided(m machine, a value, e parts) parts {
	one := f32(m, 1)
	d := fastSum(m, m.limit(one, e.hi, true), m.limit(one, e.hi, false))
	d.lo = m.add(d.lo, e.lo)
	inverse := m.div(one, d.hi)
	y := inverse
	if a != one {
		y = m.mul(a, inverse)
	}
	rest := m.fnma(y, d.lo, m.fnma(y, d.hi, a))
	return parts{y, m.mul(rest, inverse)}
}

// usualGeluTanh returns a/(1+e) for absolute values from 2^-60 to 8. Its errors are up to 2^-9.6.
//
//	e = exp(−2√(2/π)(a + 0.044715a³))
func usualGeluTanh(m machine, a value) value {
	between(m, a, 0x1p-60, 8)
	s := m.mul(a, a)
	linear, cubic := f32(m, -0x1.98846p+0), f32(m, -0x1.2444f2p-4) // linear is a multiple of 2^-19, so that it less g.hi is exact
	g := parts{hi: m.fma(s, cubic, linear)}
	g.lo = m.fma(s, cubic, m.sub(linear, g.hi))
	g.lo = m.fma(m.fms(a, a, s), cubic, g.lo)
	g.lo = m.add(m.fma(s, f32(m, -0x1.49b16ap-29), g.lo), f32(m, 0x1.985794p-21)) // the rests of both
	v := m.mul(a, g.hi)
	low := m.fma(a, g.lo, m.fms(a, g.hi, v))
	n, u, rest := expPair(m, v)
	y := divided(m, a, plusOne(m, scaledEighth(m, n), u, m.add(rest, low)))
	return rounded(m, fastSum(m, y.hi, y.lo), 0x1.8p-10)
}

// logEighths has inverses and logarithms for eighths of the mantissas from 0.7083 to 1.4167. The inverse is that of about the middle, and 1
// beside 1. Next to it the inverse is nearer to 1, as results near 0 have small units. The other rows have minus the logarithms of the
// inverses, to a multiple of 2^-17 and the rest.
var logEighths = [3][8]float32{
	{0x1.5a2474p+0, 0x1.3f2b9p+0, 0x1.2818f8p+0, 0x1.1422c6p+0, 1, 0x1.d7e3bp-1, 0x1.a08ad2p-1, 0x1.7a179cp-1},
	{-0x1.34eap-2, -0x1.c3bp-3, -0x1.2ap-3, -0x1.362p-4, 0, 0x1.4e28p-4, 0x1.a694p-3, 0x1.3676p-2},
	{0x1.267578p-20, 0x1.e13412p-19, -0x1.e9f3eap-19, -0x1.67b94ap-20, 0, -0x1.30e946p-20, -0x1.34bdecp-22, 0x1.088242p-19},
}

// usualLog takes positive normal arguments. It writes a = 2^k·v and v·inverse = 1 + r + low, so
//
//	log(a) = k·ln2 − log(inverse) + log(1 + r) + low/(1 + r)
//
// The largest error beyond 2^-37 of the result is 2^-27.7 of r².
func usualLog(m machine, a value) value {
	positiveNormal(m, a)
	const first, bias = 0x3f355550, 1 << 30 // 0.7083, and 128 in the place of an exponent
	b := m.sub(m.as(I32, a), m.constant(I32, (first-bias)&(1<<32-1)))
	index := m.shr(b, 20)
	k := m.sub(m.as(F32, m.or(m.shr(b, 23), m.constant(I32, 0x4b000000))), f32(m, 0x1p23+128))
	v := m.as(F32, m.add(m.and(b, m.constant(I32, 1<<23-1)), m.constant(I32, first)))
	inverse, one := m.pick(index, twice(logEighths[0])), f32(m, 1)
	p := m.mul(v, inverse)
	low := m.fms(v, inverse, p)
	r := m.sub(p, one)                                                            // exact
	w := m.fma(k, f32(m, 0x1.62e4p-1), m.pick(index, twice(logEighths[1])))       // exact
	rest := m.fma(k, f32(m, 0x1.7f7d1cp-20), m.pick(index, twice(logEighths[2]))) // of both
	s := fastSum(m, w, r)
	low = m.fma(low, m.fnma(m.fnma(m.sub(one, r), r, one), r, one), m.add(s.lo, rest))
	// (log(1+r) − r + r²/2)/r³, at Chebyshev's points: 2^-43 of log(1+r)
	q := horner32(m, r, 0x1.555556p-2, -0x1.fffffep-3, 0x1.99992ep-3, -0x1.5561acp-3, 0x1.25c0cap-3, -0x1.e9b7f4p-4)
	square := m.mul(r, r)
	y := m.fma(m.fma(q, r, f32(m, -0.5)), square, s.hi)
	half := m.mul(r, f32(m, 0.5))
	low = m.add(low, m.fma(m.mul(q, r), square, m.fnma(half, r, m.sub(s.hi, y))))
	err := m.fma(square, f32(m, 0x1.6p-28), m.mul(m.and(y, m.constant(F32, 1<<31-1)), f32(m, 0x1p-36)))
	least, most := m.add(y, m.sub(low, err)), m.add(y, m.add(low, err))
	m.differ(least, most)
	return most
}
