package exact

import (
	"math"
	"math/big"
	"sync"
)

// halfPi is π/2, to the bits that the largest float64 needs.
var halfPi = sync.OnceValue(func() *big.Float {
	p := machin(1024 + Prec)
	return p.SetMantExp(p, -1)
})

// sinCos returns the sine and the cosine of x.
func sinCos(x *big.Float) (sin, cos *big.Float) {
	wide := new(big.Float).SetPrec(1024 + Prec).Set(x)
	k := new(big.Int)
	if f, _ := x.Float64(); math.Abs(f) > 0.75 {
		q := new(big.Float).SetPrec(1024+Prec).Quo(wide, halfPi())
		q.Add(q, big.NewFloat(math.Copysign(0.5, f))).Int(k)
		wide.Sub(wide, q.Mul(q.SetInt(k), halfPi()))
	}
	r := zero().Set(wide)
	square := zero().Mul(r, r)
	sin, cos = zero().Set(r), New(1)
	s, c := zero().Set(r), New(1)
	for n := int64(1); c.Sign() != 0 && c.MantExp(nil) > -Prec; n++ {
		c.Quo(c.Mul(c, square), New(float64(-(2*n-1)*(2*n))))
		s.Quo(s.Mul(s, square), New(float64(-2*n*(2*n+1))))
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

// Sin returns the sine of x, for any finite x.
func Sin(x float64) *big.Float { s, _ := sinCos(New(x)); return s }

// Cos returns the cosine of x.
func Cos(x float64) *big.Float { _, c := sinCos(New(x)); return c }

// Tan returns the tangent of x.
func Tan(x float64) *big.Float { s, c := sinCos(New(x)); return s.Quo(s, c) }

// atan returns the arc tangent of t. The arc tangent of t/(1+√(1+t²)) is half of it.
func atan(t *big.Float) *big.Float {
	const halvings = 6
	for range halvings {
		r := zero().Mul(t, t)
		r.Sqrt(r.Add(r, New(1)))
		t = zero().Quo(t, r.Add(r, New(1)))
	}
	square := zero().Mul(t, t)
	power, sum := zero().Set(t), zero().Set(t)
	for n := int64(3); power.Sign() != 0 && power.MantExp(nil) > sum.MantExp(nil)-Prec; n += 2 {
		power.Neg(power.Mul(power, square))
		sum.Add(sum, zero().Quo(power, New(float64(n))))
	}
	return sum.SetMantExp(sum, halvings)
}

// Atan returns the arc tangent of x.
func Atan(x float64) *big.Float { return atan(New(x)) }

// Atan2 returns the angle of the point (x, y) for x and y other than 0.
func Atan2(y, x float64) *big.Float {
	if math.Abs(y) > math.Abs(x) {
		quarter := zero().SetMantExp(pi(), -1)
		if y < 0 {
			quarter.Neg(quarter)
		}
		return quarter.Sub(quarter, atan(zero().Quo(New(x), New(y))))
	}
	a := atan(zero().Quo(New(y), New(x)))
	switch {
	case x > 0:
		return a
	case y > 0:
		return a.Add(a, pi())
	}
	return a.Sub(a, pi())
}

// root1 returns √(1-x²).
func root1(x *big.Float) *big.Float {
	r := zero().Mul(zero().Sub(New(1), x), zero().Add(New(1), x))
	return r.Sqrt(r)
}

// Asin returns the arc sine of x, for |x| < 1.
func Asin(x float64) *big.Float { return atan(zero().Quo(New(x), root1(New(x)))) }

// Acos returns the arc cosine of x, for |x| < 1: twice the arc tangent of √((1-x)/(1+x)).
func Acos(x float64) *big.Float {
	q := zero().Quo(zero().Sub(New(1), New(x)), zero().Add(New(1), New(x)))
	a := atan(q.Sqrt(q))
	return a.SetMantExp(a, 1)
}

// Hypot returns √(x²+y²).
func Hypot(x, y float64) *big.Float {
	wide := func(x float64) *big.Float { // squares are exact, and a small one isn't lost
		b := new(big.Float).SetPrec(5000).SetFloat64(x)
		return b.Mul(b, b)
	}
	s := wide(x)
	return zero().Set(s.Add(s, wide(y)).Sqrt(zero().Set(s)))
}
