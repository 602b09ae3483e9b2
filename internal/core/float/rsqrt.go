package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Rsqrt32 returns 1/√x, correctly rounded for all x: ±Inf for ±0, +0 for +Inf, NaN for x < 0 and NaN.
func Rsqrt32(x float32) float32 {
	if !(x > 0) {
		if x == 0 {
			return float32(math.Copysign(math.Inf(1), float64(x)))
		}
		return num.NaN32()
	}
	z := float64(x)
	if y, ok := settled(1 / math.Sqrt(z)); ok {
		return y
	}
	y := rsqrtTwo(z)
	return round32(y.hi, y.lo)
}

// Rsqrt64 returns 1/√x: ±Inf for ±0, +0 for +Inf, NaN for x < 0 and NaN. The error is at most 0.501 ulp.
func Rsqrt64(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), x)
	case !(x > 0):
		return num.NaN64()
	case x > math.MaxFloat64:
		return 0
	case x < 0x1p-900: // the square of the result must not overflow
		return rsqrtTwo(x*0x1p600).hi * 0x1p300
	case x > 0x1p900: // nor be subnormal
		return rsqrtTwo(x*0x1p-600).hi * 0x1p-300
	}
	return rsqrtTwo(x).hi
}

// rsqrtTwo returns y + y (1 - x y²) / 2, where y is 1/√x rounded twice.
func rsqrtTwo(x float64) two {
	y := 1 / math.Sqrt(x)
	p := product(y, y)
	return fastSum(y, float64(0.5*y*FMA64(-x, p.lo, FMA64(-x, p.hi, 1))))
}
