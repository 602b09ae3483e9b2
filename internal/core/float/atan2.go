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

// Atan2x64 returns the angle of the point (x, y), between -π and π, with the sign of y, and the special cases of IEEE 754's atan2: NaN if either
// is NaN; ±0 or ±π for y = ±0 by the sign of x, that of zero included; ±π/2 for x = ±0 and other y; and infinities are as limits, both
// together giving ±π/4 or ±3π/4. The error is at most 0.501 ulp, subnormal results included.
func Atan2x64(y, x float64) float64 {
	if a, ok := angleSpecial(y, x); ok {
		return a
	}
	v, z := math.Abs(y), x
	if q := v / z; x > 0 && q < 0x1p-32 {
		return math.Copysign(q, y) // atan(q) is less by a part in 2^65
	}
	// Numbers whose squares or remainders would leave the range are scaled; what is lost is too small to count.
	switch m := max(v, math.Abs(z)); {
	case m > 0x1p900:
		v, z = v*0x1p-200, z*0x1p-200
	case m < 0x1p-700:
		v, z = v*0x1p600, z*0x1p600
	}
	return math.Copysign(angle64(two{v, 0}, two{z, 0}).hi, y)
}

// angleSpecial returns the angle where a quotient is no help, which it is for finite x and y other than 0.
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
