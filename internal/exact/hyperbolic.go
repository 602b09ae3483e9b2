package exact

import (
	"math"
	"math/big"
)

// Up to this, the first two terms of a series of odd powers are enough: the next is below 2^-320 of them.
const tiny = 0x1p-80

// cubic returns x + x³ p/q.
func cubic(x float64, p, q int64) *big.Float {
	b := New(x)
	c := zero().Mul(zero().Mul(b, b), b)
	return b.Add(b, c.Mul(c, ratio(p, q)))
}

// logOf is Log for numbers of more than 53 bits, by the same method in two steps.
func logOf(x *big.Float) *big.Float {
	frac := zero()
	e := x.MantExp(frac)
	if f, _ := frac.Float64(); f < math.Sqrt2/2 {
		frac.SetMantExp(frac, 1)
		e--
	}
	f, _ := frac.Float64()
	y := New(math.Log(f))
	for range 2 {
		ey := Exp(y)
		d := zero().Quo(zero().Sub(frac, ey), zero().Add(frac, ey))
		y.Add(y, d.Mul(d, New(2)))
	}
	return y.Add(y, zero().Mul(New(float64(e)), ln2()))
}

// log1p returns log(1+z), for z > -1.
func log1p(z *big.Float) *big.Float {
	if z.Sign() != 0 && z.MantExp(nil) < -80 { // z - z²/2 + z³/3 - z⁴/4
		s := zero()
		for n := int64(4); n >= 1; n-- {
			s.Sub(ratio(1, n), s.Mul(s, z))
		}
		return s.Mul(s, z)
	}
	return logOf(zero().Add(New(1), z))
}

// Log1p returns the logarithm of 1 + x.
func Log1p(x float64) *big.Float { return log1p(New(x)) }

// Log2 returns the logarithm of x to base 2.
func Log2(x float64) *big.Float { l := Log(x); return l.Quo(l, ln2()) }

// Log10 returns the logarithm of x to base 10.
func Log10(x float64) *big.Float { l := Log(x); return l.Quo(l, Log(10)) }

// Exp2 returns 2 to the power x.
func Exp2(x float64) *big.Float { return Exp(zero().Mul(New(x), ln2())) }

// Expm1 returns e to the power x, less 1.
func Expm1(x float64) *big.Float {
	if math.Abs(x) < tiny { // x + x²/2 + x³/6
		s := zero().Add(ratio(1, 2), zero().Mul(New(x), ratio(1, 6)))
		s.Add(New(1), s.Mul(s, New(x)))
		return s.Mul(s, New(x))
	}
	e := Exp(New(max(-1e5, x)))
	return e.Sub(e, New(1))
}

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) *big.Float {
	if math.Abs(x) < tiny {
		return cubic(x, 1, 6)
	}
	d := zero().Sub(Exp(New(x)), Exp(New(-x)))
	return d.SetMantExp(d, -1)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) *big.Float {
	s := zero().Add(Exp(New(x)), Exp(New(-x)))
	return s.SetMantExp(s, -1)
}

// Asinh returns the inverse hyperbolic sine of x.
func Asinh(x float64) *big.Float {
	if math.Abs(x) < tiny {
		return cubic(x, -1, 6)
	}
	a := New(math.Abs(x))
	s := zero().Mul(a, a)
	s.Sqrt(s.Add(s, New(1)))
	l := logOf(s.Add(s, a))
	if x < 0 {
		l.Neg(l)
	}
	return l
}

// Acosh returns the inverse hyperbolic cosine of x, for x >= 1.
func Acosh(x float64) *big.Float {
	a := New(x)
	s := zero().Mul(zero().Sub(a, New(1)), zero().Add(a, New(1)))
	return logOf(a.Add(a, s.Sqrt(s)))
}

// Atanh returns the inverse hyperbolic tangent of x, for |x| < 1.
func Atanh(x float64) *big.Float {
	if math.Abs(x) < tiny {
		return cubic(x, 1, 3)
	}
	l := logOf(zero().Quo(zero().Add(New(1), New(x)), zero().Sub(New(1), New(x))))
	return l.SetMantExp(l, -1)
}

// Softplus returns log(1 + exp(x)).
func Softplus(x float64) *big.Float { return log1p(Exp(New(max(x, -1e4)))) }

// Mish returns x tanh(log(1 + exp(x))).
func Mish(x float64) *big.Float {
	e := Exp(New(max(-1e4, min(x, 1e4))))
	w := zero().Mul(e, zero().Add(e, New(2)))
	w.Quo(w, zero().Add(w, New(2)))
	return w.Mul(w, New(x))
}

// Cbrt returns the cube root of x, by Newton's method.
func Cbrt(x float64) *big.Float {
	y := New(math.Cbrt(x))
	for range 3 {
		d := zero().Sub(y, zero().Quo(New(x), zero().Mul(y, y)))
		y.Sub(y, d.Quo(d, New(3)))
	}
	return y
}

// Rsqrt returns 1/√x.
func Rsqrt(x float64) *big.Float { return zero().Quo(New(1), zero().Sqrt(New(x))) }
