package fixed

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// A Sum is a sum of fixed-point numbers and of products of two numbers. It is exact however many terms it has, so their order doesn't matter.
// Methods that return a number round it once. The zero value is the empty sum, 0. Adding terms, [Sum.Sum] and [Sum.Mean] allocate no memory, except
// for an error.
type Sum[T Number] struct{ acc limbs }

// limbs is an integer of 320 bits, two's complement, the low ones first. In a sum it counts units of 2^-2f, f being the format's bits after the
// point, so that products need no shift. The product of two FP64x64 is at most 2^254: there is room for 2^65 of them.
type limbs [5]uint64

func (s *limbs) add(t *limbs) {
	var c uint64
	for i := range s {
		s[i], c = bits.Add64(s[i], t[i], c)
	}
}

// signedLimbs is an integer of 192 bits, its sign repeated above them, times 2^n, n up to 64.
func signedLimbs(l0, l1, l2 uint64, n uint) limbs {
	sign := uint64(int64(l2) >> 63)
	return limbs{l0 << n, l1<<n | l0>>(64-n), l2<<n | l1>>(64-n), sign<<n | l2>>(64-n), sign}
}

// Add adds x.
func (s *Sum[T]) Add(x T) {
	w := wordOf(x)
	t := signedLimbs(w.Lo, uint64(w.Hi), uint64(w.Hi>>63), formatOf[T]().frac)
	s.acc.add(&t)
}

// AddProduct adds a b.
func (s *Sum[T]) AddProduct(a, b T) {
	x, y := wordOf(a), wordOf(b)
	s.acc.addProduct(x, y)
}

// addProduct adds x y. A negative word is its two limbs less 2^128; the product of the limbs is corrected for that.
func (s *limbs) addProduct(x, y Int128) {
	xh, yh := uint64(x.Hi), uint64(y.Hi)
	h0, l0 := bits.Mul64(x.Lo, y.Lo)
	h1, l1 := bits.Mul64(x.Lo, yh)
	h2, l2 := bits.Mul64(xh, y.Lo)
	h3, l3 := bits.Mul64(xh, yh)
	p1, c := bits.Add64(h0, l1, 0)
	p2, c2 := bits.Add64(h1, l3, c)
	p3 := h3 + c2
	p1, c = bits.Add64(p1, l2, 0)
	p2, c = bits.Add64(p2, h2, c)
	p3 += c
	sx, sy := uint64(x.Hi>>63), uint64(y.Hi>>63)
	p2, c = bits.Sub64(p2, sx&y.Lo, 0)
	p3, _ = bits.Sub64(p3, sx&yh, c)
	p2, c = bits.Sub64(p2, sy&x.Lo, 0)
	p3, _ = bits.Sub64(p3, sy&xh, c)
	s[0], c = bits.Add64(s[0], l0, 0)
	s[1], c = bits.Add64(s[1], p1, c)
	s[2], c = bits.Add64(s[2], p2, c)
	s[3], c = bits.Add64(s[3], p3, c)
	s[4] += uint64(int64(p3)>>63) + c
}

// AddRow adds the numbers of a.
func (s *Sum[T]) AddRow(a []T) {
	var l0, l1, l2 uint64
	switch a := any(a).(type) {
	case []FP8x23:
		l0, l1 = sum32(a)
	case []FP16x16:
		l0, l1 = sum32(a)
	case []FP32x32:
		for i := range a {
			var c uint64
			l0, c = bits.Add64(l0, uint64(a[i].bits), 0)
			l1 += uint64(a[i].bits>>63) + c
		}
	case []FP64x64:
		for i := range a {
			var c uint64
			l0, c = bits.Add64(l0, a[i].bits.Lo, 0)
			l1, c = bits.Add64(l1, uint64(a[i].bits.Hi), c)
			l2 += uint64(a[i].bits.Hi>>63) + c
		}
		t := signedLimbs(l0, l1, l2, 64)
		s.acc.add(&t)
		return
	}
	t := signedLimbs(l0, l1, uint64(int64(l1)>>63), formatOf[T]().frac)
	s.acc.add(&t)
}

// AddAbs adds the absolute values of the numbers of a.
func (s *Sum[T]) AddAbs(a []T) {
	for _, x := range a {
		m := wordOf(x).magnitude()
		t := signedLimbs(m.lo, m.hi, 0, formatOf[T]().frac)
		s.acc.add(&t)
	}
}

// rowChunk is a number of terms of 32 bits whose sum always fits an int64.
const rowChunk = 1 << 30

