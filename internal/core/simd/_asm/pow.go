package main

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// Powers of float32 and float64, by the steps of package float, one by one. They are for numbers x other than 0, whole y where x is
// negative, and powers far from the ends of their type. Elsewhere the row has a NaN, which is none of these, and package simd calls float.

func powers() (l list) {
	l.add(kernel{table: "Pow32Marked", args: two(F32, F32), inner: F64, body: func(m machine) {
		m.store(0, m.convert(F32, powerOf(m, func(i int) value { return m.convert(F64, m.load(i)) }, pow32)))
	}, usual: func(m machine) { m.store(0, usualPow32(m)) }})
	l.add(kernel{table: "Pow64Marked", args: two(F64, F64), body: func(m machine) {
		m.store(0, powerOf(m, m.load, pow64))
	}})
	return l
}

// columns returns the columns of a table of package float. Each line of the table has a row of floats.
func columns(file, name string) (t [3][]uint64) {
	text, err := os.ReadFile("../../float/" + file)
	if err != nil {
		panic(err)
	}
	_, text2, _ := strings.Cut(string(text), "var "+name+" = ")
	_, text2, _ = strings.Cut(text2, "{\n")
	rows, _, ok := strings.Cut(text2, "\n}")
	if !ok {
		panic("no table " + name)
	}
	for row := range strings.Lines(rows) {
		for i, cell := range strings.Split(strings.Trim(row, "\t\n{},"), ", ") {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				panic(err)
			}
			t[i] = append(t[i], math.Float64bits(v))
		}
	}
	return t
}

// powerOf returns the power of the two operands. of takes |x| and y and returns the power, and the product of y and the logarithm of x.
// Operands are loaded again instead of being kept in registers.
func powerOf(m machine, operand func(i int) value, of func(m machine, x, y value) (z, p value)) value {
	magnitude := func() value { return m.and(operand(1), m.constant(F64, 1<<63-1)) }
	z, p := of(m, magnitude(), operand(2))
	none := nan(m, F64)
	z = m.sel(m.cmp(eq, p, p), z, none)
	half := m.mul(operand(2), f64(m, 0.5))
	odd := m.cmp(ne, half, m.round(half, down)) // or y isn't whole
	z = m.sel(odd, m.or(z, m.and(operand(1), m.constant(F64, 1<<63))), z)
	y := operand(2)
	x := m.sel(m.cmp(eq, y, m.round(y, down)), magnitude(), operand(1))
	z = m.sel(m.cmp(ge, x, f64(m, 0x1p-1022)), z, none)
	return m.sel(m.cmp(le, x, f64(m, math.MaxFloat64)), z, none)
}

// limited returns p, or NaN where it isn't between low and high.
func limited(m machine, p value, low, high float64) value {
	p = m.sel(m.cmp(gt, p, f64(m, low)), p, nan(m, F64))
	return m.sel(m.cmp(lt, p, f64(m, high)), p, nan(m, F64))
}

var pow64Table = columns("pow.go", "powTable")

func pow64(m machine, x, y value) (z, p value) {
	const step = 1 << 45 // of the bits of a float64, from one interval to the next
	k, v, index := logParts(m, x, 0x3fe6900000000000, 45)
	c := m.as(F64, m.and(m.add(m.as(I64, v), i64(m, step/2)), i64(m, -step))) // the middle, as in the table
	n := m.sub(v, c)
	e := m.add(v, c)
	t := m.sub(e, v)
	el := m.add(m.sub(v, m.sub(e, t)), m.sub(c, t))
	s := m.div(n, e)
	sl := m.div(m.fnma(s, el, m.fnma(s, e, n)), e)
	q := m.mul(s, s)
	a := horner(m, q, 0x1.5555555555555p-1, 0x1.9999999989dbp-2, 0x1.2492b61a3ca23p-2)
	w := m.fma(k, f64(m, 0x1.62e42fefa38p-1), m.as(F64, m.gather(index, pow64Table[1])))
	s2 := m.add(s, s)
	h := m.add(w, s2)
	low := m.fma(k, f64(m, 0x1.ef35793c7673p-45), m.as(F64, m.gather(index, pow64Table[2])))
	l := m.add(m.add(m.sub(w, h), s2), m.fma(f64(m, 2), sl, low))
	l = m.fma(m.mul(q, s), a, l)
	hi := m.add(h, l)
	lo := m.add(m.sub(h, hi), l)

	p = m.mul(y, hi)
	pl := m.fma(y, lo, m.fms(y, hi, p))
	hi, lo, index = expParts64(m, p, pl)
	return m.as(F64, m.add(m.as(I64, m.add(hi, lo)), exponent(m, index))), limited(m, p, -700, 700)
}

