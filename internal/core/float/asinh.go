package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// The inverse hyperbolic functions are logarithms of 1 + z, with z computed without cancellation; atanh(x) is half of one:
//
//	asinh  z = x + x²/(1 + √(1+x²))
//	acosh  z = x-1 + √((x-1)(x+1))
//	atanh  z = 2x/(1-x)

// Asinh32 returns the inverse hyperbolic sine of x, correctly rounded for all x: ±0 for ±0, ±Inf for ±Inf, NaN for NaN.
func Asinh32(x float32) float32 {
	if x == 0 || !(x <= math.MaxFloat32 && x >= -math.MaxFloat32) {
		if x != x {
			return num.NaN32()
		}
		return x
	}
	z := math.Abs(float64(x))
	s := float64(z * z)
	y, ok := settled(more1(z + s/(1+math.Sqrt(1+s))))
	if !ok {
		l := asinhTwo(z)
		y = round32(l.hi, l.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Acosh32 returns the inverse hyperbolic cosine of x, correctly rounded for all x: +0 for 1, +Inf for +Inf, NaN for x < 1 and NaN.
func Acosh32(x float32) float32 {
	if !(x >= 1 && x <= math.MaxFloat32) {
		if x > 1 {
			return x
		}
		return num.NaN32()
	}
	z := float64(x)
	if y, ok := settled(more1((z - 1) + math.Sqrt(float64((z-1)*(z+1))))); ok {
		return y
	}
	l := acoshTwo(z)
	return round32(l.hi, l.lo)
}

// Atanh32 returns the inverse hyperbolic tangent of x, correctly rounded for all x: ±0 for ±0, ±Inf for ±1; NaN for |x| > 1 and NaN.
func Atanh32(x float32) float32 {
	if x == 0 || !(x < 1 && x > -1) {
		switch x {
		case 0:
			return x
		case 1, -1:
			return float32(math.Inf(int(x)))
		}
		return num.NaN32()
	}
	z := math.Abs(float64(x))
	y, ok := settled(float64(0.5 * more1((2*z)/(1-z))))
	if !ok {
		l := atanhTwo(z)
		y = round32(l.hi, l.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Asinh64 returns the inverse hyperbolic sine of x: ±0 for ±0, ±Inf for ±Inf, NaN for NaN. The error is at most 0.501 ulp.
func Asinh64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-27:
		return x
	case a <= math.MaxFloat64:
		return math.Copysign(asinhTwo(a).hi, x)
	case x != x:
		return num.NaN64()
	}
	return x
}

// Acosh64 returns the inverse hyperbolic cosine of x: +0 for 1, +Inf for +Inf, NaN for x < 1 and NaN. The error is at most 0.501 ulp.
func Acosh64(x float64) float64 {
	switch {
	case !(x >= 1):
		return num.NaN64()
	case x <= math.MaxFloat64:
		return acoshTwo(x).hi
	}
	return x
}

// Atanh64 returns the inverse hyperbolic tangent of x: ±0 for ±0, ±Inf for ±1; NaN for |x| > 1 and NaN. The error is at most 0.501 ulp.
func Atanh64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-27:
		return x
	case a < 1:
		return math.Copysign(atanhTwo(a).hi, x)
	case a == 1:
		return math.Inf(int(x))
	}
	return num.NaN64()
}

// logTwice returns log(2a), for normal a. From 2^32 on asinh and acosh differ from it by less than 2^-70 of their values.
func logTwice(a float64) two {
	hi, lo := powLog(a)
	return two{hi, lo}.plus(ln2Two)
}

func asinhTwo(a float64) two {
	if a >= 0x1p32 {
		return logTwice(a)
	}
	s := product(a, a)
	one := two{1, 0}
	return more1Two(two{a, 0}.plus(s.over(one.plus(one.plus(s).root()))))
}

func acoshTwo(a float64) two {
	switch {
	case a >= 0x1p32:
		return logTwice(a)
	case a == 1:
		return two{}
	}
	d := sum(a, -1)
	return more1Two(d.plus(d.times(sum(a, 1)).root()))
}

func atanhTwo(a float64) two {
	return more1Two(two{2 * a, 0}.over(sum(1, -a))).by(0.5)
}
