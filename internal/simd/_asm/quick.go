package main

import "math"

// Functions of float32 within 2 units in the last place, computed in float32: what op.Fast selects. The polynomials are
// minimax, by Remez's algorithm.

func quick() (l list) {
	f := func(name string, body func(m machine, a value) value) {
		l.row1(name, func(m machine, a value) value { return canon(m, body(m, a)) }, F32)
	}
	f("FastExp", fastExp)
	f("FastLog", fastLog)
	f("FastTanh", fastTanh)
	f("FastSigmoid", fastSigmoid)
	return l
}

const shifter32 = 0x1.8p23 // as shifter

// fastParts returns k, a whole number, and p so that exp(z) = 2^k (1 + p).
func fastParts(m machine, z value) (k, p value) {
	k = m.sub(m.fma(z, f32(m, 0x1.715476p0), f32(m, shifter32)), f32(m, shifter32))
	r := m.fnma(k, f32(m, 0x1.62e4p-1), z) // k has 8 bits
	r = m.fnma(k, f32(m, 0x1.7f7d1cp-20), r)
	q := horner32(m, r, 0.500000009519, 0.166665188406, 0.0416662057883, 0.00836888927498, 0.00139504918894)
	return k, m.fma(m.mul(r, r), q, r)
}

// power returns 2^k for whole k from −126 to 127.
func power(m machine, k value) value {
	return m.as(F32, m.add(m.shl(m.as(I32, m.add(k, f32(m, shifter32))), 23), m.constant(I32, 127<<23)))
}

func fastExp(m machine, a value) value {
	z := m.limit(f32(m, -110), a, true) // e to that is 0
	z = m.limit(f32(m, 100), z, false)  // and to that +Inf
	k, p := fastParts(m, z)
	near := m.limit(f32(m, -126), k, true) // the rest comes after, as the result may be subnormal
	near = m.limit(f32(m, 127), near, false)
	t := power(m, near)
	return m.mul(m.fma(t, p, t), power(m, m.sub(k, near)))
}

// fastTanh is e/(e+2) with e = exp(2|a|) − 1, for large e written as 1 − 2/(e+2), and the series of tanh for small |a|.
func fastTanh(m machine, a value) value {
	z := m.and(a, m.constant(F32, 1<<31-1))
	z = m.limit(f32(m, 20), m.add(z, z), false)
	k, p := fastParts(m, z)
	t := power(m, k)
	e := m.fma(t, p, m.sub(t, f32(m, 1)))
	d, large := m.add(e, f32(m, 2)), m.cmp(gt, e, f32(m, 2))
	y := m.div(m.sel(large, f32(m, 2), e), d)
	rest := m.mul(m.sub(e, m.sub(d, f32(m, 2))), f32(m, 0.5)) // half of what d lacks, and 1/d is (1−y)/2
	small := m.fnma(m.mul(y, m.sub(f32(m, 1), y)), rest, y)
	y = m.sel(large, m.sub(f32(m, 1), y), small)
	x := m.and(a, m.constant(F32, 1<<31-1))
	s := m.mul(x, x)
	series := m.fma(m.mul(x, s), horner32(m, s, -1.0/3, 2.0/15, -17.0/315, 62.0/2835, -1382.0/155925), x)
	y = m.sel(m.cmp(lt, x, f32(m, 0.25)), series, y)
	return m.or(y, m.and(a, m.constant(F32, 1<<31)))
}

// fastSigmoid is e/(1+e) for a < 0 and 1/(1+e) else, with e = exp(−|a|).
func fastSigmoid(m machine, a value) value {
	e := fastExp(m, m.or(a, m.constant(F32, 1<<31)))
	d, negative := m.add(e, f32(m, 1)), m.cmp(lt, a, f32(m, 0))
	y := m.div(m.sel(negative, e, f32(m, 1)), d)
	rest := m.sub(e, m.sub(d, f32(m, 1))) // what d lacks
	inverse := m.sel(negative, m.sub(f32(m, 1), y), y)
	return m.fnma(m.mul(y, inverse), rest, y)
}

// fastLog writes a = 2^k (1 + r) with 1 + r from √½ to √2.
func fastLog(m machine, a value) value {
	const first, bias = 0x3f3504f3, 1 << 30 // √½; 128 in the place of an exponent
	tiny := m.cmp(lt, a, f32(m, 0x1p-126))
	n := m.sel(tiny, m.mul(a, f32(m, 0x1p23)), a)
	b := m.sub(m.as(I32, n), m.constant(I32, (first-bias)&(1<<32-1)))
	k := m.sub(m.as(F32, m.or(m.shr(b, 23), m.constant(I32, 0x4b000000))), f32(m, 0x1p23+128))
	k = m.sel(tiny, m.sub(k, f32(m, 23)), k)
	v := m.as(F32, m.add(m.and(b, m.constant(I32, 1<<23-1)), m.constant(I32, first)))
	r := m.sub(v, f32(m, 1))
	q := horner32(m, r, 0.333333126051, -0.250000096039, 0.200021185886, -0.166679955441, 0.142195534998, -0.124055951568,
		0.118881604908, -0.11675614167, 0.0674659840111)
	s := m.mul(r, r)
	y := m.fma(m.mul(s, r), q, m.mul(k, f32(m, 0x1.7f7d1cp-20)))
	y = m.fma(s, f32(m, -0.5), y)
	y = m.add(m.fma(k, f32(m, 0x1.62e4p-1), r), y)
	inf := float32(math.Inf(1))
	y = m.sel(m.cmp(eq, a, f32(m, inf)), a, y)
	y = m.sel(m.cmp(eq, a, f32(m, 0)), f32(m, -inf), y)
	return m.sel(m.cmp(ge, a, f32(m, 0)), y, nan(m, F32))
}

func horner32(m machine, x value, c ...float32) value {
	q := f32(m, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		q = m.fma(q, x, f32(m, c[i]))
	}
	return q
}
