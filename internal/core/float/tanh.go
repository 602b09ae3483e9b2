package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Tanh32 returns the hyperbolic tangent of x, correctly rounded for all x: ±0 for ±0; ±1 from ±9.010914 on, NaN for NaN.
func Tanh32(x float32) float32 {
	// This test comes before the conversion to float64 because that, on amd64, otherwise waits for the result of the previous call.
	if !(x < 9.5 && x > -9.5) {
		if x != x {
			return num.NaN32()
		}
		return float32(math.Copysign(1, float64(x)))
	}
	z := math.Abs(float64(x))
	if z < 0.125 {
		s := float64(z * z)
		// (tanh(z) - z) / z³, minimax in z² of degree 4: 2^-55 of tanh
		q := -0x1.5555555554fa5p-2 + float64(s*(0x1.1111110e8b5b3p-3+float64(s*(-0x1.ba1b9619afdd2p-5+float64(s*(0x1.6643949281da4p-6+float64(s*-0x1.1d12ad6cf8723p-7)))))))
		return float32(math.Copysign(z+float64(float64(z*s)*q), float64(x)))
	}
	// tanh(z) = e/(e+2) with e = exp(2z) - 1.
	z += z
	k := float64(z*toSixteenths) + shifter
	n := math.Float64bits(k)
	k -= shifter
	r := (z - float64(k*sixteenth1)) - float64(k*sixteenth2)
	q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555548d8bap-3+float64(r*(0x1.5555554f3c29dp-5+float64(r*(0x1.11123c84d772dp-7+float64(r*0x1.6c1f6f10350d8p-10)))))))))
	t := math.Float64frombits(math.Float64bits(exp2Table[n&15].hi) + n>>4<<52)
	e := (t - 1) + float64(t*(r+q))
	return float32(math.Copysign(e/(e+2), float64(x)))
}

// Tanh64 returns the hyperbolic tangent of x: ±0 for ±0; ±1 from ±19.0616 on, NaN for NaN. The error is at most 0.501 ulp.
func Tanh64(x float64) float64 {
	a := math.Abs(x)
	if a < 0x1p-5 {
		s := a * a
		// (tanh(a) - a) / a³, minimax in a² of degree 3: 2^-65 of tanh
		q := FMA64(s, 0x1.65f6aec5c2637p-6, -0x1.ba1b9867d2e98p-5)
		q = FMA64(s, q, 0x1.11111110df973p-3)
		q = FMA64(s, q, -0x1.555555555554bp-2)
		return math.Copysign(FMA64(s*a, q, a), x)
	}
	if !(a < 19.0625) {
		if x != x {
			return num.NaN64()
		}
		return math.Copysign(1, x)
	}
	// e = exp(2a) - 1 = t (1 + r + rl) (1 + ...) - 1, in two parts.
	a += a
	k := FMA64(a, toSixteenths, shifter)
	i := math.Float64bits(k)
	k -= shifter
	d := FMA64(-k, sixteenth1, a) // exact
	r := FMA64(-k, sixteenth2, d)
	rl := FMA64(-k, sixteenth2, d-r)
	// exp(r) - 1 - r - r²/2, minimax of degree 8: 2^-75
	q := FMA64(r, 0x1.a024e95d8c4dbp-16, 0x1.a01b70e85e8bdp-13)
	q = FMA64(r, q, 0x1.6c16c164ffde6p-10)
	q = FMA64(r, q, 0x1.111111109fe38p-7)
	q = FMA64(r, q, 0x1.555555555557ap-5)
	q = FMA64(r, q, 0x1.5555555555558p-3)
	q = float64(r * r * r * q)
	t := math.Float64frombits(math.Float64bits(exp2Table[i&15].hi) + i>>4<<52)
	tl := float64(exp2Table[i&15].lo * math.Float64frombits((i>>4+1023)<<52))
	h := 0.5 * r
	m := FMA64(h, r, r)
	u := float64(t * r)
	ul := FMA64(t, r, -u)
	v := float64(u * h)
	vl := FMA64(u, h, -v)
	t1 := t - 1
	s1 := t1 + u
	s2 := s1 + v
	lo := (t1 - s1 + u) + (s1 - s2 + v)
	lo += FMA64(ul, h, ul) + vl
	lo += FMA64(tl, m, tl)
	lo = FMA64(t, q+FMA64(rl, m, rl), lo)
	e := s2 + lo
	el := s2 - e + lo
	// e / (e + 2)
	f := e + 2
	g := f - e
	fl := (e - (f - g)) + (2 - g) + el
	y := e / f
	yl := FMA64(-fl, y, FMA64(-y, f, e)+el) / f
	return math.Copysign(y+yl, x)
}
