package main

import (
	"math"
	"slices"
)

// Functions of float32, computed in float64. They are correctly rounded, so their bits equal the bits of package float with any method.
// conformance/verify compares them on all inputs. The methods are float's, except where a table of 16 entries must do.

func functions() (l list) {
	f := func(name string, body, usual func(m machine, a value) value) {
		l.function(kernel{table: name, inner: F64, pairs: name != "Tanh",
			body:  func(m machine) { m.store(0, canon(m, body(m, m.load(1)))) },
			usual: func(m machine) { m.store(0, usual(m, m.load(1))) }, masked: name == "Exp",
		})
	}
	f("Exp", exp, usualExp)
	f("Log", log, usualLog)
	f("Tanh", tanh, usualTanh)
	f("Sigmoid", sigmoid, usualSigmoid)

	less := func(m machine) value { return m.sub(m.load(1), m.load(2)) }
	row := kernel{table: "ExpLess32", args: append(one(F32, F32), arg{"p", F32, true}), inner: F64, pairs: true,
		body:  func(m machine) { m.store(0, canon(m, exp(m, less(m)))) },
		usual: func(m machine) { m.store(0, usualExp(m, less(m))) }, masked: true,
	}
	l.add(row)
	// beside adds a kernel that also finishes the line before and finds the largest element of the next line. In Softmax32, b and q have
	// canonical NaNs alone, and q is neither 0 nor infinite. So the quotients need no second look.
	beside := func(table string, last func(m machine) value, args ...arg) {
		k := row
		k.table, k.streamed = table, len(row.args)
		k.args = append(append(slices.Clone(row.args), arg{"before", F32, false}, arg{"b", F32, false}), args...)
		k.still, k.ahead = len(k.args), len(k.args)+1
		k.args = append(k.args, arg{"most", F32, false}, arg{"next", F32, false})
		k.beside = func(m machine) {
			m.store(k.streamed, last(m))
			m.store(k.still, m.limit(m.load(k.ahead), m.load(k.still), true))
		}
		l.add(k)
	}
	q, r := arg{"q", F32, true}, arg{"r", F32, true}
	beside("Softmax32", func(m machine) value { return m.div(m.load(4), m.load(5)) }, q)
	beside("LogSoftmax32", func(m machine) value { return canon(m, m.sub(m.sub(m.load(4), m.load(5)), m.load(6))) }, q, r)
	return l
}

// positiveNormal reports a doubt unless a is positive and normal.
func positiveNormal(m machine, a value) {
	m.doubt(m.sub(m.as(U32, a), m.constant(U32, 0x00800000)), 0x7f800000-0x00800000-1)
}

// settled rounds y, off by less than a 2^-44th, to float32. It is in doubt where y is so near to the middle of two float32 that the wrong
// one could be nearer: one of half a million. y is large enough that its float32 is normal.
func settled(m machine, y value) value {
	const ulp, slack = 1 << 29, 1 << 9 // in units of the last place of y
	from := m.add(m.as(U64, y), m.constant(U64, ulp/2-slack))
	m.doubt(m.and(from, m.constant(U64, ulp-1)), ulp-1-2*slack)
	return m.convert(F32, y)
}

// exp2Table has the bits of 2^(j/16), less j<<48, so that
//
//	bits of 2^(n/16) = exp2Table[n mod 16] + n<<48
var exp2Table = func() (t [16]uint64) {
	for j, x := range [16]float64{0x1p0, 0x1.0b5586cf9890fp0, 0x1.172b83c7d517bp0, 0x1.2387a6e756238p0, 0x1.306fe0a31b715p0,
		0x1.3dea64c123422p0, 0x1.4bfdad5362a27p0, 0x1.5ab07dd485429p0, 0x1.6a09e667f3bcdp0, 0x1.7a11473eb0187p0, 0x1.8ace5422aa0dbp0,
		0x1.9c49182a3f09p0, 0x1.ae89f995ad3adp0, 0x1.c199bdd85529cp0, 0x1.d5818dcfba487p0, 0x1.ea4afa2a490dap0} {
		t[j] = math.Float64bits(x) - uint64(j)<<48
	}
	return t
}()

const shifter = 0x1.8p52 // adding it rounds to an integer, in the low bits of the sum

