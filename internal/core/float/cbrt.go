package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Cbrt32 returns the cube root of x, correctly rounded for all x: negative for negative x, ±0 for ±0, ±Inf for ±Inf, NaN for NaN.
func Cbrt32(x float32) float32 {
	if x == 0 || !(x <= math.MaxFloat32 && x >= -math.MaxFloat32) {
		if x != x {
			return num.NaN32()
		}
		return x
	}
	z := math.Abs(float64(x))
	y, ok := settled(cube32(z))
	if !ok {
		c := cubeTwo(z)
		y = round32(c.hi, c.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Cbrt64 returns the cube root of x: negative for negative x, ±0 for ±0, ±Inf for ±Inf, NaN for NaN. The error is at most 0.501 ulp.
func Cbrt64(x float64) float64 {
	if x == 0 || !(x <= math.MaxFloat64 && x >= -math.MaxFloat64) {
		if x != x {
			return num.NaN64()
		}
		return x
	}
	a, f := math.Abs(x), 1.0
	switch {
	case a < 0x1p-900: // no part of the cube of the root must be subnormal
		a, f = a*0x1p300, 0x1p-100
	case a > 0x1p900: // nor three times it overflow
		a, f = a*0x1p-300, 0x1p100
	}
	return math.Copysign(cubeTwo(a).hi*f, x)
}

// cube32 returns the cube root of normal a > 0, with a relative error of about 2^-52. A third of the bits, as an integer, is right to 2^-4.9.
// Each step of Halley's method takes the cube of the error.
func cube32(a float64) float64 {
	y := math.Float64frombits(math.Float64bits(a)/3 + 0x2a9f76253119d328) // two thirds of 1023, less 0.0331, in the place of the exponent
	for range 3 {
		c := float64(float64(y*y) * y)
		y -= float64(y * ((c - a) / (c + c + a)))
	}
	return y
}

func cubeTwo(a float64) two {
	y := cube32(a)
	p := product(y, y)
	q := product(p.hi, y)
	return fastSum(y, ((a-q.hi)-FMA64(p.lo, y, q.lo))/(3*p.hi))
}
