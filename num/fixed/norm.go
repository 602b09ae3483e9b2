package fixed

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Moments holds the count, the sum and the sum of squares of fixed-point numbers, all exact. The zero value counts no numbers.
type Moments[T Number] struct {
	n       int
	sum     Sum[T]
	squares Sum[T]
}

// AddRow adds the numbers of a.
func (m *Moments[T]) AddRow(a []T) {
	m.n += len(a)
	m.sum.AddRow(a)
	m.squares.AddProducts(a, a)
}

// Mean returns the mean, rounded once. Without numbers it is an error.
func (m *Moments[T]) Mean(mode ...Mode) (T, error) { return m.sum.Mean(m.n, mode...) }

// Variance returns the sum of (x - mean)² divided by n - ddof, rounded once; n is the count. ddof is 0 for the variance of the numbers, and 1 to
// estimate the variance of the population that they are a sample of. A negative ddof, or one that isn't below n, is an error.
func (m *Moments[T]) Variance(ddof int, mode ...Mode) (T, error) {
	return m.spread("Moments.Variance", ddof, mode, func(num, den *big.Int, how Mode) magnitude {
		return magnitudeOf(quotient(num, den.Lsh(den, formatOf[T]().frac), how))
	})
}

// StdDev returns the square root of the exact variance, rounded once. ddof and errors are as in [Moments.Variance].
func (m *Moments[T]) StdDev(ddof int, mode ...Mode) (T, error) {
	return m.spread("Moments.StdDev", ddof, mode, func(num, den *big.Int, how Mode) magnitude {
		return roundQuarters(rootQuarters(num, den), how)
	})
}

// spread calls of with the variance as a fraction in units of 2^-2f, and returns the result as a T.
func (m *Moments[T]) spread(name string, ddof int, modes []Mode, of func(num, den *big.Int, how Mode) magnitude) (T, error) {
	f, how := formatOf[T](), joinModes(modes)
	if ddof < 0 || ddof >= m.n {
		var zero T
		return zero, &Error{Func: name, Format: f.name, Err: ErrDomain, text: strconv.Itoa(m.n) + " numbers, ddof " + strconv.Itoa(ddof), reason: "it wants a ddof from 0 on and more numbers than that"}
	}
	n := big.NewInt(int64(m.n))
	num, _ := m.squared()
	x, err := finish[T](name, of(num, n.Mul(n, big.NewInt(int64(m.n-ddof))), how), how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = strconv.Itoa(m.n) + " numbers"
	}
	return x, err
}

// squared returns n² times the variance, n Σx² - (Σx)², and Σx, for words x.
func (m *Moments[T]) squared() (w, sum *big.Int) {
	sum = m.sum.acc.big()
	sum.Rsh(sum, formatOf[T]().frac)
	w = m.squares.acc.big()
	w.Mul(w, big.NewInt(int64(m.n)))
	return w.Sub(w, new(big.Int).Mul(sum, sum)), sum
}

// Norm returns the step of layer, group and instance normalization: (x - mean) / √(variance + epsilon), with mean and variance (ddof 0) exact.
func (m *Moments[T]) Norm(epsilon float64) (Norm[T], error) {
	w, sum := m.squared()
	return newNorm[T]("Moments.Norm", m.n, 0, sum, w, epsilon)
}

// Norm returns the step that divides by the sum. With a sum from [Sum.AddAbs], that is L1 normalization.
func (s *Sum[T]) Norm() (Norm[T], error) {
	w := s.acc.big()
	return newNorm[T]("Sum.Norm", 1, formatOf[T]().frac, new(big.Int), w.Mul(w, w), 0)
}

// RootNorm returns the step that divides by √(sum/n + epsilon). With a sum of squares, that is L2 normalization if n is 1 and epsilon 0, and
// normalization by the root mean square if n is the count of squares.
func (s *Sum[T]) RootNorm(n int, epsilon float64) (Norm[T], error) {
	w := s.acc.big()
	return newNorm[T]("Sum.RootNorm", n, 0, new(big.Int), w.Mul(w, big.NewInt(int64(n))), epsilon)
}

// NormOf returns the step of batch normalization: (x - mean) / √(variance + epsilon).
func NormOf[T Number](mean, variance T, epsilon float64) (Norm[T], error) {
	w := wordOf(variance).Big()
	return newNorm[T]("NormOf", 1, 0, wordOf(mean).Big(), w.Lsh(w, formatOf[T]().frac), epsilon)
}

