package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Both exponentials write x = k ln2/16 + r with |r| <= ln2/32. The product of two factors is e to the power x:
//
//	2^(k div 16) 2^(k mod 16 / 16), the second power from a table
//	e^r, by a polynomial
const (
	toSixteenths = 0x1.71547652b82fep4    // 16 / ln2
	sixteenth1   = 0x1.62e42fefap-5       // ln2 / 16, 37 bits: its products with k are exact
	sixteenth2   = 0x1.cf79abc9e3b398p-44 // the next 53
	shifter      = 0x1.8p52               // adding it rounds to an integer, found in the low bits of the sum
)

// Exp32 returns e to the power x, correctly rounded for all x: 1 for ±0; +Inf from 88.72284 on, +0 below -103.97208, NaN for NaN.
func Exp32(x float32) float32 {
	if !(x < 89 && x > -104) {
		switch {
		case x >= 89:
			return float32(math.Inf(1))
		case x <= -104:
			return 0
		}
		return num.NaN32()
	}
	z := float64(x)
	k := float64(z*toSixteenths) + shifter
	n := int64(math.Float64bits(k))
	k -= shifter
	r := (z - float64(k*sixteenth1)) - float64(k*sixteenth2)
	// minimax of degree 6: 2^-56.1
	q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555548d8bap-3+float64(r*(0x1.5555554f3c29dp-5+float64(r*(0x1.11123c84d772dp-7+float64(r*0x1.6c1f6f10350d8p-10)))))))))
	t := exp2Table[n&15].hi
	y := t + float64(t*(r+q))
	return float32(math.Float64frombits(math.Float64bits(y) + uint64(n>>4)<<52))
}

// exp2Table[j] is 2^(j/16), rounded, and the rest.
var exp2Table = [16]struct{ hi, lo float64 }{
	{0x1p0, 0x0p0},
	{0x1.0b5586cf9890fp0, 0x1.8a62e4adc610bp-54},
	{0x1.172b83c7d517bp0, -0x1.19041b9d78a76p-55},
	{0x1.2387a6e756238p0, 0x1.9b07eb6c70573p-54},
	{0x1.306fe0a31b715p0, 0x1.6f46ad23182e4p-55},
	{0x1.3dea64c123422p0, 0x1.ada0911f09ebcp-55},
	{0x1.4bfdad5362a27p0, 0x1.d4397afec42e2p-56},
	{0x1.5ab07dd485429p0, 0x1.6324c054647adp-54},
	{0x1.6a09e667f3bcdp0, -0x1.bdd3413b26456p-54},
	{0x1.7a11473eb0187p0, -0x1.41577ee04992fp-55},
	{0x1.8ace5422aa0dbp0, 0x1.6e9f156864b27p-54},
	{0x1.9c49182a3f09p0, 0x1.c7c46b071f2bep-56},
	{0x1.ae89f995ad3adp0, 0x1.7a1cd345dcc81p-54},
	{0x1.c199bdd85529cp0, 0x1.11065895048ddp-55},
	{0x1.d5818dcfba487p0, 0x1.2ed02d75b3707p-55},
	{0x1.ea4afa2a490dap0, -0x1.e9c23179c2893p-54},
}

// Exp64 returns e to the power x: +Inf from 709.78272 on, +0 below -745.13322, NaN for NaN. The error is at most 0.501 ulp, subnormal results included.
func Exp64(x float64) float64 {
	if !(x < 710 && x > -746) {
		switch {
		case x >= 710:
			return math.Inf(1)
		case x <= -746:
			return 0
		}
		return num.NaN64()
	}
	hi, lo, n := expParts(x, 0)
	return scale(hi, lo, n)
}

// expParts returns exp(x + xl) as (hi + lo) 2^n, for |x| < 1000 and |xl| < 2^-40. hi is between 0.97 and 2, and lo up to 2^-11. The relative
// error is about 2^-64.
func expParts(x, xl float64) (hi, lo float64, n int) {
	k := FMA64(x, toSixteenths, shifter)
	i := int64(math.Float64bits(k))
	k -= shifter
	t := FMA64(-k, sixteenth1, x) // exact
	r := FMA64(-k, sixteenth2, t)
	rl := FMA64(-k, sixteenth2, t-r) + xl // the rest of r
	r, rl = r+rl, r-(r+rl)+rl
	// exp(r) - 1 - r, minimax of degree 7: 2^-65
	q := FMA64(r, 0x1.a02714c883034p-13, 0x1.6c17fcaaa74fdp-10)
	q = FMA64(r, q, 0x1.1111110a00bb5p-7)
	q = FMA64(r, q, 0x1.55555554e3c28p-5)
	q = FMA64(r, q, 0x1.555555555558bp-3)
	q = FMA64(r, q, 0.5)
	q = FMA64(r*r, q, FMA64(rl, r, rl))
	e := &exp2Table[i&15]
	hi = FMA64(e.hi, r, e.hi)
	lo = FMA64(e.hi, r, e.hi-hi) // exact: the error of hi
	lo = FMA64(e.hi, q, lo+FMA64(e.lo, r, e.lo))
	return hi, lo, int(int32(i) >> 4)
}

// scale returns (hi + lo) 2^n with one rounding. hi must be between 0.97 and 2, and |lo| < 2^-10.
func scale(hi, lo float64, n int) float64 {
	if n > -1022 && n < 1024 {
		return math.Float64frombits(math.Float64bits(hi+lo) + uint64(n)<<52)
	}
	if n > 0 {
		return math.Float64frombits(math.Float64bits(hi+lo)+1023<<52) * 2
	}
	// The result is or may be subnormal, a multiple of 2^-1074. The sum with a power of two c rounds it to such a multiple: one unit in the last
	// place of c is 2^(-1074-n). From n = -1022 and hi + lo >= 1 on, the result is normal.
	if n == -1022 && hi+lo >= 1 {
		return math.Float64frombits(math.Float64bits(hi+lo) - 1022<<52)
	}
	if n < -1080 {
		return 0
	}
	c := math.Float64frombits(uint64(1023-1022-n) << 52)
	s := c + hi
	s += (c - s + hi) + lo
	return math.Float64frombits(math.Float64bits(s) - math.Float64bits(c))
}
