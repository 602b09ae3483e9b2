package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Exp2x32 returns 2 to the power x, correctly rounded for all x: 1 for ±0; +Inf from 128 on; +0 from -150 down, NaN for NaN.
func Exp2x32(x float32) float32 {
	if !(x < 128 && x > -150) {
		switch {
		case x >= 128:
			return float32(math.Inf(1))
		case x <= -150:
			return 0 // -150 is a tie
		}
		return num.NaN32()
	}
	z := float64(x)
	k := float64(z*16) + shifter
	n := int64(math.Float64bits(k))
	r := float64((z - float64((k-shifter)*(1.0/16))) * math.Ln2)
	if y, ok := settled(expAt(n, r)); ok {
		return y
	}
	p := ln2Two.times(two{z, 0})
	return narrow(expParts(p.hi, p.lo))
}

// Exp2x64 returns 2 to the power x: +Inf from 1024 on, +0 from -1075 down, NaN for NaN. The error is at most 0.501 ulp, subnormal results
// included, and none if x is an integer.
func Exp2x64(x float64) float64 {
	if !(x < 1024 && x > -1075) {
		switch {
		case x >= 1024:
			return math.Inf(1)
		case x <= -1075:
			return 0
		}
		return num.NaN64()
	}
	p := ln2Two.times(two{x, 0})
	return scale(expParts(p.hi, p.lo))
}

var ln2Two = two{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// expAt returns 2^(n/16) exp(r), for |r| <= ln2/32. The relative error is about 2^-51. n/16 must be in the range of the exponents of
// float64.
func expAt(n int64, r float64) float64 {
	q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555548d8bap-3+float64(r*(0x1.5555554f3c29dp-5+float64(r*(0x1.11123c84d772dp-7+float64(r*0x1.6c1f6f10350d8p-10)))))))))
	t := math.Float64frombits(math.Float64bits(exp2Table[n&15].hi) + uint64(n>>4)<<52)
	return t + float64(t*(r+q))
}

// exp32 returns exp(z), for |z| < 700, with a relative error of about 2^-51.
func exp32(z float64) float64 {
	k := float64(z*toSixteenths) + shifter
	n := int64(math.Float64bits(k))
	k -= shifter
	return expAt(n, (z-float64(k*sixteenth1))-float64(k*sixteenth2))
}

// exp64 returns exp(x + xl), for |x| < 690.
func exp64(x, xl float64) two {
	hi, lo, n := expParts(x, xl)
	return fastSum(hi, lo).by(math.Float64frombits(uint64(1023+n) << 52))
}

// narrow returns (hi + lo) 2^n as a float32, with one rounding.
func narrow(hi, lo float64, n int) float32 {
	f := math.Float64frombits(uint64(1023+n) << 52)
	return round32(float64(hi*f), float64(lo*f))
}
