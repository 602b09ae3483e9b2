package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Sinh32 returns the hyperbolic sine of x, correctly rounded for all x: ±0 for ±0, ±Inf from ±89.41599 on, NaN for NaN.
func Sinh32(x float32) float32 {
	if !(x < 90 && x > -90) {
		if x != x {
			return num.NaN32()
		}
		return float32(math.Copysign(math.Inf(1), float64(x)))
	}
	z := math.Abs(float64(x))
	m := less1(z)
	y, ok := settled(float64(0.5 * (m + m/(1+m))))
	if !ok {
		s := sinhTwo(z)
		y = round32(s.hi, s.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Cosh32 returns the hyperbolic cosine of x, correctly rounded for all x: +Inf from ±89.41599 on, NaN for NaN.
func Cosh32(x float32) float32 {
	if !(x < 90 && x > -90) {
		if x != x {
			return num.NaN32()
		}
		return float32(math.Inf(1))
	}
	z := math.Abs(float64(x))
	e := exp32(z)
	if y, ok := settled(float64(0.5 * (e + 1/e))); ok {
		return y
	}
	c := coshTwo(z)
	return round32(c.hi, c.lo)
}

// Sinh64 returns the hyperbolic sine of x: ±0 for ±0, ±Inf from ±710.47586 on, NaN for NaN. The error is at most 0.501 ulp.
func Sinh64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-27:
		return x
	case a < 90:
		return math.Copysign(sinhTwo(a).hi, x)
	case x != x:
		return num.NaN64()
	}
	return math.Copysign(halfExp(a), x)
}

// Cosh64 returns the hyperbolic cosine of x: +Inf from ±710.47586 on, NaN for NaN. The error is at most 0.501 ulp.
func Cosh64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 90:
		return coshTwo(a).hi
	case x != x:
		return num.NaN64()
	}
	return halfExp(a)
}

// halfExp returns exp(a) / 2, the value of both functions for large a.
func halfExp(a float64) float64 {
	if a >= 711 {
		return math.Inf(1)
	}
	hi, lo, n := expParts(a, 0)
	return scale(hi, lo, n-1)
}

// sinhTwo is for 0 <= a <= 90. With m = exp(a) - 1, sinh(a) is (m + m/(1+m)) / 2, which loses no digits for small a.
func sinhTwo(a float64) two {
	m := less1Two(a)
	return m.plus(m.over(m.plus(two{1, 0}))).by(0.5)
}

// coshTwo is for 0 <= a <= 90.
func coshTwo(a float64) two {
	e := exp64(a, 0)
	return e.plus(two{1, 0}.over(e)).by(0.5)
}