// sum32 returns the sum of the words of a. The two formats of 32 bits differ by name alone.
func sum32[T FP8x23 | FP16x16](a []T) (lo, hi uint64) {
	for len(a) > 0 {
		row := a[:min(len(a), rowChunk)]
		a = a[len(row):]
		sum := int64(0)
		for i := range row {
			sum += int64(FP16x16(row[i]).bits)
		}
		var c uint64
		lo, c = bits.Add64(lo, uint64(sum), 0)
		hi += uint64(sum>>63) + c
	}
	return lo, hi
}

// AddProducts adds the products a[i] b[i]. The rows are of equal length, or b is the longer one.
func (s *Sum[T]) AddProducts(a, b []T) {
	switch a := any(a).(type) {
	case []FP8x23:
		s.acc.addProducts32(dot32(a, any(b).([]FP8x23)))
	case []FP16x16:
		s.acc.addProducts32(dot32(a, any(b).([]FP16x16)))
	case []FP32x32:
		b := any(b).([]FP32x32)[:len(a)]
		var l0, l1, l2 uint64
		for i := range a {
			x, y := a[i].bits, b[i].bits
			h, l := bits.Mul64(uint64(x), uint64(y))
			h -= uint64(x>>63&y + y>>63&x)
			var c uint64
			l0, c = bits.Add64(l0, l, 0)
			l1, c = bits.Add64(l1, h, c)
			l2 += uint64(int64(h)>>63) + c
		}
		t := signedLimbs(l0, l1, l2, 0)
		s.acc.add(&t)
	case []FP64x64:
		b := any(b).([]FP64x64)[:len(a)]
		for i := range a {
			s.acc.addProduct(a[i].bits, b[i].bits)
		}
	}
}

// dot32 returns the sum of the products as lo + hi 2^32, by the low and the high halves of each.
func dot32[T FP8x23 | FP16x16](a, b []T) (lo, hi Int128) {
	b = b[:len(a)]
	for len(a) > 0 {
		x := a[:min(len(a), rowChunk)]
		y := b[:len(x)]
		a, b = a[len(x):], b[len(x):]
		l, h := uint64(0), int64(0)
		for i := range x {
			p := int64(FP16x16(x[i]).bits) * int64(FP16x16(y[i]).bits)
			l += uint64(uint32(p))
			h += p >> 32
		}
		lo, hi = lo.plus(Int128{Lo: l}), hi.plus(int128(h))
	}
	return lo, hi
}

func (s *limbs) addProducts32(lo, hi Int128) {
	sum := lo.plus(hi.shl(32))
	t := signedLimbs(sum.Lo, uint64(sum.Hi), uint64(sum.Hi>>63), 0)
	s.add(&t)
}

// Sum returns the sum, rounded once. A sum beyond the format is an error, unless a mode is [Saturate] or [Wrap].
func (s *Sum[T]) Sum(mode ...Mode) (T, error) { return s.over(1, "Sum.Sum", mode) }

// Mean returns the sum divided by n, rounded once. For n below 1 it is an error.
func (s *Sum[T]) Mean(n int, mode ...Mode) (T, error) {
	if n < 1 {
		var zero T
		return zero, &Error{Func: "Sum.Mean", Format: formatOf[T]().name, Err: ErrDomain, text: big.NewInt(int64(n)).String(), reason: "it wants a number of terms from 1 on"}
	}
	return s.over(uint64(n), "Sum.Mean", mode)
}

// Scaled returns alpha times the sum plus beta times c, rounded once, as a Gemm needs it. The factors count with their exact values; a factor that
// isn't finite is an error.
func (s *Sum[T]) Scaled(alpha float64, c T, beta float64, mode ...Mode) (T, error) {
	f := formatOf[T]()
	for _, v := range [2]float64{alpha, beta} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			var zero T
			return zero, &Error{Func: "Sum.Scaled", Format: f.name, Err: ErrDomain, text: strconv.FormatFloat(v, 'g', -1, 64), reason: "it wants finite factors"}
		}
	}
	a, below := exactFloat(alpha)
	b, belowC := exactFloat(beta)
	a.Mul(a, s.acc.big())
	b.Mul(b, wordOf(c).Big())
	below, belowC = below+2*f.frac, belowC+f.frac
	if below < belowC {
		a.Lsh(a, belowC-below)
	} else {
		b.Lsh(b, below-belowC)
	}
	x, err := FromBig[T](a.Add(a, b), max(below, belowC), mode...)
	if e, ok := err.(*Error); ok {
		e.Func = "Sum.Scaled"
	}
	return x, err
}

