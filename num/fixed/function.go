package fixed

import (
	"math/big"
	"math/bits"
)

// A function is a function of one fixed-point number, computed in integers alone. Its result is the true value, rounded. An approximation settles
// the rounding if all values within its error round to the same number. fast approximates for formats of 32 bits, limbs for the wider ones. Where
// they don't settle the rounding, wide computes more and more bits until it is settled. That ends: exact returns all rational values, so no other
// value is a number or the middle of two. The proof is by Lindemann and Weierstrass, plain for powers of 2 and logarithms to base 2 and 10, and by
// Siegel and Shidlovskii for the error function.
type function struct {
	name    string
	wants   string                                      // of x, in the error
	defined func(w Int128, f *format) bool              // nil: everywhere
	exact   func(w Int128, f *format) (magnitude, bool) // rational values, and values whose rounding needs no computation
	fast    func(w int64, frac uint) (y, e int64)       // the value times 2^(frac+31), and a bound of its error; for overflows any y of 2^62+e or more
	limbs   func(w Int128, frac uint) approximation     // nil: none
	wide    func(x *big.Int, frac, p uint) *big.Int     // the value at x 2^-frac times 2^p, to wideError
}

// beyond is the y of fast for values above all numbers of 32 bits.
const beyond = 1<<62 + 1<<40

// overflows is the result of exact for values above all numbers.
var overflows = magnitude{over: true}

func call[T Number](fn *function, x T, modes []Mode) (T, error) {
	f, w, mode := formatOf[T](), wordOf(x), joinModes(modes)&^Wrap
	if fn.defined != nil && !fn.defined(w, f) {
		var zero T
		return zero, noValue(fn.name, fn.wants, f, 1, w, Int128{})
	}
	m, ok := fn.exact(w, f)
	if !ok && f.width == 32 {
		y, e := fn.fast(int64(w.Lo), f.frac)
		m, ok = settleFast(y, e, mode)
	}
	if !ok && f.width > 32 && fn.limbs != nil {
		m, ok = fn.limbs(w, f.frac).settle(mode)
	}
	if !ok {
		m = settleWide(f, mode, func(p uint) *big.Int { return fn.wide(w.Big(), f.frac, p) })
	}
	return finish[T](fn.name, m, mode, f, 1, w, Int128{})
}

// settleFast rounds a result of fast and reports whether all numbers within its error round to the same.
func settleFast(y, e int64, mode Mode) (magnitude, bool) {
	neg := y < 0
	if neg {
		y = -y
	}
	half := int64(1 << 30)
	if mode&TowardZero != 0 {
		half = 0
	}
	a, b := (y+half-e)>>31, (y+half+e)>>31
	return magnitude{lo: uint64(a), neg: neg && a != 0}, a == b
}

// settleWide rounds the value that wide gives, with p as large as the rounding needs.
func settleWide(f *format, mode Mode, wide func(p uint) *big.Int) magnitude {
	for extra := uint(64); ; extra *= 2 {
		v := wide(f.frac + extra)
		neg := v.Sign() < 0
		v.Abs(v)
		if mode&TowardZero == 0 {
			v.Add(v, unit(extra-1))
		}
		a := new(big.Int).Sub(v, big.NewInt(wideError))
		b := v.Add(v, big.NewInt(wideError))
		if a.Rsh(a, extra).Cmp(b.Rsh(b, extra)) == 0 {
			m := magnitudeOf(a)
			m.neg = neg
			return m
		}
	}
}

// zeroAt0 is for functions whose only rational value is 0, at 0.
func zeroAt0(w Int128, _ *format) (magnitude, bool) { return magnitude{}, w.isZero() }

// oneAt0 is for functions whose only rational value is 1, at 0.
func oneAt0(w Int128, f *format) (magnitude, bool) { return f.one().magnitude(), w.isZero() }

// zeroAt1 is for functions whose only rational value is 0, at 1.
func zeroAt1(w Int128, f *format) (magnitude, bool) { return magnitude{}, w == f.one() }

// atLeast reports whether |w| is n or more.
func (f *format) atLeast(w Int128, n int64) bool {
	m := w.magnitude()
	i := m.shiftRight(f.frac, TowardZero)
	return i.lo >= uint64(n)
}

// clamped returns x, at most n in absolute value.
func clamped(x *big.Int, frac uint, n int64) *big.Int {
	limit := new(big.Int).Lsh(big.NewInt(n), frac)
	if x.CmpAbs(limit) <= 0 {
		return x
	}
	if x.Sign() < 0 {
		limit.Neg(limit)
	}
	return limit
}

