package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// The arc functions are all angles of points: atan(x) is the angle of (1, x), asin(x) that of (√(1-x²), x), and acos(x) that of
// (x, √(1-x²)). Let c be the multiple of 1/64 nearest to y/x. An angle up to π/4 is atan(c), from a table, plus the arc tangent of
// (y - c x) / (x + c y).
var (
	piTwo     = two{0x1.921fb54442d18p1, 0x1.1a62633145c07p-53}
	halfPiTwo = two{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54}
)

// angle32 returns the angle of (x, y), for y >= 0, with a relative error of about 2^-50.
func angle32(y, x float64) float64 {
	ax := math.Abs(x)
	var a float64
	if y <= ax {
		a = slope32(y, ax)
	} else {
		a = (halfPiTwo.hi - slope32(ax, y)) + halfPiTwo.lo
	}
	if x < 0 {
		return (piTwo.hi - a) + piTwo.lo
	}
	return a
}

// slope32 returns atan(n/d), for 0 <= n <= d.
func slope32(n, d float64) float64 {
	k := float64(n/d*64) + shifter
	t := &atanTable[math.Float64bits(k)&127]
	c := float64((k - shifter) * (1.0 / 64))
	u := (n - float64(c*d)) / (d + float64(c*n))
	q := float64(u * u)
	return t.hi + (u + float64(float64(u*q)*(-1.0/3+float64(q*(1.0/5-float64(q*(1.0/7)))))))
}

// angle64 is angle32 for two parts, with a relative error of about 2^-66.
func angle64(y, x two) two {
	ax := x
	if x.hi < 0 {
		ax = x.minus()
	}
	var a two
	if y.hi <= ax.hi {
		a = slope64(y, ax)
	} else {
		a = halfPiTwo.plus(slope64(ax, y).minus())
	}
	if x.hi < 0 {
		return piTwo.plus(a.minus())
	}
	return a
}

// slope64 is slope32 for two parts, with such an error.
func slope64(n, d two) two {
	k := FMA64(n.hi/d.hi, 64, shifter)
	t := atanTable[math.Float64bits(k)&127]
	c := two{(k - shifter) * (1.0 / 64), 0}
	u := n
	if c.hi != 0 {
		p := c.times(d)
		h := n.hi - p.hi // exact
		u = sum(h, n.lo-p.lo)
		d = d.plus(c.times(n))
	}
	u = u.over(d)
	q := float64(u.hi * u.hi)
	p := FMA64(q, FMA64(q, FMA64(q, 1.0/9, -1.0/7), 1.0/5), -1.0/3)
	h, l := twoSum(t.hi, u.hi)
	return fastSum(h, l+FMA64(float64(u.hi*q), p, t.lo+u.lo))
}

// circle returns √(1-x²), for |x| <= 1.
func circle(x float64) two {
	if math.Abs(x) == 1 {
		return two{}
	}
	return sum(1, -x).times(sum(1, x)).root()
}

// Atan32 returns the arc tangent of x, correctly rounded for all x: ±0 for ±0, ±π/2 for ±Inf, NaN for NaN.
func Atan32(x float32) float32 {
	if x == 0 {
		return x
	}
	if x != x {
		return num.NaN32()
	}
	z := min(math.Abs(float64(x)), 0x1p200)
	y, ok := settled(angle32(z, 1))
	if !ok {
		a := angle64(two{z, 0}, two{1, 0})
		y = round32(a.hi, a.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Asin32 returns the arc sine of x, correctly rounded for all x: ±0 for ±0, NaN for |x| > 1 and NaN.
func Asin32(x float32) float32 {
	if x == 0 {
		return x
	}
	if !(x <= 1 && x >= -1) {
		return num.NaN32()
	}
	z := math.Abs(float64(x))
	y, ok := settled(angle32(z, math.Sqrt(float64((1-z)*(1+z)))))
	if !ok {
		a := angle64(two{z, 0}, circle(z))
		y = round32(a.hi, a.lo)
	}
	return float32(math.Copysign(float64(y), float64(x)))
}

// Acos32 returns the arc cosine of x, between 0 and π, correctly rounded for all x: +0 for 1, NaN for |x| > 1 and NaN.
func Acos32(x float32) float32 {
	if !(x <= 1 && x >= -1) {
		return num.NaN32()
	}
	z := float64(x)
	if y, ok := settled(angle32(math.Sqrt(float64((1-z)*(1+z))), z)); ok {
		return y
	}
	a := angle64(circle(z), two{z, 0})
	return round32(a.hi, a.lo)
}

// Atan64 returns the arc tangent of x: ±0 for ±0, ±π/2 for ±Inf, NaN for NaN. The error is at most 0.501 ulp.
func Atan64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-27:
		return x
	case x != x:
		return num.NaN64()
	}
	return math.Copysign(angle64(two{min(a, 0x1p200), 0}, two{1, 0}).hi, x)
}

// Asin64 returns the arc sine of x: ±0 for ±0, NaN for |x| > 1 and NaN. The error is at most 0.501 ulp.
func Asin64(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 0x1p-27:
		return x
	case !(a <= 1):
		return num.NaN64()
	}
	return math.Copysign(angle64(two{a, 0}, circle(a)).hi, x)
}

