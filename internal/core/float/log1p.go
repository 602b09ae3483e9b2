package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Log1p32 returns the logarithm of 1 + x, correctly rounded for all x: ±0 for ±0, -Inf for -1, NaN for x < -1 and NaN.
func Log1p32(x float32) float32 {
	if !(x > -1 && x <= math.MaxFloat32) || x == 0 {
		switch {
		case x >= 0 || x == 0:
			return x
		case x == -1:
			return float32(math.Inf(-1))
		}
		return num.NaN32()
	}
	z := float64(x)
	if y, ok := settled(more1(z)); ok {
		return y
	}
	l := more1Two(two{z, 0})
	return round32(l.hi, l.lo)
}

// Log1p64 returns the logarithm of 1 + x: ±0 for ±0, -Inf for -1, NaN for x < -1 and NaN. The error is at most 0.501 ulp.
func Log1p64(x float64) float64 {
	switch {
	case x > -0x1p-54 && x < 0x1p-54:
		return x
	case x == -1:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	case !(x > -1):
		return num.NaN64()
	}
	return more1Two(two{x, 0}).hi
}

// Log2x32 returns the logarithm of x to base 2, correctly rounded for all x: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN.
func Log2x32(x float32) float32 { return logBase32(x, invLn2) }

// Log10x32 returns the logarithm of x to base 10, correctly rounded for all x: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN.
func Log10x32(x float32) float32 { return logBase32(x, invLn10) }

// Log2x64 returns the logarithm of x to base 2, exact for powers of 2: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN. The error is at
// most 0.501 ulp.
func Log2x64(x float64) float64 { return logBase64(x, invLn2) }

// Log10x64 returns the logarithm of x to base 10, exact for powers of 10: -Inf for ±0, +Inf for +Inf, NaN for x < 0 and NaN. The error is
// at most 0.501 ulp.
func Log10x64(x float64) float64 { return logBase64(x, invLn10) }

var (
	invLn2  = two{0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56}
	invLn10 = two{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
)

// logBase32 returns the logarithm of x times f.
func logBase32(x float32, f two) float32 {
	if !(x > 0 && x <= math.MaxFloat32) {
		switch {
		case x == 0:
			return float32(math.Inf(-1))
		case x > 0:
			return x
		}
		return num.NaN32()
	}
	z := float64(x)
	if y, ok := settled(float64(logSum32(z, 0) * f.hi)); ok {
		return y
	}
	hi, lo := powLog(z)
	l := two{hi, lo}.times(f)
	return round32(l.hi, l.lo)
}

func logBase64(x float64, f two) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x > 0:
			return x
		}
		return num.NaN64()
	}
	hi, lo := powLog(x)
	return two{hi, lo}.times(f).hi
}

// more1 returns log(1 + z), for z from -1 to 2^300, without the ends. The relative error is about 2^-50.
func more1(z float64) float64 { return logSum32(twoSum(1, z)) }

// logSum32 returns log(a + al), for a between 2^-300 and 2^300, as powLog does.
func logSum32(a, al float64) float64 {
	b := math.Float64bits(a)
	d := b - 0x3fe6900000000000
	t := &powTable[d>>45&127]
	k := int64(d) >> 52
	m := math.Float64frombits(b - d&^(1<<52-1))
	s := ((m - t.c) + float64(al*math.Float64frombits(uint64(1023-k)<<52))) / (m + t.c)
	q := float64(s * s)
	p := float64(float64(s*q) * (2.0/3 + float64(q*(2.0/5+float64(q*(2.0/7))))))
	return (float64(float64(k)*ln2High) + t.hi) + ((s + s) + (float64(float64(k)*ln2Low) + t.lo) + p)
}

// more1Two returns log(1 + z), for z > -1, with a relative error of about 2^-66.
func more1Two(z two) two {
	if math.Abs(z.hi) < 0x1p-20 {
		q := float64(z.hi * z.hi)
		return fastSum(z.hi, z.lo-float64(z.hi*z.lo)+float64(q*FMA64(z.hi, FMA64(z.hi, -1.0/4, 1.0/3), -1.0/2)))
	}
	a, al := twoSum(1, z.hi)
	return logSum64(a, al+z.lo)
}

// logSum64 returns log(a + al), like powLog, for normal a and |al| below a unit in its last place. The relative error is about 2^-66.
func logSum64(a, al float64) two {
	b := math.Float64bits(a)
	d := b - 0x3fe6900000000000
	t := &powTable[d>>45&127]
	k := int64(d) >> 52
	m := math.Float64frombits(b - d&^(1<<52-1))
	ml := 0.0
	if k < 1000 {
		ml = float64(al * math.Float64frombits(uint64(1023-k)<<52))
	}
	s := sum(m-t.c, ml).over(two{m, ml}.plus(two{t.c, 0}))
	q := float64(s.hi * s.hi)
	p := FMA64(q, 0x1.2492b61a3ca23p-2, 0x1.9999999989dbp-2)
	p = FMA64(q, p, 0x1.5555555555555p-1)
	h, l := twoSum(FMA64(float64(k), ln2High, t.hi), s.hi+s.hi)
	l += FMA64(2, s.lo, FMA64(float64(k), ln2Low, t.lo))
	return fastSum(h, FMA64(float64(q*s.hi), p, l))
}
