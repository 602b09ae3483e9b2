package exact

import "math/big"

// Fixed holds functions of numbers of more bits than a float64 has, by name. Arguments and results may be up to 2^64. The absolute errors
// are below 2^-280 times the larger of 1 and the result. For results outside, exp returns any number as small or as large.
var Fixed = map[string]func(x *big.Float) *big.Float{
	"exp":        exp64,
	"exp2":       func(x *big.Float) *big.Float { return exp64(zero().Mul(x, ln2())) },
	"log":        logOf,
	"log2":       func(x *big.Float) *big.Float { l := logOf(x); return l.Quo(l, ln2()) },
	"log10":      func(x *big.Float) *big.Float { l := logOf(x); return l.Quo(l, Log(10)) },
	"sqrt":       func(x *big.Float) *big.Float { return zero().Sqrt(x) },
	"reciprocal": func(x *big.Float) *big.Float { return zero().Quo(New(1), x) },
	"sin":        func(x *big.Float) *big.Float { s, _ := sinCos(x); return s },
	"cos":        func(x *big.Float) *big.Float { _, c := sinCos(x); return c },
	"tan":        func(x *big.Float) *big.Float { s, c := sinCos(x); return s.Quo(s, c) },
	"atan":       atan,
	"asin": func(x *big.Float) *big.Float { // π/2 - acos(x)
		a := acos(x)
		return a.Sub(zero().SetMantExp(pi(), -1), a)
	},
	"acos": acos,
	"sinh": func(x *big.Float) *big.Float { return half(zero().Sub(exp64(x), exp64(zero().Neg(x)))) },
	"cosh": func(x *big.Float) *big.Float { return half(zero().Add(exp64(x), exp64(zero().Neg(x)))) },
	"tanh": func(x *big.Float) *big.Float { // 1 - 2/(e^2x + 1)
		e := exp64(zero().Mul(New(2), x))
		return e.Sub(New(1), e.Quo(New(2), e.Add(e, New(1))))
	},
	"asinh": func(x *big.Float) *big.Float {
		a := zero().Abs(x)
		s := zero().Mul(a, a)
		l := logOf(s.Sqrt(s.Add(s, New(1))).Add(s, a))
		if x.Sign() < 0 {
			l.Neg(l)
		}
		return l
	},
	"acosh": func(x *big.Float) *big.Float {
		s := zero().Mul(zero().Sub(x, New(1)), zero().Add(x, New(1)))
		return logOf(s.Add(x, s.Sqrt(s)))
	},
	"atanh": func(x *big.Float) *big.Float {
		return half(logOf(zero().Quo(zero().Add(New(1), x), zero().Sub(New(1), x))))
	},
	"erf": func(x *big.Float) *big.Float {
		if f, _ := x.Float64(); f > 14 || f < -14 {
			return Erf(f)
		}
		return erf(x)
	},
	"sigmoid": func(x *big.Float) *big.Float {
		e := exp64(zero().Neg(x))
		return e.Quo(New(1), e.Add(e, New(1)))
	},
	"softplus": func(x *big.Float) *big.Float { // max(x, 0) + log(1 + e^-|x|)
		a := zero().Abs(x)
		l := logOf(zero().Add(New(1), exp64(a.Neg(a))))
		if x.Sign() > 0 {
			l.Add(l, x)
		}
		return l
	},
}

// exp64 is Exp of x, or of 200 or -200 if that is nearer to 0. These exponentials are beyond 2^288 or below 2^-288.
func exp64(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 200 || f < -200 {
		return Exp(New(max(-200, min(f, 200))))
	}
	return Exp(x)
}

func half(x *big.Float) *big.Float { return x.SetMantExp(x, -1) }

// acos returns the arc cosine of x: twice the arc tangent of √((1-x)/(1+x)).
func acos(x *big.Float) *big.Float {
	if x.Cmp(New(-1)) == 0 {
		return Pi()
	}
	q := zero().Quo(zero().Sub(New(1), x), zero().Add(New(1), x))
	a := atan(q.Sqrt(q))
	return a.SetMantExp(a, 1)
}

// PowFixed returns x to the power y, for x > 0.
func PowFixed(x, y *big.Float) *big.Float { return exp64(zero().Mul(y, logOf(x))) }