// Acos64 returns the arc cosine of x, between 0 and π: +0 for 1, NaN for |x| > 1 and NaN. The error is at most 0.501 ulp.
func Acos64(x float64) float64 {
	if !(math.Abs(x) <= 1) {
		return num.NaN64()
	}
	return angle64(circle(x), two{x, 0}).hi
}

// atanTable[j] is atan(j/64).
var atanTable = [65]two{
	{0x0p0, 0x0p0},
	{0x1.fff555bbb729bp-7, -0x1.220c39d4dff5p-61},
	{0x1.ffd55bba97625p-6, -0x1.5ec431444912cp-60},
	{0x1.7fb818430da2ap-5, -0x1.86ef8f794f105p-63},
	{0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
	{0x1.3f59f0e7c559dp-4, 0x1.ac4ce285df847p-58},
	{0x1.7ee182602f10fp-4, -0x1.cfb654c0c3d98p-58},
	{0x1.be39ebe6f07c3p-4, 0x1.f7b8f29a05987p-58},
	{0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
	{0x1.1e1fafb043727p-3, -0x1.b485914dacf8cp-59},
	{0x1.3d6eee8c6626cp-3, 0x1.61a3b0ce9281bp-57},
	{0x1.5c9811e3ec26ap-3, -0x1.054ab2c010f3dp-58},
	{0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
	{0x1.9a6a8e96c8626p-3, 0x1.cf601e7b4348ep-59},
	{0x1.b90d7529260a2p-3, 0x1.17b10d2e0e5abp-61},
	{0x1.d77d5df205736p-3, 0x1.c648d1534597ep-57},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.09dc597d86362p-2, 0x1.62e47390cb865p-56},
	{0x1.18bf5a30bf178p-2, 0x1.30ca4748b1bf9p-57},
	{0x1.278372057ef46p-2, -0x1.077cdd36dfc81p-56},
	{0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
	{0x1.44aa436c2af0ap-2, -0x1.5d5e43c55b3bap-56},
	{0x1.530ad9951cd4ap-2, -0x1.2566480884082p-57},
	{0x1.614840309cfe2p-2, -0x1.a725715711fp-56},
	{0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
	{0x1.7d5604b63b3f7p-2, 0x1.69c885c2b249ap-56},
	{0x1.8b24d394a1b25p-2, 0x1.b6d0ba3748fa8p-56},
	{0x1.98cd5454d6b18p-2, 0x1.9e6c988fd0a77p-56},
	{0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
	{0x1.b3a911da65c6cp-2, 0x1.ae187b1ca504p-56},
	{0x1.c0db4c94ec9fp-2, -0x1.cc1ce70934c34p-56},
	{0x1.cde53432c1351p-2, -0x1.a2cfa4418f1adp-56},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.e77eb7f175a34p-2, 0x1.0e53dc1bf3435p-56},
	{0x1.f40dd0b541418p-2, -0x1.a3992dc382a23p-57},
	{0x1.0039c73c1a40cp-1, -0x1.b32c949c9d593p-55},
	{0x1.0657e94db30dp-1, -0x1.d5b495f6349e6p-56},
	{0x1.0c6145b5b43dap-1, 0x1.974fa13b5404fp-58},
	{0x1.1255d9bfbd2a9p-1, -0x1.2bdaee1c0ee35p-58},
	{0x1.1835a88be7c13p-1, 0x1.c621cec00c301p-55},
	{0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
	{0x1.23b71e2cc9e6ap-1, 0x1.c421c9f38224ep-57},
	{0x1.2958e59308e31p-1, -0x1.09e73b0c6c087p-56},
	{0x1.2ee628406cbcap-1, 0x1.c5d5e9ff0cf8dp-55},
	{0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
	{0x1.39c391cd4171ap-1, -0x1.2304331d8bf46p-55},
	{0x1.3f13fb89e96f4p-1, 0x1.ecf8b492644fp-56},
	{0x1.445065b795b56p-1, -0x1.f76d0163f79c8p-56},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.4e8de5bb6ec04p-1, 0x1.4a33dbeb3796cp-55},
	{0x1.538f57b89061fp-1, -0x1.1bb74abda520cp-55},
	{0x1.587d81f732fbbp-1, -0x1.5e5c9d8c5a95p-56},
	{0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
	{0x1.6220d115d7b8ep-1, -0x1.2b785350ee8c1p-57},
	{0x1.66d663923e087p-1, -0x1.6ea6febe8bbbap-56},
	{0x1.6b798920b3d99p-1, -0x1.a80386188c50ep-55},
	{0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
	{0x1.748978fba8e0fp-1, 0x1.7b2a6165884a1p-59},
	{0x1.78f6bbd5d315ep-1, 0x1.406a08980374p-55},
	{0x1.7d528289fa093p-1, 0x1.560821e2f3aa9p-55},
	{0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
	{0x1.85d69576cc2c5p-1, 0x1.6b66e7fc8b8c3p-57},
	{0x1.89ff5ff57f1f8p-1, -0x1.55b9a5e177a1bp-55},
	{0x1.8e17aa99cc05ep-1, -0x1.ec182ab042f61p-56},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}}
