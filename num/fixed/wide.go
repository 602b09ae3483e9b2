package fixed

import (
	"math/big"
	"sync"
)

// The functions of this file are the elementary functions in integers of any width. An integer within a few units of v 2^q stands for the real
// number v. The functions are textbook series. A count of steps bounds the error: each shift, quotient and root drops less than a unit, and a
// series has fewer than q+64 terms of at most 4 such steps. Later steps multiply the error by a factor that the function's comment states. Each
// function is right to 2^16 units; q is at most 2^12. The callers compute with wideGuard bits more than they return.
const (
	wideGuard = 160
	// wideError bounds the error of a wide function's result, in units of 2^-p. The true bound is 1 unit: errors are 2^16 units of 2^-(p+wideGuard).
	// They grow by at most 2^130: the worst case is a tangent of FP64x64 below 2^63.
	wideError = 16
)

func unit(q uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), q) }

// mulQ returns a b.
func mulQ(a, b *big.Int, q uint) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, q)
}

// divQ returns a / b.
func divQ(a, b *big.Int, q uint) *big.Int {
	n := new(big.Int).Lsh(a, q)
	return n.Quo(n, b)
}

// sqrtQ returns the root of a >= 0.
func sqrtQ(a *big.Int, q uint) *big.Int {
	n := new(big.Int).Lsh(a, q)
	return n.Sqrt(n)
}

// A wideConstant holds a constant, and computes it again when it has too few bits.
type wideConstant struct {
	mu      sync.Mutex
	q       uint
	v       *big.Int
	compute func(q uint) *big.Int
}

// at returns the constant to q bits, less than a unit below it.
func (c *wideConstant) at(q uint) *big.Int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.v == nil || c.q < q+64 {
		c.q = 2*q + 512
		c.v = c.compute(c.q)
	}
	return new(big.Int).Rsh(c.v, c.q-q)
}

var (
	wideLn2  = wideConstant{compute: func(q uint) *big.Int { return wideAtanhInverse(big.NewInt(3), q, 1) }}
	wideLn10 = wideConstant{compute: func(q uint) *big.Int { return wideLog(big.NewInt(10), 0, q) }}
	// Machin's formula:
	//
	//	π/4 = 4 atan(1/5) - atan(1/239)
	widePi = wideConstant{compute: func(q uint) *big.Int {
		a, b := wideAtanhInverse(big.NewInt(5), q, -1), wideAtanhInverse(big.NewInt(239), q, -1)
		a.Lsh(a, 3)
		return a.Sub(a, b.Lsh(b, 1))
	}}
)

// wideAtanhInverse returns 2 atanh(1/n). With sign = -1 it returns 2 atan(1/n).
func wideAtanhInverse(n *big.Int, q uint, sign int64) *big.Int {
	power := new(big.Int).Quo(unit(q+1), n)
	square := new(big.Int).Mul(n, n)
	square.Mul(square, big.NewInt(sign))
	sum, term := new(big.Int), new(big.Int)
	for k := int64(1); power.Sign() != 0; k += 2 {
		sum.Add(sum, term.Quo(power, big.NewInt(k)))
		power.Quo(power, square)
	}
	return sum
}

// wideExp returns e to the power x for |x| < 2^7; the error is 2^16 units times the result, and at least that.
func wideExp(x *big.Int, q uint) *big.Int {
	ln2 := wideLn2.at(q)
	k, r := new(big.Int).DivMod(x, ln2, new(big.Int))
	const halvings = 8
	r.Rsh(r, halvings)
	sum, term := unit(q), unit(q)
	for n := int64(1); ; n++ {
		term.Rsh(term.Mul(term, r), q)
		if term.Quo(term, big.NewInt(n)); term.Sign() == 0 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Rsh(sum.Mul(sum, sum), q)
	}
	if n := k.Int64(); n < 0 {
		return sum.Rsh(sum, uint(-n))
	}
	return sum.Lsh(sum, uint(k.Int64()))
}

