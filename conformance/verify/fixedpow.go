package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// powEdges is the number of words whose pairs are all checked in powers.
const powEdges = 2000

// edges returns n words: 0, and the words nearest to the positive and negative powers of two.
func (f *wideFormat) edges(n int) []*big.Int {
	list := []*big.Int{new(big.Int)}
	seen := map[string]bool{"0": true}
	for d := int64(0); ; d++ {
		for k := range f.width {
			for _, d := range []int64{d, -d} {
				for _, w := range []*big.Int{powerOfTwo(k, d), new(big.Int).Neg(powerOfTwo(k, d))} {
					if f.fits(w) && !seen[w.String()] {
						seen[w.String()] = true
						list = append(list, w)
					}
					if len(list) == n {
						return list
					}
				}
			}
		}
	}
}

// powers checks powers of 32 bits, of all pairs of edges words and of n random pairs.
func powers(format string, edges, n int, seed uint64) fixedResult {
	frac := fixedNames[format]
	call := func(x, y int32) int64 {
		a, b := fixed.FP16x16FromBits(x), fixed.FP16x16FromBits(y)
		return resultWord(func(mode ...fixed.Mode) (fixed.FP16x16, error) { return fixed.Pow(a, b, mode...) }, fixed.FP16x16.Bits)
	}
	if format == "FP8x23" {
		call = func(x, y int32) int64 {
			a, b := fixed.FP8x23FromBits(x), fixed.FP8x23FromBits(y)
			return resultWord(func(mode ...fixed.Mode) (fixed.FP8x23, error) { return fixed.Pow(a, b, mode...) }, fixed.FP8x23.Bits)
		}
	}
	words := make([]int32, edges)
	w := wideFormats[format]
	for i, e := range w.edges(edges) {
		words[i] = int32(e.Int64())
	}
	pair := func(i int) (x, y int32) {
		if i < edges*edges {
			return words[i/edges], words[i%edges]
		}
		// All magnitudes are equally likely. Most of the time x is below 256 and y below 32, so that there is a result. One y in eight is an integer.
		r := rand.NewPCG(seed, uint64(i))
		a, b, c := r.Uint64(), r.Uint64(), r.Uint64()
		x, y = int32(a)>>(a>>32%31), int32(b)>>(b>>32%31)
		if c%4 != 0 {
			x &= 1<<(frac+min(8, 30-frac)) - 1
			y %= 1 << (frac + min(5, 30-frac))
		}
		if c>>8%8 == 0 {
			y = y >> frac << frac
		}
		return x, y
	}
	return judged(edges*edges+n, func(i int) (got, want int64, close bool) {
		x, y := pair(i)
		want, close = wantPow(x, y, frac)
		return call(x, y), want, close
	}, func(i int) string { x, y := pair(i); return fmt.Sprint(x, ", ", y) })
}

// wantPow is want32 of a power. The relative error of the approximate logarithm is at most 2^-49. A logarithm above 32 has no result but 0 or an
// overflow. So the argument of the exponential is right to 2^-44.
func wantPow(x, y int32, frac uint) (word int64, close bool) {
	integer := y&(1<<frac-1) == 0
	switch {
	case x == 0 && y < 0, x < 0 && !integer:
		return noValue, false
	case y == 0:
		return 1 << frac, false
	case x == 0:
		return 0, false
	}
	a, b := math.Ldexp(math.Abs(float64(x)), -int(frac)), math.Ldexp(float64(y), -int(frac))
	sign := 1.0
	if x < 0 && y>>frac&1 == 1 {
		sign = -1
	}
	return rounded32(sign*approxExp(max(-600, min(float64(b*approxLog(a)), 600))), frac, func() *big.Float {
		v := exact.PowFixed(exact.New(a), exact.New(b))
		return v.Mul(v, exact.New(sign))
	})
}

// measuredPow checks powers by package exact alone, of all pairs of edges words and of n random pairs.
func measuredPow(format string, edges, n int, seed uint64) wideResult {
	w := wideFormats[format]
	rnd := rand.New(rand.NewPCG(seed, 5))
	var r wideResult
	check := func(x, y *big.Int) {
		got, err := w.pow(x, y)
		whole := new(big.Int).Rsh(y, w.frac)
		integer := new(big.Int).Lsh(whole, w.frac).Cmp(y) == 0
		what := fmt.Sprintf("%v, %v", x, y)
		switch {
		case x.Sign() == 0 && y.Sign() < 0, x.Sign() < 0 && !integer:
			r.inputs++
			r.errors++
			if !errors.Is(err, fixed.ErrDomain) {
				r.fail(fmt.Sprintf("%s: %v, %v, want no value", what, got, err))
			}
		case y.Sign() == 0:
			r.judge(&w, what, got, err, exact.New(1))
		case x.Sign() == 0:
			r.judge(&w, what, got, err, new(big.Float))
		default:
			v := w.powValue(new(big.Int).Abs(x), y)
			if x.Sign() < 0 && whole.Bit(0) == 1 {
				v.Neg(v)
			}
			r.judge(&w, what, got, err, v)
		}
	}
	list := w.edges(edges)
	for _, x := range list {
		for _, y := range list {
			check(x, y)
		}
	}
	for range n {
		// Most of the time the logarithm of x is between about -8 and 8 and y is below 32, so that there is a result.
		x, y := w.some(rnd), w.some(rnd)
		if rnd.UintN(4) != 0 {
			x.Mod(x, powerOfTwo(w.frac+min(8, w.width-w.frac-2), 0))
			y.Rem(y, powerOfTwo(w.frac+min(5, w.width-w.frac-2), 0))
		}
		if rnd.UintN(8) == 0 { // an integer
			y.Rsh(y, w.frac).Lsh(y, w.frac)
		}
		check(x, y)
	}
	return r
}

// powValue returns x to the power y, for x > 0. Where that has no result or is 0 for certain, it returns any number as large or as small.
func (f *wideFormat) powValue(x, y *big.Int) *big.Float {
	a, b := f.value(x), f.value(y)
	a64, _ := a.Float64()
	b64, _ := b.Float64()
	if far := float64(b64 * math.Log2(a64)); math.Abs(far) > float64(f.width) {
		return new(big.Float).SetMantExp(exact.New(1), int(math.Copysign(200, far)))
	}
	return exact.PowFixed(a, b)
}
