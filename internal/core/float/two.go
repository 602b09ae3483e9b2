package float

import "math"

// A two is the sum of two float64, about 106 bits. |lo| is at most half a unit in the last place of hi. Functions that need more than 53
// bits compute with it, by the fused steps of J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", 2nd edition, chapter 14.
type two struct{ hi, lo float64 }

// fastSum returns a + b exactly, for |a| >= |b| or a = 0.
func fastSum(a, b float64) two {
	s := a + b
	return two{s, a - s + b}
}

// sum returns a + b exactly.
func sum(a, b float64) two {
	s, e := twoSum(a, b)
	return two{s, e}
}

// product returns a b, exactly if no part of it is below 2^-1022.
func product(a, b float64) two {
	p := float64(a * b)
	return two{p, FMA64(a, b, -p)}
}

// plus returns a + b with an error of about 2^-104 (|a| + |b|).
func (a two) plus(b two) two {
	s, e := twoSum(a.hi, b.hi)
	return fastSum(s, e+(a.lo+b.lo))
}

// times, over and root have relative errors of about 2^-102.
func (a two) times(b two) two {
	p := product(a.hi, b.hi)
	return fastSum(p.hi, FMA64(a.hi, b.lo, FMA64(a.lo, b.hi, p.lo)))
}

func (a two) over(b two) two {
	q := a.hi / b.hi
	return fastSum(q, (FMA64(-q, b.hi, a.hi)+FMA64(-q, b.lo, a.lo))/b.hi)
}

// root is for a > 0.
func (a two) root() two {
	s := math.Sqrt(a.hi)
	return fastSum(s, (FMA64(-s, s, a.hi)+a.lo)/(2*s))
}

// by returns a f for a power of two f.
func (a two) by(f float64) two { return two{float64(a.hi * f), float64(a.lo * f)} }

func (a two) minus() two { return two{-a.hi, -a.lo} }

// round returns a 2^n with one rounding, for a != 0, subnormal results included.
func (a two) round(n int) float64 {
	if a.hi < 0 {
		return -a.minus().round(n)
	}
	e := int(math.Float64bits(a.hi)>>52) - 1023
	f := math.Float64frombits(uint64(1023-e) << 52)
	return scale(float64(a.hi*f), float64(a.lo*f), max(min(n+e, 2000), -2000))
}

// timesRound returns x a 2^n with one rounding, for x != 0. A part of the product may be subnormal.
func (a two) timesRound(x float64, n int) float64 {
	m, e := math.Frexp(x)
	return a.times(two{m, 0}).round(n + e)
}

// settled rounds y, whose relative error is below 2^-46, to float32. It reports whether all numbers that near round to the same float32.
// Almost all do. Where they don't, the caller computes more bits.
func settled(y float64) (float32, bool) { return settledTo(y, 0x1p-46) }

// settledTo is settled for another relative error.
func settledTo(y, e float64) (float32, bool) {
	d := float64(y * e)
	a, b := float32(y-d), float32(y+d)
	return a, a == b
}
