package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Hypot32 returns √(x²+y²), correctly rounded: +Inf if either is ±Inf, otherwise NaN if either is NaN.
func Hypot32(x, y float32) float32 {
	a, b := float64(x), float64(y)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return float32(math.Inf(1))
	case x != x || y != y:
		return num.NaN32()
	}
	a, b = float64(a*a), float64(b*b) // exact
	if h, ok := settled(math.Sqrt(a + b)); ok {
		return h
	}
	h := sum(a, b).root()
	return round32(h.hi, h.lo)
}

// Hypot64 returns √(x²+y²), without overflow or underflow on the way: +Inf if either is ±Inf, otherwise NaN if either is NaN. The error is
// at most 0.501 ulp, subnormal results included.
func Hypot64(x, y float64) float64 {
	a, b := math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return math.Inf(1)
	case x != x || y != y:
		return num.NaN64()
	case a < b:
		a, b = b, a
	}
	switch {
	case b < a*0x1p-60 || b == 0:
		return a
	case a > 0x1p400:
		return hypotTwo(a*0x1p-600, b*0x1p-600).round(600)
	case a < 0x1p-400:
		return hypotTwo(a*0x1p600, b*0x1p600).round(-600)
	}
	return hypotTwo(a, b).hi
}

func hypotTwo(a, b float64) two { return product(a, a).plus(product(b, b)).root() }
