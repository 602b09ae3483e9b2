package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Both logarithms write x = 2^k m with m around 1, and look up inv, about 1/m, by the leading bits of m. The sum of three terms is the
// logarithm:
//
//	k ln2 - log(inv) + log(1 + r), r = m inv - 1
//
// The last term is a polynomial. In the interval of 1, inv is 1, so that nothing cancels near there.
const (
	ln2High = 0x1.62e42fefa38p-1 // 42 bits, like the hi in the tables: all their sums are exact
	ln2Low  = 0x1.ef35793c7673p-45
)

// Log32 returns the natural logarithm of x, correctly rounded for all x: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN.
func Log32(x float32) float32 {
	if !(x > 0 && x <= math.MaxFloat32) {
		switch {
		case x == 0:
			return float32(math.Inf(-1))
		case x > 0:
			return x
		}
		return num.NaN32()
	}
	b := math.Float64bits(float64(x))
	d := b - 0x3fe6a00000000000 // 0.707, plus half an interval
	t := &log32Table[d>>46&63]
	k := float64(int64(d) >> 52)
	r := float64(math.Float64frombits(b-d&^(1<<52-1))*t.inv) - 1 // exact: inv has 28 bits
	// minimax of degree 7: 2^-58
	q := float64(float64(r*r) * (-0x1.000000000001ap-1 + float64(r*(0x1.55555555551e1p-2+float64(r*(-0x1.fffffff28a97p-3+float64(r*(0x1.99999a006e071p-3+float64(r*(-0x1.555c341c44f26p-3+float64(r*0x1.247fc2d92be9p-3)))))))))))
	w := float64(k*ln2High) + t.hi // exact
	s := w + r
	return round32(s, (w-s+r)+(q+(float64(k*ln2Low)+t.lo)))
}

// Log64 returns the natural logarithm of x: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN. The error is at most 0.501 ulp.
func Log64(x float64) float64 {
	b := math.Float64bits(x)
	k := 0
	if b-1<<52 >= inf64-1<<52 {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x > math.MaxFloat64:
			return x
		case !(x > 0):
			return num.NaN64()
		}
		b = math.Float64bits(x * 0x1p52) // x is subnormal
		k = -52
	}
	d := b - 0x3fe6800000000000 // 0.703
	t := &logTable[d>>48&15]
	kf := float64(k + int(int64(d)>>52))
	m := math.Float64frombits(b - d&^(1<<52-1))
	p := float64(m * t.inv)
	rl := FMA64(m, t.inv, -p) // exact: m inv = p + rl
	r := p - 1                // exact
	// log(1+r) - r + r²/2, divided by r³, minimax of degree 8: 2^-67 of r
	q := FMA64(r, 0x1.71d40457043c4p-4, -0x1.9a6638895b9c5p-4)
	q = FMA64(r, q, 0x1.c71de75fb7aa5p-4)
	q = FMA64(r, q, -0x1.ffffd4b396aa6p-4)
	q = FMA64(r, q, 0x1.249249042933cp-3)
	q = FMA64(r, q, -0x1.55555557358bep-3)
	q = FMA64(r, q, 0x1.999999999ba8fp-3)
	q = FMA64(r, q, -0x1.fffffffffff22p-3)
	q = FMA64(r, q, 0x1.5555555555555p-2)
	lo := FMA64(kf, ln2Low, t.lo)
	w := FMA64(kf, ln2High, t.hi) // exact, and 0 or larger than r
	s := w + r
	lo += w - s + r
	h := r * -0.5
	h2 := float64(h * r)
	hi := s + h2
	lo += (s - hi + h2) + FMA64(h, r, -h2)
	lo += FMA64(-rl, FMA64(-r, r, r), rl) // log(1 + r + rl) is larger by rl/(1+r)
	lo = FMA64(r*r*r, q, lo)
	return hi + lo
}

