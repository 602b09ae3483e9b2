package num

import "math"

// FMARow32 sets acc[i] = [FMA32](a, b[i], acc[i]) for all of acc: a step of len(acc) chains. b must be at least as long. NaNs are not made
// canonical. Four elements share one test for the rare second rounding; sums that are exact, as of small integers, fail the test but not
// the one after it, and run at half the speed.
func FMARow32(acc []float32, a float32, b []float32) {
	b = b[:len(acc)]
	x := float64(a)
	for len(acc) >= 4 {
		c, d := acc[:4:4], b[:4:4]
		p0, p1, p2, p3 := float64(x*float64(d[0])), float64(x*float64(d[1])), float64(x*float64(d[2])), float64(x*float64(d[3]))
		c0, c1, c2, c3 := float64(c[0]), float64(c[1]), float64(c[2]), float64(c[3])
		s0, s1, s2, s3 := p0+c0, p1+c1, p2+c2, p3+c3
		if anyLowZero(s0, s1, s2, s3) && !(exactSum(p0, c0, s0) && exactSum(p1, c1, s1) && exactSum(p2, c2, s2) && exactSum(p3, c3, s3)) {
			s0, s1, s2, s3 = roundOdd4(p0, p1, p2, p3, c0, c1, c2, c3)
		}
		c[0], c[1], c[2], c[3] = float32(s0), float32(s1), float32(s2), float32(s3)
		acc, b = acc[4:], b[4:]
	}
	for i := range acc {
		acc[i] = FMA32(a, b[i], acc[i])
	}
}

// FMARow64 sets acc[i] = [FMA64](a, b[i], acc[i]) for all of acc. b must be at least as long. NaNs are not made canonical.
func FMARow64(acc []float64, a float64, b []float64) {
	b = b[:len(acc)]
	for i := range acc {
		acc[i] = FMA64(a, b[i], acc[i])
	}
}

// anyLowZero reports whether the low 28 bits of any of the four are zero, FMA32's sign that rounding s again may go wrong.
func anyLowZero(s0, s1, s2, s3 float64) bool {
	b0, b1, b2, b3 := math.Float64bits(s0), math.Float64bits(s1), math.Float64bits(s2), math.Float64bits(s3)
	return int64((b0&lowBits-1)|(b1&lowBits-1)|(b2&lowBits-1)|(b3&lowBits-1)) < 0
}

// exactSum reports whether s, p + c rounded, is p + c. (With s - p = c, TwoSum's error is p - (s - c).)
func exactSum(p, c, s float64) bool { return s-p == c && s-c == p }

// roundOdd4 returns four sums rounded to odd. It is kept out of the loops so that they keep their values in registers.
//
//go:noinline
func roundOdd4(p0, p1, p2, p3, c0, c1, c2, c3 float64) (s0, s1, s2, s3 float64) {
	return roundOdd(p0, c0, p0+c0), roundOdd(p1, c1, p1+c1), roundOdd(p2, c2, p2+c2), roundOdd(p3, c3, p3+c3)
}
