package main

import "math"

// Fast paths of float32 whose values are pairs: the sum of two float32, of which the second is at most about half a unit of the first. A
// vector has twice as many pairs as float64. A pair has some 36 bits, so a rounding in doubt takes the steps of float64. About one result of
// the exponential in 8,000 is in doubt, and as many of the sigmoid. Of erf and gelu it is one in 500. Errors here are in units of half a last place of the
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

// pairStep returns c + t·p, where c.hi is the largest term. p.lo and c.lo may be missing.
func pairStep(m machine, t value, p, c parts) parts {
	y := parts{hi: m.fma(t, p.hi, c.hi)}
	y.lo = m.fma(t, p.hi, m.sub(c.hi, y.hi))
	switch {
	case c.lo.op != nil:
		y.lo = m.add(m.fma(t, p.lo, c.lo), y.lo)
	case p.lo.op != nil:
		y.lo = m.fma(t, p.lo, y.lo)
	}
	return y
}

// erfTable has a column for each of eight intervals of |a|: a number c of the interval, erf(c), and the coefficients of
//
//	erf(c + t) = erf(c) + p₁t + … + p₉t⁹
//
// c is chosen so that erf(c) is a float32, but for an error of 2^-41. The first two coefficients have two parts. All are of least squares at
// Chebyshev's points. The high parts of the first two were rounded first, then the others in order, and the ones left were fitted again. The
// relative errors are below 2^-35.7, and near that in the fifth interval alone.
var erfTable = [13][8]float32{
	{0x1.a2105p+0, 0x1.30d2ap+1, 0x1.8032f8p+1, 0x1.d8788p+1, 0, 0x1.cd444p-2, 0x1.a5772p-1, 0x1.30caap+0},
	{0x1.f54a8p-1, 0x1.ff9cb4p-1, 0x1.fffd22p-1, 0x1.fffffap-1, 0, 0x1.e752bcp-2, 0x1.82e288p-1, 0x1.d0c742p-1},
	{0x1.4111e4p-4, 0x1.fd532cp-9, 0x1.215242p-13, 0x1.6e8ae6p-20, 0x1.20dd76p+0, 0x1.d7a17ep-1, 0x1.2562eep-1, 0x1.17fcdp-2},
	{0x1.fcca12p-30, -0x1.460b7ap-36, 0x1.2fd296p-38, 0x1.846ef6p-46, -0x1.f7a7a2p-25, 0x1.285ba6p-26, -0x1.64b65ep-27, 0x1.b429fcp-27},
	{-0x1.0629d6p-3, -0x1.2f3ae8p-7, -0x1.b2350ap-12, -0x1.523da8p-18, 0, -0x1.a8e5c6p-2, -0x1.e30436p-2, -0x1.4d59d4p-2},
	{-0x1.5491d6p-31, -0x1.a73a1p-32, -0x1.a323aap-37, 0x1.728046p-44, 0, -0x1.c0fb14p-27, -0x1.ea293ap-28, -0x1.f4a94cp-28},
	{0x1.cfd0c8p-4, 0x1.b6f85cp-7, 0x1.9a528p-11, 0x1.90e31p-17, -0x1.812748p-2, -0x1.75a4fap-3, 0x1.15ebc8p-4, 0x1.56857cp-3},
	{-0x1.97e3a6p-5, -0x1.a59c42p-7, -0x1.0fb692p-10, -0x1.55cd0cp-16, 0x1.90018cp-21, 0x1.6f6b96p-3, 0x1.08d10cp-3, 0x1.255134p-7},
	{-0x1.7ba4ccp-10, 0x1.0deac8p-7, 0x1.08acfap-10, 0x1.bcb29cp-16, 0x1.ce2308p-4, 0x1.6f221cp-6, -0x1.01c4ecp-4, -0x1.bdf294p-5},
	{0x1.cd129cp-7, -0x1.9770a8p-9, -0x1.80efc4p-11, -0x1.c69876p-16, 0x1.88094cp-14, -0x1.a386bap-5, -0x1.1a07d2p-6, 0x1.3ad98ap-6},
	{-0x1.95821cp-8, 0x1.473b44p-13, 0x1.9839cp-12, 0x1.735fap-16, -0x1.bf24bp-6, 0x1.4a05fap-10, 0x1.37eb14p-6, 0x1.a559cap-8},
	{-0x1.2214acp-11, 0x1.32b53ep-11, -0x1.1124ecp-13, -0x1.052a1ep-16, 0x1.16838cp-10, 0x1.69d9fp-7, -0x1.96bcd2p-13, -0x1.893d4cp-8},
	{0x1.3f9fd4p-10, -0x1.68d308p-12, 0x1.6472a4p-17, 0x1.293deep-17, 0x1.07201ep-8, -0x1.3c6014p-9, -0x1.e539cp-9, 0x1.1b5bdp-13},
}

// usualErf takes absolute values from 2^-90 on. Its intervals end at 4. Its errors are up to 2^-8.7.
func usualErf(m machine, a value) value {
	x := m.limit(m.as(F32, between(m, a, 0x1p-90, float32(math.Inf(1)))), f32(m, 3.99), false)
	return m.signed(rounded(m, byInterval(m, x, 0.75, erfTable[:], 1), 0x1.8p-9), a)
}

