package main

import "math"

// Functions of float64. Package float defines them by steps of IEEE 754. These are the same steps, one by one, so the bits are the
// same. Two things differ: the sign of a zero that is added to another number, and the test for a special case.

func doubles() (l list) {
	f := func(name string, body, usual func(m machine, a value) value) {
		k := kernel{table: name, form: "Rows1", field: "F64", args: one(F64, F64),
			body: func(m machine) { m.store(0, body(m, m.load(1))) }}
		if usual != nil {
			k.usual = func(m machine) { m.store(0, usual(m, m.load(1))) }
		}
		l.add(k)
	}
	f("Exp", exp64, usualExp64)
	f("Log", log64, usualLog64)
	f("Tanh", tanh64, nil)
	f("Sigmoid", sigmoid64, usualSigmoid64)
	return l
}

// within64 is within for float64. limit has at most 20 bits after the point.
func within64(m machine, a value, limit float64) {
	m.doubt(m.shr(m.and(m.as(U64, a), m.constant(U64, 1<<63-1)), 32), math.Float64bits(limit)>>32-1)
}

// tailTable has the rest of each power of two: the exact power less its float64 in powerTable.
var tailTable = words(0x0p0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54, 0x1.6f46ad23182e4p-55,
	0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54, -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55,
	0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56, 0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54)

// powerTable has the powers themselves, 2^(j/16).
var powerTable = func() (t [16]uint64) {
	for j, b := range exp2Table {
		t[j] = b + uint64(j)<<48
	}
	return t
}()

// reduced64 writes x as k ln2/16 + r + rl. It returns k in the low bits of n.
func reduced64(m machine, x value) (n, r, rl value) {
	k := m.fma(x, f64(m, 0x1.71547652b82fep4), f64(m, shifter))
	n = m.as(I64, k)
	k = m.sub(k, f64(m, shifter))
	t := m.fnma(k, f64(m, 0x1.62e42fefap-5), x)
	r = m.fnma(k, f64(m, 0x1.cf79abc9e3b398p-44), t)
	return n, r, m.fnma(k, f64(m, 0x1.cf79abc9e3b398p-44), m.sub(t, r))
}

// expParts64 returns exp(x + xl) as hi + lo, times 2^(n/16) with the last four bits of n cleared. xl may be missing; it is 0 then.
func expParts64(m machine, x, xl value) (hi, lo, n value) {
	n, r, rl := reduced64(m, x)
	if xl.op != nil {
		rl = m.add(rl, xl)
	}
	s := m.add(r, rl)
	r, rl = s, m.add(m.sub(r, s), rl)
	q := horner(m, r, 0.5, 0x1.555555555558bp-3, 0x1.55555554e3c28p-5, 0x1.1111110a00bb5p-7, 0x1.6c17fcaaa74fdp-10, 0x1.a02714c883034p-13)
	q = m.fma(m.mul(r, r), q, m.fma(rl, r, rl))
	eh, el := m.as(F64, m.lookup(n, &powerTable)), m.as(F64, m.lookup(n, &tailTable))
	hi = m.fma(eh, r, eh)
	lo = m.fma(eh, r, m.sub(eh, hi))
	lo = m.fma(eh, q, m.add(lo, m.fma(el, r, el)))
	return hi, lo, n
}

// exponent returns n div 16 in the exponent bits of a float64.
func exponent(m machine, n value) value { return m.shl(m.and(n, i64(m, ^15)), 48) }

func usualExp64(m machine, a value) value {
	within64(m, a, 700)
	hi, lo, n := expParts64(m, a, value{})
	return m.as(F64, m.add(m.as(I64, m.add(hi, lo)), exponent(m, n)))
}

func exp64(m machine, a value) value {
	z := m.limit(f64(m, -746), a, true)
	z = m.limit(f64(m, 710), z, false)
	hi, lo, n := expParts64(m, z, value{})
	return scaled(m, a, hi, lo, n)
}

// scaled returns (hi + lo)·2^(n/16) of the results of expParts64, rounded once. It returns NaN where a is NaN.
func scaled(m machine, a, hi, lo, n value) value {
	e := exponent(m, n)
	y := m.add(m.as(I64, m.add(hi, lo)), e)
	// A subnormal result is rounded by a sum with the power of two c, whose last place has the unit of the subnormal result.
	c := m.sub(i64(m, 1<<52), e)
	s := m.add(m.as(F64, c), hi)
	s = m.add(s, m.add(m.add(m.sub(m.as(F64, c), s), hi), lo))
	tiny := m.cmp(gt, i64(m, 1<<52), y)
	huge := m.cmp(gt, y, i64(m, 0x7ff<<52-1))
	y = m.sel(tiny, m.sub(m.as(I64, s), c), y)
	y = m.sel(huge, i64(m, 0x7ff<<52), y)
	return m.sel(m.cmp(unordered, a, a), nan(m, F64), m.as(F64, y))
}

