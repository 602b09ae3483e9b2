package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Pow32 returns x to the power y, with the special cases of [Pow64]. Powers that are floats or halfway between two are rounded correctly. So
// are squares, and all other powers but about one in 10^9. The error is below 0.500001 ulp.
func Pow32(x, y float32) float32 {
	if y == 2 && x == x {
		return x * x
	}
	if z, ok := powSpecial(float64(x), float64(y)); ok {
		return float32(z)
	}
	// The logarithm is computed as in Log32, in two parts. hi has 26 bits, so its product with y is exact.
	b := math.Float64bits(math.Abs(float64(x)))
	d := b - 0x3fe6a00000000000
	t := &log32Table[d>>46&63]
	k := float64(int64(d) >> 52)
	r := float64(math.Float64frombits(b-d&^(1<<52-1))*t.inv) - 1
	// minimax of degree 8: 2^-65
	q := float64(float64(r*r) * (-0.5 + float64(r*(0x1.55555555555a5p-2+float64(r*(-0x1.ffffffffff2bbp-3+float64(r*(0x1.9999998a440ccp-3+float64(r*(-0x1.555555db67baap-3+float64(r*(0x1.24990172ee903p-3+float64(r*-0x1.ffd75f22c775dp-4)))))))))))))
	w := float64(k*ln2High) + t.hi
	s := w + r
	lo := (w - s + r) + (q + (float64(k*ln2Low) + t.lo))
	hi := math.Float64frombits(math.Float64bits(s+lo) &^ (1<<27 - 1))
	lo += s - hi
	p, pl := float64(float64(y)*hi), float64(float64(y)*lo)

	z := float32(0)
	switch {
	case p >= 89:
		z = float32(math.Inf(1))
	case p > -104.5:
		// The exponential is computed as in Exp32, in two parts.
		k := float64(p*toSixteenths) + shifter
		n := int64(math.Float64bits(k))
		k -= shifter
		r := ((p - float64(k*sixteenth1)) - float64(k*sixteenth2)) + pl
		q := float64(float64(r*r) * (0.5 + float64(r*(0x1.555555555558bp-3+float64(r*(0x1.55555554e3c28p-5+float64(r*(0x1.1111110a00bb5p-7+float64(r*(0x1.6c17fcaaa74fdp-10+float64(r*0x1.a02714c883034p-13)))))))))))
		t := &exp2Table[n&15]
		hi, lo := t.hi, float64(t.hi*(r+q))+t.lo
		s := hi + lo
		if math.Float64bits(s)&lowBits == 0 && math.Abs(hi-s+lo) > 0x1p-55 {
			s = roundOdd(hi, lo, s) // nearer to a halfway point it is one
		}
		z = float32(math.Float64frombits(math.Float64bits(s) + uint64(n>>4)<<52))
	}
	if x < 0 && isOdd(float64(y)) {
		return -z
	}
	return z
}

// Pow64 returns x to the power y. The error is at most 0.503 ulp, subnormal results included: where a power is e^±500 and more, the
// logarithm's error of 2^-71 counts that many times. The special cases follow pow of IEEE 754:
//
//   - It is 1 if y is ±0 or x is 1, with any other operand, and for -1 to the ±Inf.
//   - It is NaN if x is finite and negative, and y finite and no integer.
//   - Otherwise it is NaN if either is NaN.
//   - Negative x to an odd y is negative, also for -0 and -Inf.
func Pow64(x, y float64) float64 {
	if z, ok := powSpecial(x, y); ok {
		return z
	}
	hi, lo := powLog(math.Abs(x))
	p := float64(y * hi)
	z := 0.0
	if p > 710 {
		z = math.Inf(1)
	} else if p > -746 {
		z = scale(expParts(p, FMA64(y, lo, FMA64(y, hi, -p))))
	}
	if x < 0 && isOdd(y) {
		return -z
	}
	return z
}

