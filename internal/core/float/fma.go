package float

import "math"

// FMA32 returns a*b + c with one rounding to float32, to nearest, ties to even, subnormal results included. The sign and payload of a NaN
// result are unspecified: in rows of products the driver makes NaNs canonical once at the end.
//
// The float64 product is exact, and the float64 sum is rounded. Rounding it again to float32 goes wrong only if it is halfway between two
// float32, and the true sum is beside that point. Such a sum has 28 zero bits at its end, and more for subnormal float32. Only then is the
// error of the sum computed. (float32(math.FMA(...)) rounds twice and is wrong in some of these cases.)
func FMA32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	s := p + float64(c)
	if math.Float64bits(s)&lowBits == 0 {
		s = roundOdd(p, float64(c), s)
	}
	return float32(s)
}

// round32 returns hi + lo with one rounding, for |hi| >= |lo|.
func round32(hi, lo float64) float32 {
	s := hi + lo
	if math.Float64bits(s)&lowBits == 0 {
		s = roundOdd(hi, lo, s)
	}
	return float32(s)
}

const (
	lowBits = 1<<28 - 1
	abs64   = 1<<63 - 1
	inf64   = 0x7ff0000000000000
)

// roundOdd returns p + c rounded to odd, from s, which is p + c rounded to nearest. If s isn't exact and its last bit is 0, roundOdd
// returns the neighbour of s on the other side of the true sum, whose last bit is 1. A number rounded to odd can be rounded again without
// harm.
func roundOdd(p, c, s float64) float64 {
	t := s - p
	e := (p - (s - t)) + (c - t) // p + c = s + e exactly (Knuth's TwoSum)
	b := math.Float64bits(s)
	if e == 0 || b&1 != 0 || b&abs64 >= inf64 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// FMA64 returns a*b + c with one rounding to float64. The sign and payload of a NaN result are unspecified.
//
// It is one instruction on amd64 (from 2013 on), arm64, loong64, ppc64, riscv64 and s390x. Elsewhere, as in WebAssembly, it takes about 40
// other instructions and is 10 to 30 times slower.
func FMA64(a, b, c float64) float64 {
	if hasFMA {
		return math.FMA(a, b, c)
	}
	return softFMA64(a, b, c)
}

// FMARow32 sets c[j] to FMA32(a[j], b[j], c[j]).
func FMARow32(c, a, b []float32) {
	for j := range c {
		c[j] = FMA32(a[j], b[j], c[j])
	}
}

// FMARow64 sets c[j] to FMA64(a[j], b[j], c[j]).
func FMARow64(c, a, b []float64) {
	for j := range c {
		c[j] = FMA64(a[j], b[j], c[j])
	}
}

// softFMA64 is the algorithm of S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
// to odd", IEEE Transactions on Computers 57 (2008), figure 5. It is for exponents whose products and errors are normal numbers, and is
// twice as fast as math.FMA in software. Other operands go to math.FMA.
func softFMA64(a, b, c float64) float64 {
	const low, span, top = 1023 - 450, 900, 1023 + 1000
	ea, eb, ec := math.Float64bits(a)>>52&0x7ff, math.Float64bits(b)>>52&0x7ff, math.Float64bits(c)>>52&0x7ff
	if ea-low > span || eb-low > span || ec > top {
		return math.FMA(a, b, c)
	}
	// a b = u + ul exactly (Dekker), the factors being split into halves of 26 bits
	const split = 1<<27 + 1
	t := float64(a * split)
	ah := t - (t - a)
	al := a - ah
	t = float64(b * split)
	bh := t - (t - b)
	bl := b - bh
	u := float64(a * b)
	ul := ((float64(ah*bh) - u) + float64(ah*bl) + float64(al*bh)) + float64(al*bl)
	s, sl := twoSum(c, ul)
	v, vl := twoSum(u, s)
	z := sl + vl
	return v + roundOdd(sl, vl, z)
}

// twoSum returns a + b rounded, and the error, exactly (Knuth).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}
