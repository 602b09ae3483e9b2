package num

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// fixedFunctions are all of one argument that have a fast form.
var fixedFunctions = []*fixedFunction{&expFixed, &exp2Fixed, &logFixed, &log2Fixed, &log10Fixed, &sinFixed, &cosFixed, &tanFixed, &asinFixed, &acosFixed, &atanFixed,
	&sinhFixed, &coshFixed, &tanhFixed, &asinhFixed, &acoshFixed, &atanhFixed, &erfFixed, &sigmoidFixed, &softplusFixed}

// someWord returns a word of a format: all magnitudes are as likely, and a fifth are next to a power of two.
func someWord(r *rand.Rand, f *fixedFormat) Int128 {
	var w Int128
	if n := r.UintN(f.width); r.UintN(5) == 0 {
		w = int128(1).shl(n).plus(int128(r.Int64N(5) - 2))
		if r.UintN(2) == 0 {
			w = w.neg()
		}
		if n == f.width-1 {
			w = f.last(r.UintN(2) == 0)
		}
		return w
	}
	if f.width < 128 {
		w = int128(int64(r.Uint64()) >> (64 - f.width) >> r.UintN(f.width))
	} else {
		n := r.UintN(128)
		w.Hi, w.Lo = int64(r.Uint64()), r.Uint64()
		if n >= 64 {
			w = int128(w.Hi >> (n - 64))
		} else {
			w = Int128{w.Hi >> n, w.Lo}
		}
	}
	return w
}

// The fast functions are as near to the wide ones as they say, with room.
func TestFixedFast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, f := range fixedFormats[:2] {
		for _, fn := range fixedFunctions {
			worst, least := 0.0, 0.0
			for range 20000 {
				w := someWord(r, &f)
				if fn.defined != nil && !fn.defined(w, &f) {
					continue
				}
				if _, exact := fn.exact(w, &f); exact {
					continue
				}
				y, e := fn.fast(int64(w.Lo), f.frac)
				want := fn.wide(w.Big(), f.frac, f.frac+31)
				if absInt64(y) >= 1<<62+uint64(e) { // then all that counts is that it overflows
					if want.CmpAbs(big.NewInt(1<<62)) < 0 || want.Sign() < 0 != (y < 0) {
						t.Fatalf("%s(%v) in %s is %v, which isn't beyond", fn.name, w, f.name, want)
					}
					continue
				}
				d, _ := new(big.Float).SetInt(want.Sub(big.NewInt(y), want)).Float64()
				if d < 0 {
					d = -d
				}
				if d/float64(e) > worst {
					worst = d / float64(e)
				}
				least = max(least, d)
				if d > float64(e) {
					t.Fatalf("%s(%v) in %s is off by %v, the bound is %d", fn.name, w, f.name, d, e)
				}
			}
			t.Logf("%s in %s: largest error %.3g of the bound, %g", fn.name, f.name, worst, least)
		}
	}
}