// expRest has the coefficients of (exp(r) − 1 − r)/r², minimax for |r| up to ln2/32.
var expRest = []float64{0.5, 0x1.555555548d8bap-3, 0x1.5555554f3c29dp-5, 0x1.11123c84d772dp-7, 0x1.6c1f6f10350d8p-10}

// expParts returns t and p so that exp(z) = t + t·p. Here t is 2^(n/16), for the n nearest to z·16/ln2.
func expParts(m machine, z value) (t, p value) {
	k := m.fma(z, f64(m, 0x1.71547652b82fep4), f64(m, shifter))
	n := m.as(I64, k)
	k = m.sub(k, f64(m, shifter))
	r := m.fnma(k, f64(m, 0x1.62e42fefap-5), z)
	r = m.fnma(k, f64(m, 0x1.cf79abc9e3b398p-44), r)
	q := horner(m, r, expRest...)
	p = m.fma(m.mul(r, r), q, r)
	t = m.as(F64, m.add(m.lookup(n, &exp2Table), m.shl(n, 48)))
	return t, p
}

func exp(m machine, a value) value {
	z := m.convert(F64, a)
	z = m.limit(f64(m, -110), z, true) // its exponential is 0 in float32
	z = m.limit(f64(m, 100), z, false) // its exponential is +Inf
	t, p := expParts(m, z)
	return m.convert(F32, m.fma(t, p, t))
}

// tanh returns e/(e+2) with e = exp(2|a|) − 1.
func tanh(m machine, a value) value {
	sign := m.constant(F32, 1<<31)
	z := m.convert(F64, m.and(a, m.constant(F32, 1<<31-1)))
	z = m.limit(f64(m, 20), m.add(z, z), false)
	t, p := expParts(m, z)
	e := m.fma(t, p, m.sub(t, f64(m, 1)))
	y := m.div(e, m.add(e, f64(m, 2)))
	return m.or(m.convert(F32, y), m.and(a, sign))
}

// usualTanh takes negative arguments as they are, and −0 comes out by itself. The rest of ln2/32 beyond its float64 is too small to count.
// Pairs take as long: their numerator needs more steps where a is small.
func usualTanh(m machine, a value) value {
	within(m, a, 40)
	z := m.convert(F64, a)
	k := m.fma(z, f64(m, 0x1.71547652b82fep5), f64(m, shifter))
	n := m.as(I64, k)
	t := m.as(F64, m.add(m.lookup(n, &exp2Table), m.shl(n, 48)))
	r := m.fnma(m.sub(k, f64(m, shifter)), f64(m, 0x1.62e42fefa39efp-6), z)
	twice := []float64{2} // (exp(2r) − 1)/r
	for i, c := range expRest {
		twice = append(twice, math.Ldexp(c, i+2))
	}
	q := horner(m, r, twice...)
	e := m.fms(m.mul(t, r), q, m.sub(f64(m, 1), t))
	return m.convert(F32, m.div(e, m.add(e, f64(m, 2))))
}

// sigmoid returns 1/(1+e) with e = exp(−a). Near 0 the results are close to halfway points, and the side must not be lost. There it uses
//
//	1/2 + a/4 − a³/48 + …
func sigmoid(m machine, a value) value {
	x := m.convert(F64, a)
	z := m.xor(x, m.constant(F64, 1<<63))
	z = m.limit(f64(m, -20), z, true)
	z = m.limit(f64(m, 110), z, false)
	t, p := expParts(m, z)
	y := m.div(f64(m, 1), m.add(f64(m, 1), m.fma(t, p, t)))
	s := m.mul(x, x)
	d := m.mul(x, horner(m, s, 1.0/4, -1.0/48, 1.0/480, -17.0/80640))
	small := m.cmp(lt, m.and(x, m.constant(F64, 1<<63-1)), f64(m, 0x1p-5))
	return m.convert(F32, m.sel(small, odd(m, f64(m, 0.5), d), y))
}

// odd returns s + d rounded to odd, for |d| < |s| or s = 0, so that rounding it again to a float32 rounds the sum. The last bit is 1. The
// result is on the same side of every float32 and of every halfway point as the sum, unless the sum is such a point.
func odd(m machine, s, d value) value {
	y := m.add(s, d)
	rest := m.sub(d, m.sub(y, s))
	down := m.shr(m.as(I64, m.xor(rest, y)), 63) // 1 if the sum is nearer to 0 than y
	return m.as(F64, m.or(m.sub(m.as(I64, y), down), i64(m, 1)))
}

