package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Expm1x32 returns e to the power x, less 1, correctly rounded for all x: ±0 for ±0, +Inf from 88.72284 on, -1 below -17.32868, NaN for NaN.
func Expm1x32(x float32) float32 {
	if !(x < 89 && x > -18) {
		switch {
		case x >= 89:
			return float32(math.Inf(1))
		case x <= -18:
			return -1
		}
		return num.NaN32()
	}
	if x == 0 {
		return x
	}
	z := float64(x)
	if y, ok := settled(less1(z)); ok {
		return y
	}
	m := less1Two(z)
	return round32(m.hi, m.lo)
}

// Expm1x64 returns e to the power x, less 1: ±0 for ±0, +Inf from 709.78272 on, -1 below -37.42995, NaN for NaN. The error is at most
// 0.501 ulp.
func Expm1x64(x float64) float64 {
	switch {
	case x > -0x1p-54 && x < 0x1p-54:
		return x
	case x < -40:
		return -1
	case x < 45:
		return less1Two(x).hi
	case x < 710:
		return scale(expParts(x, 0))
	case x >= 710:
		return math.Inf(1)
	}
	return num.NaN64()
}

// less1 returns exp(z) - 1, for |z| < 700, with a relative error of about 2^-48.
func less1(z float64) float64 {
	k := float64(z*toSixteenths) + shifter
	n := int64(math.Float64bits(k))
	k -= shifter
	r := (z - float64(k*sixteenth1)) - float64(k*sixteenth2)
	q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555548d8bap-3+float64(r*(0x1.5555554f3c29dp-5+float64(r*(0x1.11123c84d772dp-7+float64(r*0x1.6c1f6f10350d8p-10)))))))))
	t := math.Float64frombits(math.Float64bits(exp2Table[n&15].hi) + uint64(n>>4)<<52)
	return (t - 1) + float64(t*(r+q))
}

// less1Two returns exp(x) - 1, for |x| < 100, with a relative error of about 2^-65. It is t - 1 + t (r + r²/2 + ...), with the first terms in
// two parts. t is a power of 2 to a multiple of a sixteenth.
func less1Two(x float64) two {
	k := FMA64(x, toSixteenths, shifter)
	n := int64(math.Float64bits(k))
	k -= shifter
	d := FMA64(-k, sixteenth1, x) // exact
	r := FMA64(-k, sixteenth2, d)
	rl := FMA64(-k, sixteenth2, d-r)
	// exp(r) - 1 - r - r²/2, minimax of degree 8, as in Tanh64: 2^-75
	q := FMA64(r, 0x1.a024e95d8c4dbp-16, 0x1.a01b70e85e8bdp-13)
	q = FMA64(r, q, 0x1.6c16c164ffde6p-10)
	q = FMA64(r, q, 0x1.111111109fe38p-7)
	q = FMA64(r, q, 0x1.555555555557ap-5)
	q = FMA64(r, q, 0x1.5555555555558p-3)
	q = float64(float64(r*r) * float64(r*q))
	e := &exp2Table[n&15]
	f := math.Float64frombits(uint64(1023+n>>4) << 52)
	t, tl := float64(e.hi*f), float64(e.lo*f)
	h := 0.5 * r
	m := FMA64(h, r, r)
	u := product(t, r)
	v := product(u.hi, h)
	a, al := twoSum(t, -1)
	b, bl := twoSum(a, u.hi)
	c, cl := twoSum(b, v.hi)
	lo := (al + bl + cl) + FMA64(u.lo, h, u.lo+v.lo) + FMA64(tl, m, tl)
	return fastSum(c, FMA64(t, q+FMA64(rl, m, rl), lo))
}