// logTable has inverses and logarithms for intervals of the mantissa, each a sixteenth of the mantissas from 0.703 to 1.406. The inverse
// is that of the middle of the interval, or 1 in the interval of 1. hi and lo are minus its logarithm in two parts.
var logTable = [16]struct{ inv, hi, lo float64 }{
	{0x1.642c8590b2164p0, -0x1.522ae0738ap-2, -0x1.eba708164c759p-45},
	{0x1.5555555555555p0, -0x1.269621134ep-2, 0x1.1ba1f10522625p-44},
	{0x1.47ae147ae147bp0, -0x1.f991c6cb3cp-3, 0x1.90b84cd7cc834p-44},
	{0x1.3b13b13b13b14p0, -0x1.a93ed3c8aep-3, 0x1.86a4350562169p-45},
	{0x1.2f684bda12f68p0, -0x1.5bf406b544p-3, 0x1.28023eb68981cp-46},
	{0x1.2492492492492p0, -0x1.1178e8227ep-3, -0x1.1e778ce2d07f2p-45},
	{0x1.1a7b9611a7b96p0, -0x1.9335e5d594p-4, -0x1.30f5c3abd47dap-45},
	{0x1.1111111111111p0, -0x1.08598b59e4p-4, 0x1.7e9dd7009902cp-46},
	{0x1.0842108421084p0, -0x1.0415d89e78p-5, 0x1.ddfc7f461c516p-44},
	{0x1p0, 0x0p0, 0x0p0},
	{0x1.e1e1e1e1e1e1ep-1, 0x1.f0a30c0118p-5, -0x1.d579e83368e91p-45},
	{0x1.c71c71c71c71cp-1, 0x1.e27076e2bp-4, -0x1.a2c2c2af0003cp-45},
	{0x1.af286bca1af28p-1, 0x1.5ff3070a7ap-3, -0x1.8546f183bebf2p-44},
	{0x1.999999999999ap-1, 0x1.c8ff7c79aap-3, -0x1.7814f689f8434p-45},
	{0x1.8618618618618p-1, 0x1.1675cababap-2, 0x1.83c0e731f55c4p-44},
	{0x1.745d1745d1746p-1, 0x1.4618bc21c6p-2, -0x1.3e02f484c84ccp-46},
}

