package fixed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func drawLimbs(t *rapid.T, label string) u128 {
	a := u128{rapid.Uint64().Draw(t, label), rapid.Uint64().Draw(t, label)}
	return a.shr(uint(rapid.IntRange(0, 127).Draw(t, label)))
}

func (a u128) big() *big.Int { return magnitude{hi: a.hi, lo: a.lo}.big() }

func TestLimbs(t *testing.T) {
	mask := new(big.Int).Sub(unit(128), big.NewInt(1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLimbs(t, "a"), drawLimbs(t, "b")
		x, y := a.big(), b.big()
		n := uint(rapid.IntRange(0, 130).Draw(t, "n"))
		same := func(what string, got u128, want *big.Int) {
			if got.big().Cmp(want.And(want, mask)) != 0 {
				t.Fatalf("%s of %v, %v, %d: %v, want %v", what, x, y, n, got.big(), want)
			}
		}
		same("add", a.add(b), new(big.Int).Add(x, y))
		same("sub", a.sub(b), new(big.Int).Sub(x, y))
		same("shl", a.shl(n), new(big.Int).Lsh(x, n))
		same("shr", a.shr(n), new(big.Int).Rsh(x, n))
		same("mulHigh", a.mulHigh(b), mulQ(x, y, 128))
		if a.less(b) != (x.Cmp(y) < 0) || a.leadingZeros() != uint(128-x.BitLen()) {
			t.Fatal("less or leadingZeros")
		}
		if b != (u128{}) {
			b = b.shl(b.leadingZeros())
			for _, b := range []u128{b, {b.hi, 0}, {b.hi, 1<<64 - 1}} {
				for _, a := range []u128{a, b.sub(u128{0, 1}), {b.hi, 0}, {b.hi, a.lo}, b.shr(1)} {
					if a.less(b) {
						same("quo", a.quo(b), divQ(a.big(), b.big(), 128))
					}
				}
			}
		}
	})
}

// The limb functions are as near to the wide ones as they say, with room, and settle nearly everything.
func TestLimbFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	for _, f := range formats[2:] {
		for _, fn := range functions {
			if fn.limbs == nil {
				continue
			}
			worst, calls, open := 0.0, 0, 0
			for range 3000 {
				w := someWord(r, &f)
				if fn.defined != nil && !fn.defined(w, &f) {
					continue
				}
				if _, exact := fn.exact(w, &f); exact {
					continue
				}
				a := fn.limbs(w, f.frac)
				calls++
				if _, ok := a.settle(0); !ok {
					open++
				}
				if a.over {
					if v := fn.wide(w.Big(), f.frac, f.frac); v.BitLen() < int(f.width) || v.Sign() < 0 != a.neg {
						t.Fatalf("%s(%v) in %s is no overflow", fn.name, w, f.name)
					}
					continue
				}
				if a.n == 0 {
					continue
				}
				const more = 20
				want := fn.wide(w.Big(), f.frac, f.frac+uint(max(0, a.n))+more)
				got := new(big.Int).Lsh(a.m.big(), uint(max(0, -a.n))+more)
				d, _ := new(big.Float).SetInt(got.Sub(signed(got, a.neg), want)).Float64()
				d = math.Ldexp(max(d, -d)/float64(a.e), -more-max(0, -a.n))
				worst = max(worst, d)
				if d > 1 {
					t.Fatalf("%s(%v) in %s is %v, which is off by %v of the bound", fn.name, w, f.name, a, d)
				}
			}
			t.Logf("%s in %s: largest error %.3g of the bound, %d of %d open", fn.name, f.name, worst, open, calls)
		}
	}
}

// Powers of the wide formats, too.
func TestLimbPow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 12))
	for _, f := range formats[2:] {
		worst, calls, open := 0.0, 0, 0
		for range 5000 {
			x, y := someWord(r, &f), someWord(r, &f)
			if x.Hi < 0 || x.isZero() || y.isZero() {
				continue
			}
			m := x.magnitude()
			a := limbPow(u128{m.hi, m.lo}, y, f.frac)
			calls++
			if a.n == 0 && !a.over {
				open++
				continue
			}
			want := widePow(m.big(), y.Big(), f.frac, f.frac+uint(max(0, a.n)))
			if a.over {
				if want.BitLen() < int(f.width)+max(0, a.n) {
					t.Fatalf("%v to the power %v in %s is no overflow", x, y, f.name)
				}
				continue
			}
			d, _ := new(big.Float).SetInt(want.Sub(want, new(big.Int).Lsh(a.m.big(), uint(max(0, -a.n))))).Float64()
			d = math.Ldexp(max(d, -d)/float64(a.e), -max(0, -a.n))
			if worst = max(worst, d); d > 1 {
				t.Fatalf("%v to the power %v in %s is %v, which is off by %v of the bound", x, y, f.name, a, d)
			}
		}
		t.Logf("%s: largest error %.3g of the bound, %d of %d open", f.name, worst, open, calls)
	}
}