// Exp returns e to the power x, correctly rounded.
func Exp[T Number](x T, mode ...Mode) (T, error) { return call(&expFunc, x, mode) }

var expFunc = function{name: "Exp", limbs: limbsExp, exact: expExact, fast: fastExp, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	e := wideExp(x.Lsh(x, q-frac), q)
	return e.Rsh(e, wideGuard)
}}

// expExact: e^64 is beyond all formats and e^-64 below half a unit of all.
func expExact(w Int128, f *format) (magnitude, bool) {
	if f.atLeast(w, 64) {
		if w.Hi < 0 {
			return magnitude{}, true
		}
		return overflows, true
	}
	return oneAt0(w, f)
}

// Exp2 returns 2 to the power x, correctly rounded.
func Exp2[T Number](x T, mode ...Mode) (T, error) { return call(&exp2Func, x, mode) }

var exp2Func = function{name: "Exp2", limbs: limbsExp2, fast: fastExp2, exact: func(w Int128, f *format) (magnitude, bool) {
	m := w.magnitude()
	n := m.shiftRight(f.frac, TowardZero)
	switch {
	case n.lo >= 66:
		if m.neg {
			return magnitude{}, true
		}
		return overflows, true
	case n.shiftLeft(f.frac) != m:
		return magnitude{}, false
	case m.neg: // half a unit is a tie, with 0
		one := f.one().magnitude()
		return one.shiftRight(uint(n.lo), 0), true
	}
	return f.one().magnitude().shiftLeft(uint(n.lo)), true
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	ln2 := wideLn2.at(q + 8)
	e := wideExp(x.Rsh(x.Mul(x, ln2), frac+8), q)
	return e.Rsh(e, wideGuard)
}}

// Log returns the natural logarithm of x, correctly rounded. For x <= 0 it is an error.
func Log[T Number](x T, mode ...Mode) (T, error) { return call(&logFunc, x, mode) }

const wantsPositive = "it wants a number above 0"

func positive(w Int128, _ *format) bool { return w.Hi >= 0 && !w.isZero() }

var logFunc = function{name: "Log", limbs: limbsLog, wants: wantsPositive, defined: positive, exact: zeroAt1, fast: fastLog, wide: func(x *big.Int, frac, p uint) *big.Int {
	l := wideLog(x, frac, p+wideGuard)
	return l.Rsh(l, wideGuard)
}}

// Log2 returns the logarithm of x to base 2, correctly rounded. For x <= 0 it is an error.
func Log2[T Number](x T, mode ...Mode) (T, error) { return call(&log2Func, x, mode) }

var log2Func = function{name: "Log2", limbs: limbsLog2, wants: wantsPositive, defined: positive, fast: fastLog2, exact: func(w Int128, f *format) (magnitude, bool) {
	if bits.OnesCount64(uint64(w.Hi))+bits.OnesCount64(w.Lo) != 1 {
		return magnitude{}, false
	}
	e := int64(bits.TrailingZeros64(w.Lo)) - int64(f.frac)
	if w.Lo == 0 {
		e += int64(bits.TrailingZeros64(uint64(w.Hi)))
	}
	return int128(e).shl(f.frac).magnitude(), true
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	l := divQ(wideLog(x, frac, q), wideLn2.at(q), q)
	return l.Rsh(l, wideGuard)
}}

// Log10 returns the logarithm of x to base 10, correctly rounded. For x <= 0 it is an error.
func Log10[T Number](x T, mode ...Mode) (T, error) { return call(&log10Func, x, mode) }

var log10Func = function{name: "Log10", limbs: limbsLog10, wants: wantsPositive, defined: positive, fast: fastLog10, exact: func(w Int128, f *format) (magnitude, bool) {
	m := w.magnitude()
	n := m.shiftRight(f.frac, TowardZero)
	if n.shiftLeft(f.frac) != m {
		return magnitude{}, false
	}
	e, power := int64(0), uint64(1)
	for ; power < n.lo && power < 1e18; e++ {
		power *= 10
	}
	return int128(e).shl(f.frac).magnitude(), power == n.lo
}, wide: func(x *big.Int, frac, p uint) *big.Int {
	q := p + wideGuard
	l := divQ(wideLog(x, frac, q), wideLn10.at(q), q)
	return l.Rsh(l, wideGuard)
}}
