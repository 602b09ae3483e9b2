package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Gelu32 returns x Φ(x), correctly rounded for all x. Φ is the distribution of a standard normal variable. It is ±0 for ±0, +Inf for +Inf, the
// limit -0 for -Inf, NaN for NaN.
func Gelu32(x float32) float32 {
	if !(x < 14 && x > -15) || x == 0 {
		switch {
		case x >= 14 || x == 0:
			return x
		case x <= -15:
			return float32(math.Copysign(0, -1))
		}
		return num.NaN32()
	}
	z := float64(x)
	a := math.Abs(z)
	if a < 0x1p-60 { // half of a subnormal x may be a tie: the direction must not be lost
		return round32(float64(0.5*z), float64(float64(z*z)*density))
	}
	p := float64(exp32(-0.5*float64(a*a)) * float64(density*mills32(a)))
	if z > 0 {
		p = 1 - p
	}
	if y, ok := settled(float64(z * p)); ok {
		return y
	}
	t, n := upperTail(a)
	t = t.by(math.Float64frombits(uint64(1023+n) << 52))
	if z > 0 {
		t = two{1, 0}.plus(t.minus())
	}
	t = t.times(two{z, 0})
	return round32(t.hi, t.lo)
}

// Gelu64 returns x Φ(x). Φ is the distribution of a standard normal variable. It is ±0 for ±0, +Inf for +Inf, the limit -0 for -Inf, NaN for
// NaN. The error is at most 0.501 ulp, subnormal results included.
func Gelu64(x float64) float64 {
	if !(x < 9 && x > -39) || x == 0 {
		switch {
		case x >= 9 || x == 0:
			return x // from 9 on the tail is below 2^-62
		case x <= -39:
			return math.Copysign(0, -1)
		}
		return num.NaN64()
	}
	t, n := upperTail(math.Abs(x))
	if x > 0 {
		t, n = two{1, 0}.plus(t.by(math.Float64frombits(uint64(1023+n)<<52)).minus()), 0
	}
	return t.timesRound(x, n)
}

// GeluTanh32 returns an approximation of [Gelu32],
//
//	x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
//
// correctly rounded for all x: the rounded value of the formula with real numbers. Limits and NaN are Gelu32's.
func GeluTanh32(x float32) float32 {
	if !(x < 20 && x > -20) || x == 0 {
		switch {
		case x >= 20 || x == 0:
			return x
		case x <= -20:
			return float32(math.Copysign(0, -1))
		}
		return num.NaN32()
	}
	z := float64(x)
	v := float64(z * (geluLinear.hi + float64(float64(z*z)*geluCubic.hi)))
	if y, ok := settledTo(z/(1+exp32(-v)), 0x1p-43); ok {
		return y
	}
	e := exp64(geluExponent(z))
	t := two{z, 0}.over(e.plus(two{1, 0}))
	return round32(t.hi, t.lo)
}

// GeluTanh64 returns an approximation of [Gelu64],
//
//	x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
//
// with an error of at most 0.501 ulp, subnormal results included. Limits and NaN are Gelu64's.
func GeluTanh64(x float64) float64 {
	if !(x < 20 && x > -23) || x == 0 {
		switch {
		case x >= 20 || x == 0:
			return x
		case x <= -23:
			return math.Copysign(0, -1)
		}
		return num.NaN64()
	}
	v, vl := geluExponent(x)
	if v > 100 { // x exp(-v), but for a part in 2^144
		hi, lo, n := expParts(-v, -vl)
		return fastSum(hi, lo).timesRound(x, n)
	}
	return two{1, 0}.over(exp64(v, vl).plus(two{1, 0})).timesRound(x, 0)
}

var (
	geluLinear = two{0x1.9884533d43651p0, -0x1.cbc0d30ebfd15p-54} // 2 √(2/π)
	geluCubic  = two{0x1.2444f2a4d8b4bp-4, -0x1.6c843a29d1c7p-61} // that times 0.044715
)

// geluExponent returns -2 √(2/π) (x + 0.044715 x³) in two parts.
func geluExponent(x float64) (hi, lo float64) {
	v := product(x, x).times(geluCubic).plus(geluLinear).times(two{-x, 0})
	return v.hi, v.lo
}

const (
	density    = 0x1.9884533d43651p-2 // 1/√(2π)
	densityLow = -0x1.cbc0d30ebfd15p-56
)