// The tables of package float for logarithms, a variable for each column.
var (
	inverses = words(0x1.642c8590b2164p0, 0x1.5555555555555p0, 0x1.47ae147ae147bp0, 0x1.3b13b13b13b14p0, 0x1.2f684bda12f68p0,
		0x1.2492492492492p0, 0x1.1a7b9611a7b96p0, 0x1.1111111111111p0, 0x1.0842108421084p0, 1, 0x1.e1e1e1e1e1e1ep-1, 0x1.c71c71c71c71cp-1,
		0x1.af286bca1af28p-1, 0x1.999999999999ap-1, 0x1.8618618618618p-1, 0x1.745d1745d1746p-1)
	logHigh = words(-0x1.522ae0738ap-2, -0x1.269621134ep-2, -0x1.f991c6cb3cp-3, -0x1.a93ed3c8aep-3, -0x1.5bf406b544p-3, -0x1.1178e8227ep-3,
		-0x1.9335e5d594p-4, -0x1.08598b59e4p-4, -0x1.0415d89e78p-5, 0, 0x1.f0a30c0118p-5, 0x1.e27076e2bp-4, 0x1.5ff3070a7ap-3,
		0x1.c8ff7c79aap-3, 0x1.1675cababap-2, 0x1.4618bc21c6p-2)
	logLow = words(-0x1.eba708164c759p-45, 0x1.1ba1f10522625p-44, 0x1.90b84cd7cc834p-44, 0x1.86a4350562169p-45, 0x1.28023eb68981cp-46,
		-0x1.1e778ce2d07f2p-45, -0x1.30f5c3abd47dap-45, 0x1.7e9dd7009902cp-46, 0x1.ddfc7f461c516p-44, 0, -0x1.d579e83368e91p-45,
		-0x1.a2c2c2af0003cp-45, -0x1.8546f183bebf2p-44, -0x1.7814f689f8434p-45, 0x1.83c0e731f55c4p-44, -0x1.3e02f484c84ccp-46)
)

// logOf returns log(a) + k0 ln2 of a positive normal a.
func logOf(m machine, a, k0 value) value {
	k, v, index := logParts(m, a, firstOf16, 48)
	if k0.op != nil {
		k = m.add(k, k0)
	}
	inv := m.as(F64, m.lookup(index, &inverses))
	p := m.mul(v, inv)
	rl := m.fma(v, inv, m.xor(p, m.constant(F64, 1<<63)))
	r := m.sub(p, f64(m, 1))
	q := horner(m, r, 0x1.5555555555555p-2, -0x1.fffffffffff22p-3, 0x1.999999999ba8fp-3, -0x1.55555557358bep-3, 0x1.249249042933cp-3,
		-0x1.ffffd4b396aa6p-4, 0x1.c71de75fb7aa5p-4, -0x1.9a6638895b9c5p-4, 0x1.71d40457043c4p-4)
	lo := m.fma(k, f64(m, 0x1.ef35793c7673p-45), m.as(F64, m.lookup(index, &logLow)))
	w := m.fma(k, f64(m, 0x1.62e42fefa38p-1), m.as(F64, m.lookup(index, &logHigh)))
	s := m.add(w, r)
	lo = m.add(lo, m.add(m.sub(w, s), r))
	h := m.mul(r, f64(m, -0.5))
	h2 := m.mul(h, r)
	hi := m.add(s, h2)
	lo = m.add(lo, m.add(m.add(m.sub(s, hi), h2), m.fma(h, r, m.xor(h2, m.constant(F64, 1<<63)))))
	lo = m.add(lo, m.fnma(rl, m.fnma(r, r, r), rl))
	lo = m.fma(m.mul(m.mul(r, r), r), q, lo)
	return m.add(hi, lo)
}

func usualLog64(m machine, a value) value {
	m.doubt(m.shr(m.sub(m.as(U64, a), m.constant(U64, 1<<52)), 32), (0x7ff<<52-1<<52)>>32-1)
	return logOf(m, a, value{})
}

func log64(m machine, a value) value {
	inf := math.Inf(1)
	small := m.cmp(lt, a, f64(m, 0x1p-1022))
	y := logOf(m, m.sel(small, m.mul(a, f64(m, 0x1p52)), a), m.sel(small, f64(m, -52), f64(m, 0)))
	y = m.sel(m.cmp(eq, a, f64(m, inf)), a, y)
	y = m.sel(m.cmp(eq, a, f64(m, 0)), f64(m, -inf), y)
	return m.sel(m.cmp(ge, a, f64(m, 0)), y, nan(m, F64))
}

