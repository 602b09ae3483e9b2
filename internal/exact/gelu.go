package exact

import (
	"math"
	"math/big"
)

// Gelu returns x Φ(x), for |x| below 100. Φ is the distribution of a standard normal variable.
func Gelu(x float64) *big.Float {
	if x > -3 {
		// The factor of x is (1 + erf(x/√2)) / 2, by the series of Erf:
		//
		//	Σ x^(2n+1) / (1·3·…·(2n+1))
		b := New(min(x, 40))
		square := zero().Mul(b, b)
		term, sum := zero().Set(b), zero().Set(b)
		for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-Prec; n++ {
			term.Quo(term.Mul(term, square), New(float64(2*n+1)))
			sum.Add(sum, term)
		}
		sum.Mul(sum, density(b))
		return sum.Mul(sum.Add(sum, ratio(1, 2)), New(x))
	}
	// The density divided by a continued fraction, a + 1/(a + 2/(a + 3/(a + …))), a = -x.
	a := New(-x)
	f := zero().Set(a)
	for n := int64(1000); n >= 1; n-- {
		f.Add(a, f.Quo(New(float64(n)), f))
	}
	d := density(a)
	return d.Mul(d.Quo(d, f), New(x))
}

// density returns exp(-x²/2) / √(2π).
func density(x *big.Float) *big.Float {
	s := zero().Mul(x, x)
	e := Exp(s.Neg(s.SetMantExp(s, -1)))
	return e.Quo(e, zero().Sqrt(zero().Mul(New(2), pi())))
}

// GeluTanh returns x / (1 + exp(-2v)) with v = √(2/π) (x + 0.044715 x³). That equals
//
//	x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
func GeluTanh(x float64) *big.Float {
	c := max(-1e3, min(x, 1e3))
	b := New(c)
	u := zero().Mul(zero().Mul(b, b), ratio(44715, 1000000))
	u.Mul(u.Add(u, New(1)), b)
	u.Mul(u, zero().Sqrt(zero().Quo(New(8), pi())))
	if f, _ := u.Float64(); math.Abs(f) > 1e5 {
		u = New(math.Copysign(1e5, f))
	}
	e := Exp(u.Neg(u))
	return e.Quo(New(x), e.Add(e, New(1)))
}