// exactFloat returns v as n·2^-below.
func exactFloat(v float64) (n *big.Int, below uint) {
	m, e := math.Frexp(v)
	n = big.NewInt(int64(m * (1 << 53)))
	if e -= 53; e > 0 {
		return n.Lsh(n, uint(e)), 0
	}
	return n, uint(-e)
}

// Sqrt returns the root of the sum, rounded once. For a sum below 0 it is an error.
func (s *Sum[T]) Sqrt(mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	q, neg := s.acc.abs()
	var m magnitude
	switch {
	case neg:
		var zero T
		return zero, &Error{Func: "Sum.Sqrt", Format: f.name, Err: ErrDomain, text: "a sum of " + s.whole(), reason: "it wants a sum from 0 on"}
	case q[2]|q[3]|q[4] == 0:
		m.lo = sqrt128(q[1], q[0])
		h, l := bits.Mul64(m.lo, m.lo)
		l, borrow := bits.Sub64(q[0], l, 0)
		h, _ = bits.Sub64(q[1], h, borrow)
		if h != 0 || l > m.lo { // as in Sqrt
			m = m.rounded(1, how)
		}
	default:
		m = roundQuarters(rootQuarters(s.acc.big(), big.NewInt(1)), how)
	}
	x, err := finish[T]("Sum.Sqrt", m, how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = "a sum of " + s.whole()
	}
	return x, err
}

// Log returns the logarithm of the sum, rounded once. For a sum that isn't above 0 it is an error.
func (s *Sum[T]) Log(mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)&^Wrap
	q, neg := s.acc.abs()
	if neg || q == (limbs{}) {
		var zero T
		return zero, &Error{Func: "Sum.Log", Format: f.name, Err: ErrDomain, text: "a sum of " + s.whole(), reason: "it wants a sum above 0"}
	}
	var one Sum[T]
	if one.Add(fromWord[T](f.one())); q == one.acc {
		var zero T
		return zero, nil
	}
	m, ok := magnitude{}, false
	if f.width == 32 && q[1]>>48|q[2]|q[3]|q[4] == 0 {
		z := uint(bits.LeadingZeros64(q[1]))
		if q[1] == 0 {
			z = 64 + uint(bits.LeadingZeros64(q[0]))
		}
		top := magnitude{hi: q[1], lo: q[0]}.shiftLeft(z)
		m, ok = settleFast(fastLogOf(top.hi, 127-int64(z)-2*int64(f.frac), f.frac), 1<<5, how)
	}
	if !ok {
		m = settleWide(f, how, func(p uint) *big.Int {
			l := wideLog(s.acc.big(), 2*f.frac, p+wideGuard)
			return l.Rsh(l, wideGuard)
		})
	}
	x, err := finish[T]("Sum.Log", m, how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = "a sum of " + s.whole()
	}
	return x, err
}

// over returns the sum divided by n.
func (s *Sum[T]) over(n uint64, name string, modes []Mode) (T, error) {
	f, mode := formatOf[T](), joinModes(modes)
	q, neg := s.acc.abs()
	var rest uint64
	for i := len(q) - 1; i >= 0; i-- {
		q[i], rest = bits.Div64(rest, q[i], n)
	}
	below := q[0] << (64 - f.frac) // the part below a unit; rest is below below
	m := magnitude{lo: q[0]>>f.frac | q[1]<<(64-f.frac), hi: q[1]>>f.frac | q[2]<<(64-f.frac), neg: neg}
	m.over = q[2]>>f.frac|q[3]|q[4] != 0
	x, err := finish[T](name, m.rounded(compareHalf(below, rest), mode), mode, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = "a sum of " + s.whole()
		if n > 1 {
			e.text += " / " + new(big.Int).SetUint64(n).String()
		}
	}
	return x, err
}

// abs returns the absolute value, and whether s is negative.
func (s *limbs) abs() (a limbs, neg bool) {
	sign := uint64(int64(s[4]) >> 63)
	c := sign & 1
	for i := range s {
		a[i], c = bits.Add64(s[i]^sign, 0, c)
	}
	return a, sign != 0
}

// whole returns the integer part of the sum in decimal, for an error.
func (s *Sum[T]) whole() string {
	b := s.acc.big()
	return b.Quo(b, unit(2*formatOf[T]().frac)).String()
}

func (s *limbs) big() *big.Int {
	a, neg := s.abs()
	b := new(big.Int)
	for i := len(a) - 1; i >= 0; i-- {
		b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(a[i]))
	}
	return signed(b, neg)
}
