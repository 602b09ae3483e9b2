package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/exact"
)

// A function64 is a function of package float to measure on random arguments. Functions of two arguments use y.
type function64 struct {
	name        string
	limit       float64 // largest error allowed, in units in the last place
	bits, least int     // of the result's format, as in exact.ULP
	draw        func(r *rand.Rand) (x, y float64)
	f           func(x, y float64) float64
	exact       func(x, y float64) *big.Float
}

var measured = []function64{
	{"exp64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		if r.IntN(2) == 0 {
			return -745.2 + float64(r.Float64()*(745.2+709.78)), 0
		}
		return spread(r, -60, 5), 0
	}, func(x, _ float64) float64 { return float.Exp64(x) }, func(x, _ float64) *big.Float { return exact.Exp(exact.New(x)) }},
	{"log64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(3) {
		case 0:
			return math.Abs(spread(r, -1074, 1024)), 0
		case 1:
			return 0.5 + float64(r.Float64()*1.5), 0
		}
		return 1 + spread(r, -52, -2), 0
	}, func(x, _ float64) float64 { return float.Log64(x) }, func(x, _ float64) *big.Float { return exact.Log(x) }},
	{"tanh64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		if r.IntN(2) == 0 {
			return float64(r.Float64()*40) - 20, 0
		}
		return spread(r, -30, 5), 0
	}, func(x, _ float64) float64 { return float.Tanh64(x) }, func(x, _ float64) *big.Float { return exact.Tanh(x) }},
	{"sigmoid64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(3) {
		case 0:
			return float64(r.Float64()*785) - 746, 0
		case 1:
			return float64(r.Float64()*80) - 40, 0
		}
		return spread(r, -60, 5), 0
	}, func(x, _ float64) float64 { return float.Sigmoid64(x) }, func(x, _ float64) *big.Float { return exact.Sigmoid(x) }},
	{"erf64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(4) {
		case 0:
			return spread(r, -1074, -1), 0
		case 1:
			return spread(r, -30, 3), 0
		}
		return float64(r.Float64()*12) - 6, 0
	}, func(x, _ float64) float64 { return float.Erf64(x) }, func(x, _ float64) *big.Float { return exact.Erf(x) }},
	unary64("exp2x64", float.Exp2x64, exact.Exp2, either(between(-1074, 1024), exponents(-60, 10))),
	unary64("expm1x64", float.Expm1x64, exact.Expm1, either(between(-45, 709.78), exponents(-60, 5), between(-2, 2))),
	unary64("log2x64", float.Log2x64, exact.Log2, positive),
	unary64("log10x64", float.Log10x64, exact.Log10, positive),
	unary64("log1p64", float.Log1p64, exact.Log1p, either(between(-1, 2), exponents(-60, -1), func(r *rand.Rand) float64 { return math.Abs(spread(r, -1, 1024)) })),
	unary64("sin64", float.Sin64, exact.Sin, angles),
	unary64("cos64", float.Cos64, exact.Cos, angles),
	unary64("tan64", float.Tan64, exact.Tan, angles),
	unary64("asin64", float.Asin64, exact.Asin, fractions),
	unary64("acos64", float.Acos64, exact.Acos, fractions),
	unary64("atan64", float.Atan64, exact.Atan, either(between(-10, 10), exponents(-30, 30), exponents(-1074, 1024))),
	unary64("sinh64", float.Sinh64, exact.Sinh, either(between(-710.4, 710.4), exponents(-30, 6), between(-3, 3))),
	unary64("cosh64", float.Cosh64, exact.Cosh, either(between(-710.4, 710.4), exponents(-30, 6), between(-3, 3))),
	unary64("asinh64", float.Asinh64, exact.Asinh, either(between(-3, 3), exponents(-30, 40), exponents(-1074, 1024))),
	unary64("acosh64", float.Acosh64, exact.Acosh, either(between(1, 10), func(r *rand.Rand) float64 { return 1 + math.Abs(spread(r, -52, 40)) },
		func(r *rand.Rand) float64 { return math.Abs(spread(r, 0, 1024)) })),
	unary64("atanh64", float.Atanh64, exact.Atanh, fractions),
	unary64("cbrt64", float.Cbrt64, exact.Cbrt, either(between(1, 8), exponents(-1074, 1024))),
	unary64("rsqrt64", float.Rsqrt64, exact.Rsqrt, either(between(1, 4), func(r *rand.Rand) float64 { return math.Abs(spread(r, -1074, 1024)) })),
	unary64("softplus64", float.Softplus64, exact.Softplus, either(between(-745, 60), between(-3, 3), exponents(-60, 6))),
	unary64("mish64", float.Mish64, exact.Mish, either(between(-751, 60), between(-3, 3), exponents(-60, 6))),
	unary64("gelu64", float.Gelu64, exact.Gelu, either(between(-38.5, 10), between(-3, 3), exponents(-60, 3))),
	unary64("gelutanh64", float.GeluTanh64, exact.GeluTanh, either(between(-21.5, 20), between(-3, 3), exponents(-60, 3))),
	{"atan2x64", 0.501, 53, -1074, drawPoint(-1074, 1024, func(v float64) float64 { return v }), float.Atan2x64, exact.Atan2},
	{"atan2x32", 0.500001, 24, -149, drawPoint(-149, 128, func(v float64) float64 { return float64(float32(v)) }), func(y, x float64) float64 { return float64(float.Atan2x32(float32(y), float32(x))) }, exact.Atan2},
	{"hypot64", 0.501, 53, -1074, drawPoint(-1074, 1023, func(v float64) float64 { return v }), float.Hypot64, exact.Hypot},
	{"hypot32", 0.5, 24, -149, drawPoint(-149, 127, func(v float64) float64 { return float64(float32(v)) }), func(x, y float64) float64 { return float64(float.Hypot32(float32(x), float32(y))) }, exact.Hypot},
	{"pow64", 0.503, 53, -1074, drawPow(-1074, 1024, func(v float64) float64 { return v }), float.Pow64, exact.Pow},
	{"pow32", 0.500001, 24, -149, drawPow(-149, 128, func(v float64) float64 { return float64(float32(v)) }), func(x, y float64) float64 { return float64(float.Pow32(float32(x), float32(y))) }, exact.Pow},
}

