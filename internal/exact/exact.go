// Package exact evaluates elementary functions with math/big, far beyond float64, for checks of the functions of packages float and
// fixed. It is slow (5 to 50 µs a value) and plain on purpose.
package exact

import (
	"math"
	"math/big"
	"sync"
)

// Prec is the precision of all intermediate values in bits.
const Prec = 384

// Bits bounds the error of a result: its relative error is below 2^-Bits.
const Bits = 140

// New returns x as a big.Float of the package's precision.
func New(x float64) *big.Float { return new(big.Float).SetPrec(Prec).SetFloat64(x) }

func zero() *big.Float { return new(big.Float).SetPrec(Prec) }

func ratio(p, q int64) *big.Float { return zero().SetRat(big.NewRat(p, q)) }

// atanhInv returns atanh(1/n) by its series, for n >= 2.
func atanhInv(n int64) *big.Float {
	sum, power := zero(), ratio(1, n)
	for k := int64(1); power.MantExp(nil) > -Prec-8; k += 2 {
		sum.Add(sum, zero().Quo(power, New(float64(k))))
		power.Quo(power, New(float64(n*n)))
	}
	return sum
}

// ln2 is 2 atanh(1/3).
var ln2 = sync.OnceValue(func() *big.Float { return zero().Mul(New(2), atanhInv(3)) })

// Ln2 returns the logarithm of 2.
func Ln2() *big.Float { return zero().Set(ln2()) }

// machin returns π to the given number of bits, by Machin's formula:
//
//	16 atan(1/5) - 4 atan(1/239)
func machin(prec uint) *big.Float {
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(v) }
	atanInv := func(n int64) *big.Float {
		sum, power := number(0), number(1)
		power.Quo(power, number(n))
		for k := int64(1); power.MantExp(nil) > -int(prec)-8; k += 2 {
			sum.Add(sum, number(0).Quo(power, number(k)))
			power.Quo(power, number(-n*n))
		}
		return sum
	}
	return number(0).Sub(number(0).Mul(number(16), atanInv(5)), number(0).Mul(number(4), atanInv(239)))
}

var pi = sync.OnceValue(func() *big.Float { return machin(Prec) })

// Pi returns π.
func Pi() *big.Float { return zero().Set(pi()) }

// Exp returns e to the power x, for |x| below 2^20.
func Exp(x *big.Float) *big.Float {
	f, _ := x.Float64()
	k := math.Round(f / math.Ln2)
	r := zero().Sub(x, zero().Mul(New(k), ln2()))
	if r.Sign() == 0 {
		return zero().SetMantExp(New(1), int(k))
	}
	const halvings = 12
	r.SetMantExp(r, -halvings)
	sum, term := New(1), New(1)
	for n := int64(1); term.MantExp(nil) > -Prec-8; n++ {
		term.Quo(term.Mul(term, r), New(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return zero().SetMantExp(sum, int(k))
}

// Log returns the logarithm of x, for finite x > 0.
func Log(x float64) *big.Float {
	if x == 1 {
		return zero()
	}
	frac, e := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, e = 2*frac, e-1
	}
	// The logarithm of frac is y + log(frac/exp(y)) for any y. With y right to 50 bits, the second part is to three times as many
	//
	//	2 (frac - exp(y)) / (frac + exp(y))
	//
	// No digits cancel near 1: e is 0 there.
	y := New(math.Log(frac))
	ey := Exp(y)
	d := zero().Quo(zero().Sub(New(frac), ey), zero().Add(New(frac), ey))
	y.Add(y, d.Mul(d, New(2)))
	return y.Add(y, zero().Mul(New(float64(e)), ln2()))
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) *big.Float {
	if math.Abs(x) < 0x1p-80 { // x - x³/3, the next term being below 2^-320 of it
		b := New(x)
		cube := zero().Mul(zero().Mul(b, b), b)
		return zero().Sub(b, cube.Quo(cube, New(3)))
	}
	x = max(-1e4, min(x, 1e4))
	e := Exp(New(2 * x))
	return zero().Quo(zero().Sub(e, New(1)), zero().Add(e, New(1)))
}

// Sigmoid returns 1 / (1 + exp(-x)).
func Sigmoid(x float64) *big.Float {
	e := Exp(New(-max(-1e5, min(x, 1e5))))
	return zero().Quo(New(1), e.Add(e, New(1)))
}

var twoOverSqrtPi = sync.OnceValue(func() *big.Float { return zero().Quo(New(2), zero().Sqrt(pi())) })

// Erf returns the error function of x.
func Erf(x float64) *big.Float {
	if math.Abs(x) > 14 { // 1 - erf(14) is below 2^-286
		return New(math.Copysign(1, x))
	}
	return erf(New(x))
}

// erf is Erf where that isn't 1. It sums a series in which nothing cancels:
//
//	2/sqrt(π) exp(-x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
func erf(b *big.Float) *big.Float {
	square := zero().Mul(b, b)
	term := zero().Set(b)
	sum := zero().Set(b)
	twice := zero().Mul(New(2), square)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-Prec; n++ {
		term.Quo(term.Mul(term, twice), New(float64(2*n+1)))
		sum.Add(sum, term)
	}
	sum.Mul(sum, Exp(square.Neg(square)))
	return sum.Mul(sum, twoOverSqrtPi())
}

// Pow returns x to the power y, for finite x > 0 and |y log x| below 2^20.
func Pow(x, y float64) *big.Float { return Exp(zero().Mul(New(y), Log(x))) }

// ULP returns |got - want| in units in the last place of a binary format. bits is its number of bits of the significand, and least
// the exponent of its smallest positive number: (53, -1074) for float64, (24, -149) for float32. The unit is that of the binade of
// want.
func ULP(got float64, want *big.Float, bits, least int) float64 {
	d := zero().Sub(New(got), want)
	unit := max(want.MantExp(nil)-bits, least)
	f, _ := d.SetMantExp(d, -unit).Float64()
	return math.Abs(f)
}
