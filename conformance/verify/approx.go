package main

import "math"

// slack bounds the relative error of the functions of this file for the arguments of functions32. They are textbook series, written so
// that the error is plain. They share nothing with package float. One rounding is u = 2^-53.
const slack = 0x1p-42

const (
	ln2High = 0x1.62e42fefap-1 // 36 bits, so that a multiple below 2^17 is exact
	ln2Low  = 0x1.cf79abc9e3b39803f2f6af40f343267298b62d8ap-40
)

// approxExp reduces to |r| < 0.35, right to 4u for |x| < 800. It sums the Taylor series up to r^14, whose rest is below u.
func approxExp(x float64) float64 {
	if x > 800 {
		return math.Inf(1)
	}
	if x < -800 {
		return 0
	}
	k := math.Floor(x/math.Ln2 + 0.5)
	return scaled(1+approxExpm1Small((x-float64(k*ln2High))-float64(k*ln2Low)), int(k))
}

// overFactorial has 1/n!, and overOdd 1/(2n+1), each rounded once.
var overFactorial, overOdd = func() (f [15]float64, o [12]float64) {
	n := 1.0
	for i := range f {
		n *= float64(max(1, i)) // exact
		f[i] = 1 / n
	}
	for i := range o {
		o[i] = 1 / float64(2*i+1)
	}
	return f, o
}()

// scaled is math.Ldexp for results that aren't subnormal or too large. k must be between -1000 and 1000.
func scaled(x float64, k int) float64 {
	if uint(k+1000) > 2000 {
		return math.Ldexp(x, k)
	}
	return x * math.Float64frombits(uint64(1023+k)<<52)
}

// approxExpm1Small returns exp(r) - 1 for |r| <= 0.35 to a few u. The first term dominates the sum.
func approxExpm1Small(r float64) float64 {
	s := 0.0
	for n := 14; n >= 1; n-- {
		s = r * (overFactorial[n] + s)
	}
	return s
}

// approxExpm1 returns exp(x) - 1. For x > 0.35 the subtraction magnifies the error by less than 4.
func approxExpm1(x float64) float64 {
	if math.Abs(x) <= 0.35 {
		return approxExpm1Small(x)
	}
	return approxExp(x) - 1
}

// approxTanh returns e / (e + 2) with e = exp(2|x|) - 1. As e is positive, it adds errors but cancels nothing.
func approxTanh(x float64) float64 {
	e := approxExpm1(2 * min(math.Abs(x), 30)) // 1 - tanh(30) is below 2^-85
	return math.Copysign(e/(e+2), x)
}

func approxSigmoid(x float64) float64 { return 1 / (1 + approxExp(-x)) }

// approxLog sums twice the series of atanh(s), for s = (f-1)/(f+1) and |s| < 0.172. The rest after s^23 is below u. For e != 0 the sum is
// at least half of each part.
func approxLog(x float64) float64 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	s := (f - 1) / (f + 1)
	q := s * s
	sum := 0.0
	for n := 11; n >= 0; n-- {
		sum = float64(sum*q) + overOdd[n]
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}

// approxErf sums a series of positive terms for |x| < 4.1:
//
//	2/sqrt(π) exp(-x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
//
// The error of term n is below 3n u, and x² adds 16u by way of exp. The terms from the 60th on don't matter. Together that is below 300u.
// From 4.1 on, 1 is right to 2^-27. So is every decision on a float32, except between 1 and its neighbour, whose boundary is 2^-25 below.
func approxErf(x float64) float64 {
	if math.Abs(x) >= 4.1 {
		return math.Copysign(1, x)
	}
	q := 2 * x * x
	term, sum := x, x
	for n := 3; math.Abs(term) > math.Abs(sum)*0x1p-56; n += 2 {
		term = float64(term * (q / float64(n)))
		sum += term
	}
	return 2 / math.Sqrt(math.Pi) * approxExp(-x*x) * sum
}
