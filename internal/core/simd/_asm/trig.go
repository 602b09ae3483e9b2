package main

import "math"

// The trigonometric functions of float32, in float64 steps. sin and cos write a = k·π + r, or (k − 1/2)π + r, with |r| about π/2 at most. The
// result is the sine of r, by a polynomial, and its negative where k is odd. tan writes a = k·π/2 + r, and takes the sine and the cosine of r
// by their series. Arguments beyond 2^14, whose k is long, have the mark of normal.go.

func trigonometric() (l list) {
	f := func(table string, tiny bool, of func(m machine, x value) value) {
		l.add(kernel{table: table, args: one(F32, F32), inner: F64,
			body: func(m machine) { m.store(0, around(m, m.load(1), tiny, of)) },
			usual: func(m machine) {
				a := m.load(1)
				between(m, a, 0x1p-100, 0x1p14)
				m.store(0, settled(m, of(m, m.convert(F64, a))))
			}})
	}
	f("SinMarked", true, sine)
	f("CosMarked", false, cosine)
	f("TanMarked", true, tangent)
	d := func(table string, tiny bool, of func(m machine, k value, r parts) value) {
		l.add(kernel{table: table, args: one(F64, F64), body: func(m machine) {
			magnitude := func() value { return m.and(m.load(1), m.constant(F64, 1<<63-1)) }
			k, r := reducedBySteps(m, m.load(1))
			z := of(m, k, r)
			if tiny {
				z = m.sel(m.cmp(lt, magnitude(), f64(m, 0x1p-27)), m.load(1), z)
			}
			m.store(0, m.sel(m.cmp(lt, magnitude(), f64(m, 0x1p14)), z, nan(m, F64)))
		}})
	}
	d("Sin64Marked", true, sine64)
	d("Cos64Marked", false, func(m machine, k value, r parts) value { return sine64(m, m.add(k, i64(m, 64)), r) })
	d("Tan64Marked", true, tangent64)
	return l
}

// The functions of float64 have the steps of package float, one by one: x = k·π/128 + r, and sin(k·π/128 + r) by the sine and the cosine of
// k·π/128. Where k is long, the row has a NaN, and package simd calls float.

type parts struct{ hi, lo value }

// fastSum returns a + b as two numbers, where |a| is the larger.
func fastSum(m machine, a, b value) parts {
	s := m.add(a, b)
	return parts{s, m.add(m.sub(a, s), b)}
}

// twoSum returns a + b as two numbers, for any a and b.
func twoSum(m machine, a, b value) parts {
	s := m.add(a, b)
	t := m.sub(s, a)
	return parts{s, m.add(m.sub(a, m.sub(s, t)), m.sub(b, t))}
}

// reducedBySteps returns k in the low bits of its first result, and r.
func reducedBySteps(m machine, x value) (k value, r parts) {
	q := m.fma(x, f64(m, 0x1.45f306dc9c883p5), f64(m, shifter))
	k = m.as(I64, q)
	q = m.sub(q, f64(m, shifter))
	t := m.fnma(q, f64(m, 0x1.921fb544p-6), x)
	p := m.mul(q, f64(m, 0x1.0b4611a626331p-40))
	pl := m.fms(q, f64(m, 0x1.0b4611a626331p-40), p)
	s := twoSum(m, t, m.xor(p, m.constant(F64, 1<<63)))
	return k, fastSum(m, s.hi, m.fnma(q, f64(m, 0x1.1701b839a252p-94), m.sub(s.lo, pl)))
}

// sines are the sines of k·π/128 for k below 128, and cosines the absolute values of the cosines. Each has two parts.
var sines, cosines = func() (s, c [2][]uint64) {
	t := columns("trig.go", "sinTable")
	for part := range s {
		for k := range 128 {
			j := min(k, 128-k)
			s[part], c[part] = append(s[part], t[part][j]), append(c[part], t[part][64-j])
		}
	}
	return s, c
}()

func sineOf(m machine, k value) (s, c parts) {
	at := func(t []uint64) value { return m.as(F64, m.gather(k, t)) }
	return parts{at(sines[0]), at(sines[1])}, parts{at(cosines[0]), at(cosines[1])}
}

// terms returns the terms of r, with the sign that k gives it: r, its sine less r, and its cosine less 1.
func terms(m machine, k value, r parts) (rh, rl, v value) {
	sign := bit(m, k, 64, 57)
	rh, rl = m.xor(r.hi, sign), m.xor(r.lo, sign)
	q := m.mul(rh, rh)
	v = horner(m, q, -0.5, 1.0/24, -1.0/720, 1.0/40320)
	v = m.fms(q, v, m.mul(rh, rl))
	u := m.mul(m.mul(rh, q), horner(m, q, -1.0/6, 1.0/120, -1.0/5040))
	return rh, m.add(rl, u), v
}

// bit returns bit n of k as a sign.
func bit(m machine, k value, n int64, up int) value { return m.as(F64, m.shl(m.and(k, i64(m, n)), up)) }