// wideLog returns the logarithm of n 2^-frac for n > 0, which is exact.
func wideLog(n *big.Int, frac, q uint) *big.Int {
	e := n.BitLen()
	m := new(big.Int)
	if uint(e) > q {
		m.Rsh(n, uint(e)-q)
	} else {
		m.Lsh(n, q-uint(e))
	}
	// n is m 2^e; the step below brings m between √2/2 and √2. Then s = (m-1)/(m+1) is at most 0.172 in absolute value, and log(m) is 2 atanh(s).
	if half := new(big.Int).Rsh(m, q-8); half.Int64() < 181 {
		m.Lsh(m, 1)
		e--
	}
	one := unit(q)
	s := divQ(new(big.Int).Sub(m, one), one.Add(one, m), q)
	square := mulQ(s, s, q)
	sum, term := new(big.Int), new(big.Int)
	for k := int64(1); s.Sign() != 0 && s.BitLen() > 1; k += 2 {
		sum.Add(sum, term.Quo(s, big.NewInt(k)))
		s.Rsh(s.Mul(s, square), q)
	}
	sum.Lsh(sum, 1)
	ln2 := wideLn2.at(q + 16) // |e| is below 2^16
	ln2.Mul(ln2, big.NewInt(int64(e)-int64(frac)))
	return sum.Add(sum, ln2.Rsh(ln2, 16))
}

// wideSinCos returns the sine and the cosine of x.
func wideSinCos(x *big.Int, q uint) (sin, cos *big.Int) {
	wide := q + 72 // |x| is below 2^64
	half := widePi.at(wide + 1)
	half.Rsh(half, 2)
	r := new(big.Int).Lsh(x, 72)
	k := new(big.Int).Rsh(half, 1)
	k.Div(k.Add(k, r), half)
	r.Sub(r, half.Mul(half, k))
	r.Rsh(r, 72)
	square := mulQ(r, r, q)
	sin, cos = new(big.Int).Set(r), unit(q)
	s, c := new(big.Int).Set(r), unit(q)
	for n := int64(1); c.Sign() != 0; n++ {
		c.Rsh(c.Mul(c, square), q)
		c.Quo(c, big.NewInt(-(2*n-1)*(2*n)))
		s.Rsh(s.Mul(s, square), q)
		s.Quo(s, big.NewInt(-2*n*(2*n+1)))
		sin.Add(sin, s)
		cos.Add(cos, c)
	}
	switch k.And(k, big.NewInt(3)).Int64() {
	case 1:
		sin, cos = cos, sin.Neg(sin)
	case 2:
		sin.Neg(sin)
		cos.Neg(cos)
	case 3:
		sin, cos = cos.Neg(cos), sin
	}
	return sin, cos
}

// wideAngle returns the arc tangent of y/x for y >= 0 and x >= 0, not both 0. Errors of y and x count as their part of √(x²+y²).
func wideAngle(y, x *big.Int, q uint) *big.Int {
	if y.Cmp(x) > 0 {
		quarter := widePi.at(q + 1)
		quarter.Rsh(quarter, 2)
		return quarter.Sub(quarter, wideAngle(x, y, q))
	}
	t, one := divQ(y, x, q), unit(q)
	const halvings = 4 // atan(t) = 2 atan(t / (1 + √(1+t²)))
	for range halvings {
		root := mulQ(t, t, q)
		root = sqrtQ(root.Add(root, one), q)
		t = divQ(t, root.Add(root, one), q)
	}
	square := mulQ(t, t, q)
	sum, term := new(big.Int), new(big.Int)
	for k := int64(1); t.Sign() != 0; k += 2 {
		sum.Add(sum, term.Quo(t, big.NewInt(k)))
		t.Rsh(t.Mul(t, square), q)
		t.Neg(t)
	}
	return sum.Lsh(sum, halvings)
}

// wideErf returns the error function of x for 0 <= x <= 16, by the series
//
//	2/√π exp(-x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
//
// Later terms magnify the error of a term by at most e^(x²), and the exponential takes that back. There are up to 2^10 terms; the error is below
// 2^24 units.
func wideErf(x *big.Int, q uint) *big.Int {
	square := mulQ(x, x, q)
	sum, term := new(big.Int).Set(x), new(big.Int).Set(x)
	twice := new(big.Int).Lsh(square, 1)
	for n := int64(3); term.Sign() != 0; n += 2 {
		term.Rsh(term.Mul(term, twice), q)
		sum.Add(sum, term.Quo(term, big.NewInt(n)))
	}
	// Divide by exp(x²/4) four times: the argument of wideExp stays below 2^7.
	e := wideExp(square.Rsh(square, 2), q)
	for range 4 {
		sum = divQ(sum, e, q)
	}
	return divQ(sum.Lsh(sum, 1), sqrtQ(widePi.at(q), q), q)
}
