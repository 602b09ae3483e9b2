package main

import "math"

// The trigonometric functions of float32, in float64 steps: a = k·π/2 + r with |r| about π/4 at most, the sine and the cosine of r by their
// series, and one of them by k. Arguments beyond 2^14, whose k is long, have the mark of normal.go.

func trigonometric() (l list) {
	f := func(table string, tiny bool, of func(m machine, k, s, c value) value) {
		l.add(kernel{table: table, args: one(F32, F32), inner: F64,
			body: func(m machine) { m.store(0, around(m, m.load(1), tiny, of)) },
			usual: func(m machine) {
				a := m.load(1)
				between(m, a, 0x1p-100, 0x1p14)
				m.store(0, settled(m, of(quadrant(m, m.convert(F64, a)))))
			}})
	}
	f("SinMarked", true, sine)
	f("CosMarked", false, cosine)
	f("TanMarked", true, tangent)
	return l
}

// quadrant returns k in the low bits, and the sine and the cosine of r, with errors below 2^-48 of them.
func quadrant(m machine, x value) (_ machine, k, sin, cos value) {
	q := m.fma(x, f64(m, 2/math.Pi), f64(m, shifter))
	k = m.as(I64, q)
	q = m.sub(q, f64(m, shifter))
	r := m.fnma(q, f64(m, math.Pi/2), x)
	r = m.fnma(q, f64(m, 0x1.1a62633145c07p-54), r) // what the float64 lacks of π/2
	s := m.mul(r, r)
	inverse := func(n int, sign float64) float64 { return sign / math.Gamma(float64(n+1)) } // of a factorial
	odd := horner(m, s, inverse(3, -1), inverse(5, 1), inverse(7, -1), inverse(9, 1), inverse(11, -1), inverse(13, 1), inverse(15, -1))
	even := horner(m, s, inverse(2, -1), inverse(4, 1), inverse(6, -1), inverse(8, 1), inverse(10, -1), inverse(12, 1), inverse(14, -1))
	return m, k, m.fma(m.mul(r, s), odd, r), m.fma(s, even, f64(m, 1))
}

// turned returns v, or −v where the bit of k that counts 2 is set.
func turned(m machine, v, k value) value {
	return m.xor(v, m.as(F64, m.shl(m.and(k, i64(m, 2)), 62)))
}

// isOdd is true where k is odd.
func isOdd(m machine, k value) value { return m.cmp(eq, m.and(k, i64(m, 1)), i64(m, 1)) }

func sine(m machine, k, s, c value) value { return turned(m, m.sel(isOdd(m, k), c, s), k) }

func cosine(m machine, k, s, c value) value {
	return turned(m, m.sel(isOdd(m, k), s, c), m.add(k, i64(m, 1)))
}

func tangent(m machine, k, s, c value) value {
	odd := isOdd(m, k)
	return m.div(m.sel(odd, c, s), m.sel(odd, m.xor(s, m.constant(F64, 1<<63)), c))
}

// around is what of makes of a, and a where it is so tiny that it is the result.
func around(m machine, a value, tiny bool, of func(m machine, k, s, c value) value) value {
	magnitude := m.and(a, m.constant(F32, 1<<31-1))
	z := marked(m, of(quadrant(m, m.convert(F64, a))), m.constant(F32, 0))
	if tiny {
		z = m.sel(m.cmp(lt, magnitude, f32(m, 0x1p-100)), a, z)
	}
	z = m.sel(m.cmp(ge, magnitude, f32(m, 0x1p14)), m.constant(F32, mark), z)
	return m.sel(m.cmp(lt, magnitude, f32(m, float32(math.Inf(1)))), z, nan(m, F32))
}