// powSpecial returns x to the power y where the logarithm isn't used. The logarithm is used for finite x and y other than 0, and for negative
// x if y is an integer.
func powSpecial(x, y float64) (z float64, ok bool) {
	switch {
	case y == 0 || x == 1:
		return 1, true
	case x != x || y != y:
		return num.NaN64(), true
	case math.IsInf(y, 0):
		switch a := math.Abs(x); {
		case a == 1:
			return 1, true
		case (a > 1) == (y > 0):
			return math.Inf(1), true
		}
		return 0, true
	case x == 0 || math.IsInf(x, 0):
		if (x == 0) == (y < 0) {
			z = math.Inf(1)
		}
		if math.Signbit(x) && isOdd(y) {
			z = -z
		}
		return z, true
	case x < 0 && y != math.Floor(y):
		return num.NaN64(), true
	}
	return 0, false
}

// isOdd reports whether y is an odd integer.
func isOdd(y float64) bool {
	h := y * 0.5
	return y == math.Floor(y) && h != math.Floor(h)
}

// powLog returns the logarithm of finite x > 0 as hi + lo, with a relative error of about 2^-72. It writes x = 2^k m, and c is the middle of the
// interval of m, or 1 in the interval of 1. There are 128 intervals. The logarithm is
//
//	k ln2 + log(c) + 2 atanh(s), s = (m-c)/(m+c), |s| < 2^-9
func powLog(x float64) (hi, lo float64) {
	b := math.Float64bits(x)
	k := 0
	if b < 1<<52 {
		b = math.Float64bits(x * 0x1p52)
		k = -52
	}
	d := b - 0x3fe6900000000000 // 0.705
	t := &powTable[d>>45&127]
	kf := float64(k + int(int64(d)>>52))
	m := math.Float64frombits(b - d&^(1<<52-1))
	n := m - t.c // exact
	e, el := twoSum(m, t.c)
	s := n / e
	sl := FMA64(-s, el, FMA64(-s, e, n)) / e
	q := s * s
	// 2 atanh(s) - 2s, divided by s³, minimax in s² of degree 2: 2^-73 of atanh
	p := FMA64(q, 0x1.2492b61a3ca23p-2, 0x1.9999999989dbp-2)
	p = FMA64(q, p, 0x1.5555555555555p-1)
	w := FMA64(kf, ln2High, t.hi) // exact, and 0 or larger than 2s
	h := w + (s + s)
	l := w - h + (s + s) + FMA64(2, sl, FMA64(kf, ln2Low, t.lo))
	l = FMA64(q*s, p, l)
	hi = h + l
	return hi, h - hi + l
}

