package fixed

import (
	"math"
	"math/big"
	"math/bits"
)

// Add returns a + b, exactly, or an overflow.
func Add[T Number](a, b T, mode ...Mode) (T, error) {
	return addWord("Add", a, wordOf(b), wordOf(b), joinModes(mode))
}

// Sub returns a - b, exactly, or an overflow.
func Sub[T Number](a, b T, mode ...Mode) (T, error) {
	w := wordOf(b)
	if w == (Int128{Hi: math.MinInt64}) { // has no negative; that of a number with its top bit changed has 2^127 less
		m := wordOf(a).plus(w).magnitude()
		if wordOf(a).Hi >= 0 {
			m = magnitude{hi: uint64(wordOf(a).Hi) | 1<<63, lo: wordOf(a).Lo}
		}
		return finish[T]("Sub", m, joinModes(mode), formatOf[T](), 2, wordOf(a), w)
	}
	return addWord("Sub", a, w.neg(), w, joinModes(mode))
}

// addWord returns a + b; shown is the argument that an error names.
func addWord[T Number](name string, a T, b, shown Int128, mode Mode) (T, error) {
	x := wordOf(a)
	s := x.plus(b)
	m := s.magnitude()
	if (x.Hi^s.Hi)&(b.Hi^s.Hi) < 0 { // beyond 128 bits, so that the sign is the other one
		m = magnitude{hi: uint64(s.Hi), lo: s.Lo}
		if x.Hi < 0 {
			n := s.neg()
			m = magnitude{hi: uint64(n.Hi), lo: n.Lo, neg: true, over: s.isZero()}
		}
	}
	return finish[T](name, m, mode, formatOf[T](), 2, x, shown)
}

// Neg returns -x. Only the smallest number overflows.
func Neg[T Number](x T, mode ...Mode) (T, error) {
	m := wordOf(x).magnitude()
	m.neg = !m.neg
	return finish[T]("Neg", m, joinModes(mode), formatOf[T](), 1, wordOf(x), Int128{})
}

// Abs returns |x|. Only the smallest number overflows.
func Abs[T Number](x T, mode ...Mode) (T, error) {
	m := wordOf(x).magnitude()
	m.neg = false
	return finish[T]("Abs", m, joinModes(mode), formatOf[T](), 1, wordOf(x), Int128{})
}

// Compare returns -1 if a < b, 0 if they are equal, and 1 if a > b.
func Compare[T Number](a, b T) int { return wordOf(a).cmp(wordOf(b)) }

// Mul returns a b, rounded once.
func Mul[T Number](a, b T, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	x, y := wordOf(a), wordOf(b)
	p, q := x.magnitude(), y.magnitude()
	var m magnitude
	if f.width <= 64 {
		m.hi, m.lo = bits.Mul64(p.lo, q.lo)
		m = m.shiftRight(f.frac, how)
	} else {
		m = mulShift64(p, q, how)
	}
	m.neg = p.neg != q.neg
	return finish[T]("Mul", m, how, f, 2, x, y)
}

// mulShift64 returns p q 2^-64, rounded.
func mulShift64(p, q magnitude, mode Mode) magnitude {
	h0, rest := bits.Mul64(p.lo, q.lo)
	h1, l1 := bits.Mul64(p.lo, q.hi)
	h2, l2 := bits.Mul64(p.hi, q.lo)
	h3, l3 := bits.Mul64(p.hi, q.hi)
	lo, c := bits.Add64(h0, l1, 0)
	hi, c2 := bits.Add64(h1, l3, c)
	top := h3 + c2
	lo, c = bits.Add64(lo, l2, 0)
	hi, c = bits.Add64(hi, h2, c)
	m := magnitude{hi: hi, lo: lo, over: top+c != 0}
	return m.rounded(compareHalf(rest, 0), mode)
}

// Div returns a / b, rounded once. Division by 0 is an error.
func Div[T Number](a, b T, mode ...Mode) (T, error) {
	return divWords("Div", wordOf(a), b, 2, joinModes(mode))
}

// Reciprocal returns 1 / x, rounded once. For 0 it is an error.
func Reciprocal[T Number](x T, mode ...Mode) (T, error) {
	return divWords("Reciprocal", formatOf[T]().one(), x, 1, joinModes(mode))
}

// divWords returns x / b. The error names both, or b alone.
func divWords[T Number](name string, x Int128, b T, args int, mode Mode) (T, error) {
	f, y := formatOf[T](), wordOf(b)
	first, second := x, y
	if args == 1 {
		first = y
	}
	if y.isZero() {
		var zero T
		return zero, noValue(name, "division by 0", f, args, first, second)
	}
	p, d := x.magnitude(), y.magnitude()
	var m magnitude
	if n := p.shiftLeft(f.frac); d.hi == 0 && !n.over {
		var r uint64
		m.hi, r = n.hi/d.lo, n.hi%d.lo
		m.lo, r = bits.Div64(r, n.lo, d.lo)
		m = m.rounded(order(r, d.lo-r), mode)
	} else {
		m = divShift64(u128{p.hi, p.lo}, u128{d.hi, d.lo}, mode)
	}
	m.neg = p.neg != d.neg
	return finish[T](name, m, mode, f, args, first, second)
}

