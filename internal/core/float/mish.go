package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Mish32 returns x tanh(log(1 + exp(x))), correctly rounded for all x: ±0 for ±0, +Inf for +Inf, -0, the limit, for -Inf, NaN for NaN.
func Mish32(x float32) float32 {
	if !(x < 40 && x > -120) || x == 0 {
		switch {
		case x >= 40 || x == 0:
			return x
		case x <= -120:
			return float32(math.Copysign(0, -1))
		}
		return num.NaN32()
	}
	z := float64(x)
	e := exp32(z)
	w := float64(e * (e + 2))
	if y, ok := settled(float64(z * (w / (w + 2)))); ok {
		return y
	}
	m := mishFactor(z).times(two{z, 0})
	return round32(m.hi, m.lo)
}

// Mish64 returns x tanh(log(1 + exp(x))): ±0 for ±0, +Inf for +Inf, -0, the limit, for -Inf, NaN for NaN. The error is at most 0.501 ulp,
// subnormal results included.
func Mish64(x float64) float64 {
	switch {
	case x == 0 || x >= 40:
		return x
	case x > -50:
		return mishFactor(x).timesRound(x, 0)
	case x > -760: // x exp(x), but for a part in 2^73
		hi, lo, n := expParts(x, 0)
		return fastSum(hi, lo).timesRound(x, n)
	case x <= -760:
		return math.Copysign(0, -1)
	}
	return num.NaN64()
}

// mishFactor returns tanh(log(1 + e)) with e = exp(x), for -690 <= x <= 40. With w = e (e+2) it is w/(w+2).
func mishFactor(x float64) two {
	e, c := exp64(x, 0), two{2, 0}
	w := e.times(e.plus(c))
	return w.over(w.plus(c))
}