// powTable has, for each interval of powLog, c and its logarithm in two parts. hi is a multiple of 2^-42.
var powTable = [128]struct{ c, hi, lo float64 }{
	{0x1.6ap-1, -0x1.630030b3abp-2, 0x1.db623e731aep-45},
	{0x1.6cp-1, -0x1.5d5bddf596p-2, 0x1.a0b2a08a465dcp-47},
	{0x1.6ep-1, -0x1.57bf753c8dp-2, -0x1.fadedee5d40efp-46},
	{0x1.7p-1, -0x1.522ae0738ap-2, -0x1.ebe708164c759p-45},
	{0x1.72p-1, -0x1.4c9e09e173p-2, 0x1.e20891b0ad8a4p-45},
	{0x1.74p-1, -0x1.4718dc271cp-2, -0x1.06c18fb4c14c5p-44},
	{0x1.76p-1, -0x1.419b423d5fp-2, 0x1.ce379226de3ecp-44},
	{0x1.78p-1, -0x1.3c25277333p-2, -0x1.83b54b606bd5cp-46},
	{0x1.7ap-1, -0x1.36b6776be1p-2, -0x1.16ecdb0f177c8p-46},
	{0x1.7cp-1, -0x1.314f1e1d36p-2, 0x1.8e27ad3213cb8p-45},
	{0x1.7ep-1, -0x1.2bef07cdc9p-2, -0x1.a9cfa4a5004f4p-45},
	{0x1.8p-1, -0x1.269621134ep-2, 0x1.1b61f10522625p-44},
	{0x1.82p-1, -0x1.214456d0ecp-2, 0x1.caf0428b728a3p-44},
	{0x1.84p-1, -0x1.1bf99635a7p-2, 0x1.1ac89575c2125p-44},
	{0x1.86p-1, -0x1.16b5ccbadp-2, 0x1.23299042d74bfp-44},
	{0x1.88p-1, -0x1.1178e8227ep-2, -0x1.1ef78ce2d07f2p-44},
	{0x1.8ap-1, -0x1.0c42d67616p-2, -0x1.7188b163ceae9p-45},
	{0x1.8cp-1, -0x1.07138604d6p-2, 0x1.e76324e912b17p-44},
	{0x1.8ep-1, -0x1.01eae5626cp-2, -0x1.a43dcfade85aep-44},
	{0x1.9p-1, -0x1.f991c6cb3cp-3, 0x1.90d04cd7cc834p-44},
	{0x1.92p-1, -0x1.ef5ade4ddp-3, 0x1.a211565bb8e11p-51},
	{0x1.94p-1, -0x1.e530effe72p-3, 0x1.fdbdbb13f7c18p-44},
	{0x1.96p-1, -0x1.db13db0d48p-3, -0x1.2806a847527e6p-44},
	{0x1.98p-1, -0x1.d1037f2656p-3, 0x1.84a7e75b6f6e4p-47},
	{0x1.9ap-1, -0x1.c6ffbc6fp-3, -0x1.ee138d3a69d43p-44},
	{0x1.9cp-1, -0x1.bd087383bep-3, 0x1.d4bc4595412b6p-45},
	{0x1.9ep-1, -0x1.b31d8575bcp-3, -0x1.c794e562a63cbp-44},
	{0x1.ap-1, -0x1.a93ed3c8aep-3, 0x1.8724350562169p-45},
	{0x1.a2p-1, -0x1.9f6c40708ap-3, 0x1.337d94bcd3f43p-44},
	{0x1.a4p-1, -0x1.95a5adcf7p-3, -0x1.7f22858a0ff6fp-47},
	{0x1.a6p-1, -0x1.8beafeb39p-3, 0x1.73d54aae92cd1p-47},
	{0x1.a8p-1, -0x1.823c16551ap-3, -0x1.e0ddb9a631e83p-46},
	{0x1.aap-1, -0x1.7898d85444p-3, -0x1.8e67be3dbaf3fp-44},
	{0x1.acp-1, -0x1.6f0128b756p-3, -0x1.577390d31ef0fp-44},
	{0x1.aep-1, -0x1.6574ebe8c2p-3, 0x1.98c1d34f0f462p-44},
	{0x1.bp-1, -0x1.5bf406b544p-3, 0x1.27023eb68981cp-46},
	{0x1.b2p-1, -0x1.527e5e4a1cp-3, 0x1.4e60b8d4b411dp-44},
	{0x1.b4p-1, -0x1.4913d8333cp-3, 0x1.53e43558124c4p-44},
	{0x1.b6p-1, -0x1.3fb45a5992p-3, -0x1.19713c0cae559p-44},
	{0x1.b8p-1, -0x1.365fcb015ap-3, 0x1.fd3a0afb9691bp-44},
	{0x1.bap-1, -0x1.2d1610c868p-3, -0x1.39d6ccb81b4a1p-47},
	{0x1.bcp-1, -0x1.23d712a49cp-3, -0x1.00d238fd3df5cp-46},
	{0x1.bep-1, -0x1.1aa2b7e24p-3, 0x1.1ac38dde3b366p-44},
	{0x1.cp-1, -0x1.1178e8227ep-3, -0x1.1ef78ce2d07f2p-45},
	{0x1.c2p-1, -0x1.08598b59e4p-3, 0x1.7e5dd7009902cp-45},
	{0x1.c4p-1, -0x1.fe89139dbcp-4, -0x1.56594d82f7a82p-44},
	{0x1.c6p-1, -0x1.ec739830ap-4, -0x1.11fcba80cdd1p-44},
	{0x1.c8p-1, -0x1.da72763844p-4, -0x1.a89401fa71733p-46},
	{0x1.cap-1, -0x1.c885801bc4p-4, -0x1.646d1c65aacd3p-45},
	{0x1.ccp-1, -0x1.b6ac88dad4p-4, -0x1.b1bdff50225c7p-44},
	{0x1.cep-1, -0x1.a4e7640b1cp-4, 0x1.e42b6b94407c8p-47},
	{0x1.dp-1, -0x1.9335e5d594p-4, -0x1.3115c3abd47dap-45},
	{0x1.d2p-1, -0x1.8197e2f41p-4, 0x1.c0fe460d20041p-44},
	{0x1.d4p-1, -0x1.700d30aeacp-4, -0x1.c1e8da99ded32p-49},
	{0x1.d6p-1, -0x1.5e95a4d978p-4, -0x1.1cb7ce1d17171p-44},
	{0x1.d8p-1, -0x1.4d3115d208p-4, 0x1.53a2582f4e1efp-48},
	{0x1.dap-1, -0x1.3bdf5a7d2p-4, 0x1.19bd0ad125895p-44},
	{0x1.dcp-1, -0x1.2aa04a447p-4, -0x1.7a48ba8b1cb41p-44},
	{0x1.dep-1, -0x1.1973bd1464p-4, -0x1.566d154f930b3p-44},
	{0x1.ep-1, -0x1.08598b59e4p-4, 0x1.7e5dd7009902cp-46},
	{0x1.e2p-1, -0x1.eea31c0068p-5, -0x1.c3dd83606d891p-44},
	{0x1.e4p-1, -0x1.ccb73cddd8p-5, -0x1.965c36e09f5fep-44},
	{0x1.e6p-1, -0x1.aaef2d0fbp-5, -0x1.0fc1a353bb42ep-45},
	{0x1.e8p-1, -0x1.894aa149f8p-5, -0x1.9a19a8be97661p-44},
	{0x1.eap-1, -0x1.67c94f2d48p-5, -0x1.dac20827cca0cp-44},
	{0x1.ecp-1, -0x1.466aed42ep-5, 0x1.c167375bdfd28p-45},
	{0x1.eep-1, -0x1.252f32f8dp-5, -0x1.83e9ae021b67bp-45},
	{0x1.fp-1, -0x1.0415d89e78p-5, 0x1.dddc7f461c516p-44},
	{0x1.f2p-1, -0x1.c63d2ec15p-6, 0x1.5439ce030a687p-44},
	{0x1.f4p-1, -0x1.8492528c9p-6, 0x1.aa0ba325a0c34p-45},
	{0x1.f6p-1, -0x1.432a92598p-6, -0x1.98139928637fep-47},
	{0x1.f8p-1, -0x1.020565893p-6, -0x1.611d27c8e8417p-44},
	{0x1.fap-1, -0x1.82448a388p-7, -0x1.4554412c584ep-44},
	{0x1.fcp-1, -0x1.010157588p-7, -0x1.bce251998b506p-44},
	{0x1.fep-1, -0x1.008055958p-8, -0x1.166afcb31c67bp-45},
	{0x1p0, 0x0p0, 0x0p0},
	{0x1.02p0, 0x1.fe02a6b1p-8, 0x1.9e23f0dda40e4p-46},
	{0x1.04p0, 0x1.fc0a8b0fcp-7, 0x1.f1e7cf6d3a69cp-50},
	{0x1.06p0, 0x1.7b91b07d6p-6, -0x1.3b955b602ace4p-44},
	{0x1.08p0, 0x1.f829b0e78p-6, 0x1.980267c7e09e4p-45},
	{0x1.0ap0, 0x1.39e87b9fe8p-5, 0x1.eafd480ad9015p-44},
	{0x1.0cp0, 0x1.77458f633p-5, -0x1.181dce586af09p-44},
	{0x1.0ep0, 0x1.b42dd71198p-5, -0x1.c827ae5d6704cp-46},
	{0x1.1p0, 0x1.f0a30c0118p-5, -0x1.d599e83368e91p-45},
	{0x1.12p0, 0x1.16536eea38p-4, -0x1.47c5e768fa309p-46},
	{0x1.14p0, 0x1.341d7961bcp-4, 0x1.1d0929983761p-44},
	{0x1.16p0, 0x1.51b073f06p-4, 0x1.83f69278e686ap-44},
	{0x1.18p0, 0x1.6f0d28ae58p-4, -0x1.4b4641b664613p-44},
	{0x1.1ap0, 0x1.8c345d6318p-4, 0x1.b20f5acb42a66p-44},
	{0x1.1cp0, 0x1.a926d3a4acp-4, 0x1.563650bd22a9cp-44},
	{0x1.1ep0, 0x1.c5e548f5bcp-4, 0x1.d0c57585fbe06p-46},
	{0x1.2p0, 0x1.e27076e2bp-4, -0x1.a342c2af0003cp-45},
	{0x1.22p0, 0x1.fec9131dcp-4, -0x1.54555d1ae6607p-44},
	{0x1.24p0, 0x1.0d77e7cd08p-3, 0x1.cb2cd2ee2f482p-44},
	{0x1.26p0, 0x1.1b72ad52f6p-3, 0x1.e80a41811a396p-45},
	{0x1.28p0, 0x1.29552f82p-3, -0x1.5b967f4471dfcp-44},
	{0x1.2ap0, 0x1.371fc201e8p-3, 0x1.ee8779b2d8abcp-44},
	{0x1.2cp0, 0x1.44d2b6ccb8p-3, -0x1.70cc16135783cp-46},
	{0x1.2ep0, 0x1.526e5e3a1cp-3, -0x1.790ba37fc5238p-44},
	{0x1.3p0, 0x1.5ff3070a7ap-3, -0x1.8586f183bebf2p-44},
	{0x1.32p0, 0x1.6d60fe719ep-3, -0x1.bc6e557134767p-44},
	{0x1.34p0, 0x1.7ab890210ep-3, -0x1.bdb9072534a58p-45},
	{0x1.36p0, 0x1.87fa06520cp-3, 0x1.22120401202fcp-44},
	{0x1.38p0, 0x1.9525a9cf46p-3, -0x1.297137d9f158fp-44},
	{0x1.3ap0, 0x1.a23bc1fe2cp-3, -0x1.539cd91dc9f0bp-44},
	{0x1.3cp0, 0x1.af3c94e80cp-3, -0x1.a4e633fcd9066p-52},
	{0x1.3ep0, 0x1.bc286742d8p-3, 0x1.9ac53f39d121cp-44},
	{0x1.4p0, 0x1.c8ff7c79aap-3, -0x1.7794f689f8434p-45},
	{0x1.42p0, 0x1.d5c216b4fcp-3, -0x1.1ba91bbca681bp-45},
	{0x1.44p0, 0x1.e27076e2bp-3, -0x1.a342c2af0003cp-44},
	{0x1.46p0, 0x1.ef0adcbdc6p-3, -0x1.b26b79c86af24p-45},
	{0x1.48p0, 0x1.fb9186d5e4p-3, -0x1.d572aab993c87p-47},
	{0x1.4ap0, 0x1.0402594b4dp-2, 0x1.036b89ef42d7fp-48},
	{0x1.4cp0, 0x1.0a324e2739p-2, 0x1.c6bee7ef4030ep-47},
	{0x1.4ep0, 0x1.1058bf9ae5p-2, -0x1.4ab9d817d52cdp-44},
	{0x1.5p0, 0x1.1675cababap-2, 0x1.8380e731f55c4p-44},
	{0x1.52p0, 0x1.1c898c169ap-2, -0x1.81410e5c62affp-44},
	{0x1.54p0, 0x1.22941fbcf8p-2, -0x1.a6976f5eb0963p-44},
	{0x1.56p0, 0x1.2895a13de8p-2, 0x1.a8d7ad24c13fp-44},
	{0x1.58p0, 0x1.2e8e2bae12p-2, -0x1.67b1e99b72bd8p-45},
	{0x1.5ap0, 0x1.347dd9a988p-2, -0x1.5594dd4c58092p-45},
	{0x1.5cp0, 0x1.3a64c55694p-2, 0x1.7a71cbcd735dp-44},
	{0x1.5ep0, 0x1.404308686ap-2, 0x1.f8ef43049f7d3p-44},
	{0x1.6p0, 0x1.4618bc21c6p-2, -0x1.3d82f484c84ccp-46},
	{0x1.62p0, 0x1.4be5f95778p-2, -0x1.d7c92cd9ad824p-44},
	{0x1.64p0, 0x1.51aad872ep-2, -0x1.f4bd8db0a7cc1p-44},
	{0x1.66p0, 0x1.5767717456p-2, -0x1.64ead9524d7cap-44},
	{0x1.68p0, 0x1.5d1bdbf581p-2, -0x1.8d6bdc9c7c238p-44},
}