// sum returns sin(k·π/128 + r) as a sum of two numbers, without its sign.
func sum(m machine, s, c parts, rh, rl, v value) parts {
	p := m.mul(c.hi, rh)
	low := m.fma(c.hi, rl, m.mul(s.hi, v))
	low = m.add(m.fma(c.lo, rh, m.add(m.fms(c.hi, rh, p), s.lo)), low)
	h := twoSum(m, s.hi, p)
	return parts{h.hi, m.add(h.lo, low)}
}

// sine64 returns sin(k·π/128 + r).
func sine64(m machine, k value, r parts) value {
	rh, rl, v := terms(m, k, r)
	s, c := sineOf(m, k)
	z := sum(m, s, c, rh, rl, v)
	return m.xor(m.add(z.hi, z.lo), bit(m, k, 128, 56))
}

// tangent64 divides sin(k·π/128 + r) by the sine for k + 64. For that the tables change places, and r changes its sign.
func tangent64(m machine, k value, r parts) value {
	rh, rl, v := terms(m, k, r)
	s, c := sineOf(m, k)
	y := sum(m, s, c, rh, rl, v)
	a := fastSum(m, y.hi, y.lo)
	negative := func(x value) value { return m.xor(x, m.constant(F64, 1<<63)) }
	x := sum(m, c, s, negative(rh), negative(rl), v)
	b := fastSum(m, x.hi, x.lo)
	q := m.div(a.hi, b.hi)
	q = m.add(q, m.div(m.add(m.fnma(q, b.hi, a.hi), m.fnma(q, b.lo, a.lo)), b.hi))
	return m.xor(q, bit(m, m.xor(k, m.add(k, i64(m, 64))), 128, 56))
}

// sine returns the sine of x, with a relative error below 2^-48.
func sine(m machine, x value) value {
	q := m.fma(x, f64(m, 1/math.Pi), f64(m, shifter))
	return halfTurns(m, x, m.as(I64, q), m.sub(q, f64(m, shifter)))
}

// cosine returns the cosine of x, with such an error.
func cosine(m machine, x value) value {
	q := m.add(m.fma(x, f64(m, 1/math.Pi), f64(m, 0.5)), f64(m, shifter))
	return halfTurns(m, x, m.as(I64, q), m.sub(m.sub(q, f64(m, shifter)), f64(m, 0.5)))
}

// halfTurns returns the sine of r = x − q·π, or its negative where k is odd.
func halfTurns(m machine, x, k, q value) value {
	r := m.fnma(q, f64(m, math.Pi), x)
	r = m.fnma(q, f64(m, 0x1.1a62633145c07p-53), r) // the rest of π after its float64
	s := m.mul(r, r)
	p := horner(m, s, -0x1.555555555554fp-3, 0x1.1111111110067p-7, -0x1.a01a019e69965p-13, 0x1.71de394e58860p-19, -0x1.ae63bdfa83cebp-26,
		0x1.60f6f0d6328aep-33, -0x1.a109527dbd11bp-41) // (sin(r)/r − 1)/r², at Chebyshev's points: 2^-50.4 of sin(r)
	return m.xor(m.fma(m.mul(r, s), p, r), m.as(F64, m.shl(k, 63)))
}

// tangent returns the tangent of x, from k in the low bits and the sine and the cosine of r, with relative errors below 2^-48.
func tangent(m machine, x value) value {
	q := m.fma(x, f64(m, 2/math.Pi), f64(m, shifter))
	k := m.as(I64, q)
	q = m.sub(q, f64(m, shifter))
	r := m.fnma(q, f64(m, math.Pi/2), x)
	r = m.fnma(q, f64(m, 0x1.1a62633145c07p-54), r) // the rest of π/2 after its float64
	s := m.mul(r, r)
	inverse := func(n int, sign float64) float64 { return sign / math.Gamma(float64(n+1)) } // inverse of a factorial
	sin := horner(m, s, inverse(3, -1), inverse(5, 1), inverse(7, -1), inverse(9, 1), inverse(11, -1), inverse(13, 1), inverse(15, -1))
	cos := horner(m, s, inverse(2, -1), inverse(4, 1), inverse(6, -1), inverse(8, 1), inverse(10, -1), inverse(12, 1), inverse(14, -1))
	sin, cos = m.fma(m.mul(r, s), sin, r), m.fma(s, cos, f64(m, 1))
	odd := m.cmp(eq, m.and(k, i64(m, 1)), i64(m, 1))
	return m.div(m.sel(odd, cos, sin), m.sel(odd, m.xor(sin, m.constant(F64, 1<<63)), cos))
}

// around returns the result of of, or a itself where tiny is true and a is so small that it is the result.
func around(m machine, a value, tiny bool, of func(m machine, x value) value) value {
	magnitude := m.and(a, m.constant(F32, 1<<31-1))
	z := marked(m, of(m, m.convert(F64, a)), m.constant(F32, 0))
	if tiny {
		z = m.sel(m.cmp(lt, magnitude, f32(m, 0x1p-100)), a, z)
	}
	z = m.sel(m.cmp(ge, magnitude, f32(m, 0x1p14)), m.constant(F32, mark), z)
	return m.sel(m.cmp(lt, magnitude, f32(m, float32(math.Inf(1)))), z, nan(m, F32))
}