// A Norm is a step of normalization: it maps x to (x - c) / √v, with exact c and v. [Moments.Norm], [Sum.Norm], [Sum.RootNorm] and [NormOf] return
// Norms; the zero value has no results. Where v is 0, the result is 0 for x = c and an error otherwise.
//
// An epsilon counts with the exact value of its float64, however small. It is finite and at least 0.
type Norm[T Number] struct {
	// The result in units is the scale in units times (mul X - sub) / √w, with x in units as X.
	mul, sub, w *big.Int

	// For 32 bits, if n > 0: (n X - center) inv 2^-shift is 2^31 (mul X - sub) / √w. The relative error is 2^-61.
	n, center int64
	inv       uint64
	shift     int

	// For the wide formats, if limbN > 0: (limbN X - limbCenter) limbInv 2^-limbShift is (mul X - sub) / √w. The relative error is 2^-124.
	limbN      uint64
	limbCenter Int128
	limbInv    u128
	limbShift  int
}

// newNorm returns the step (n X - center) 2^lift / √(w + n² 2^2f epsilon). With a lift above 0, epsilon is 0. newNorm takes ownership of w.
func newNorm[T Number](name string, n int, lift uint, center, w *big.Int, epsilon float64) (Norm[T], error) {
	f := formatOf[T]()
	reason := ""
	switch {
	case n < 1:
		reason = "it wants a number of terms from 1 on"
	case !(epsilon >= 0) || math.IsInf(epsilon, 1):
		reason = "it wants a finite epsilon from 0 on"
	}
	if reason == "" && epsilon > 0 { // epsilon is m 2^e, and in units of w it is multiplied by n² 2^2f
		b := math.Float64bits(epsilon)
		m, e := b&(1<<52-1), int(b>>52)-1075
		if e == -1075 {
			e++
		} else {
			m |= 1 << 52
		}
		zeros := bits.TrailingZeros64(m)
		add := new(big.Int).SetUint64(m >> zeros)
		e += zeros + 2*int(f.frac)
		add.Mul(add, new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(n))))
		up := uint(max(0, -e+1) / 2)
		lift += up
		add.Lsh(add, uint(e+2*int(up)))
		w.Add(w.Lsh(w, 2*up), add)
	}
	if reason == "" && w.Sign() < 0 {
		reason = "the variance is negative"
	}
	if reason != "" {
		text := "epsilon " + strconv.FormatFloat(epsilon, 'g', -1, 64)
		if n < 1 {
			text = strconv.Itoa(n) + " numbers"
		}
		return Norm[T]{}, &Error{Func: name, Format: f.name, Err: ErrDomain, text: text, reason: reason}
	}
	s := Norm[T]{mul: new(big.Int).Lsh(big.NewInt(int64(n)), lift), sub: new(big.Int).Lsh(center, lift), w: w}
	if w.Sign() == 0 {
		return s, nil
	}
	e := w.BitLen() - 128 // made even, so that w is m 2^e, m in 127 or 128 bits
	e += e & 1
	top := new(big.Int)
	if e < 0 {
		top.Lsh(w, uint(-e))
	} else {
		top.Rsh(w, uint(e))
	}
	m := magnitudeOf(top)
	switch {
	case f.width == 32 && n < 1<<30 && center.BitLen() < 62:
		s.n, s.center = int64(n), center.Int64()
		s.inv, _ = bits.Div64(1<<62, 0, sqrt128(m.hi, m.lo)) // 2^126 / √m, to 2^-62
		s.shift = 126 + e/2 - int(lift) - 31
	case f.width > 32 && n < 1<<30 && center.BitLen() < 126:
		s.limbN = uint64(n)
		s.limbCenter, _ = Int128FromBig(center)
		root, _ := limbSqrt(u128{m.hi, m.lo}) // √m 2^64
		s.limbInv = u128{1 << 62, 0}.quo(root)
		s.limbShift = 190 + e/2 - int(lift)
	}
	return s, nil
}

// InvStdDev returns 1 / √v, rounded once. For v = 0 it is an error.
func (s *Norm[T]) InvStdDev(mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	if s.w == nil || s.w.Sign() == 0 {
		var zero T
		return zero, &Error{Func: "Norm.InvStdDev", Format: f.name, Err: ErrDomain, reason: "the variance is 0"}
	}
	n := new(big.Int).Lsh(s.mul, 2*f.frac)
	m := roundQuarters(rootQuarters(n.Mul(n, n), s.w), how)
	return finish[T]("Norm.InvStdDev", m, how, f, 0, Int128{}, Int128{})
}

