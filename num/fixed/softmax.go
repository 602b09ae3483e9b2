package fixed

import (
	"math/big"
	"math/bits"
)

// Softmax sets dst[i] to e^x[i] / Σ e^x[j], the sum over all j, rounded once to nearest, ties to even. All are between 0 and 1, and nothing
// fails. dst may be x.
func Softmax[T Number](dst, x []T) {
	if len(x) == 0 {
		return
	}
	f := formatOf[T]()
	e := newExpRow(x)
	out := make([]T, len(x))
	for i := range x {
		var m magnitude
		ok := false
		switch {
		case f.width == 32:
			m, ok = e.fastPart(wordOf(x[i]))
		case e.count < e.n:
			m, ok = e.limbPart(i)
		}
		if !ok {
			m = e.part(wordOf(x[i]))
		}
		out[i], _ = finish[T]("Softmax", m, Saturate, f, 0, Int128{}, Int128{})
	}
	copy(dst[:len(x)], out)
}

// LogSoftmax sets dst[i] to x[i] - log Σ e^x[j], the sum over all j, rounded once. No result is above 0. An error names the first number whose
// result is below the format, and leaves dst unchanged. dst may be x.
func LogSoftmax[T Number](dst, x []T, mode ...Mode) error {
	if len(x) == 0 {
		return nil
	}
	f, how := formatOf[T](), joinModes(mode)&^Wrap
	e := newExpRow(x)
	log := e.log(how) // as all results are whole numbers of units less this one, it is enough to round it
	out := make([]T, len(x))
	for i := range x {
		w := wordOf(x[i])
		m := e.below(w)
		var c uint64
		m.lo, c = bits.Add64(m.lo, log.lo, 0)
		m.hi, c = bits.Add64(m.hi, log.hi, c)
		m.over, m.neg = c != 0, true
		var err error
		if out[i], err = finish[T]("LogSoftmax", m, how, f, 1, w, Int128{}); err != nil {
			err.(*Error).Index = i
			return err
		}
	}
	copy(dst[:len(x)], out)
	return nil
}

// LogSumExp returns log Σ e^x[j], rounded once. For no numbers it is an error.
func LogSumExp[T Number](x []T, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)&^Wrap
	if len(x) == 0 {
		var zero T
		return zero, noValue("LogSumExp", "the logarithm of 0: there are no numbers", f, 0, Int128{}, Int128{})
	}
	e := newExpRow(x)
	log := e.log(how)
	sum := e.max.plus(Int128{int64(log.hi), log.lo})
	m := sum.magnitude()
	if e.max.Hi >= 0 && sum.Hi < 0 { // beyond 128 bits
		m = magnitude{hi: uint64(sum.Hi), lo: sum.Lo}
	}
	if m.neg && how&TowardZero != 0 && e.n > 1 { // the sum is a part of a unit nearer to 0
		var borrow uint64
		m.lo, borrow = bits.Sub64(m.lo, 1, 0)
		m.hi -= borrow
	}
	return finish[T]("LogSumExp", m, how, f, 1, e.max, Int128{})
}

// An expRow holds the values that the numbers of a row share, such as the sum Σ e^(x-max), at least 1. By the theorem of Lindemann and Weierstrass,
// the sum and its quotients with its terms are rational only if all numbers are max. Its logarithm is rational only if there is one number.
type expRow struct {
	f     *format
	x     func(i int) Int128
	n     int
	max   Int128
	count int  // of numbers that are max
	alone bool // all other numbers, if any, are more than 100 below max

	hi, lo uint64 // for 32 bits: the sum in Q62, to 2^-53 of it and n 2^-61
	limbs  []u128 // for the wide formats: the terms in Q127, to 20 units each
	sum    u128   // their sum, m 2^n with m in Q127 between 1 and 2
	power  int
	wide   map[uint]*wideExpRow
}

// A wideExpRow holds the exponentials by the distance of their numbers below max, and their sum, times 2^q.
type wideExpRow struct {
	q   uint
	of  map[magnitude]*big.Int
	sum *big.Int
}

func newExpRow[T Number](x []T) *expRow {
	e := &expRow{f: formatOf[T](), x: func(i int) Int128 { return wordOf(x[i]) }, n: len(x), max: wordOf(x[0]), wide: make(map[uint]*wideExpRow)}
	for i := range x {
		if w := wordOf(x[i]); e.max.cmp(w) < 0 {
			e.max = w
		}
	}
	near, over := 0, uint64(0)
	for i := range x {
		d := e.below(wordOf(x[i]))
		if d.hi|d.lo == 0 {
			e.count++
		}
		if d.shiftRight(e.f.frac, TowardZero).lo <= 100 {
			near++
		}
		if e.f.width == 32 {
			var c uint64
			e.lo, c = bits.Add64(e.lo, expBelow(d.lo, e.f.frac), 0)
			e.hi += c
			continue
		}
		v := limbBelow(u128{d.hi, d.lo}, e.f.frac)
		e.limbs = append(e.limbs, v)
		sum := e.sum
		if e.sum = sum.add(v); e.sum.less(sum) {
			over++
		}
	}
	if e.f.width > 32 {
		e.power = bits.Len64(over)
		if e.sum = e.sum.shr(uint(e.power)).add(u128{over, 0}.shl(64 - uint(e.power))); e.power == 0 {
			z := e.sum.leadingZeros()
			e.sum, e.power = e.sum.shl(z), -int(z)
		}
	}
	e.alone = near == 1
	return e
}

