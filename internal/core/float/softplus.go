package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Softplus32 returns log(1 + exp(x)), correctly rounded for all x: +0 below -103.97208, +Inf for +Inf, NaN for NaN.
func Softplus32(x float32) float32 {
	if !(x < 100 && x > -104) {
		switch {
		case x >= 100:
			return x
		case x <= -104:
			return 0
		}
		return num.NaN32()
	}
	z := float64(x)
	y := more1(exp32(-math.Abs(z)))
	if z > 0 {
		y += z
	}
	if y, ok := settled(y); ok {
		return y
	}
	l := softplusTwo(z)
	return round32(l.hi, l.lo)
}

// Softplus64 returns log(1 + exp(x)): +0 below -745.13322, +Inf for +Inf, NaN for NaN. The error is at most 0.501 ulp, subnormal results
// included.
func Softplus64(x float64) float64 {
	switch {
	case x > 50:
		return x
	case x > -50:
		return softplusTwo(x).hi
	case x > -746:
		return scale(expParts(x, 0)) // the logarithm is less than the exponential by a part in 2^73
	case x <= -746:
		return 0
	}
	return num.NaN64()
}

// softplusTwo is for |x| <= 690.
func softplusTwo(x float64) two {
	l := more1Two(exp64(-math.Abs(x), 0))
	if x > 0 {
		return two{x, 0}.plus(l)
	}
	return l
}