// upperTail returns 1 - Φ(a) as t 2^n. a is from 0 to 39.5. The tail is the density exp(-a²/2) / √(2π) times Mills' ratio.
func upperTail(a float64) (t two, n int) {
	s := product(a, a).by(-0.5)
	hi, lo, n := expParts(s.hi, s.lo)
	return fastSum(hi, lo).times(two{density, densityLow}).times(mills(a)), n
}

// mills returns Mills' ratio M(a) = exp(a²/2) ∫ exp(-t²/2) dt, from a on, with a relative error of about 2^-90. Around the nearest multiple
// c of 1/4 it sums the Taylor series of M' = a M - 1, with h = a - c and M(c) from a table:
//
//	T₀ = M(c), T₁ = h (c M(c) - 1), Tₙ₊₁ = (c h Tₙ + h² Tₙ₋₁) / (n+1)
//
// The differences cancel. That costs c² in T₁ and c h more in each further step, but the terms fall by h/c.
func mills(a float64) two {
	k := FMA64(a, 4, shifter)
	t := millsTable[math.Float64bits(k)&255]
	c := float64((k - shifter) * 0.25)
	h := a - c
	ch, hh := product(c, h), product(h, h)
	u := ch.times(t).plus(two{-h, 0})
	s := t.plus(u)
	for n := 2.0; math.Abs(u.hi) > s.hi*0x1p-70; n++ {
		t, u = u, ch.times(u).plus(hh.times(t)).over(two{n, 0})
		s = s.plus(u)
	}
	return s
}

// mills32 is mills with a relative error of about 2^-48, for a < 15.
func mills32(a float64) float64 {
	k := float64(a*4) + shifter
	t := millsTable[math.Float64bits(k)&255].hi
	c := float64((k - shifter) * 0.25)
	h := a - c
	ch, hh := float64(c*h), float64(h*h)
	u := float64(h * (float64(c*t) - 1))
	s := t + u
	for n := 2.0; math.Abs(u) > s*0x1p-52; n++ {
		t, u = u, (float64(ch*u)+float64(hh*t))/n
		s += u
	}
	return s
}