// Apply sets dst[i] to scale[i] (x[i] - c) / √v + bias[i], rounded once. scale and bias have the length of x, or one number for all, or are nil,
// for 1 and 0. dst is at least as long as x and may be any of the rows. An error names the first number without a result, and leaves dst unchanged.
func (s *Norm[T]) Apply(dst, x, scale, bias []T, mode ...Mode) error {
	f, how := formatOf[T](), joinModes(mode)
	out := make([]T, len(x))
	by, plus := f.one(), Int128{}
	for i := range x {
		if len(scale) > 1 || len(scale) == 1 && i == 0 {
			by = wordOf(scale[i])
		}
		if len(bias) > 1 || len(bias) == 1 && i == 0 {
			plus = wordOf(bias[i])
		}
		m, ok := magnitude{}, false
		w := wordOf(x[i])
		switch {
		case s.n > 0:
			m, ok = s.fast(int64(w.Lo), int64(by.Lo), int64(plus.Lo), how)
		case s.limbN > 0:
			m, ok = s.limbs(w, by, plus).settle(how)
		}
		if !ok {
			if m, ok = s.wide(w, by, plus, how); !ok {
				return &Error{Func: "Norm.Apply", Format: f.name, Index: i, Err: ErrDomain, reason: "the variance is 0", of: f, args: [2]Int128{w}, n: 1}
			}
		}
		var err error
		if out[i], err = finish[T]("Norm.Apply", m, how, f, 1, w, Int128{}); err != nil {
			err.(*Error).Index = i
			return err
		}
	}
	copy(dst[:len(x)], out)
	return nil
}

// fast returns the result in units if 64 bits settle it.
func (s *Norm[T]) fast(x, by, plus int64, mode Mode) (magnitude, bool) {
	d := s.n*x - s.center // below 2^63
	if d == 0 || by == 0 {
		return int128(plus).magnitude(), true
	}
	hi, lo := bits.Mul64(absInt64(d), s.inv)
	p2, p1 := bits.Mul64(hi, absInt64(by))
	c1, p0 := bits.Mul64(lo, absInt64(by))
	p1, c := bits.Add64(p1, c1, 0)
	p2 += c
	var v uint64 // p 2^-shift
	switch n := s.shift; {
	case n >= 192:
	case n >= 128:
		v = p2 >> (n - 128)
	case n >= 64:
		if p2>>(n-64) != 0 {
			return magnitude{}, false
		}
		v = p1>>(n-64) | p2<<(128-n)
	case n >= 0:
		if p2 != 0 || p1>>n != 0 {
			return magnitude{}, false
		}
		v = p0>>n | p1<<(64-n)
	default:
		return magnitude{}, false
	}
	if v >= 1<<61 { // so that a bias has room
		return magnitude{}, false
	}
	y := int64(v)
	if (d < 0) != (by < 0) {
		y = -y
	}
	return settleFast(y+plus<<31, 4, mode) // inv and the shift add errors below 1 each; 4 is their sum, doubled
}

// limbs returns the result to 2^-124 of the product, if there is room for the bias.
func (s *Norm[T]) limbs(x, by, plus Int128) approximation {
	a, neg := abs128(x)
	if a.hi>>32 != 0 {
		return approximation{}
	}
	d, minus := abs128(a.mul(s.limbN).int128(neg).plus(s.limbCenter.neg())) // below 2^127
	b, negBy := abs128(by)
	bias, negBias := abs128(plus)
	if d == (u128{}) || b == (u128{}) {
		return approximation{} // nothing to compute
	}
	zd, zb := d.leadingZeros(), b.leadingZeros()
	m := d.shl(zd).mulHigh(b.shl(zb)).mulHigh(s.limbInv).shr(2) // at least 2^122, and so right to 4 units and less
	n := s.limbShift + int(zd+zb) - 256 - 2
	up := min(n, int(bias.leadingZeros())-2)
	if up <= 0 {
		return approximation{}
	}
	m = m.shr(min(uint(n-up), 127))
	sum := m.int128(minus != negBy).plus(bias.shl(uint(up)).int128(negBias))
	return signedApproximation(sum, up, 1<<5)
}

// wide returns the result in units, or false if there is none.
func (s *Norm[T]) wide(x, by, plus Int128, mode Mode) (magnitude, bool) {
	if s.w == nil {
		return magnitude{}, false
	}
	d := x.Big()
	d.Mul(d, s.mul).Sub(d, s.sub)
	if s.w.Sign() == 0 {
		return plus.magnitude(), d.Sign() == 0
	}
	d.Mul(d, by.Big())
	neg := d.Sign() < 0
	q := signed(rootQuarters(d.Mul(d, d), s.w), neg)
	return roundQuarters(q.Add(q, new(big.Int).Lsh(plus.Big(), 2)), mode), true
}

// rootQuarters returns √(num/den) in quarters: exactly if it is a multiple of a half, and otherwise the odd number of quarters between the two
// nearest halves.
func rootQuarters(num, den *big.Int) *big.Int {
	num = new(big.Int).Lsh(num, 2)
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	root := new(big.Int).Sqrt(q)
	exact := r.Sign() == 0 && num.Mul(root, root).Cmp(q) == 0
	root.Lsh(root, 1)
	if !exact {
		root.SetBit(root, 0, 1)
	}
	return root
}

// roundQuarters rounds a quarter of q, in place.
func roundQuarters(q *big.Int, mode Mode) magnitude {
	neg := q.Sign() < 0
	rest := int(q.Abs(q).Bit(1)<<1 | q.Bit(0))
	m := magnitudeOf(q.Rsh(q, 2))
	m.neg = neg
	return m.rounded(rest-2, mode)
}