// below returns max - w, which has no sign and up to 128 bits.
func (e *expRow) below(w Int128) magnitude {
	lo, b := bits.Sub64(e.max.Lo, w.Lo, 0)
	hi, _ := bits.Sub64(uint64(e.max.Hi), uint64(w.Hi), b)
	return magnitude{hi: hi, lo: lo}
}

// expBelow returns e^-d in Q62: to 2^-53 of it and 2^-62.
func expBelow(d uint64, frac uint) uint64 {
	if d >= 44<<frac { // e^-44 is 2^-63.5
		return 0
	}
	m, n := exp2Parts(mulHighSigned(-int64(d<<(57-frac)), log2eQ62) << 1) // Q57 and Q62 make Q55
	return m >> uint(1-n)
}

// limbBelow returns e^-d in Q127: to 20 units.
func limbBelow(d u128, frac uint) u128 {
	switch {
	case !d.less(u128{0, 90}.shl(frac)): // e^-90 is 2^-129
		return u128{}
	case !d.less(u128{0, 60}.shl(frac)): // the square of that of half
		m, n := limbExp(d.shl(119 - frac).int128(true))
		return m.mulHigh(m).shr(uint(-2*n - 1))
	}
	v, _ := limbDecay(d, frac)
	return v
}

// limbPart returns the softmax of the i-th number if 128 bits settle it. The error of its term makes 40 units of Q128, and the error of the sum 40
// n.
func (e *expRow) limbPart(i int) (magnitude, bool) {
	return approximation{m: e.limbs[i].quo(e.sum), n: 128 + e.power - int(e.f.frac), e: 64 * (uint64(e.n) + 1)}.settle(0)
}

// top returns the sum as m 2^n, m in Q63 between 1 and 2: to 2^-53 and n 2^-61, for a row of n.
func (e *expRow) top() (m uint64, n uint) {
	k := uint(bits.Len64(e.hi)) // the number of bits shifted out: 63 or 64 stay, as the sum is 1 or more
	m = e.hi<<(64-k) | e.lo>>k
	z := uint(bits.LeadingZeros64(m))
	return m << z, k + 1 - z
}

// fastPart returns the softmax of a number of 32 bits if that settles it.
func (e *expRow) fastPart(w Int128) (magnitude, bool) {
	v := expBelow(e.below(w).lo, e.f.frac)
	m, n := e.top()
	q, _ := bits.Div64(v>>(33-e.f.frac), v<<(31+e.f.frac), m>>1)
	// Numerator and denominator have relative errors of 2^-53 each, and of n 2^-61. The quotient is at most 2^54.
	return settleFast(int64(q>>n), 16+int64(e.n>>6), 0)
}

// part returns the softmax of a number.
func (e *expRow) part(w Int128) magnitude {
	switch {
	case uint64(e.count)>>e.f.frac>>1 != 0: // half a unit is a tie, with 0
		return magnitude{}
	case e.count == e.n:
		return magnitudeOf(quotient(unit(e.f.frac), big.NewInt(int64(e.n)), 0))
	}
	return settleWide(e.f, 0, func(p uint) *big.Int {
		r := e.at(p)
		return divQ(r.of[e.below(w)], r.sum, p)
	})
}

// at returns the exponentials for results to p bits. Their errors, 2^17 units each, make less than a unit of 2^-p.
func (e *expRow) at(p uint) *wideExpRow {
	if r := e.wide[p]; r != nil {
		return r
	}
	r := &wideExpRow{q: p + 32 + uint(bits.Len(uint(e.n))), of: make(map[magnitude]*big.Int), sum: new(big.Int)}
	e.wide[p] = r
	least := new(big.Int).Lsh(big.NewInt(int64(r.q)), r.q)
	for i := range e.n {
		d := e.below(e.x(i))
		v := r.of[d]
		if v == nil {
			v = d.big()
			v.Lsh(v, r.q-e.f.frac)
			if v.Cmp(least) >= 0 { // e^-q is below 2^-q
				v.SetInt64(0)
			} else {
				v = wideExp(v.Neg(v), r.q)
			}
			r.of[d] = v
		}
		r.sum.Add(r.sum, v)
	}
	return r
}

// log returns the logarithm of the sum, rounded.
func (e *expRow) log(mode Mode) magnitude {
	if e.alone { // below 2^-8 of a unit even with 2^64 others; 0 only without others
		return magnitude{}
	}
	if e.f.width == 32 {
		m, n := e.top()
		if r, ok := settleFast(fastLogOf(m, int64(n), e.f.frac), 32+int64(e.n>>6), mode); ok {
			return r
		}
	} else if r, ok := signedApproximation(limbLog(e.sum, 127-e.power), 120-int(e.f.frac), logError+uint64(e.n)).settle(mode); ok {
		return r
	}
	return settleWide(e.f, mode, func(p uint) *big.Int {
		r := e.at(p)
		l := wideLog(r.sum, r.q, p+wideGuard)
		return l.Rsh(l, wideGuard)
	})
}

// fastLogOf returns the logarithm of m 2^n as the fast functions do, to 2^4 and the error of m. m is in Q63, between 1 and 2; n is at most 80.
func fastLogOf(m uint64, n int64, frac uint) int64 {
	l, _ := logParts(m, 63)
	return (n*ln2Q57 + l>>4) >> (26 - frac)
}