// millsTable[j] is M(j/4), by mpmath 1.3.
var millsTable = [160]two{
	{0x1.40d931ff62706p0, -0x1.a6a0d6f814637p-54},
	{0x1.09aedf1446de3p0, 0x1.0f579c7841b83p-55},
	{0x1.c0b2d78fb0db8p-1, 0x1.f03fc945f6d6bp-56},
	{0x1.81510273fa9f7p-1, -0x1.6dafd8b8422a5p-55},
	{0x1.4fb53a9eb0a1cp-1, 0x1.f3a27ff1fa5b6p-56},
	{0x1.282805b693bb5p-1, -0x1.0951817ce278bp-55},
	{0x1.0818fcc1d2b2dp-1, -0x1.45705da5bff85p-55},
	{0x1.db73467cf148ep-2, -0x1.13d48d8ca55fap-56},
	{0x1.af7b6a4d54e8dp-2, -0x1.1d868ca5c856ap-57},
	{0x1.8a6450445bb96p-2, 0x1.ab6e9e8de335ap-56},
	{0x1.6ac4792d19de8p-2, 0x1.3a97f8f795bddp-57},
	{0x1.4f8ae774d1389p-2, 0x1.b3ea0f61ca78dp-56},
	{0x1.37e684ee8e185p-2, 0x1.59d67caa83d55p-58},
	{0x1.233512cf6779ap-2, -0x1.b846254021106p-57},
	{0x1.10f724278b794p-2, -0x1.4caa5e4b5f17dp-58},
	{0x1.00c785530ab11p-2, 0x1.06768791f8186p-56},
	{0x1.e4aa012912ddep-3, 0x1.538abcb9214a8p-58},
	{0x1.cabb94b532c3ap-3, -0x1.f79d39e3e71b1p-59},
	{0x1.b3583458b8dc3p-3, 0x1.4a943606a6357p-57},
	{0x1.9e27375ea4545p-3, -0x1.ceef22d9e1d0ep-57},
	{0x1.8adef9c13f89dp-3, 0x1.b16c08b7f31f2p-58},
	{0x1.7941dfedadc79p-3, 0x1.e01cd034d0497p-59},
	{0x1.691c068ae0ee8p-3, 0x1.f32049436700ep-59},
	{0x1.5a417375d8c66p-3, 0x1.0febc5d4de751p-61},
	{0x1.4c8ca8b939648p-3, 0x1.ee69cf55c268cp-57},
	{0x1.3fdd827dc763bp-3, -0x1.367cdddd24a9cp-58},
	{0x1.34184ed5d9148p-3, -0x1.89c5aa729778ep-57},
	{0x1.2925128a71ccbp-3, 0x1.033142621fc2fp-57},
	{0x1.1eeef12fb5865p-3, 0x1.bf8cc02ecd582p-57},
	{0x1.1563b113e802cp-3, 0x1.ecbc9772b515bp-59},
	{0x1.0c735552e368ep-3, 0x1.2690da8f1fa82p-58},
	{0x1.040fc9a11f089p-3, -0x1.e82ce2dcacf64p-58},
	{0x1.f85938b48fbd8p-4, -0x1.7cf7be04427c3p-60},
	{0x1.e97d883a154bap-4, 0x1.70789049382f5p-58},
	{0x1.db78dd9e51e42p-4, 0x1.ea0950675c82p-59},
	{0x1.ce39b0aaa0f6cp-4, 0x1.1da3236ece7a5p-58},
	{0x1.c1b04f430c789p-4, 0x1.5652cb83a3548p-60},
	{0x1.b5cea1fe96c52p-4, 0x1.85af2aeef3b85p-63},
	{0x1.aa87f974cba9dp-4, 0x1.2c880d55041aep-58},
	{0x1.9fd0e2cf82d29p-4, 0x1.a6e34e041f0f5p-59},
	{0x1.959f0273701b2p-4, -0x1.d9321b5f64b3cp-58},
	{0x1.8be8f3c841f8fp-4, -0x1.530e22efe6b7dp-58},
	{0x1.82a62d54919abp-4, -0x1.87f5afb5b6674p-58},
	{0x1.79cee8850c419p-4, -0x1.b89e1c9cc3b85p-64},
	{0x1.715c0c92bf9dbp-4, -0x1.3ac2b9b45f5e1p-58},
	{0x1.69471c13ae1a2p-4, 0x1.105f2ad4a980fp-59},
	{0x1.618a24d3d2c31p-4, 0x1.f69ceb4f71b0ep-58},
	{0x1.5a1fb1a45b4ecp-4, 0x1.4ac0630ab95bcp-59},
	{0x1.5302bddbc185fp-4, 0x1.266a44b986321p-61},
	{0x1.4c2eaa4c18b4dp-4, 0x1.e35f7db16133cp-60},
	{0x1.459f337dc1c2ap-4, -0x1.0b5b1ede3b4eap-59},
	{0x1.3f5069041da7bp-4, 0x1.f2121d40f212ap-58},
	{0x1.393ea5c80623ep-4, -0x1.972a6a720225p-59},
	{0x1.3366892906932p-4, -0x1.2d02cd2459b95p-58},
	{0x1.2dc4f0daaee1ap-4, 0x1.61cc6d17d3259p-61},
	{0x1.2856f3670ce38p-4, 0x1.73560f08028d5p-59},
	{0x1.2319db427a17dp-4, -0x1.1caa5dd3f81c2p-59},
	{0x1.1e0b225f95205p-4, -0x1.35b0a39cb7b47p-62},
	{0x1.19286e3482b02p-4, -0x1.f211074a0d2ffp-60},
	{0x1.146f8c24819dep-4, 0x1.bd35c90c524adp-60},
	{0x1.0fde6e42868efp-4, -0x1.d9aced0002c52p-58},
	{0x1.0b73286300732p-4, 0x1.1b5d6b3af2c8ep-59},
	{0x1.072bed742106ep-4, -0x1.6a9a27e6827d6p-58},
	{0x1.03070d15137a1p-4, -0x1.cc0c269dac79dp-60},
	{0x1.fe05e2caeb505p-5, -0x1.541449819a03ap-59},
	{0x1.f63c3a0e66b92p-5, 0x1.221ae9f85c8fcp-60},
	{0x1.eeae529b2707dp-5, 0x1.060f5121e8de9p-62},
	{0x1.e7598929c1629p-5, -0x1.e05438b134212p-59},
	{0x1.e03b617d3891ap-5, -0x1.2ee1e69d3e817p-60},
	{0x1.d951839d414f7p-5, -0x1.07a4d5edd9468p-59},
	{0x1.d299b94bfa34fp-5, -0x1.c60fd443ab63ep-59},
	{0x1.cc11ebb160ae3p-5, -0x1.d27042486200bp-59},
	{0x1.c5b821376a63bp-5, -0x1.89ff1250e499cp-59},
	{0x1.bf8a7b9235a18p-5, -0x1.e13f91f0efee8p-59},
	{0x1.b98735f03df4dp-5, -0x1.d7c51d36bb7a5p-60},
	{0x1.b3aca34eee9acp-5, -0x1.acdf1ab65b11cp-61},
	{0x1.adf92cf04c422p-5, 0x1.798e8625800a4p-60},
	{0x1.a86b50eec4a2p-5, -0x1.59f6667018c63p-61},
	{0x1.a301a0ec7dd9p-5, -0x1.101602e637b1fp-59},
	{0x1.9dbac0dbc29d7p-5, -0x1.c5b9f5192d244p-59},
	{0x1.989565de63fd3p-5, -0x1.ec27086623adfp-59},
	{0x1.9390553a1eabdp-5, 0x1.f11c1496853dep-61},
	{0x1.8eaa63604167ep-5, -0x1.39c913c7d611ep-62},
	{0x1.89e27306fc817p-5, -0x1.43d2d2b8e0dfcp-60},
	{0x1.85377452e89b9p-5, -0x1.b9eb67dc033fep-60},
	{0x1.80a8640f74dfp-5, -0x1.e424cf081e512p-59},
	{0x1.7c344af50b74ep-5, -0x1.764556380983ep-59},
	{0x1.77da3cfbd6a64p-5, 0x1.86c34b49ad23bp-60},
	{0x1.739958ba29c18p-5, 0x1.7ba94da525a78p-60},
	{0x1.6f70c6cda736dp-5, 0x1.0c4faa3275483p-60},
	{0x1.6b5fb94e517e4p-5, 0x1.5ba84a3e51bp-59},
	{0x1.67656b4ac685ep-5, -0x1.d663f4ad80ad4p-60},
	{0x1.6381204cf5d4dp-5, 0x1.4c7f2104f69ddp-60},
	{0x1.5fb223e6b0705p-5, -0x1.b2990e0503bbep-59},
	{0x1.5bf7c9457f067p-5, -0x1.11662bba8c278p-59},
	{0x1.58516acd371d6p-5, 0x1.a7ed2869af9ccp-59},
	{0x1.54be69b8d31b9p-5, 0x1.89f571558bd65p-61},
	{0x1.513e2dc11b134p-5, 0x1.450d82a469fbp-59},
	{0x1.4dd024c8b568ep-5, -0x1.9116fda581275p-60},
	{0x1.4a73c28d3ec38p-5, 0x1.189a70baee7dfp-61},
	{0x1.4728805d10562p-5, -0x1.7f88df213ef1bp-60},
	{0x1.43eddcd1627fdp-5, -0x1.ff5e50dfb7466p-60},
	{0x1.40c35b8c801a8p-5, -0x1.4f79e15a0a4d3p-60},
	{0x1.3da884fbc49a5p-5, 0x1.f86cf98c775cdp-60},
	{0x1.3a9ce61d246d9p-5, 0x1.e8b219cea66c8p-61},
	{0x1.37a0104803e79p-5, -0x1.4864e13e97fe3p-59},
	{0x1.34b198f92573cp-5, 0x1.5dbe0e5fd9dd1p-60},
	{0x1.31d119a17be2ap-5, 0x1.010c67a6d8248p-60},
	{0x1.2efe2f77b15fap-5, -0x1.ab2795d88c4c1p-59},
	{0x1.2c387b4c3710fp-5, 0x1.15ac41822ca9ap-61},
	{0x1.297fa15fb48adp-5, 0x1.065b78ce3c42dp-59},
	{0x1.26d3493bb127bp-5, 0x1.191d08221d927p-59},
	{0x1.24331d8d5405bp-5, -0x1.44e455ba076adp-59},
	{0x1.219ecc0219e01p-5, -0x1.653b6ceef4d59p-60},
	{0x1.1f1605266242dp-5, 0x1.48973191ebcf1p-63},
	{0x1.1c987c45b7aebp-5, -0x1.c241b6fb2501ep-59},
	{0x1.1a25e74cb835p-5, 0x1.fea6255806ee5p-63},
	{0x1.17bdfeac85dd5p-5, -0x1.edfc00af351ecp-59},
	{0x1.15607d3fa7cd1p-5, 0x1.d491533519c8bp-59},
	{0x1.130d203046b4bp-5, -0x1.0ff1214a40e01p-64},
	{0x1.10c3a6dfb06cap-5, 0x1.c1c467a9b9801p-59},
	{0x1.0e83d2cf1001dp-5, -0x1.febf683bca6a9p-63},
	{0x1.0c4d678948a46p-5, 0x1.e1ec8c3447934p-60},
	{0x1.0a202a8de310bp-5, 0x1.1b06166eb6f9cp-59},
	{0x1.07fbe33cfe142p-5, 0x1.79cc71933d6adp-61},
	{0x1.05e05ac433ca8p-5, 0x1.69ec85ffba65bp-59},
	{0x1.03cd5c0c6618p-5, -0x1.85ecf0978a51ap-59},
	{0x1.01c2b3a865ba5p-5, 0x1.0d6789c8991dep-59},
	{0x1.ff805f88d02c8p-6, 0x1.8ef101178082dp-61},
	{0x1.fb8b402c813dp-6, -0x1.11515c301c95fp-60},
	{0x1.f7a5ab9ca6c3p-6, 0x1.ad6eb958484b5p-60},
	{0x1.f3cf47126dd82p-6, -0x1.43dbe023e7ddep-60},
	{0x1.f007ba83f88bcp-6, -0x1.e810af04218acp-60},
	{0x1.ec4eb08a28b63p-6, -0x1.a5af7c5362944p-60},
	{0x1.e8a3d64795505p-6, 0x1.8a8149d41f683p-60},
	{0x1.e506db509af24p-6, -0x1.165a7f2902796p-60},
	{0x1.e177719478ff3p-6, 0x1.5815fa3f5e5abp-60},
	{0x1.ddf54d476dddfp-6, 0x1.601fd21622284p-65},
	{0x1.da8024cdc562ap-6, 0x1.10dd25d028614p-60},
	{0x1.d717b0a7cd4e1p-6, 0x1.e977df4c96cc1p-60},
	{0x1.d3bbab5ea473dp-6, 0x1.3f694eb5063a8p-61},
	{0x1.d06bd171d9bebp-6, 0x1.40a3420443a69p-60},
	{0x1.cd27e145d0e58p-6, 0x1.fc9293e8d0964p-60},
	{0x1.c9ef9b12e331ep-6, 0x1.a81b3cf275dc8p-60},
	{0x1.c6c2c0d53343bp-6, -0x1.a1100cf6f3ed6p-61},
	{0x1.c3a1163d2b3a8p-6, 0x1.3a2ce257d85e7p-63},
	{0x1.c08a60a09d26bp-6, 0x1.558aa2732918cp-60},
	{0x1.bd7e66ec7e132p-6, -0x1.05a40fdc22334p-61},
	{0x1.ba7cf1973463p-6, 0x1.29b61bfae058ep-64},
	{0x1.b785ca9372a29p-6, 0x1.aff770ea44d1p-60},
	{0x1.b498bd439845ep-6, 0x1.edea3e0b2a677p-60},
	{0x1.b1b5966d92299p-6, -0x1.6fcc63c80310ap-60},
	{0x1.aedc242f34fb9p-6, 0x1.cec147b54268ep-60},
	{0x1.ac0c35f30c00ep-6, -0x1.a47dca4a25895p-60},
	{0x1.a9459c6596f3ap-6, -0x1.ed5b4849c32b3p-62},
	{0x1.a688296af1feap-6, -0x1.026434a0a7779p-60},
	{0x1.a3d3b014e3178p-6, 0x1.a60e4d359528fp-60},
	{0x1.a1280499483a5p-6, -0x1.c7e0c789c675ep-61},
	{0x1.9e84fc48e23ffp-6, -0x1.2f82a128a70aap-64},
	{0x1.9bea6d8678429p-6, 0x1.b6cb239c48d93p-60}}
