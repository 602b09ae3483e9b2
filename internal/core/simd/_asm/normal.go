package main

import "math"

// Functions of the normal distribution, and other activations. The steps of float64 have a relative error below 2^-44. Their result is
// rounded where all numbers within 2^-43 of it become the same float32. Elsewhere, about once in half a million, the row has the mark, a
// NaN that no row computes, and package simd calls float.

// mark marks an element for package simd.
const mark = 0x7fc00001

func normals() (l list) {
	f := func(table string, body, usual func(m machine, a value) value) {
		l.add(kernel{table: table, args: one(F32, F32), inner: F64, pairs: table != "MishMarked",
			body:  func(m machine) { m.store(0, body(m, m.load(1))) },
			usual: func(m machine) { m.store(0, usual(m, m.load(1))) },
		})
	}
	f("ErfMarked", erf, usualErf)
	f("GeluMarked", gelu, usualGelu)
	f("GeluTanhMarked", geluTanh, usualGeluTanh)
	f("MishMarked", mish, usualMish)
	return l
}

// tail returns the upper tail of the standard normal distribution, for y from 0 to 15 and e = −y²/2:
//
//	1 − Φ(y) = exp(−y²/2)·M(y)/√(2π)
//	M(y)/√(2π) = w·p(1 − 10w), w = 1/(y+5)
//
// M is Mills' ratio. The polynomial p has a relative error of 2^-50.8. It interpolates at the Chebyshev nodes.
func tail(m machine, y, e value) value {
	w := m.div(f64(m, 1), m.add(y, f64(m, 5)))
	p := horner(m, m.fma(w, f64(m, -10), f64(m, 1)), 0x1.89d3abe1f95adp-1, -0x1.54ad03f27ca4fp-1, 0x1.fb31653877056p-2, -0x1.410ed5f8724e4p-2,
		0x1.51f6329f0093bp-3, -0x1.1b1c254e75b89p-4, 0x1.54b4d4ef59cb3p-6, -0x1.88590b0f069c6p-9, -0x1.a250238505708p-11, 0x1.1daeb017be115p-11,
		-0x1.f222f19f6825cp-15, -0x1.a15a5ae84adbfp-15, 0x1.187b909554ed3p-16, 0x1.0b2b515f3a51fp-18, -0x1.7fdf6aec2426cp-19,
		-0x1.c2bc1aa29938dp-22, 0x1.06788cd3f862ap-21, 0x1.856b98baec467p-23, 0x1.29cb66839a2c3p-26)
	s, d := expParts(m, e)
	return m.mul(m.fma(s, d, s), m.mul(p, w))
}

// marked rounds y, which has no sign yet, to float32 and adds the sign.
func marked(m machine, y, sign value) value {
	d := m.mul(y, f64(m, 0x1p-43))
	lo, hi := m.convert(F32, m.sub(y, d)), m.convert(F32, m.add(y, d))
	return m.sel(m.cmp(eq, m.as(I32, lo), m.as(I32, hi)), m.or(lo, sign), m.constant(F32, mark))
}

// between reports a doubt for absolute values outside least to most. It returns the bits of the absolute value.
func between(m machine, a value, least, most float32) (magnitude value) {
	from := uint64(math.Float32bits(least))
	magnitude = m.and(m.as(U32, a), m.constant(U32, 1<<31-1))
	m.doubt(m.sub(magnitude, m.constant(U32, from)), uint64(math.Float32bits(most))-from)
	return magnitude
}

// activated returns −0 where a is at most low, a where it is at least high, NaN where a is NaN, and z elsewhere.
func activated(m machine, a, z value, low, high float32) value {
	z = m.sel(m.cmp(ge, a, f32(m, high)), a, z)
	z = m.sel(m.cmp(le, a, f32(m, low)), m.constant(F32, 1<<31), z)
	return m.sel(m.cmp(unordered, a, a), nan(m, F32), z)
}

// geluOf returns |a|Φ(a) of x = a and y = |a|.
func geluOf(m machine, x, y value) value {
	q := tail(m, y, m.mul(m.mul(y, y), f64(m, -0.5)))
	return m.mul(y, m.sel(m.cmp(gt, x, f64(m, 0)), m.sub(f64(m, 1), q), q))
}

// gelu returns aΦ(a).
func gelu(m machine, a value) value {
	x := m.convert(F64, a)
	y := m.limit(f64(m, 15), m.and(x, m.constant(F64, 1<<63-1)), false)
	z := marked(m, geluOf(m, x, y), m.and(a, m.constant(F32, 1<<31)))
	return activated(m, a, z, -15, 14)
}

// erfOf returns erf(y), for y from 0 to 4:
//
//	erf(y) = 1 − 2(1 − Φ(√2y))
//
// Below 1/2 it is y times a polynomial in y² with a relative error of 2^-55.
func erfOf(m machine, y value) value {
	s := m.mul(y, y)
	q := tail(m, m.mul(y, f64(m, math.Sqrt2)), m.xor(s, m.constant(F64, 1<<63)))
	q = m.fma(q, f64(m, -2), f64(m, 1))
	p := m.mul(y, horner(m, s, 0x1.20dd750429b6dp+0, -0x1.812746b0379b5p-2, 0x1.ce2f21a03d814p-4, -0x1.b82ce30f2b28fp-6, 0x1.565bcbf8e0365p-8,
		-0x1.c02d4f6e4921ap-11, 0x1.f98db34e8872ep-14, -0x1.f224dfc5409afp-17, 0x1.8b4b60851826bp-20))
	return m.sel(m.cmp(lt, y, f64(m, 0.5)), p, q)
}

func erf(m machine, a value) value {
	y := m.limit(f64(m, 4), m.convert(F64, m.and(a, m.constant(F32, 1<<31-1))), false)
	z := marked(m, erfOf(m, y), m.and(a, m.constant(F32, 1<<31)))
	return m.sel(m.cmp(unordered, a, a), nan(m, F32), z)
}

// geluTanhOf returns x/(1+e), for x from −20 to 20, with
//
//	e = exp(−2√(2/π)(x + 0.044715x³))
func geluTanhOf(m machine, x value) value {
	v := m.mul(x, m.fma(m.mul(x, x), f64(m, -0x1.2444f2a4d8b4bp-4), f64(m, -0x1.9884533d43651p0)))
	t, p := expParts(m, v)
	return m.div(x, m.add(f64(m, 1), m.fma(t, p, t)))
}

func geluTanh(m machine, a value) value {
	x := m.limit(f64(m, 20), m.convert(F64, a), false)
	z := marked(m, geluTanhOf(m, m.limit(f64(m, -20), x, true)), m.constant(F32, 0))
	return activated(m, a, z, -20, 20)
}

// usualMish is the fast path of mish, for absolute values that aren't so large or small that the result isn't a normal float32.
func usualMish(m machine, a value) value {
	between(m, a, 0x1p-100, 40)
	return settled(m, mishOf(m, m.convert(F64, a)))
}

// mishOf returns x·w/(w+2), for x from −120 to 40. Here w = e(e+2) and e = exp(x).
func mishOf(m machine, x value) value {
	t, p := expParts(m, x)
	e := m.fma(t, p, t)
	w := m.mul(e, m.add(e, f64(m, 2)))
	return m.mul(x, m.div(w, m.add(w, f64(m, 2))))
}

func mish(m machine, a value) value {
	x := m.limit(f64(m, 40), m.convert(F64, a), false)
	z := marked(m, mishOf(m, m.limit(f64(m, -120), x, true)), m.constant(F32, 0))
	return activated(m, a, z, -120, 40)
}
