package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Sigmoid32 returns 1 / (1 + exp(-x)), correctly rounded for all x: 0.5 for ±0; 1 from 17.32868 on; +0 below -103.97208, NaN for NaN.
func Sigmoid32(x float32) float32 {
	if !(x < 18 && x > -104) {
		switch {
		case x >= 18:
			return 1
		case x <= -104:
			return 0
		}
		return num.NaN32()
	}
	z := -float64(x)
	if math.Abs(z) < 0x1p-5 {
		// The series is close to halfway points where x/4 is on one, and the direction must not be lost:
		//
		//	1/2 + x/4 - x³/48 + ...
		s := float64(z * z)
		return round32(0.5, -float64(z*(1.0/4+float64(s*(-1.0/48+float64(s*(1.0/480+float64(s*(-17.0/80640)))))))))
	}
	k := float64(z*toSixteenths) + shifter
	n := math.Float64bits(k)
	k -= shifter
	r := (z - float64(k*sixteenth1)) - float64(k*sixteenth2)
	q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555548d8bap-3+float64(r*(0x1.5555554f3c29dp-5+float64(r*(0x1.11123c84d772dp-7+float64(r*0x1.6c1f6f10350d8p-10)))))))))
	t := math.Float64frombits(math.Float64bits(exp2Table[n&15].hi) + n>>4<<52)
	return float32(1 / ((1 + t) + float64(t*(r+q))))
}

// Sigmoid64 returns 1 / (1 + exp(-x)): 0.5 for ±0; 1 from 37.42995 on; +0 below -745.13322, NaN for NaN. The error is at most 0.501 ulp,
// subnormal results included.
func Sigmoid64(x float64) float64 {
	if !(x < 38 && x > -746) {
		switch {
		case x >= 38:
			return 1
		case x <= -746:
			return 0
		}
		return num.NaN64()
	}
	a := -math.Abs(x)
	hi, lo, n := expParts(a, 0)
	if n < -1000 {
		return scale(hi, lo, n) // the sum is 1 but for 2^-1000
	}
	p := math.Float64frombits(uint64(1023+n) << 52)
	hi, lo = float64((hi+lo)*p), float64((hi-(hi+lo)+lo)*p)
	s := 1 + hi
	sl := (1 - s + hi) + lo
	if x >= 0 {
		hi, lo = 1, 0
	}
	y := hi / s
	return y + FMA64(-sl, y, FMA64(-y, s, hi)+lo)/s
}