var pow32Table = columns("log.go", "log32Table")

func pow32(m machine, x, y value) (z, p value) {
	k, v, index := logParts(m, x, 0x3fe6a00000000000, 46)
	r := m.sub(m.mul(v, m.as(F64, m.gather(index, pow32Table[0]))), f64(m, 1))
	q := m.mul(m.mul(r, r), separate(m, r, -0.5, 0x1.55555555555a5p-2, -0x1.ffffffffff2bbp-3, 0x1.9999998a440ccp-3, -0x1.555555db67baap-3,
		0x1.24990172ee903p-3, -0x1.ffd75f22c775dp-4))
	w := m.add(m.mul(k, f64(m, 0x1.62e42fefa38p-1)), m.as(F64, m.gather(index, pow32Table[1])))
	s := m.add(w, r)
	low := m.add(m.mul(k, f64(m, 0x1.ef35793c7673p-45)), m.as(F64, m.gather(index, pow32Table[2])))
	lo := m.add(m.add(m.sub(w, s), r), m.add(q, low))
	hi := m.as(F64, m.and(m.as(I64, m.add(s, lo)), i64(m, -1<<27)))
	lo = m.add(lo, m.sub(s, hi))
	p = m.mul(y, hi)
	pl := m.mul(y, lo)

	k = m.add(m.mul(p, f64(m, 0x1.71547652b82fep4)), f64(m, shifter))
	n := m.as(I64, k)
	k = m.sub(k, f64(m, shifter))
	r = m.add(m.sub(m.sub(p, m.mul(k, f64(m, 0x1.62e42fefap-5))), m.mul(k, f64(m, 0x1.cf79abc9e3b398p-44))), pl)
	q = m.mul(m.mul(r, r), separate(m, r, 0.5, 0x1.555555555558bp-3, 0x1.55555554e3c28p-5, 0x1.1111110a00bb5p-7, 0x1.6c17fcaaa74fdp-10,
		0x1.a02714c883034p-13))
	hi = m.as(F64, m.lookup(n, &powerTable))
	lo = m.add(m.mul(hi, m.add(r, q)), m.as(F64, m.lookup(n, &tailTable)))
	s = m.add(hi, lo)
	// Where float rounds a value to odd, the row has a NaN.
	p = limited(m, p, -104.5, 89)
	rest := m.and(m.add(m.sub(hi, s), lo), m.constant(F64, 1<<63-1))
	rest = m.sel(m.cmp(eq, m.and(m.as(I64, s), i64(m, 1<<28-1)), i64(m, 0)), rest, f64(m, 0))
	p = m.sel(m.cmp(gt, rest, f64(m, 0x1p-55)), nan(m, F64), p)
	z = m.as(F64, m.add(m.as(I64, s), exponent(m, n)))
	return m.sel(m.cmp(eq, y, f64(m, 2)), m.mul(x, x), z), p
}

// usualPow32 is for positive normal x and powers from 2^-64 to 2^64. Its logarithm has one part, so the power is off by less than a 2^-45th;
// package float's is off by far less. Where the rounding isn't in doubt, both round to the same float32.
func usualPow32(m machine) value {
	positiveNormal(m, m.load(1))
	k, r, index := logRest(m, m.load(1))
	w := m.fma(k, f64(m, math.Ln2), m.as(F64, m.lookup(index, &logTable[1])))
	q := horner(m, r, -0x1.fffffffffffeep-2, 0x1.5555555555545p-2, -0x1.0000000081cb2p-2, 0x1.9999999a85983p-3, -0x1.55554295fde36p-3,
		0x1.249238196d5ecp-3, -0x1.006ee3d8ff44dp-3, 0x1.c7e6110205134p-4) // (log(1+r) − r)/r², at Chebyshev's points: 2^-54.7 of log(1+r)
	p := m.mul(m.convert(F64, m.load(2)), m.add(w, m.fma(m.mul(r, r), q, r)))
	within64(m, p, 44)
	t, e := expParts(m, p)
	return settled(m, m.fma(t, e, t))
}

// separate is horner, with each product rounded.
func separate(m machine, x value, c ...float64) value {
	y := f64(m, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		y = m.add(m.mul(x, y), f64(m, c[i]))
	}
	return y
}
