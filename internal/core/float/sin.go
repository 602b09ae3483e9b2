package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Sin32 returns the sine of x, in radians, correctly rounded for all x: ±0 for ±0, NaN for ±Inf and NaN.
func Sin32(x float32) float32 {
	z := float64(x)
	if z-z != 0 {
		return num.NaN32()
	}
	if x == 0 {
		return x
	}
	if y, ok := settled(sine32(reduce32(z))); ok {
		return y
	}
	s := sine64(reduce64(z))
	return round32(s.hi, s.lo)
}

// Cos32 returns the cosine of x, in radians, correctly rounded for all x: NaN for ±Inf and NaN.
func Cos32(x float32) float32 {
	z := float64(x)
	if z-z != 0 {
		return num.NaN32()
	}
	k, r := reduce32(z)
	if y, ok := settled(sine32(k+64, r)); ok {
		return y
	}
	c := cosine64(reduce64(z))
	return round32(c.hi, c.lo)
}

// Tan32 returns the tangent of x, in radians, correctly rounded for all x: ±0 for ±0, NaN for ±Inf and NaN. No float32 is a pole.
func Tan32(x float32) float32 {
	z := float64(x)
	if z-z != 0 {
		return num.NaN32()
	}
	if x == 0 {
		return x
	}
	k, r := reduce32(z)
	if y, ok := settled(sine32(k, r) / sine32(k+64, r)); ok {
		return y
	}
	t := tangent64(reduce64(z))
	return round32(t.hi, t.lo)
}

// Sin64 returns the sine of x, in radians, with an error of at most 0.501 ulp for all x, however large: ±0 for ±0, NaN for ±Inf and NaN.
func Sin64(x float64) float64 {
	switch a := math.Abs(x); {
	case a < 0x1p-27:
		return x
	case !(a <= math.MaxFloat64):
		return num.NaN64()
	}
	return sine64(reduce64(x)).hi
}

// Cos64 returns the cosine of x, in radians, with an error of at most 0.501 ulp for all x, however large: NaN for ±Inf and NaN.
func Cos64(x float64) float64 {
	if x-x != 0 {
		return num.NaN64()
	}
	return cosine64(reduce64(x)).hi
}

// Tan64 returns the tangent of x, in radians, with an error of at most 0.501 ulp for all x, however large: ±0 for ±0, NaN for ±Inf and NaN.
func Tan64(x float64) float64 {
	switch a := math.Abs(x); {
	case a < 0x1p-27:
		return x
	case !(a <= math.MaxFloat64):
		return num.NaN64()
	}
	return tangent64(reduce64(x)).hi
}

func cosine64(k int, r two) two  { return sine64(k+64, r) }
func tangent64(k int, r two) two { return sine64(k, r).over(sine64(k+64, r)) }
