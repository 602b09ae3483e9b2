package float

import (
	"math"
	"math/bits"
)

// The trigonometric functions write x = a + r with a = k π/128 and |r| <= π/256. They look up the sine and the cosine of a, and add up
//
//	sin(a+r) = sin a cos r + cos a sin r
const (
	steps  = 0x1.45f306dc9c883p5 // 128/π
	step1  = 0x1.921fb544p-6     // π/128, 31 bits: its products with k below 2^20 are exact
	step2  = 0x1.0b4611a6p-40    // the next 32
	step3  = 0x1.3198a2e037073p-75
	step2f = 0x1.0b4611a626331p-40 // or the next 53
	step3f = 0x1.1701b839a252p-94
	large  = 0x1p14 // from here on k has more bits than that
)

// reduce32 returns k, of which the last 8 bits count, and r for a float32. The error of r is relative, about 2^-52.
func reduce32(z float64) (k int, r float64) {
	if math.Abs(z) >= large {
		k, r := reduceLarge(z)
		return k, r.hi
	}
	q := float64(z*steps) + shifter
	k = int(math.Float64bits(q))
	q -= shifter
	return k, ((z - float64(q*step1)) - float64(q*step2)) - float64(q*step3)
}

// reduce64 returns k and r for any finite x. The error of r is about 2^-100 in most cases and 2^-64 in the worst.
func reduce64(x float64) (k int, r two) {
	if math.Abs(x) >= large {
		return reduceLarge(x)
	}
	q := FMA64(x, steps, shifter)
	k = int(math.Float64bits(q))
	q -= shifter
	t := FMA64(-q, step1, x) // exact
	p := product(q, step2f)
	s, e := twoSum(t, -p.hi)
	return k, fastSum(s, FMA64(-q, step3f, e-p.lo))
}

// reduceLarge returns k and r for |x| >= 2^14. It multiplies the 53 bits of x by the 256 bits of 2/π that matter. The bits before give
// multiples of 2π, and the bits after nothing (M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions", SIGNUM 18,
// 1983).
func reduceLarge(x float64) (k int, r two) {
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	at := int(b>>52&0x7ff) - 1075 - 2 + 64 // the bits before are worth at least 256 steps
	var w [4]uint64
	for i := range w {
		w[i] = twoOverPi[at>>6+i]<<(at&63) | twoOverPi[at>>6+i+1]>>(64-at&63)
	}
	// m w: the first 8 bits of f0 are before the point, the rest of f0, f1 and f2 after it.
	c3, _ := bits.Mul64(m, w[3])
	c2, f2 := bits.Mul64(m, w[2])
	c1, f1 := bits.Mul64(m, w[1])
	f0 := m * w[0]
	f2, c := bits.Add64(f2, c3, 0)
	f1, c = bits.Add64(f1, c2, c)
	f0 += c1 + c
	k = int(f0 >> 56)
	f0, f1, f2 = f0<<8|f1>>56, f1<<8|f2>>56, f2<<8
	sign := 1.0
	if f0>>63 != 0 { // r is negative
		k++
		sign = -1
		f2, c = bits.Sub64(0, f2, 0)
		f1, c = bits.Sub64(0, f1, c)
		f0, _ = bits.Sub64(0, f0, c)
	}
	if x < 0 {
		k, sign = -k, -sign
	}
	n := bits.LeadingZeros64(f0) // below 64: no float64 is nearer to a multiple of π/128
	f0, f1 = f0<<n|f1>>(64-n), f1<<n|f2>>(64-n)
	unit := math.Float64frombits(uint64(1023-53-n) << 52)
	r = two{float64(float64(f0>>11) * unit), float64(float64((f0<<53|f1>>11)>>11) * (unit * 0x1p-53))}
	return k, r.times(two{sign * 0x1.921fb54442d18p-6, sign * 0x1.1a62633145c07p-60})
}

// sine32 returns sin(k π/128 + r), with a relative error of about 2^-50.
func sine32(k int, r float64) float64 {
	j := k & 63
	if k&64 != 0 {
		j, r = 64-j, -r
	}
	s, c := sinTable[j].hi, sinTable[64-j].hi
	q := float64(r * r)
	u := r + float64(float64(r*q)*(-1.0/6+float64(q*(1.0/120))))
	v := float64(q * (-0.5 + float64(q*(1.0/24-float64(q*(1.0/720))))))
	y := s + (float64(c*u) + float64(s*v))
	if k&128 != 0 {
		return -y
	}
	return y
}

// sine64 returns sin(k π/128 + r), with a relative error of about 2^-65.
func sine64(k int, r two) two {
	j := k & 63
	if k&64 != 0 {
		j, r = 64-j, r.minus()
	}
	s, c := &sinTable[j], &sinTable[64-j]
	q := float64(r.hi * r.hi)
	u := float64(float64(r.hi*q) * FMA64(q, FMA64(q, -1.0/5040, 1.0/120), -1.0/6))
	v := FMA64(q, FMA64(q, FMA64(q, 1.0/40320, -1.0/720), 1.0/24), -0.5)
	v = FMA64(q, v, -float64(r.hi*r.lo))
	p := product(c.hi, r.hi)
	h, l := twoSum(s.hi, p.hi)
	l += FMA64(c.lo, r.hi, p.lo+s.lo) + FMA64(c.hi, r.lo+u, float64(s.hi*v))
	if k&128 != 0 {
		h, l = -h, -l
	}
	return fastSum(h, l)
}