// tanh64 has its steps in an order that needs few registers.
func tanh64(m machine, x value) value {
	negative := func(v value) value { return m.xor(v, m.constant(F64, 1<<63)) }
	magnitude := func() value { return m.and(x, m.constant(F64, 1<<63-1)) }
	a := magnitude()
	z := m.sel(m.cmp(ge, a, f64(m, 19.0625)), f64(m, 22), a) // where the result is 1
	n, r, rl := reduced64(m, m.add(z, z))
	h := m.mul(r, f64(m, 0.5))
	mid := m.fma(h, r, r)
	q := horner(m, r, 0x1.5555555555558p-3, 0x1.555555555557ap-5, 0x1.111111109fe38p-7, 0x1.6c16c164ffde6p-10, 0x1.a01b70e85e8bdp-13,
		0x1.a024e95d8c4dbp-16)
	q = m.add(m.mul(m.mul(m.mul(r, r), r), q), m.fma(rl, mid, rl))
	tl := m.mul(m.as(F64, m.lookup(n, &tailTable)), m.as(F64, m.add(exponent(m, n), i64(m, 1023<<52))))
	tl = m.fma(tl, mid, tl)
	t := m.as(F64, m.add(m.lookup(n, &exp2Table), m.shl(n, 48)))
	u := m.mul(t, r)
	ul := m.fma(t, r, negative(u))
	v := m.mul(u, h)
	low := m.add(m.fma(ul, h, ul), m.fma(u, h, negative(v)))
	t1 := m.sub(t, f64(m, 1))
	s1 := m.add(t1, u)
	s2 := m.add(s1, v)
	lo := m.add(m.add(m.sub(t1, s1), u), m.add(m.sub(s1, s2), v))
	lo = m.fma(t, q, m.add(m.add(lo, low), tl))
	e := m.add(s2, lo)
	el := m.add(m.sub(s2, e), lo)
	f := m.add(e, f64(m, 2))
	g := m.sub(f, e)
	fl := m.add(m.add(m.sub(e, m.sub(f, g)), m.sub(f64(m, 2), g)), el)
	y := m.div(e, f)
	y = m.add(y, m.div(m.fnma(fl, y, m.add(m.fnma(y, f, e), el)), f))

	a = magnitude()
	s := m.mul(a, a)
	near := m.fma(m.mul(s, a), horner(m, s, -0x1.555555555554bp-2, 0x1.11111110df973p-3, -0x1.ba1b9867d2e98p-5, 0x1.65f6aec5c2637p-6), a)
	y = m.sel(m.cmp(lt, a, f64(m, 0x1p-5)), near, y)
	return canon(m, m.or(y, m.and(x, m.constant(F64, 1<<63))))
}

// sigmoidOf returns 1 / (1 + exp(−x)) from the parts of exp(−|x|), which is at least 2^-1000.
func sigmoidOf(m machine, x, hi, lo, n value) value {
	p := m.as(F64, m.add(exponent(m, n), i64(m, 1023<<52)))
	y := m.add(hi, lo)
	hi, lo = m.mul(y, p), m.mul(m.add(m.sub(hi, y), lo), p)
	s := m.add(f64(m, 1), hi)
	sl := m.add(m.add(m.sub(f64(m, 1), s), hi), lo)
	up := m.cmp(ge, x, f64(m, 0))
	hi, lo = m.sel(up, f64(m, 1), hi), m.sel(up, f64(m, 0), lo)
	y = m.div(hi, s)
	return m.add(y, m.div(m.fnma(sl, y, m.add(m.fnma(y, s, hi), lo)), s))
}

func usualSigmoid64(m machine, x value) value {
	within64(m, x, 37)
	hi, lo, n := expParts64(m, m.or(x, m.constant(F64, 1<<63)), value{})
	return sigmoidOf(m, x, hi, lo, n)
}

func sigmoid64(m machine, x value) value {
	z := m.limit(f64(m, -746), m.or(x, m.constant(F64, 1<<63)), true)
	hi, lo, n := expParts64(m, z, value{})
	y := m.sel(m.cmp(gt, i64(m, -1000<<52), exponent(m, n)), scaled(m, x, hi, lo, n), sigmoidOf(m, x, hi, lo, n))
	y = m.sel(m.cmp(ge, x, f64(m, 38)), f64(m, 1), y)
	return m.sel(m.cmp(unordered, x, x), nan(m, F64), y)
}
