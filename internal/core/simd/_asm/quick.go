package main

import "math"

// Functions of float32 within 2 units in the last place, computed in float32, for the option op.Fast. The polynomials are minimax, by
// Remez's algorithm.

func quick() (l list) {
	f := func(name, only string, body func(m machine, a value, usual bool) value) {
		l.function(kernel{table: name, only: only,
			body:  func(m machine) { m.store(0, canon(m, body(m, m.load(1), false))) },
			usual: func(m machine) { m.store(0, body(m, m.load(1), true)) },
		})
	}
	f("FastExp", "", fastExp)
	f("FastLog", "", fastLog)
	f("FastTanh", "AVX2", fastTanh)
	l.function(kernel{table: "FastTanh", only: "AVX512", notNEON: "picking takes it four loads, and the other FastTanh none",
		body: func(m machine) { m.store(0, pickedTanh(m, m.load(1))) }})
	f("FastSigmoid", "", fastSigmoid)
	return l
}

const shifter32 = 0x1.8p23 // shifter for float32

// fastParts returns n, with a whole number k in its low bits, and y from √½ to √2, so that exp(z) = 2^k y.
func fastParts(m machine, z value) (n, y value) {
	k := m.fma(z, f32(m, 0x1.715476p0), f32(m, shifter32))
	n = m.as(I32, k)
	k = m.sub(k, f32(m, shifter32))
	r := m.fnma(k, f32(m, 0x1.62e4p-1), z) // k has 8 bits
	r = m.fnma(k, f32(m, 0x1.7f7d1cp-20), r)
	return n, horner32(m, r, 1, 1, 0.500000009519, 0.166665188406, 0.0416662057883, 0.00836888927498, 0.00139504918894)
}

// power returns 2^k for whole k from −126 to 127. The low bits of n are k.
func power(m machine, n value) value {
	return m.as(F32, m.add(m.shl(n, 23), m.constant(I32, 127<<23)))
}

// within reports a doubt for float32 of an absolute value above limit.
func within(m machine, a value, limit float32) {
	m.doubt(m.and(m.as(U32, a), m.constant(U32, 1<<31-1)), uint64(math.Float32bits(limit)))
}

func fastExp(m machine, a value, usual bool) value {
	if usual {
		within(m, a, 80)
		n, y := fastParts(m, a)
		return m.mul(y, power(m, n))
	}
	z := m.limit(f32(m, -110), a, true) // its exponential is 0
	z = m.limit(f32(m, 100), z, false)  // its exponential is +Inf
	n, y := fastParts(m, z)
	k := m.sub(m.as(F32, n), f32(m, shifter32))
	near := m.limit(f32(m, -100), k, true) // rest comes after, as the result may be subnormal
	near = m.limit(f32(m, 127), near, false)
	rest := m.sub(k, near)
	shift := func(k value) value { return power(m, m.as(I32, m.add(k, f32(m, shifter32)))) }
	return m.mul(m.mul(y, shift(near)), shift(rest))
}

// fastTanh is a polynomial for small |a|, and else
//
//	1 − 2/(e+1), e = exp(2|a|)
func fastTanh(m machine, a value, usual bool) value {
	x := m.and(a, m.constant(F32, 1<<31-1))
	if usual {
		m.doubt(m.as(U32, x), uint64(math.Float32bits(40)))
	} else {
		x = m.limit(f32(m, 40), x, false)
	}
	n, e := fastParts(m, m.add(x, x))
	y := m.sub(f32(m, 1), m.div(f32(m, 2), m.fma(power(m, n), e, f32(m, 1))))
	s := m.mul(x, x)
	small := horner32(m, s, -0.33333318046236265, 0.1333260169760673, -0.05385385887061548, 0.021077761410217263, -0.006282476930981588)
	small = m.fma(m.mul(x, s), small, x)
	y = m.sel(m.cmp(lt, x, f32(m, 0.55)), small, y)
	return m.or(y, m.and(a, m.constant(F32, 1<<31)))
}