// sinTable[j] is sin(j π/128).
var sinTable = [65]two{
	{0x0p0, 0x0p0},
	{0x1.92155f7a3667ep-6, -0x1.b1d63091a013p-64},
	{0x1.91f65f10dd814p-5, -0x1.912bd0d569a9p-61},
	{0x1.2d52092ce19f6p-4, -0x1.9a088a8bf6b2cp-59},
	{0x1.917a6bc29b42cp-4, -0x1.e2718d26ed688p-60},
	{0x1.f564e56a9730ep-4, 0x1.a2704729ae56dp-59},
	{0x1.2c8106e8e613ap-3, 0x1.13000a89a11ep-58},
	{0x1.5e214448b3fc6p-3, 0x1.531ff779ddac6p-57},
	{0x1.8f8b83c69a60bp-3, -0x1.26d19b9ff8d82p-57},
	{0x1.c0b826a7e4f63p-3, -0x1.af1439e521935p-62},
	{0x1.f19f97b215f1bp-3, -0x1.42deef11da2c4p-57},
	{0x1.111d262b1f677p-2, 0x1.824c20ab7aa9ap-56},
	{0x1.294062ed59f06p-2, -0x1.5d28da2c4612dp-56},
	{0x1.4135c94176601p-2, 0x1.0c97c4afa2518p-56},
	{0x1.58f9a75ab1fddp-2, -0x1.efdc0d58cf62p-62},
	{0x1.7088530fa459fp-2, -0x1.44b19e0864c5dp-56},
	{0x1.87de2a6aea963p-2, -0x1.72cedd3d5a61p-57},
	{0x1.9ef7943a8ed8ap-2, 0x1.6da81290bdbabp-57},
	{0x1.b5d1009e15ccp-2, 0x1.5b362cb974183p-57},
	{0x1.cc66e9931c45ep-2, 0x1.6850e59c37f8fp-58},
	{0x1.e2b5d3806f63bp-2, 0x1.e0d891d3c6841p-58},
	{0x1.f8ba4dbf89abap-2, -0x1.2ec1fc1b776b8p-60},
	{0x1.073879922ffeep-1, -0x1.a5a014347406cp-55},
	{0x1.11eb3541b4b23p-1, -0x1.ef23b69abe4f1p-55},
	{0x1.1c73b39ae68c8p-1, 0x1.b25dd267f66p-55},
	{0x1.26d054cdd12dfp-1, -0x1.5da743ef3770cp-55},
	{0x1.30ff7fce17035p-1, -0x1.efcc626f74a6fp-57},
	{0x1.3affa292050b9p-1, 0x1.e3e25e3954964p-56},
	{0x1.44cf325091dd6p-1, 0x1.8076a2cfdc6b3p-57},
	{0x1.4e6cabbe3e5e9p-1, 0x1.3c293edceb327p-57},
	{0x1.57d69348cecap-1, -0x1.75720992bfbb2p-55},
	{0x1.610b7551d2cdfp-1, -0x1.251b352ff2a37p-56},
	{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
	{0x1.72d0837efff96p-1, 0x1.0d4ef0f1d915cp-55},
	{0x1.7b5df226aafafp-1, -0x1.0f537acdf0ad7p-56},
	{0x1.83b0e0bff976ep-1, -0x1.6f420f8ea3475p-56},
	{0x1.8bc806b151741p-1, -0x1.2c5e12ed1336dp-55},
	{0x1.93a22499263fbp-1, 0x1.3d419a920df0bp-55},
	{0x1.9b3e047f38741p-1, -0x1.30ee286712474p-55},
	{0x1.a29a7a0462782p-1, -0x1.128bb015df175p-56},
	{0x1.a9b66290ea1a3p-1, 0x1.9f630e8b6dac8p-60},
	{0x1.b090a581502p-1, -0x1.926da300ffccep-55},
	{0x1.b728345196e3ep-1, -0x1.bc69f324e6d61p-55},
	{0x1.bd7c0ac6f952ap-1, -0x1.825a732ac700ap-55},
	{0x1.c38b2f180bdb1p-1, -0x1.6e0b1757c8d07p-56},
	{0x1.c954b213411f5p-1, -0x1.2fb761e946603p-58},
	{0x1.ced7af43cc773p-1, -0x1.e7b6bb5ab58aep-58},
	{0x1.d4134d14dc93ap-1, -0x1.4ef5295d25af2p-55},
	{0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56},
	{0x1.ddb13b6ccc23cp-1, 0x1.83c37c6107db3p-55},
	{0x1.e212104f686e5p-1, -0x1.014c76c126527p-55},
	{0x1.e6288ec48e112p-1, -0x1.16b56f2847754p-57},
	{0x1.e9f4156c62ddap-1, 0x1.760b1e2e3f81ep-55},
	{0x1.ed740e7684963p-1, 0x1.e82c791f59cc2p-56},
	{0x1.f0a7efb9230d7p-1, 0x1.52c7adc6b4989p-56},
	{0x1.f38f3ac64e589p-1, -0x1.d7bafb51f72e6p-56},
	{0x1.f6297cff75cbp-1, 0x1.562172a361fd3p-56},
	{0x1.f8764fa714ba9p-1, 0x1.ab256778ffcb6p-56},
	{0x1.fa7557f08a517p-1, -0x1.7a0a8ca13571fp-55},
	{0x1.fc26470e19fd3p-1, 0x1.1ec8668ecaceep-55},
	{0x1.fd88da3d12526p-1, -0x1.87df6378811c7p-55},
	{0x1.fe9cdad01883ap-1, 0x1.521ecd0c67e35p-57},
	{0x1.ff621e3796d7ep-1, -0x1.c57bc2e24aa15p-57},
	{0x1.ffd886084cd0dp-1, -0x1.1354d4556e4cbp-55},
	{0x1p0, 0x0p0},
}

// twoOverPi has the first 1280 bits of 2/π, and 64 zeros before them. mpmath 1.3 computed it.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}
