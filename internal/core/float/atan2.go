package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Atan2x32 returns the angle of the point (x, y), with the special cases of [Atan2x64], correctly rounded wherever tested.
func Atan2x32(y, x float32) float32 {
	if a, ok := angleSpecial(float64(y), float64(x)); ok {
		return float32(a)
	}
	v, z := math.Abs(float64(y)), float64(x)
	a, ok := settled(angle32(v, z))
	if !ok {
		t := angle64(two{v, 0}, two{z, 0})
		a = round32(t.hi, t.lo)
	}
	return float32(math.Copysign(float64(a), float64(y)))
}

// Atan2x64 returns the angle of the point (x, y), between -π and π, with the sign of y. The error is at most 0.501 ulp, subnormal results
// included. The special cases follow atan2 of IEEE 754:
//
//   - It is NaN if either is NaN.
//   - For y = ±0 it is ±0 or ±π by the sign of x, the sign of a zero included.
//   - For x = ±0 and other y it is ±π/2.
//   - Infinities are limits. Two of them give ±π/4 or ±3π/4.
func Atan2x64(y, x float64) float64 {
	if a, ok := angleSpecial(y, x); ok {
		return a
	}
	v, z := math.Abs(y), x
	if q := v / z; x > 0 && q < 0x1p-32 {
		return math.Copysign(q, y) // atan(q) is less by a part in 2^65
	}
	// Numbers whose squares or remainders would leave the range are scaled. The lost digits are too small to count.
	switch m := max(v, math.Abs(z)); {
	case m > 0x1p900:
		v, z = v*0x1p-200, z*0x1p-200
	case m < 0x1p-700:
		v, z = v*0x1p600, z*0x1p600
	}
	return math.Copysign(angle64(two{v, 0}, two{z, 0}).hi, y)
}

// angleSpecial returns the angle where the quotient isn't used: unless both x and y are finite and not 0.
func angleSpecial(y, x float64) (a float64, ok bool) {
	inf := math.IsInf(x, 0)
	switch {
	case x != x || y != y:
		return num.NaN64(), true
	case inf && math.IsInf(y, 0):
		a = 0x1.921fb54442d18p-1 // π/4
		if x < 0 {
			a = 0x1.2d97c7f3321d2p1
		}
	case y == 0 || inf:
		if math.Signbit(x) {
			a = piTwo.hi
		}
	case x == 0 || math.IsInf(y, 0):
		a = halfPiTwo.hi
	default:
		return 0, false
	}
	return math.Copysign(a, y), true
}