// divShift64 returns p 2^64 / d, rounded.
func divShift64(p, d u128, mode Mode) magnitude {
	z := d.leadingZeros()
	d = d.shl(z)
	top, n := p.shr(128-z), p.shl(z) // p 2^z
	var r u128
	var q [4]uint64
	q[0], r = quoLimb(u128{0, top.hi}, top.lo, d)
	q[1], r = quoLimb(r, n.hi, d)
	q[2], r = quoLimb(r, n.lo, d)
	q[3], r = quoLimb(r, 0, d)
	m := magnitude{hi: q[2], lo: q[3], over: q[0]|q[1] != 0}
	cmp := -1
	if rest := d.sub(r); rest.less(r) {
		cmp = 1
	} else if rest == r {
		cmp = 0
	}
	return m.rounded(cmp, mode)
}

func order(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// quotient returns n / d, rounded, for n >= 0 and d > 0, in place of n.
func quotient(n, d *big.Int, mode Mode) *big.Int {
	q, r := n.QuoRem(n, d, new(big.Int))
	if cmp := r.Lsh(r, 1).Cmp(d); mode&TowardZero == 0 && (cmp > 0 || cmp == 0 && q.Bit(0) == 1) {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Rem returns a - b trunc(a/b), exactly. It has the sign of a, as the result of Go's % for integers. For b = 0 it is an error.
func Rem[T Number](a, b T) (T, error) {
	f, x, y := formatOf[T](), wordOf(a), wordOf(b)
	if y.isZero() {
		var zero T
		return zero, noValue("Rem", "division by 0", f, 2, x, y)
	}
	p, d := x.magnitude(), y.magnitude()
	if p.hi|d.hi == 0 {
		p.lo %= d.lo
	} else {
		neg := p.neg
		p = magnitudeOf(new(big.Int).Rem(p.big(), d.big()))
		p.neg = neg
	}
	return finish[T]("Rem", p, 0, f, 2, x, y)
}

// Sqrt returns the square root of x, rounded once. For x < 0 it is an error.
func Sqrt[T Number](x T, mode ...Mode) (T, error) {
	f, w, how := formatOf[T](), wordOf(x), joinModes(mode)
	if w.Hi < 0 {
		var zero T
		return zero, noValue("Sqrt", "it wants a number from 0 on", f, 1, w, Int128{})
	}
	var m magnitude
	if n := w.magnitude().shiftLeft(f.frac); !n.over {
		m.lo = sqrt128(n.hi, n.lo)
		h, l := bits.Mul64(m.lo, m.lo)
		l, borrow := bits.Sub64(n.lo, l, 0)
		h, _ = bits.Sub64(n.hi, h, borrow)
		// The root is above m + 1/2 if the rest is above m. It is never there.
		if h != 0 || l > m.lo {
			m = m.rounded(1, how)
		}
	} else {
		// The relative error of limbSqrt is 2^-125. The root of w 2^frac is below 2^96, so its error is less than a unit.
		a := u128{uint64(w.Hi), w.Lo}
		root, s := limbSqrt(a)
		r := root.shr(uint(s - 32))
		rest := u128{a.lo, 0}.sub(r.mul128(r)) // less than 2^98 in absolute value
		if rest.hi>>63 != 0 {
			r = r.sub(u128{0, 1})
			rest = rest.add(r.shl(1)).add(u128{0, 1})
		} else if r.shl(1).less(rest) {
			rest = rest.sub(r.shl(1)).sub(u128{0, 1})
			r = r.add(u128{0, 1})
		}
		m.hi, m.lo = r.hi, r.lo
		if r.less(rest) {
			m = m.rounded(1, how)
		}
	}
	return finish[T]("Sqrt", m, how, f, 1, w, Int128{})
}

// sqrt128 returns the square root of hi·2^64 + lo, rounded down. Each of Newton's steps doubles the number of right bits, from 1 to 64. Python's
// math.isqrt has the same steps, with a proof.
func sqrt128(hi, lo uint64) uint64 {
	if hi == 0 && lo == 0 {
		return 0
	}
	shift := uint(bits.LeadingZeros64(hi))
	if hi == 0 {
		shift = 64 + uint(bits.LeadingZeros64(lo))
	}
	shift &^= 1
	n := magnitude{hi: hi, lo: lo}.shiftLeft(shift)
	u := 1 + n.hi>>62
	u = u<<1 + n.hi>>59/u
	u = u<<3 + n.hi>>53/u
	u = u<<7 + n.hi>>41/u
	u = u<<15 + n.hi>>17/u
	q, _ := bits.Div64(n.hi>>33, n.hi<<31|n.lo>>33, u)
	r := u<<31 + q
	if r < u<<31 { // 2^64 and more
		r = math.MaxUint64
	}
	if h, l := bits.Mul64(r, r); h > n.hi || h == n.hi && l > n.lo {
		r--
	}
	return r >> (shift / 2)
}

// Softsign returns x/(1 + |x|), rounded once.
func Softsign[T Number](x T, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	w := wordOf(x).magnitude()
	var m magnitude
	if f.width == 32 { // |x| 2^frac is below 2^55
		d := w.lo + 1<<f.frac
		q, r := w.lo<<f.frac/d, w.lo<<f.frac%d
		m = magnitude{lo: q}.rounded(order(2*r, d), how)
	} else {
		n, d := w.big(), new(big.Int).Lsh(big.NewInt(1), f.frac)
		n.Abs(n)
		d.Add(d, n)
		m = magnitudeOf(quotient(n.Lsh(n, f.frac), d, how))
	}
	m.neg = w.neg
	return finish[T]("Softsign", m, how, f, 1, wordOf(x), Int128{})
}