// log32Table is logTable with 64 intervals from 0.707 to 1.414. Its inverses have 28 bits.
var log32Table = [64]struct{ inv, hi, lo float64 }{
	{0x1.6816816p0, -0x1.5d5bddde96p-2, 0x1.a0bae48a467d7p-47},
	{0x1.642c85ap0, -0x1.522ae09f8ap-2, -0x1.ebdf78164cad1p-45},
	{0x1.605816p0, -0x1.4718dc171cp-2, -0x1.06c10fb4c14bp-44},
	{0x1.5c9882cp0, -0x1.3c25278733p-2, -0x1.83b22b606be03p-46},
	{0x1.58ed23p0, -0x1.314f1e0536p-2, 0x1.8e29ed3213d48p-45},
	{0x1.5555556p0, -0x1.269621334ep-2, 0x1.1b63f1052257ap-44},
	{0x1.51d07eap0, -0x1.1bf9960aa7p-2, 0x1.1acc31f5c22c3p-44},
	{0x1.4e5e0a8p0, -0x1.1178e84a7ep-2, -0x1.1ef46ce2d093fp-44},
	{0x1.4afd6ap0, -0x1.071385f4d6p-2, 0x1.e763a4e912b2cp-44},
	{0x1.47ae148p0, -0x1.f991c6eb3cp-3, 0x1.90d0ccd7cc81fp-44},
	{0x1.446f866p0, -0x1.e530f03c72p-3, 0x1.fdbf9b93f7b7cp-44},
	{0x1.4141414p0, -0x1.d1037f1e56p-3, 0x1.84a8275b6f6e6p-47},
	{0x1.3e22cbcp0, -0x1.bd087327bep-3, 0x1.d4c48995416acp-45},
	{0x1.3b13b14p0, -0x1.a93ed3e8aep-3, 0x1.872535056213ep-45},
	{0x1.3813814p0, -0x1.95a5ae037p-3, -0x1.7f17f58a1024cp-47},
	{0x1.3521cfcp0, -0x1.823c16ad1ap-3, -0x1.e0ce99a632572p-46},
	{0x1.323e34ap0, -0x1.6f0128a556p-3, -0x1.577368531ef0cp-44},
	{0x1.2f684bep0, -0x1.5bf406dd44p-3, 0x1.27055eb689775p-46},
	{0x1.2c9fb4ep0, -0x1.4913d8693cp-3, 0x1.53e5a1d81245dp-44},
	{0x1.29e412ap0, -0x1.365fcb0d5ap-3, 0x1.fd3a1cfb9691ap-44},
	{0x1.27350b8p0, -0x1.23d7126c9cp-3, -0x1.00cc18fd3dd93p-46},
	{0x1.2492492p0, -0x1.1178e8027ep-3, -0x1.1ef68ce2d07c7p-45},
	{0x1.21fb782p0, -0x1.fe891461bcp-4, -0x1.56549d02f7ce6p-44},
	{0x1.1f7047ep0, -0x1.da72767044p-4, -0x1.a89279fa7176cp-46},
	{0x1.1cf06aep0, -0x1.b6ac892ed4p-4, -0x1.b1bd22d0225f7p-44},
	{0x1.1a7b962p0, -0x1.9335e6a594p-4, -0x1.310b33abd4d92p-45},
	{0x1.1811812p0, -0x1.700d3122acp-4, -0x1.c1b44a99dfd13p-49},
	{0x1.15b1e6p0, -0x1.4d31165208p-4, 0x1.53c2582f4d745p-48},
	{0x1.135c812p0, -0x1.2aa04b007p-4, -0x1.7a446a0b1cd5ep-44},
	{0x1.1111112p0, -0x1.08598c39e4p-4, 0x1.7e765700981e1p-46},
	{0x1.0ecf56cp0, -0x1.ccb73d0dd8p-5, -0x1.965c24e09f5ffp-44},
	{0x1.0c9715p0, -0x1.894aa1c9f8p-5, -0x1.9a1928be97676p-44},
	{0x1.0a6810ap0, -0x1.466aec7aep-5, 0x1.c169a85bdfdcbp-45},
	{0x1.0842108p0, -0x1.0415d81e78p-5, 0x1.dddcff461c52bp-44},
	{0x1.0624dd2p0, -0x1.84924edc9p-6, 0x1.aa193c25a148fp-45},
	{0x1.041041p0, -0x1.020564893p-6, -0x1.611ca7c8e8402p-44},
	{0x1.0204082p0, -0x1.01015f388p-7, -0x1.bcda91198ba1cp-44},
	{0x1p0, 0x0p0, 0x0p0},
	{0x1.f81f82p-1, 0x1.fc0a890fcp-7, 0x1.f207cf6d3a147p-50},
	{0x1.f07c1fp-1, 0x1.f829b1e78p-6, 0x1.980367c7e0a0fp-45},
	{0x1.e9131acp-1, 0x1.77458f533p-5, -0x1.181dcc586af09p-44},
	{0x1.e1e1e1ep-1, 0x1.f0a30c2118p-5, -0x1.d599d83368e9p-45},
	{0x1.dae6076p-1, 0x1.341d79c5bcp-4, 0x1.1d0a621837662p-44},
	{0x1.d41d41ep-1, 0x1.6f0d284658p-4, -0x1.4b44efb66466ep-44},
	{0x1.cd8568ap-1, 0x1.a926d318acp-4, 0x1.5638b53d229bdp-44},
	{0x1.c71c71cp-1, 0x1.e2707722bp-4, -0x1.a341c2af00011p-45},
	{0x1.c0e0704p-1, 0x1.0d77e7a908p-3, 0x1.cb2d74ee2f463p-44},
	{0x1.bacf914p-1, 0x1.29552fbap-3, -0x1.5b94f74471d8ap-44},
	{0x1.b4e81b4p-1, 0x1.44d2b710b8p-3, -0x1.70c30e1357509p-46},
	{0x1.af286bcp-1, 0x1.5ff3073a7ap-3, -0x1.8585d183bebaap-44},
	{0x1.a98ef6p-1, 0x1.7ab890410ep-3, -0x1.bdb8072534a2dp-45},
	{0x1.a41a41ap-1, 0x1.9525a9e346p-3, -0x1.297105d9f1589p-44},
	{0x1.9ec8e96p-1, 0x1.af3c949e0cp-3, -0x1.a239b3fce9837p-52},
	{0x1.999999ap-1, 0x1.c8ff7c59aap-3, -0x1.7793f689f845fp-45},
	{0x1.948b0fcp-1, 0x1.e2707726bp-3, -0x1.a34080aefff6fp-44},
	{0x1.8f9c19p-1, 0x1.fb9186b5e4p-3, -0x1.d56eaab993d31p-47},
	{0x1.8acb91p-1, 0x1.0a324e0f39p-2, 0x1.c6c7e7ef400cep-47},
	{0x1.8618618p-1, 0x1.1675cacabap-2, 0x1.83816731f55d9p-44},
	{0x1.8181818p-1, 0x1.22941fc0f8p-2, -0x1.a697675eb0962p-44},
	{0x1.7d05f42p-1, 0x1.2e8e2b9812p-2, -0x1.67b0059b72c47p-45},
	{0x1.78a4c82p-1, 0x1.3a64c53f94p-2, 0x1.7a72d44d73591p-44},
	{0x1.745d174p-1, 0x1.4618bc31c6p-2, -0x1.3d80f484c8477p-46},
	{0x1.702e05cp-1, 0x1.51aad874ep-2, -0x1.f4bd8bb0a7cc1p-44},
	{0x1.6c16c16p-1, 0x1.5d1bdc1781p-2, -0x1.8d699a9c7c16bp-44},
}