// logTable has inverses and logarithms for intervals of the mantissa, each a sixteenth of the mantissas from 0.703 to 1.406. The inverse is
// that of about the middle of the interval, or 1 in the interval of 1. The second table has minus the logarithms of the inverses. The
// inverses have 28 bits after the point. They were chosen so that the logarithms, of 42 bits, are off by less than 2^-57.
var logTable = [2][16]uint64{words(0x1.642878bp+0, 0x1.5558296p+0, 0x1.47aff0cp+0, 0x1.3b16a5p+0, 0x1.2f67e33p+0, 0x1.2496708p+0,
	0x1.1a7ce64p+0, 0x1.11159b7p+0, 0x1.0842f62p+0, 1, 0x1.e1ef578p-1, 0x1.c717f34p-1, 0x1.af19ea6p-1, 0x1.99975f2p-1, 0x1.86148e4p-1,
	0x1.7456832p-1),
	words(-0x1.521f3b5c97p-2, -0x1.269e9d2a4ep-2, -0x1.f99d6772c8p-3, -0x1.a9520431aap-3, -0x1.5bf14438cap-3, -0x1.1195fb6da8p-3,
		-0x1.9348f06a4p-4, -0x1.089da658fp-4, -0x1.0431a6726p-5, 0, 0x1.efbe3fb31p-5, 0x1.e298e9d5dp-4, 0x1.6037eeeb36p-3,
		0x1.c90aa0e16cp-3, 0x1.167fd55f55p-2, 0x1.462ad3b2bp-2)}

func words(xs ...float64) (w [16]uint64) {
	for i, x := range xs {
		w[i] = math.Float64bits(x)
	}
	return w
}

// firstOf16 is the least v of logParts for the tables of sixteen intervals.
const firstOf16 = 0x3fe6800000000000 // 0.703

// logParts writes a positive normal float64 as 2^k v, with v from first to twice first; first is given by its bits. The low bits of index
// number the interval of v. An interval has 1<<part bit patterns.
func logParts(m machine, x value, first int64, part int) (k, v, index value) {
	const bias = 1 << 62 // 1024 in the place of an exponent
	b := m.sub(m.as(I64, x), i64(m, first-bias))
	k = m.sub(m.as(F64, m.or(m.shr(b, 52), f64(m, 0x1p52))), f64(m, 0x1p52+1024))
	v = m.as(F64, m.add(m.and(b, i64(m, 1<<52-1)), i64(m, first)))
	return k, v, m.shr(b, part)
}

// logRest returns k of a float32, an index of logTable, and r = v·inv − 1, exactly, with the inverse inv of that entry. So
// log(v) = log(1+r) − log(inv).
func logRest(m machine, a value) (k, r, index value) {
	k, v, index := logParts(m, m.convert(F64, a), firstOf16, 48)
	return k, m.fma(v, m.as(F64, m.lookup(index, &logTable[0])), f64(m, -1)), index
}

// log adds its terms exactly as far as it can, and rounds the rest to odd.
func log(m machine, a value) value {
	k, r, index := logRest(m, a)
	w := m.fma(k, f64(m, 0x1.62e42fefa38p-1), m.as(F64, m.lookup(index, &logTable[1]))) // exact
	// (log(1+r) − r)/r², minimax of degree 8: 2^-61 of log(1+r)
	q := horner(m, r, -0.5, 0x1.5555555555521p-2, -0x1.fffffffffffap-3, 0x1.9999999af751bp-3, -0x1.5555555695eabp-3, 0x1.2492357975d4dp-3,
		-0x1.ffffdbf0c4765p-4, 0x1.c7ee28ac92f04p-4, -0x1.9a59d76189686p-4)
	s := m.add(w, r)
	d := m.fma(k, f64(m, 0x1.ef35793c7673p-45), m.add(m.sub(w, s), r))
	y := m.convert(F32, odd(m, s, m.fma(m.mul(r, r), q, d)))
	inf := float32(math.Inf(1))
	y = m.sel(m.cmp(eq, a, f32(m, inf)), a, y)
	y = m.sel(m.cmp(eq, a, f32(m, 0)), f32(m, -inf), y)
	return m.sel(m.cmp(ge, a, f32(m, 0)), y, nan(m, F32))
}
