package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

const (
	twoOverSqrtPi    = 0x1.20dd750429b6dp0
	twoOverSqrtPiLow = 0x1.1ae3a914fed8p-56
)

// Erf32 returns the error function of x, correctly rounded for all x: ±0 for ±0; ±1 from ±3.919206 on, NaN for NaN.
func Erf32(x float32) float32 {
	// This test comes before the conversion to float64 because that, on amd64, otherwise waits for the result of the previous call.
	if !(x < 4 && x > -4) {
		if x != x {
			return num.NaN32()
		}
		return float32(math.Copysign(1, float64(x)))
	}
	z := math.Abs(float64(x))
	if z < 0x1p-5 {
		z = float64(x)
		s := float64(z * z)
		q := -0x1.5555555555554p-2 + float64(s*(0x1.9999999991297p-4+float64(s*(-0x1.86185feebf068p-6+float64(s*0x1.2f4a0582c2ac5p-8)))))
		return float32(float64(z*twoOverSqrtPi) * (1 + float64(s*q)))
	}
	k := float64(z*32) + shifter
	t := &erfTable[math.Float64bits(k)&255]
	c := float64((k - shifter) * 0x1p-5)
	h := z - c
	d := -2 * c
	b1 := -c
	b2 := float64(float64(d*(1.0/3))*b1) - 2.0/6
	b3 := float64(float64(d*(1.0/4))*b2) - float64(4.0/12*b1)
	b4 := float64(float64(d*(1.0/5))*b3) - float64(6.0/20*b2)
	b5 := float64(float64(d*(1.0/6))*b4) - float64(8.0/30*b3)
	b6 := float64(float64(d*(1.0/7))*b5) - float64(10.0/42*b4)
	b7 := float64(float64(d*(1.0/8))*b6) - float64(12.0/56*b5)
	q := b1 + float64(h*(b2+float64(h*(b3+float64(h*(b4+float64(h*(b5+float64(h*(b6+float64(h*b7)))))))))))
	p := float64(h * t.slope)
	return float32(math.Copysign(t.erf+(p+float64(p*float64(h*q))), float64(x)))
}

// Erf64 returns the error function of x: ±0 for ±0; ±1 from ±5.9216 on, NaN for NaN. The error is at most 0.501 ulp, subnormal results
// included.
//
// With c the nearest multiple of 1/32, and the derivative slope(c) = 2/√π exp(-c²),
//
//	erf(c+h) = erf(c) + slope(c) (h + b₁h² + b₂h³ + ...)
//	bₙ₊₁ = -2c/(n+2) bₙ - 2n/((n+1)(n+2)) bₙ₋₁, b₀ = 1, b₁ = -c
//
// The b follow from the derivative of exp(-2ct-t²).
func Erf64(x float64) float64 {
	a := math.Abs(x)
	if a < 0x1p-5 {
		if a < 0x1p-900 && a > 0 {
			return erfTiny(x)
		}
		s := a * a
		// erf(a) / (2/sqrt(π)) = a + a³ q, minimax in a² of degree 3: 2^-65 of erf
		q := FMA64(s, 0x1.2f4a0582c2ac5p-8, -0x1.86185feebf068p-6)
		q = FMA64(s, q, 0x1.9999999991297p-4)
		q = FMA64(s, q, -0x1.5555555555554p-2)
		hi := float64(a * twoOverSqrtPi)
		lo := FMA64(a, twoOverSqrtPi, -hi)
		lo = FMA64(a, twoOverSqrtPiLow, lo)
		return math.Copysign(hi+FMA64(hi, s*q, lo), x)
	}
	if !(a < 5.96875) {
		if x != x {
			return num.NaN64()
		}
		return math.Copysign(1, x)
	}
	k := FMA64(a, 32, shifter)
	t := &erfTable[math.Float64bits(k)&255]
	c := float64((k - shifter) * 0x1p-5)
	h := a - c
	d := -2 * c
	b1 := -c
	b2 := FMA64(d*(1.0/3), b1, -2.0/6)
	b3 := FMA64(d*(1.0/4), b2, -4.0/12*b1)
	b4 := FMA64(d*(1.0/5), b3, -6.0/20*b2)
	b5 := FMA64(d*(1.0/6), b4, -8.0/30*b3)
	b6 := FMA64(d*(1.0/7), b5, -10.0/42*b4)
	b7 := FMA64(d*(1.0/8), b6, -12.0/56*b5)
	b8 := FMA64(d*(1.0/9), b7, -14.0/72*b6)
	b9 := FMA64(d*(1.0/10), b8, -16.0/90*b7)
	b10 := FMA64(d*(1.0/11), b9, -18.0/110*b8)
	q := FMA64(h, b10, b9)
	q = FMA64(h, q, b8)
	q = FMA64(h, q, b7)
	q = FMA64(h, q, b6)
	q = FMA64(h, q, b5)
	q = FMA64(h, q, b4)
	q = FMA64(h, q, b3)
	q = FMA64(h, q, b2)
	q = FMA64(h, q, b1)
	p := float64(t.slope * h)
	pl := FMA64(t.slope, h, -p)
	s := t.erf + p
	lo := (t.erf - s + p) + (pl + FMA64(t.slopeLow, h, t.erfLow))
	lo = FMA64(p, h*q, lo)
	return math.Copysign(s+lo, x)
}

