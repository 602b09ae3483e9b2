package main

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/exact"
)

// An exact value costs tens of microseconds, so 10^8 of them would take an hour for each function. But a smooth function between neighbouring
// numbers is a polynomial to far more digits than are needed. A near is the polynomial of degree 4 through five exact values. Two more exact
// values check it. Where it is wrong, next to a pole or at large arguments of a sine, the neighbourhood shrinks, at last to single numbers.

// near is a function around x: its value at x + v·h, for |v| ≤ 2, times 2^scale. The product is about 1.
type near struct {
	x, h       float64
	scale      int
	a0, a0low  float64
	a1, a1low  float64
	a2, a3, a4 float64
	unit       float64 // the smallest unit in the last place, scaled
	mantissa   int     // bits of the result's format
}

// tolerance is the largest distance of a near from the two values that check it, relative to the value.
const tolerance = 1.0 / (1 << 40) / (1 << 26)

// nearOf returns the polynomial with steps of h. ok is false when it isn't good enough.
func (f *function64) nearOf(x, y, h float64) (p near, ok bool) {
	defer func() { // outside of the domain
		if recover() != nil {
			ok = false
		}
	}()
	p = near{x: x, h: h, mantissa: f.bits}
	var v [5]*big.Float
	for i := range v {
		v[i] = f.exact(x+float64(float64(i-2)*h), y)
	}
	if v[2].Sign() == 0 || v[2].IsInf() {
		return p, false
	}
	p.scale = -v[2].MantExp(nil)
	// Differences on both sides of the middle one give the coefficients.
	sum := func(weights [5]int64, divisor int64) (high, low float64) {
		s := new(big.Float).SetPrec(exact.Prec)
		for i, w := range weights {
			s.Add(s, new(big.Float).SetPrec(exact.Prec).Mul(v[i], big.NewFloat(float64(w))))
		}
		s.Quo(s, big.NewFloat(float64(divisor)))
		s.SetMantExp(s, p.scale)
		high, _ = s.Float64()
		low, _ = s.Sub(s, big.NewFloat(high)).Float64()
		return high, low
	}
	p.a0, p.a0low = sum([5]int64{0, 0, 1, 0, 0}, 1)
	p.a1, p.a1low = sum([5]int64{1, -8, 0, 8, -1}, 12)
	p.a2, _ = sum([5]int64{-1, 16, -30, 16, -1}, 24)
	p.a3, _ = sum([5]int64{-1, 2, 0, -2, 1}, 12)
	p.a4, _ = sum([5]int64{1, -4, 6, -4, 1}, 24)
	p.unit = math.Ldexp(1, f.least+p.scale)
	for _, at := range []float64{-1.5, 0.5} {
		high, low := p.value(at)
		got := new(big.Float).SetPrec(exact.Prec).Add(big.NewFloat(high), big.NewFloat(low))
		want := f.exact(x+float64(at*h), y)
		want = new(big.Float).SetPrec(exact.Prec).SetMantExp(want, p.scale)
		d, _ := got.Sub(got, want).Float64()
		if w, _ := want.Float64(); !(math.Abs(d) <= float64(math.Abs(w)*tolerance)) {
			return p, false
		}
	}
	return p, true
}

// value returns the scaled value at x + v·h as the sum of two numbers.
func (p *near) value(v float64) (high, low float64) {
	s := float64(v * (p.a2 + float64(v*(p.a3+float64(v*p.a4)))))
	q := float64(p.a1 * v)
	rest := float.FMA64(p.a1, v, -q) + float64(p.a1low*v) + float64(v*s) + p.a0low
	first := p.a0 + q
	back := first - p.a0
	rest += (p.a0 - (first - back)) + (q - back)
	high = first + rest
	return high, rest - (high - first)
}

// ulp returns the distance of got from the value at x + v·h, in units in the last place.
func (p *near) ulp(got, v float64) float64 {
	high, low := p.value(v)
	m, e := math.Frexp(high)
	if m == 0.5 && low < 0 || m == -0.5 && low > 0 { // the value is in the binade below
		e--
	}
	unit := max(math.Ldexp(1, e-p.mantissa), p.unit)
	return math.Abs(float64(math.Ldexp(got, p.scale)-high)-low) / unit
}

// walk calls visit with n random inputs, in groups of neighbours, and the error of each.
func (f *function64) walk(r *rand.Rand, n int, visit func(x, y, ulp float64)) {
	most, reach := 1024, 28 // inputs of a group, and the first base-2 logarithm of h in units
	if f.bits == 24 {
		most, reach = 64, 5
	}
	for n > 0 {
		x, y := f.draw(r)
		_, e := math.Frexp(x)
		unit := math.Ldexp(1, max(e-f.bits, f.least))
		var p near
		ok, k := false, reach
		for ; k >= 3 && !ok; k -= 8 {
			if h := math.Ldexp(unit, k); float64(8*h) <= math.Abs(x) {
				p, ok = f.nearOf(x, y, h)
			}
		}
		if !ok {
			visit(x, y, exact.ULP(f.f(x, y), f.exact(x, y), f.bits, f.least))
			n--
			continue
		}
		far := int64(2 * p.h / unit)
		for range min(n, most) {
			steps := r.Int64N(2*far+1) - far
			if r.IntN(2) == 0 { // near the number drawn, which may itself be near a special point
				steps >>= r.IntN(reach)
			}
			at := x + float64(float64(steps)*unit)
			if f.bits == 24 { // beyond a power of two every other number isn't a float32
				at = float64(float32(at))
			}
			visit(at, y, p.ulp(f.f(at, y), (at-x)/p.h))
		}
		n -= min(n, most)
	}
}
