package fixed

import "math/bits"

// The fast functions compute in 64 bits, 32 more than the result has. They return y, the value times 2^(frac+31), and e, a bound of its error. Qn
// is an integer in units of 2^-n. Each product drops less than a unit of its Q, and each table entry is right to half a unit. A bound is at least
// twice the sum of these errors.

// mulHigh returns a b 2^-64.
func mulHigh(a, b uint64) uint64 {
	h, _ := bits.Mul64(a, b)
	return h
}

// mulHighSigned returns a b 2^-64, rounded down, for |b| < 2^63.
func mulHighSigned(a, b int64) int64 {
	h := int64(mulHigh(uint64(a), uint64(b)))
	return h - a>>63&b - b>>63&a
}

func absInt64(w int64) uint64 {
	if w < 0 {
		return uint64(-w)
	}
	return uint64(w)
}

// exp2Parts returns 2^t, t in Q56, as m 2^n to a relative error of 2^-58. m is in Q63, between 1 and 2.
func exp2Parts(t int64) (m uint64, n int) {
	v := mulHigh(uint64(t)<<14>>6, ln2Q64) // the lower 50 bits of t, in Q64: below ln2/64
	// e^v - 1; the next term is 2^-58.
	p := inverseFactorialQ64[5] + mulHigh(v, inverseFactorialQ64[6])
	p = inverseFactorialQ64[4] + mulHigh(v, p)
	p = inverseFactorialQ64[3] + mulHigh(v, p)
	p = inverseFactorialQ64[2] + mulHigh(v, p)
	q := v + mulHigh(mulHigh(v, v), p)
	m = exp2TableQ63[t>>50&63]
	return m + mulHigh(m, q), int(t >> 56)
}

// expParts64 returns e^x as m 2^n, for x in Q58: to a relative error of 2^-54.
func expParts64(x int64) (m uint64, n int) { return exp2Parts(mulHighSigned(x, log2eQ62)) }

// scaled returns m 2^n as a result of fast. m is in Q63, between 1 and 2.
func scaled(m uint64, n int, frac uint) (y, e int64) {
	if n > 31-int(frac) {
		return beyond, 0
	}
	return int64(m >> min(uint(63-31-int(frac)-n), 63)), 1 << 9
}

func fastExp(w int64, frac uint) (y, e int64) {
	if absInt64(w) >= 32<<frac { // e^-32 is 2^-46
		if w > 0 {
			return beyond, 0
		}
		return 0, 1 << 9
	}
	m, n := expParts64(w << (58 - frac))
	return scaled(m, n, frac)
}

func fastExp2(w int64, frac uint) (y, e int64) {
	if absInt64(w) >= 64<<frac {
		if w > 0 {
			return beyond, 0
		}
		return 0, 1
	}
	m, n := exp2Parts(w << (56 - frac))
	return scaled(m, n, frac)
}

// logParts returns the logarithm of u 2^-frac, u > 0, as l + n ln2 with l in Q61, to 2^-58.
func logParts(u uint64, frac uint) (l int64, n int64) {
	z := uint(bits.LeadingZeros64(u))
	m := u << z // Q63, between 1 and 2
	j := m >> 57 & 63
	c := (2*j + 129) << 56
	d := int64(m - c)
	abs := absInt64(d) // at most 2^56
	// s = (m-c)/(m+c) is at most 2^-8. log(m/c) is 2 atanh(s), here the terms of its series up to 2s⁷/7.
	s, _ := bits.Div64(abs>>3, abs<<61, m>>1+c>>1) // Q62
	square := mulHigh(s<<8, s<<8) >> 12            // Q64
	p := inverseQ64[5] + mulHigh(square, inverseQ64[7])
	p = inverseQ64[3] + mulHigh(square, p)
	t := int64(s + mulHigh(s, mulHigh(square, p))) // Q61: 2s(1 + …)
	if d < 0 {
		t = -t
	}
	return logTableQ61[j] + t, 63 - int64(z) - int64(frac)
}

// logQ57 returns the logarithm of u 2^-frac: to 2^-52.
func logQ57(u uint64, frac uint) int64 {
	l, n := logParts(u, frac)
	return n*ln2Q57 + l>>4
}

func fastLog(w int64, frac uint) (y, e int64) { return logQ57(uint64(w), frac) >> (26 - frac), 1 << 4 }

func fastLog2(w int64, frac uint) (y, e int64) {
	l, n := logParts(uint64(w), frac)
	return (n<<57 + mulHighSigned(l, log2eQ62)>>2) >> (26 - frac), 1 << 4 // Q61 and Q62 make Q59
}

func fastLog10(w int64, frac uint) (y, e int64) {
	l := mulHighSigned(logQ57(uint64(w), frac), invLn10Q64>>1) << 1
	return l >> (26 - frac), 1 << 4
}