// unary64 is a function of one argument with the usual limit.
func unary64(name string, f func(float64) float64, value func(float64) *big.Float, draw func(r *rand.Rand) float64) function64 {
	return function64{name, 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) { return draw(r), 0 },
		func(x, _ float64) float64 { return f(x) }, func(x, _ float64) *big.Float { return value(x) }}
}

func between(from, to float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		for {
			if x := from + float64(r.Float64()*(to-from)); x != from {
				return x
			}
		}
	}
}

func exponents(from, to int) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return spread(r, from, to) }
}

func either(draws ...func(r *rand.Rand) float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return draws[r.IntN(len(draws))](r) }
}

var (
	positive = either(func(r *rand.Rand) float64 { return math.Abs(spread(r, -1074, 1024)) }, between(0.5, 2),
		func(r *rand.Rand) float64 { return 1 + spread(r, -52, -2) })
	// Numbers of all sizes, and numbers next to a multiple of π/2.
	angles = either(between(-10, 10), exponents(-30, 20), exponents(14, 1024), func(r *rand.Rand) float64 {
		return math.Ldexp(math.Pi*float64(1+r.Int64N(1<<r.IntN(40))), -1)
	})
	// Numbers between -1 and 1, also next to these.
	fractions = either(between(-1, 1), exponents(-30, -1), func(r *rand.Rand) float64 {
		return math.Copysign(1-math.Abs(spread(r, -53, -2)), float64(r.Float64())-0.5)
	})
)

// drawPoint draws coordinates. In one pair of three they have about the same exponent.
func drawPoint(from, to int, value func(float64) float64) func(r *rand.Rand) (x, y float64) {
	return func(r *rand.Rand) (x, y float64) {
		x = value(spread(r, from, to))
		switch r.IntN(3) {
		case 0:
			return x, value(spread(r, from, to))
		case 1:
			_, e := math.Frexp(x)
			return x, value(spread(r, max(from, e-40), min(to, e+40)))
		}
		return value(spread(r, -3, 3)), value(spread(r, -3, 3))
	}
}

// drawPow draws x > 0 and y whose power is neither 0 nor infinite in the format with these exponents. value gives numbers of the format.
func drawPow(from, to int, value func(float64) float64) func(r *rand.Rand) (x, y float64) {
	return func(r *rand.Rand) (x, y float64) {
		for {
			switch r.IntN(3) {
			case 0:
				x = value(math.Abs(spread(r, from, to)))
			case 1:
				x = value(0.5 + float64(r.Float64()*1.5))
			default:
				x = value(1 + spread(r, -30, -2))
			}
			// The logarithm of the power is uniform over its range. Every fourth power has a small exponent.
			l := (float64(from) + float64(r.Float64()*float64(to-from))) * math.Ln2
			if r.IntN(4) == 0 {
				l = spread(r, -20, 6)
			}
			y = value(l / math.Log(x))
			if p := y * math.Log2(x); p > float64(from) && p < float64(to)-1e-7 {
				return x, y
			}
		}
	}
}

// spread returns a number of either sign. Its exponent is uniform between from and to, to excluded.
func spread(r *rand.Rand, from, to int) float64 {
	x := math.Ldexp(1+float64(r.Float64()), from+r.IntN(to-from))
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

type measured64 struct {
	name          string
	n, wrong      int
	worst, wx, wy float64
}

func (m measured64) String() string {
	return fmt.Sprintf("%s inputs %d worst %.5f ulp at (%x, %x); %d not correctly rounded", m.name, m.n, m.worst, m.wx, m.wy, m.wrong)
}

// measure draws n inputs from a seed.
func (f *function64) measure(n int, seed uint64) measured64 {
	m := measured64{name: f.name, n: n}
	var mu sync.Mutex
	var wg sync.WaitGroup
	const workers = 2
	for w := range workers {
		wg.Go(func() {
			f.walk(rand.New(rand.NewPCG(seed, uint64(w))), n/workers, func(x, y, u float64) {
				if u <= 0.5 {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				m.wrong++
				if u > m.worst { // the exact value decides
					if u = exact.ULP(f.f(x, y), f.exact(x, y), f.bits, f.least); u > m.worst {
						m.worst, m.wx, m.wy = u, x, y
					}
				}
			})
		})
	}
	wg.Wait()
	return m
}