// byInterval returns the value at x of the polynomial of its interval. The interval has the x for which scale·x + 1 has the same exponent and
// the same first two bits after the point. So the last four intervals are twice as long as the first four. As many coefficients as singles
// says have steps of pairs, but one part.
func byInterval(m machine, x value, scale float32, table [][8]float32, singles int) parts {
	index := m.shr(m.as(U32, m.fma(x, f32(m, scale), f32(m, 1))), 21)
	p := func(row int) value { return m.pick(index, twice(table[row])) }
	t := m.sub(x, p(0)) // exact
	row := len(table) - 1
	y := parts{hi: p(row)}
	for row--; row >= 6+singles; row-- {
		y.hi = m.fma(y.hi, t, p(row))
	}
	for ; row >= 6; row-- {
		y = pairStep(m, t, y, parts{hi: p(row)})
	}
	y = pairStep(m, t, y, parts{p(4), p(5)})
	y = pairStep(m, t, y, parts{p(2), p(3)})
	return pairStep(m, t, y, parts{hi: p(1)})
}

// millsTable is such a table for Mills' ratio of the normal distribution, divided by √(2π):
//
//	exp(x²/2)(1 − Φ(x))
//
// Its intervals end at 5.5, and its polynomials have eight terms. The relative errors are below 2^-34.9, and near that in the fifth interval
// alone.
var millsTable = [12][8]float32{
	{0x1.305c2p+1, 0x1.978c8p+1, 0x1.0dfe28p+2, 0x1.42f7a8p+2, 0, 0x1.3de0cp-1, 0x1.3c722p+0, 0x1.9b098p+0},
	{0x1.2d4b1p-3, 0x1.d902ep-4, 0x1.707e68p-4, 0x1.385c14p-4, 0x1p-1, 0x1.4bf434p-2, 0x1.dbc1d8p-3, 0x1.92b026p-3},
	{-0x1.92761cp-5, -0x1.0005eap-5, -0x1.3e1a9p-6, -0x1.ce4a88p-7, -0x1.988454p-2, -0x1.94d7d4p-3, -0x1.c9e29p-4, -0x1.54f1dp-4},
	{-0x1.a263fep-30, 0x1.ce63eap-30, 0x1.357962p-31, -0x1.889f78p-34, 0x1.9419b8p-27, 0x1.1b9cb4p-28, -0x1.06c2a6p-31, 0x1.1074e6p-31},
	{0x1.f06422p-7, 0x1.05b3dcp-7, 0x1.08057ap-8, 0x1.4bf97cp-9, 0x1.fffffcp-3, 0x1.9c8f12p-4, 0x1.8183e6p-5, 0x1.01f36cp-5},
	{0x1.d05208p-32, 0x1.707b34p-32, 0x1.55d60cp-36, -0x1.8b545ap-34, 0x1.314b24p-31, -0x1.377d7cp-29, -0x1.1f5516p-38, 0x1.3ba68ep-31},
	{-0x1.1e58e6p-8, -0x1.fce6a8p-10, -0x1.a6f1f8p-11, -0x1.cfbb7ep-12, -0x1.1057dap-3, -0x1.7107fap-5, -0x1.24d1ap-6, -0x1.64f5aap-7},
	{0x1.37e87ap-10, 0x1.d94ab4p-12, 0x1.47eb7ep-13, 0x1.3ba222p-14, 0x1.ffeefep-5, 0x1.2a003ap-6, 0x1.991274p-8, 0x1.caaa06p-9},
	{-0x1.42fc88p-12, -0x1.a6de26p-14, -0x1.ed765ap-16, -0x1.a36338p-17, -0x1.b2e2bap-6, -0x1.ba72fcp-8, -0x1.0a43dep-9, -0x1.148ce8p-10},
	{0x1.3eba96p-14, 0x1.6c94a8p-16, 0x1.68982p-18, 0x1.105b1ep-19, 0x1.4ea78p-7, 0x1.32013cp-9, 0x1.45dfc4p-11, 0x1.3b88b8p-12},
	{-0x1.32fd1p-16, -0x1.35245cp-18, -0x1.025d7ap-20, -0x1.5e2d8cp-22, -0x1.b4846ep-9, -0x1.8c6fbep-11, -0x1.7409f2p-13, -0x1.59da1ep-14},
	{0x1.4f7f7ap-18, 0x1.df82b8p-21, 0x1.a2cbdep-23, 0x1.b8268cp-25, 0x1.6624dcp-11, 0x1.a07f4ap-13, 0x1.07698p-14, 0x1.63efcep-16},
}

// usualGelu takes numbers from 2^-60 on, and their negatives down to −5.49. Beyond 5.49 the tail of the distribution is too small to count, and
// may be any smaller number. Its errors are up to 2^-9.7.
func usualGelu(m machine, a value) value {
	within(m, a, 0x1p100)
	x := m.as(F32, between(m, m.limit(f32(m, 5.49), a, false), 0x1p-60, 5.49))
	half := m.mul(x, f32(m, -0.5))
	z := m.mul(half, x)
	low := m.fms(half, x, z)
	n, u, rest := expPair(m, z)
	e := plusOne(m, scaledEighth(m, n), u, m.add(rest, low))
	r := byInterval(m, x, 3/5.5, millsTable[:], 2)
	q := parts{hi: m.mul(e.hi, r.hi)}
	q.lo = m.fma(e.lo, r.hi, m.fma(e.hi, r.lo, m.fms(e.hi, r.hi, q.hi)))
	// Φ(a) is 1 − q where a is positive, and else 0 − (−q).
	sign := m.and(a, m.constant(F32, 1<<31))
	q.hi, q.lo = m.xor(q.hi, sign), m.xor(q.lo, sign)
	one := m.as(F32, m.and(m.sub(m.shr(m.as(U32, a), 31), m.constant(U32, 1)), m.constant(U32, 0x3f800000)))
	d := parts{hi: m.sub(one, q.hi)}
	d.lo = m.sub(m.sub(m.sub(one, d.hi), q.hi), q.lo)
	y := parts{hi: m.mul(a, d.hi)}
	y.lo = m.fma(a, d.lo, m.fms(a, d.hi, y.hi))
	return rounded(m, y, 0x1.7p-10)
}
