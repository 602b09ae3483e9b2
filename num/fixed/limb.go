package fixed

import (
	"math/big"
	"math/bits"
	"sync"
)

// The limb functions are the fast functions of the wide formats: they compute in 128 bits, in two words, and settle nearly all results without
// math/big. Qn is an integer in units of 2^-n. Each product, quotient and shift drops less than a unit of its Q, and each constant is right to half
// a unit. A bound is at least twice the sum of these errors. The constants come from the wide functions at first use.

// u128 is an integer of 128 bits without a sign.
type u128 struct{ hi, lo uint64 }

func (a u128) add(b u128) u128 {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	return u128{a.hi + b.hi + c, lo}
}

func (a u128) sub(b u128) u128 {
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	return u128{a.hi - b.hi - c, lo}
}

func (a u128) less(b u128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a u128) shr(n uint) u128 {
	if n >= 64 {
		return u128{0, a.hi >> (n - 64)}
	}
	return u128{a.hi >> n, a.lo>>n | a.hi<<(64-n)}
}

func (a u128) shl(n uint) u128 {
	if n >= 64 {
		return u128{a.lo << (n - 64), 0}
	}
	return u128{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

func (a u128) leadingZeros() uint {
	if a.hi == 0 {
		return 64 + uint(bits.LeadingZeros64(a.lo))
	}
	return uint(bits.LeadingZeros64(a.hi))
}

// mulHigh returns a b 2^-128.
func (a u128) mulHigh(b u128) u128 {
	h0, _ := bits.Mul64(a.lo, b.lo)
	h1, l1 := bits.Mul64(a.lo, b.hi)
	h2, l2 := bits.Mul64(a.hi, b.lo)
	h3, l3 := bits.Mul64(a.hi, b.hi)
	t, c := bits.Add64(h0, l1, 0)
	lo, c := bits.Add64(l3, h1, c)
	hi := h3 + c
	_, c = bits.Add64(t, l2, 0)
	lo, c = bits.Add64(lo, h2, c)
	return u128{hi + c, lo}
}

// quo returns a 2^128 / b for a < b, by two steps of long division. b is at least 2^127.
func (a u128) quo(b u128) u128 {
	hi, r := quoLimb(a, 0, b)
	lo, _ := quoLimb(r, 0, b)
	return u128{hi, lo}
}

// quoLimb returns quotient and remainder of a 2^64 + low by b, for a < b. b is at least 2^127.
func quoLimb(a u128, low uint64, b u128) (q uint64, rest u128) {
	r, c := uint64(0), uint64(0)
	if a.hi == b.hi {
		q = 1<<64 - 1
		r, c = bits.Add64(a.lo, b.hi, 0)
	} else {
		q, r = bits.Div64(a.hi, a.lo, b.hi)
	}
	h, l := bits.Mul64(q, b.lo)
	for c == 0 && (h > r || h == r && l > low) { // at most twice
		q--
		var borrow uint64
		l, borrow = bits.Sub64(l, b.lo, 0)
		h -= borrow
		r, c = bits.Add64(r, b.hi, 0)
	}
	return q, u128{r, low}.sub(u128{h, l})
}

// abs128 returns |x|, and whether x is negative.
func abs128(x Int128) (u128, bool) {
	m := x.magnitude()
	return u128{m.hi, m.lo}, m.neg
}

// timesQ126 returns x y, all three in Q126: to 8 units.
func (x Int128) timesQ126(y Int128) Int128 {
	a, neg := abs128(x)
	b, minus := abs128(y)
	return a.shl(1).mulHigh(b.shl(1)).int128(neg != minus)
}

func (a u128) int128(neg bool) Int128 {
	x := Int128{int64(a.hi), a.lo}
	if neg {
		x = x.neg()
	}
	return x
}

// limbsOf returns the integer nearest to v 2^-drop.
func limbsOf(v *big.Int, drop uint) u128 {
	n := new(big.Int).Rsh(v, drop-1)
	m := magnitudeOf(n.Rsh(n.Add(n, big.NewInt(1)), 1))
	return u128{m.hi, m.lo}
}

// An approximation is a result of a limb function: m 2^-n units, with an error of at most e 2^-n. With n = 0 there is no result.
type approximation struct {
	m    u128
	n    int
	e    uint64
	neg  bool
	over bool // the value is beyond the format
}

// settle rounds an approximation and reports whether all numbers within its error round to the same.
func (a approximation) settle(mode Mode) (magnitude, bool) {
	if a.over {
		return magnitude{over: true, neg: a.neg}, true
	}
	if a.m.hi>>62 != 0 { // leave room for a half and the error
		a.m, a.n, a.e = a.m.shr(2), a.n-2, a.e>>2+1
	}
	if a.n > 126 {
		a.m, a.n, a.e = a.m.shr(min(uint(a.n-126), 127)), 126, a.e+1
	}
	if a.n <= 0 {
		return magnitude{}, false
	}
	if mode&TowardZero == 0 {
		a.m = a.m.add(u128{0, 1}.shl(uint(a.n - 1)))
	}
	if a.m.hi == 0 && a.m.lo < a.e {
		return magnitude{}, false
	}
	low, high := a.m.sub(u128{0, a.e}).shr(uint(a.n)), a.m.add(u128{0, a.e}).shr(uint(a.n))
	return magnitude{hi: low.hi, lo: low.lo, neg: a.neg && low != u128{}}, low == high
}

// signedApproximation is x 2^-n units, to e 2^-n.
func signedApproximation(x Int128, n int, e uint64) approximation {
	m, neg := abs128(x)
	return approximation{m: m, n: n, e: e, neg: neg}
}

// limbTables holds the constants of exponentials and logarithms.
type limbTables struct {
	ln2Over64  [3]uint64 // Q192, the high limb first
	exp2       [64]u128  // Q127: 2^(j/64)
	factorial  [32]u128  // Q128: 1/n!, from n = 2 on
	log        [64]u128  // Q128: the logarithm of (2j+129)/128
	inverse    [32]u128  // Q128: 1/n, from n = 2 on
	ln2Q120    Int128
	ln2, log2e u128 // Q128, Q127
	invLn10    u128 // Q128
}

var limbConstants = sync.OnceValue(func() *limbTables {
	const q = 256
	t := new(limbTables)
	ln2 := wideLn2.at(q)
	for i := range t.ln2Over64 {
		t.ln2Over64[i] = magnitudeOf(new(big.Int).Rsh(ln2, q+6-64*uint(i+1))).lo
	}
	for j := range t.exp2 {
		x := new(big.Int).Mul(ln2, big.NewInt(int64(j)))
		t.exp2[j] = limbsOf(wideExp(x.Rsh(x, 6), q), q-127)
		t.log[j] = limbsOf(wideLog(big.NewInt(int64(2*j+129)), 7, q), q-128)
	}
	factorial := big.NewInt(1)
	for n := 2; n < len(t.factorial); n++ {
		factorial.Mul(factorial, big.NewInt(int64(n)))
		t.factorial[n] = limbsOf(new(big.Int).Quo(unit(q), factorial), q-128)
		t.inverse[n] = limbsOf(new(big.Int).Quo(unit(q), big.NewInt(int64(n))), q-128)
	}
	t.ln2 = limbsOf(ln2, q-128)
	t.ln2Q120 = limbsOf(ln2, q-120).int128(false)
	t.log2e = limbsOf(divQ(unit(q), ln2, q), q-127)
	t.invLn10 = limbsOf(divQ(unit(q), wideLn10.at(q), q), q-128)
	return t
})
