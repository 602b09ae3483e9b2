package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"

	"github.com/ashlar-go/ashlar/internal/verify/exact"
	"github.com/ashlar-go/ashlar/num"
)

// A function64 is a function of package num to measure on random arguments, y being used by functions of two.
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
	}, func(x, _ float64) float64 { return num.Exp64(x) }, func(x, _ float64) *big.Float { return exact.Exp(exact.New(x)) }},
	{"log64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(3) {
		case 0:
			return math.Abs(spread(r, -1074, 1024)), 0
		case 1:
			return 0.5 + float64(r.Float64()*1.5), 0
		}
		return 1 + spread(r, -52, -2), 0
	}, func(x, _ float64) float64 { return num.Log64(x) }, func(x, _ float64) *big.Float { return exact.Log(x) }},
	{"tanh64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		if r.IntN(2) == 0 {
			return float64(r.Float64()*40) - 20, 0
		}
		return spread(r, -30, 5), 0
	}, func(x, _ float64) float64 { return num.Tanh64(x) }, func(x, _ float64) *big.Float { return exact.Tanh(x) }},
	{"sigmoid64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(3) {
		case 0:
			return float64(r.Float64()*785) - 746, 0
		case 1:
			return float64(r.Float64()*80) - 40, 0
		}
		return spread(r, -60, 5), 0
	}, func(x, _ float64) float64 { return num.Sigmoid64(x) }, func(x, _ float64) *big.Float { return exact.Sigmoid(x) }},
	{"erf64", 0.501, 53, -1074, func(r *rand.Rand) (x, y float64) {
		switch r.IntN(4) {
		case 0:
			return spread(r, -1074, -1), 0
		case 1:
			return spread(r, -30, 3), 0
		}
		return float64(r.Float64()*12) - 6, 0
	}, func(x, _ float64) float64 { return num.Erf64(x) }, func(x, _ float64) *big.Float { return exact.Erf(x) }},
	{"pow64", 0.501, 53, -1074, drawPow(-1074, 1024, func(v float64) float64 { return v }), num.Pow64, exact.Pow},
	{"pow32", 0.500001, 24, -149, drawPow(-149, 128, func(v float64) float64 { return float64(float32(v)) }), func(x, y float64) float64 { return float64(num.Pow32(float32(x), float32(y))) }, exact.Pow},
}

// drawPow draws x > 0 and y for which the power is neither 0 nor infinite in the format with these exponents, of which value gives numbers.
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
			// The logarithm of the power is even over its range; every fourth power has a small exponent.
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

// spread returns a number of either sign whose exponent is evenly distributed between the two, the upper one excluded.
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

// measure draws n inputs by the given seed.
func (f *function64) measure(n int, seed uint64) measured64 {
	m := measured64{name: f.name, n: n}
	var mu sync.Mutex
	var wg sync.WaitGroup
	const workers = 2
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range n / workers {
				x, y := f.draw(r)
				u := exact.ULP(f.f(x, y), f.exact(x, y), f.bits, f.least)
				if u <= 0.5 {
					continue
				}
				mu.Lock()
				m.wrong++
				if u > m.worst {
					m.worst, m.wx, m.wy = u, x, y
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return m
}