// tanhTables has a column for each of sixteen intervals of |a|: a float32 c of the interval, tanh(c), and the coefficients of the polynomial
//
//	tanh(c) + p₁t + … + p₅t⁵, t = |a| − c
//
// Each c is chosen so that tanh(c) is within 0.004 units of a float32. The coefficients are minimax, by least squares that are weighted anew
// until the largest errors are equal. From the last one on, each coefficient was rounded and the ones before it fitted again. In the end a
// search moved them by units in the last place for the least error of the computed polynomial. In the interval of 0, c and tanh(c) are 0 and
// p₁ is 1, so that small numbers stay as they are.
var tanhTables = [7][16]float32{
	{0.7628451, 1.073037, 1.3831366, 1.6933525, 2.1585681, 2.7788012, 3.3992298, 4.019603,
		4.950147, 6.1899714, 7.422053, 8.654458, 0, 0.21997586, 0.37508073, 0.53017336},
	{0.6427497, 0.7906027, 0.8816517, 0.9345729, 0.9736751, 0.9923136, 0.9977715, 0.9993551,
		0.9998997, 0.9999916, 0.9999993, 0.99999994, 0, 0.21649505, 0.35842776, 0.4855136},
	{0.5868728, 0.3749474, 0.22269027, 0.12657353, 0.05195682, 0.015313685, 0.004452037, 0.0012894305,
		0.00020064121, 1.6809812e-05, 1.4300375e-06, 1.2176729e-07, 1, 0.9531299, 0.8715295, 0.76427656},
	{-0.37721244, -0.29643917, -0.19633788, -0.11829294, -0.05058672, -0.015193867, -0.0044413726, -0.0012883677,
		-0.00020001063, -1.6755537e-05, -1.421323e-06, -1.7747676e-07, 5.960637e-07, -0.20634703, -0.3123794, -0.3710659},
	{0.046818238, 0.109380096, 0.09887214, 0.06836301, 0.03194094, 0.009973604, 0.002947718, 0.0008577984,
		0.0001332879, 1.1170575e-05, 9.524965e-07, 3.9977373e-08, -0.33337027, -0.27304184, -0.17854457, -0.074607104},
	{0.0956574, 0.012975804, -0.021366253, -0.024361258, -0.014315728, -0.004902916, -0.0014857328, -0.00043547558,
		-7.173301e-05, -6.020767e-06, -5.242324e-07, 3.1473334e-07, 0.0006964063, 0.12736589, 0.16755112, 0.15954952},
	{-0.06316171, -0.03792922, -0.009074397, 0.002772464, 0.0043212217, 0.001829928, 0.0005829082, 0.00017320119,
		2.86446e-05, 2.4009496e-06, 1.9972929e-07, 4.6881357e-07, 0.12900288, 0.08517266, 0.018776815, -0.03472949},
}

// pickedTanh has no exponential and no division, and is within 1.09 units. An interval has the |a| for which 1.612|a| + 1.0204 has the same
// exponent and the same first two bits after the point, so it is narrow where tanh bends. The first interval is entry 12.
func pickedTanh(m machine, a value) value {
	x := m.magnitude(a, f32(m, 9.02)) // tanh(9.02) is 1 in float32
	index := m.shr(m.as(U32, m.fma(x, f32(m, 1.612), f32(m, 1.020396))), 21)
	t := m.sub(x, m.pick(index, tanhTables[0]))
	y := m.pick(index, tanhTables[6])
	for i := 5; i > 0; i-- {
		y = m.fma(y, t, m.pick(index, tanhTables[i]))
	}
	return m.sel(m.cmp(unordered, a, a), nan(m, F32), m.signed(y, a))
}

// fastSigmoid is 1/(1+e) with e = exp(−|a|), and e/(1+e) where a is negative.
func fastSigmoid(m machine, a value, usual bool) value {
	const far = 80 // beyond that distance from 0, 1+e is 1
	z := m.or(a, m.constant(F32, 1<<31))
	if usual {
		m.doubt(m.sub(m.as(U32, z), m.constant(U32, 1<<31)), uint64(math.Float32bits(far)))
	} else {
		z = m.limit(f32(m, -far), z, true)
	}
	n, y := fastParts(m, z)
	e := m.mul(y, power(m, n))
	if !usual {
		e = m.sel(m.cmp(lt, a, f32(m, -far)), fastExp(m, a, false), e)
	}
	d, negative := m.add(e, f32(m, 1)), m.cmp(lt, a, f32(m, 0))
	y = m.div(m.sel(negative, e, f32(m, 1)), d)
	rest := m.sub(e, m.sub(d, f32(m, 1))) // the rounding error of d
	inverse := m.sel(negative, m.sub(f32(m, 1), y), y)
	return m.fnma(m.mul(y, inverse), rest, y)
}

// fastLog writes a = 2^k v, with v between √½ and √2, and r = v − 1.
func fastLog(m machine, a value, usual bool) value {
	const first, bias = 0x3f3504f3, 1 << 30 // √½; 128 in the place of an exponent
	n := m.as(I32, a)
	tiny := value{}
	if usual {
		positiveNormal(m, a)
	} else {
		tiny = m.cmp(lt, a, f32(m, 0x1p-126))
		n = m.as(I32, m.sel(tiny, m.mul(a, f32(m, 0x1p23)), a))
	}
	b := m.sub(n, m.constant(I32, (first-bias)&(1<<32-1)))
	k := m.sub(m.as(F32, m.or(m.shr(b, 23), m.constant(I32, 0x4b000000))), f32(m, 0x1p23+128))
	if !usual {
		k = m.sel(tiny, m.sub(k, f32(m, 23)), k)
	}
	v := m.as(F32, m.add(m.and(b, m.constant(I32, 1<<23-1)), m.constant(I32, first)))
	r := m.sub(v, f32(m, 1))
	q := horner32(m, r, 0.333333126051, -0.250000096039, 0.200021185886, -0.166679955441, 0.142195534998, -0.124055951568,
		0.118881604908, -0.11675614167, 0.0674659840111)
	s := m.mul(r, r)
	y := m.fma(m.mul(s, r), q, m.mul(k, f32(m, 0x1.7f7d1cp-20)))
	y = m.fma(s, f32(m, -0.5), y)
	y = m.add(m.fma(k, f32(m, 0x1.62e4p-1), r), y)
	if usual {
		return y
	}
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