// erfTiny returns the product with 2/sqrt(π) alone. The parts of the product or the result may be subnormal.
func erfTiny(x float64) float64 {
	y := math.Abs(x) * 0x1p200
	hi := float64(y * twoOverSqrtPi)
	lo := FMA64(y, twoOverSqrtPiLow, FMA64(y, twoOverSqrtPi, -hi))
	n := int(math.Float64bits(hi)>>52) - 1023
	p := math.Float64frombits(uint64(1023-n) << 52)
	return math.Copysign(scale(float64(hi*p), float64(lo*p), n-200), x)
}

// erfTable holds erf(k/32) and its derivative there, each in two parts.
var erfTable = [192]struct{ erf, erfLow, slope, slopeLow float64 }{
	{0x0p0, 0x0p0, 0x1.20dd750429b6dp0, 0x1.1ae3a914fed8p-56},
	{0x1.20c5645dd2538p-5, -0x1.b1f39547818dcp-63, 0x1.209546ad13ccfp0, -0x1.80e707cff3841p-54},
	{0x1.207d480e90658p-4, 0x1.4c35c43362a08p-58, 0x1.1fbd27cdc72d3p0, -0x1.211c711d809fep-54},
	{0x1.b0081148a873ap-4, -0x1.f00e81462af98p-61, 0x1.1e565bca400d4p0, -0x1.62d13b5523458p-54},
	{0x1.1f5e1a35c3b89p-3, 0x1.d0b6d6493e0f4p-57, 0x1.1c62fa1e869b6p0, 0x1.ce6909ad6a1e7p-55},
	{0x1.662a0bdf7a89fp-3, -0x1.ef80fee2b133cp-59, 0x1.19e5e92b964abp0, 0x1.ccf2a64f45a7cp-57},
	{0x1.ac45e37fe2526p-3, 0x1.48d48536c61e3p-57, 0x1.16e2d7093cd8cp0, 0x1.979a52f906b4cp-54},
	{0x1.f190aa85540e2p-3, -0x1.e521a09cb1b7dp-57, 0x1.135e3075d076bp0, -0x1.e2c0521bed462p-57},
	{0x1.1af54e232d609p-2, -0x1.bee921fa4172bp-56, 0x1.0f5d1602f7e41p0, -0x1.3e41778d4b1eep-55},
	{0x1.3c9aa8b84bedap-2, 0x1.38e845397242dp-58, 0x1.0ae54fa490723p0, -0x1.d0120cee7c261p-54},
	{0x1.5da9f415ff23fp-2, -0x1.a72e51e19194bp-59, 0x1.05fd3ecbec298p0, -0x1.f17d49717adf9p-54},
	{0x1.7e15944d9d3e4p-2, -0x1.95fdc3865d9b7p-57, 0x1.00abcf3e187a9p0, 0x1.586d03b20db89p-55},
	{0x1.9dd0d2b721f39p-2, -0x1.1671c021d14c4p-56, 0x1.f5f0cdaf15313p-1, 0x1.dff29f5ad8117p-60},
	{0x1.bccfec24855b8p-2, -0x1.47292aeeaa2fap-56, 0x1.e9d5a8e4c934ep-1, -0x1.9a164575c836bp-56},
	{0x1.db081ce6e2a48p-2, -0x1.7ff0a3296d9ccp-56, 0x1.dd167c4cf9d2ap-1, 0x1.44f2832f90a99p-55},
	{0x1.f86faa9428f9dp-2, 0x1.99988b110a612p-56, 0x1.cfc41e36c7df9p-1, -0x1.9c06ade438a86p-56},
	{0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56, 0x1.c1efca49a5011p-1, 0x1.4c081d7f495p-55},
	{0x1.1855a5fd3dd5p-1, 0x1.8f68268624501p-55, 0x1.b3aafcc27502ep-1, -0x1.a9ec8b5d9d3c9p-56},
	{0x1.25b8a88b6dd7fp-1, 0x1.9534a3b5bd215p-55, 0x1.a5074e215762p-1, 0x1.fad8c0ef6faecp-56},
	{0x1.32a54cb8db67bp-1, -0x1.96263537d4d65p-57, 0x1.96164fafd8de3p-1, 0x1.08744251a74ddp-56},
	{0x1.3f196dcd0f135p-1, -0x1.f25f4f6fdf70bp-56, 0x1.86e9694134b9ep-1, -0x1.3bda1314b1d68p-55},
	{0x1.4b13713ad3513p-1, 0x1.e941d89557082p-57, 0x1.7791b886e7403p-1, -0x1.da79bb2a7fe7fp-57},
	{0x1.569243d2b3a9bp-1, 0x1.8eef7012e8df5p-56, 0x1.681ff24b4ab04p-1, -0x1.dba6493354c66p-58},
	{0x1.61955607dd15dp-1, 0x1.98fddd4f54897p-55, 0x1.58a445da7c74cp-1, 0x1.08e1a93a8db23p-55},
	{0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1, -0x1.8bd386a7ba3f6p-55},
	{0x1.762870f720c6fp-1, 0x1.118a1b821cf7cp-55, 0x1.39ccc1b136d5ap-1, 0x1.fa527d7b328bdp-58},
	{0x1.7fb9bfaed8078p-1, 0x1.66cf14bcad032p-56, 0x1.2a8dcede3673bp-1, -0x1.7378e2c70325dp-56},
	{0x1.88d1cd474a2ep-1, 0x1.6f57a1a45df78p-55, 0x1.1b7e98fe26217p-1, 0x1.9512909c8396ep-56},
	{0x1.91724951b8fc6p-1, -0x1.27912dd352f8bp-55, 0x1.0cab61f084b93p-1, 0x1.098a511a778e7p-56},
	{0x1.999d4192a5715p-1, -0x1.c8871576d5306p-55, 0x1.fc3ee5d1524bp-2, -0x1.28380092328d3p-58},
	{0x1.a1551a16aaeafp-1, 0x1.a558a46df5f67p-57, 0x1.dfca26f5bbf88p-2, -0x1.ddcbaf85587b9p-57},
	{0x1.a89c850b7d54dp-1, -0x1.e274069b9af78p-55, 0x1.c40b0729ed548p-2, -0x1.c4d17cf961a6fp-56},
	{0x1.af767a741088bp-1, -0x1.c97f778122797p-56, 0x1.a911f096fbc26p-2, -0x1.086a09f735b33p-56},
	{0x1.b5e62fce16095p-1, 0x1.bc3da0f1d0e78p-56, 0x1.8eed36b886d93p-2, 0x1.ea809f115c5eep-56},
	{0x1.bbef0fbde6221p-1, -0x1.322c1148e0d48p-55, 0x1.75a91a7f4d2edp-2, 0x1.6eb826a9df857p-58},
	{0x1.c194b1d49a184p-1, -0x1.6776b69476ba6p-57, 0x1.5d4fd33729015p-2, -0x1.6db200c4fb75cp-56},
	{0x1.c6dad2829ec62p-1, -0x1.ab76d4cba3d05p-57, 0x1.45e99bcbb7915p-2, 0x1.7bcd0125a8155p-56},
	{0x1.cbc54b476248dp-1, 0x1.1a504adde06a6p-55, 0x1.2f7cc3fe6f423p-2, 0x1.9fc82d7c248bdp-56},
	{0x1.d0580b2cfd249p-1, 0x1.4fca6318dfee9p-55, 0x1.1a0dc51a9934dp-2, -0x1.ca89d2d78fba4p-57},
	{0x1.d4970f9ce00d9p-1, -0x1.56704fcbdd47dp-56, 0x1.059f59af7a906p-2, -0x1.0cd88897a63fep-56},
	{0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3, -0x1.e950836901024p-61},
	{0x1.dc29fb60715afp-1, 0x1.ab00e1d243bb7p-55, 0x1.bf8e1b1ca2279p-3, 0x1.27b706a78772p-65},
	{0x1.df85ea8db188ep-1, -0x1.f71e8254d11a9p-55, 0x1.9cb5bd549b111p-3, -0x1.973e73caa1edep-59},
	{0x1.e29e22a89d766p-1, 0x1.bcc9ef4df6e3fp-55, 0x1.7bd5c7df3fe9cp-3, 0x1.48aa7b6eb2d84p-57},
	{0x1.e5768c3b4a3fcp-1, 0x1.8b62674f8989p-57, 0x1.5ce595c455b0ap-3, 0x1.c317415c2c6e1p-59},
	{0x1.e812fc64db369p-1, 0x1.3c65eda8c4505p-55, 0x1.3fda6bc016994p-3, 0x1.588d87a11b4dp-57},
	{0x1.ea7730ed0bbb9p-1, 0x1.2c5bd7ce1388bp-55, 0x1.24a7b84d38971p-3, 0x1.aa0c5e788ed5fp-57},
	{0x1.eca6ccd709544p-1, 0x1.f3df164d9badap-57, 0x1.0b3f52ce8c383p-3, 0x1.d133fa1bfc57dp-57},
	{0x1.eea5557137aep-1, -0x1.385e445f2c96dp-55, 0x1.e723726b824a9p-4, -0x1.2203197eea764p-59},
	{0x1.f0762fde45ee6p-1, 0x1.9c3551b59fc73p-55, 0x1.bb1c972f23e5p-4, 0x1.ba894f7b78aa8p-58},
	{0x1.f21c9f12f0677p-1, -0x1.7efe429672266p-58, 0x1.92470a61b6965p-4, 0x1.c6acd40cee35p-58},
	{0x1.f39bc242e43e6p-1, -0x1.dbade2f2295e3p-55, 0x1.6c7e64e7281cbp-4, 0x1.aaa28bbaf7572p-58},
	{0x1.f4f693b67bd77p-1, -0x1.3a1ee1406c356p-56, 0x1.499d478bca735p-4, 0x1.31c41d17378e2p-60},
	{0x1.f62fe80272419p-1, -0x1.b7c25ec8b416fp-55, 0x1.297db960e4f63p-4, -0x1.22a8c7b295cd1p-58},
	{0x1.f74a6d9a38383p-1, 0x1.c33a329423946p-55, 0x1.0bf97e95f2a64p-4, -0x1.446051f6fef83p-58},
	{0x1.f848acb544e95p-1, -0x1.b27a62d67b274p-55, 0x1.e1d4cf1e2450ap-5, -0x1.78457c52bf816p-59},
	{0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56, 0x1.b055303221015p-5, 0x1.cba9ea60ed019p-59},
	{0x1.f9f9ba8d3c733p-1, 0x1.cd57612f5f4f7p-55, 0x1.83298d717210ep-5, 0x1.7409c6881bb2bp-59},
	{0x1.fab0dd89d1309p-1, -0x1.ae61bd9db1babp-55, 0x1.5a08e85af27ep-5, 0x1.e4f9cfc8c2382p-59},
	{0x1.fb54641aebbc9p-1, -0x1.79972bf893ddbp-55, 0x1.34ac36ad8dafep-5, 0x1.8e5930c4f73bfp-63},
	{0x1.fbe61eef4cf6ap-1, 0x1.15ded88667618p-55, 0x1.12ceb37ff9bc3p-5, 0x1.a3b0b09d34761p-59},
	{0x1.fc67bcf2d7b8fp-1, -0x1.0d273418771a5p-55, 0x1.e85c449e377f3p-6, -0x1.cbb4d7b51d2d8p-60},
	{0x1.fcdacca0bfb73p-1, -0x1.2c33d88729e43p-55, 0x1.b1160991ff737p-6, -0x1.d940a504353b9p-61},
	{0x1.fd40bd6d7a785p-1, 0x1.60d428f21fbb8p-55, 0x1.7f5188610ddc8p-6, -0x1.611e85a9228b6p-60},
	{0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56, 0x1.529b9e8cf9a1ep-6, 0x1.b47becf12c4e4p-61},
	{0x1.fdea6e062d0c9p-1, -0x1.64c6b684260bcp-56, 0x1.2a875b5ffab56p-6, 0x1.50c29abdb6bf8p-63},
	{0x1.fe307f2b503dp-1, -0x1.8a555000387f8p-57, 0x1.06ae13b0d3255p-6, -0x1.88abd7f4be982p-60},
	{0x1.fe6e1742f7cf6p-1, -0x1.cebcf3e303f16p-55, 0x1.cd5ec93c12432p-7, -0x1.bc1eceb2a214bp-61},
	{0x1.fea4218d6594ap-1, -0x1.e3333d8f7d98cp-58, 0x1.94624e78e0fafp-7, -0x1.41864737c78ffp-61},
	{0x1.fed37386190fbp-1, 0x1.72b16817d4f0fp-55, 0x1.61beae53b72b7p-7, 0x1.3c1598f200adep-64},
	{0x1.fefcce6813974p-1, -0x1.b27cf5025d1c8p-58, 0x1.34d7dbc76d7e5p-7, 0x1.3780d6e7eb35p-61},
	{0x1.ff20e0a7ba8c2p-1, -0x1.03f8b2fd7d512p-57, 0x1.0d1d69569b82dp-7, -0x1.a6951522bbeccp-62},
	{0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe965p-8, -0x1.6eec3c35c7ed7p-63},
	{0x1.ff5b8fb26f5f6p-1, -0x1.7e918d19780fdp-55, 0x1.9646f35a76624p-8, -0x1.f80c4890c9b48p-62},
	{0x1.ff733814af88cp-1, 0x1.0a87238cea4f9p-56, 0x1.5ff2750fe782p-8, -0x1.5f184847ca665p-62},
	{0x1.ff87b1913e853p-1, -0x1.3ca99c8d2cea5p-56, 0x1.30499b503957fp-8, -0x1.d3cd123992737p-64},
	{0x1.ff9960f3eb327p-1, -0x1.08b1ca6e97f8p-56, 0x1.06918b6355624p-8, 0x1.21b463b8e3ap-62},
	{0x1.ffa89fe5b3625p-1, 0x1.934b204fa7706p-55, 0x1.c4412bf4b8f0bp-9, -0x1.c407086bebf7p-67},
	{0x1.ffb5bdf67fe6fp-1, 0x1.4e830346f6e7fp-62, 0x1.84ba3004a50dp-9, -0x1.90b93d46321efp-64},
	{0x1.ffc10194fcb64p-1, 0x1.ea147ac20184fp-55, 0x1.4d78bba8ca5fdp-9, 0x1.4ca8e74a4513ep-65},
	{0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55, 0x1.1d83170fbf6fbp-9, 0x1.ea3671efbb74ap-63},
	{0x1.ffd2eae369a07p-1, -0x1.83b0b306f73d7p-57, 0x1.e7f232d9e263p-10, 0x1.a292e0fa8c3cbp-64},
	{0x1.ffd9f78c7524ap-1, 0x1.04ed6ff98e45dp-55, 0x1.a024365f771bdp-10, 0x1.3c8f5202cb3e9p-64},
	{0x1.ffdff92db56e5p-1, -0x1.8aeef06f8b149p-56, 0x1.6235fbd7a4345p-10, -0x1.10837ea26439ap-65},
	{0x1.ffe514bbdc197p-1, -0x1.cd963345b5c6dp-58, 0x1.2ce898809244ep-10, 0x1.092b45493a9e8p-64},
	{0x1.ffe96a78a04a9p-1, -0x1.2816fccca0095p-55, 0x1.fe41cd9bb4eeep-11, 0x1.e5a14b8f64344p-66},
	{0x1.ffed167b12ac2p-1, -0x1.ddc0ce3ed8fcbp-55, 0x1.afc85e0f82e12p-11, 0x1.438f22895e01dp-66},
	{0x1.fff0312b010b5p-1, 0x1.155deb2d93f68p-55, 0x1.6caa0d3582fe9p-11, -0x1.91e2207d44bb6p-67},
	{0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55, 0x1.3360ccd23db3ap-11, 0x1.39e15444e9dddp-69},
	{0x1.fff50456dab8cp-1, -0x1.a197ab9f52a4fp-58, 0x1.0295ef6591848p-11, -0x1.23323562ef071p-66},
	{0x1.fff6dee89352ep-1, 0x1.b96c0ba13851dp-55, 0x1.b23a5a23e421p-12, 0x1.727bce1bdfffep-67},
	{0x1.fff86cfd3e657p-1, -0x1.2e06af13b7209p-56, 0x1.6be02102b352p-12, 0x1.4fa09ed3d8b75p-68},
	{0x1.fff9ba420e834p-1, 0x1.1379ec5aa630ep-56, 0x1.30538fbb77ecdp-12, 0x1.8c5e8c1b3532fp-69},
	{0x1.fffad0b901755p-1, 0x1.70d5c6bd7b275p-57, 0x1.fc0d55470cf51p-13, -0x1.6a768f46d3097p-67},
	{0x1.fffbb8f1049c6p-1, 0x1.d2c6266b51f27p-56, 0x1.a740684026555p-13, -0x1.7e24cc3ac572p-69},
	{0x1.fffc7a37857d2p-1, -0x1.97b31125dd25ap-56, 0x1.5feada379d8b7p-13, -0x1.00defec14b26bp-67},
	{0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55, 0x1.2408e9ba3327fp-13, -0x1.7e1d81587040cp-67},
	{0x1.fffd9fdeabccep-1, 0x1.0c43c38b1d741p-55, 0x1.e3bcf436a1a95p-14, -0x1.567988c8cad0ep-69},
	{0x1.fffe0e0140857p-1, -0x1.6aa36f86c14ddp-57, 0x1.8fdc1b2dcf7b9p-14, 0x1.7050f50b8f311p-71},
	{0x1.fffe68f4fa777p-1, 0x1.2f2176070778ep-60, 0x1.49e17724f4d41p-14, 0x1.7f09ed2066a75p-69},
	{0x1.fffeb3ebb267bp-1, 0x1.e47f697047cbap-57, 0x1.0f9e1b4dd36dfp-14, -0x1.3fedc80d9c7aep-71},
	{0x1.fffef1960d85dp-1, -0x1.f7cc780a237bap-55, 0x1.be6abbb10a5aap-15, -0x1.d55324bec8058p-70},
	{0x1.ffff2436a21dcp-1, -0x1.3607959a29d36p-55, 0x1.6e2367dc27f95p-15, 0x1.d96e6f01510e8p-73},
	{0x1.ffff4db27f146p-1, 0x1.ddecdd6d729f6p-55, 0x1.2bb5cc22e5db6p-15, 0x1.cf310d40124b4p-70},
	{0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce77p-16, -0x1.cbbe2ecd1cfacp-70},
	{0x1.ffff8b500e77cp-1, -0x1.1014e1f7cc69bp-56, 0x1.8f4ccca7fc90dp-16, 0x1.abd191ae3a6b6p-70},
	{0x1.ffffa1de8c582p-1, 0x1.832540129302ap-55, 0x1.44f21e49054f2p-16, 0x1.f338cf40864d8p-71},
	{0x1.ffffb43555b5fp-1, 0x1.c17f83c5c2d0ap-55, 0x1.07ebd2a2d2844p-16, 0x1.d4c9601aed79dp-70},
	{0x1.ffffc316d9edp-1, -0x1.8b32f44f46b3bp-55, 0x1.abe09e9144b5ep-17, 0x1.308300923fe4bp-71},
	{0x1.ffffcf23ff5fcp-1, -0x1.b18a8b1c01178p-55, 0x1.5a2adfa0b4bc4p-17, 0x1.ecd7762ee8dc5p-71},
	{0x1.ffffd8e1a2f22p-1, -0x1.c10adf6b19989p-55, 0x1.1783ceac2891p-17, -0x1.7f19d8ee582e5p-71},
	{0x1.ffffe0bd3e852p-1, -0x1.d7ece48eb2a5p-58, 0x1.c282cd3957edap-18, 0x1.e4da3e366c253p-73},
	{0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55, 0x1.6a597219a93dap-18, -0x1.cbf8fbc2cd5cdp-72},
	{0x1.ffffec2641a9ep-1, -0x1.e7ba4fdd8fb93p-55, 0x1.22df298214423p-18, -0x1.c3cdb97661c84p-74},
	{0x1.fffff039f9e8fp-1, -0x1.9d1bcd6174e99p-55, 0x1.d21397ead99cbp-19, -0x1.6abd9c029cf89p-75},
	{0x1.fffff37d63a36p-1, -0x1.753e324286e6bp-57, 0x1.74adc8f4064d3p-19, 0x1.cc96a70e09a7ep-73},
	{0x1.fffff618c3da6p-1, -0x1.19309ce23aa3ep-58, 0x1.296a70f414053p-19, 0x1.036e65808a17dp-74},
	{0x1.fffff82cdcf1bp-1, 0x1.046bbe9a11838p-55, 0x1.d9c73698fb1dcp-20, 0x1.62bcf64914aeep-74},
	{0x1.fffff9d446cccp-1, -0x1.bb06bab98bc7ep-57, 0x1.789fb715aae95p-20, -0x1.226d93bf88ff6p-80},
	{0x1.fffffb248c39dp-1, 0x1.9b9a417112087p-55, 0x1.2acee2f5ecdb8p-20, -0x1.c2bfa5bb67965p-76},
	{0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55, 0x1.d9371e2ff7c35p-21, 0x1.0aed0951e078dp-75},
	{0x1.fffffd01f36afp-1, -0x1.d41915db16d51p-55, 0x1.75fa8dbc84becp-21, 0x1.1dc5af5b9be82p-76},
	{0x1.fffffda86faa9p-1, -0x1.d230252d68f25p-56, 0x1.26f9df8519bd7p-21, -0x1.e339871c01768p-75},
	{0x1.fffffe2ba0ea5p-1, -0x1.26cd790893493p-55, 0x1.d06ad6ecdf971p-22, -0x1.79f22c5e2cfep-76},
	{0x1.fffffe92ced93p-1, -0x1.d2db2ecfe14aep-55, 0x1.6ce1aa3fd7bddp-22, 0x1.bf15b0bc56aabp-80},
	{0x1.fffffee3cc32cp-1, 0x1.e429188c25b27p-56, 0x1.1e1e857adc568p-22, 0x1.7f07f5c70a777p-77},
	{0x1.ffffff233ee1dp-1, 0x1.db123ed17221dp-55, 0x1.bfd7555a3bd68p-23, 0x1.0151cf177a911p-77},
	{0x1.ffffff54dab72p-1, -0x1.a443df641c094p-55, 0x1.5dcd669f2cd34p-23, -0x1.8c93c8388eeacp-77},
	{0x1.ffffff7b91176p-1, 0x1.0b2865615db4p-56, 0x1.10b1488aeb235p-23, -0x1.cd75b4828c0cp-81},
	{0x1.ffffff99b79d2p-1, -0x1.58ff1c4273d76p-56, 0x1.a854ea14102a8p-24, 0x1.d756dfb96dcb5p-78},
	{0x1.ffffffb127525p-1, 0x1.504f382db4102p-55, 0x1.4980cb3c80949p-24, 0x1.7fbdd923f82b7p-78},
	{0x1.ffffffc355dfdp-1, 0x1.88cb60fd8541cp-57, 0x1.febc107d5efaap-25, 0x1.ed6e77904ae4ap-79},
	{0x1.ffffffd169d0cp-1, 0x1.70a2bfb068e6fp-55, 0x1.8b0cfce0579ep-25, -0x1.e8bad9967ec2cp-79},
	{0x1.ffffffdc4ad7ap-1, -0x1.d75de78779663p-55, 0x1.30f93c3699078p-25, 0x1.fd6cacd0635f1p-79},
	{0x1.ffffffe4aed5ep-1, 0x1.389c0f32ad0f4p-59, 0x1.d5f3a8dea7357p-26, 0x1.fa07c18622d49p-80},
	{0x1.ffffffeb24467p-1, 0x1.bff89ef337f19p-55, 0x1.6961b8d641d06p-26, 0x1.663e70a0c217fp-81},
	{0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d4f7p-26, -0x1.7c5d6c7140f8p-81},
	{0x1.fffffff3e8892p-1, 0x1.befbf8d26e5c1p-58, 0x1.a8e405e651ab6p-27, 0x1.689423f4c72d6p-81},
	{0x1.fffffff6d1e56p-1, -0x1.64d969b4be4c4p-55, 0x1.44d26de513197p-27, 0x1.76fc20fc4c506p-81},
	{0x1.fffffff90b2e3p-1, -0x1.d82d94a90edd4p-56, 0x1.efac5187b2863p-28, 0x1.04c8e898d9d83p-82},
	{0x1.fffffffabd229p-1, -0x1.4dbe49bec3ef2p-57, 0x1.7974e743dea3dp-28, -0x1.b6101ddd90bdbp-82},
	{0x1.fffffffc0748fp-1, 0x1.6ef7a9caf1ec9p-57, 0x1.1edfa3c5f5ccap-28, 0x1.c7aed7e43e6aep-82},
	{0x1.fffffffd01f89p-1, -0x1.35e8e39884f62p-56, 0x1.b334fac4b9f99p-29, 0x1.32178ed1a6c0dp-83},
	{0x1.fffffffdbff2ap-1, 0x1.49438981074bfp-56, 0x1.4979ac8b28927p-29, -0x1.bdd799e818c24p-83},
	{0x1.fffffffe4fa3p-1, 0x1.d166bcb681c7bp-57, 0x1.f1e3523b41d7dp-30, -0x1.7303536c50b37p-84},
	{0x1.fffffffebc1a9p-1, 0x1.e0e5facabea72p-56, 0x1.77756ec9f78fap-30, -0x1.2a127fa4733dp-85},
	{0x1.ffffffff0dd2bp-1, 0x1.0df73e7d2fc98p-55, 0x1.1a94ff571654fp-30, 0x1.fbf537b47ce6dp-84},
	{0x1.ffffffff4b453p-1, 0x1.59b25048a5adap-55, 0x1.a887bd2b4404dp-31, 0x1.2dbd32d35c344p-88},
	{0x1.ffffffff79626p-1, 0x1.5fbc52d650a89p-55, 0x1.3e44e45301b92p-31, 0x1.1a5c00d13a5f2p-85},
	{0x1.ffffffff9bec8p-1, -0x1.6755054655a1bp-56, 0x1.dc479de0ef001p-32, 0x1.b83cde4e35035p-93},
	{0x1.ffffffffb5be5p-1, -0x1.729d6819c7f34p-56, 0x1.63ac6b4edc88ep-32, -0x1.c45991834a34fp-88},
	{0x1.ffffffffc901cp-1, 0x1.9c951c943881dp-57, 0x1.0916f04b6e18bp-32, 0x1.bbe7caa97f958p-86},
	{0x1.ffffffffd759dp-1, 0x1.f7bee7eb2342p-55, 0x1.8a61745ec7d1dp-33, 0x1.9d509f787b50ep-88},
	{0x1.ffffffffe202dp-1, 0x1.a54841f5667f2p-55, 0x1.24caf2c32af14p-33, 0x1.8ac2421efcbbdp-93},
	{0x1.ffffffffe9ebp-1, -0x1.ea527e0bef1ecp-58, 0x1.b1e5acf351d87p-34, 0x1.dc96583bc1d87p-90},
	{0x1.ffffffffefc57p-1, -0x1.8225a9658f48dp-57, 0x1.40dfd87456f4cp-34, -0x1.5aa325d2e2aadp-88},
	{0x1.fffffffff4188p-1, 0x1.7a2cb3d056eacp-55, 0x1.d9a880f306bd8p-35, -0x1.fbec4689ff1dap-94},
	{0x1.fffffffff748ep-1, 0x1.ae15e3604479fp-57, 0x1.5ce9ab1670dd2p-35, 0x1.653f146b401aap-89},
	{0x1.fffffffff9a1bp-1, -0x1.6a87270d2450ep-57, 0x1.0084ff125639dp-35, -0x1.8ad61debea5dfp-90},
	{0x1.fffffffffb5bp-1, -0x1.50fb1911906e4p-55, 0x1.7872d9fa10aadp-36, -0x1.3a4dd6733fd69p-91},
	{0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56, 0x1.13af4f04f9998p-36, -0x1.0532e647cd418p-90},
	{0x1.fffffffffd8b3p-1, -0x1.5182469c21372p-57, 0x1.92ff33023d5bdp-37, -0x1.3b885f5219931p-91},
	{0x1.fffffffffe38p-1, 0x1.7ce07114e4fep-55, 0x1.25f9ee0b923dcp-37, -0x1.174c43a738d83p-91},
	{0x1.fffffffffeb6p-1, -0x1.4d3f53e684c68p-56, 0x1.ac0f5f3229372p-38, 0x1.068126c0d1c5ap-93},
	{0x1.ffffffffff11ap-1, -0x1.3eafccbc6e8b7p-56, 0x1.370ab8327af5ep-38, -0x1.1cdf083ee84bcp-92},
	{0x1.ffffffffff542p-1, 0x1.b57ed63ed8087p-57, 0x1.c324c20e337dcp-39, 0x1.0c30f0e77a53dp-94},
	{0x1.ffffffffff845p-1, 0x1.b0edc5a89ab8fp-56, 0x1.46897d4b69fc6p-39, 0x1.a74852413b364p-93},
	{0x1.ffffffffffa73p-1, -0x1.6fead614b795fp-56, 0x1.d7c593130dd0bp-40, -0x1.8a4957ba7ce5bp-94},
	{0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d8949dp-40, 0x1.ff6225885735p-96},
	{0x1.ffffffffffd27p-1, 0x1.19e1a84064c3cp-56, 0x1.e9810295890ecp-41, 0x1.9912b599ae194p-99},
	{0x1.ffffffffffdf8p-1, -0x1.dcf8b10ff973bp-55, 0x1.5f8b87a31bd85p-41, 0x1.65b26542e9e5ap-98},
	{0x1.ffffffffffe8dp-1, 0x1.e766e2c80135cp-58, 0x1.f7f338086a86bp-42, -0x1.3ce2352271ce2p-97},
	{0x1.ffffffffffef8p-1, 0x1.14be6226402c7p-56, 0x1.68823e52970bep-42, 0x1.24038ae49efbdp-98},
	{0x1.fffffffffff45p-1, -0x1.5948eec884dfap-55, 0x1.01647ba798745p-42, -0x1.c882a4e6915e9p-96},
	{0x1.fffffffffff7bp-1, 0x1.00fa07f7fb612p-55, 0x1.6ed2f2515e933p-43, 0x1.2bc1802866176p-98},
	{0x1.fffffffffffa2p-1, 0x1.d07509a1a9433p-57, 0x1.04e15ecc7f3f6p-43, -0x1.2eb49b373aeeap-98},
	{0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55, 0x1.7258610b3b233p-44, -0x1.60bc7761ca394p-101},
	{0x1.fffffffffffd1p-1, 0x1.3b6fc0b729758p-55, 0x1.065b9616170d4p-44, 0x1.efa64745fee8ep-100},
	{0x1.fffffffffffdfp-1, 0x1.5669e670f914bp-56, 0x1.72fd93e036cdcp-45, 0x1.1c553d0f2268ep-100},
	{0x1.fffffffffffe9p-1, -0x1.5fe91226dd51ap-58, 0x1.05ca50205d26ap-45, 0x1.8d1357ae99b8bp-101},
	{0x1.ffffffffffffp-1, -0x1.20ef3618f2d54p-56, 0x1.70beaf9c7ffb6p-46, -0x1.b0d0718f5cfd3p-103},
	{0x1.ffffffffffff5p-1, -0x1.238f8ed17d9b4p-55, 0x1.0330f0fd69921p-46, -0x1.0991a941d7ddcp-103},
	{0x1.ffffffffffff8p-1, 0x1.0160ef15c497dp-56, 0x1.6ba91ac734786p-47, -0x1.f81d6faa99c8dp-101},
	{0x1.ffffffffffffbp-1, -0x1.efa4d64f59f62p-55, 0x1.fd3de10d62855p-48, -0x1.34eff8863b62cp-102},
	{0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56, 0x1.63daf8b4b1e0cp-48, 0x1.f38800a69fe98p-105},
	{0x1.ffffffffffffdp-1, 0x1.6be96953fe014p-55, 0x1.f05e82aae2bb9p-49, -0x1.ac715598d402cp-105},
	{0x1.ffffffffffffep-1, 0x1.59ab24e589a3p-56, 0x1.5982008db1304p-49, -0x1.1cf9bdada0bfep-103},
	{0x1.fffffffffffffp-1, -0x1.0fecc5ed770dep-55, 0x1.e00e9148a1d25p-50, 0x1.9eb16e219d469p-105},
	{0x1.fffffffffffffp-1, 0x1.0439397b5f70ap-56, 0x1.4cd9c04158cd7p-50, 0x1.533947579e54dp-104},
	{0x1.fffffffffffffp-1, 0x1.989c6c5d51227p-55, 0x1.ccaaea71ab0dfp-51, 0x1.1b6a23ea822c6p-105},
	{0x1p0, -0x1.a6d7d18831888p-55, 0x1.3e296303b2297p-51, 0x1.68cf6480a3817p-105},
	{0x1p0, -0x1.21fb7a81c5444p-55, 0x1.b69f10b0191b5p-52, 0x1.ebab5cfa75ddcp-108},
}
