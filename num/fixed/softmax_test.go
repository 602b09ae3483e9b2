package fixed

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/exact"
	"pgregory.net/rapid"
)

// expRat returns e^-d to 380 bits, and 2^-290 for what is less.
func expRat(d *big.Rat) *big.Rat {
	x := new(big.Float).SetPrec(exact.Prec).SetRat(d)
	if x.Cmp(big.NewFloat(200)) > 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), unit(290))
	}
	r, _ := exact.Exp(x.Neg(x)).Rat(nil)
	return r
}

func logRat(r *big.Rat) *big.Rat {
	x := new(big.Float).SetPrec(exact.Prec).SetRat(r)
	l, _ := exact.Fixed["log"](x).Rat(nil)
	if l == nil {
		return new(big.Rat)
	}
	return l
}

func TestSoftmax(t *testing.T) {
	forFormats(t, testSoftmax[FP8x23], testSoftmax[FP16x16], testSoftmax[FP32x32], testSoftmax[FP64x64])
}

func testSoftmax[T Number](t *testing.T, c calls[T]) {
	f := formatOf[T]()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		x := c.row(t, n, "x")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "kind"), 3))
		switch r.UintN(5) {
		case 0: // all near each other
			for i := range x {
				x[i] = fromWord[T](int128(int64(r.Uint64()) >> (64 - min(f.frac+r.UintN(6), 63))))
			}
		case 1: // some far below
			for i := range x {
				x[i] = fromWord[T](wordOf(x[0]).plus(int128(-int64(r.UintN(3))).shl(f.frac + 4 + r.UintN(4))))
			}
		case 2: // equal, but for one
			for i := range x[1:] {
				x[i+1] = x[0]
			}
			x[r.IntN(n)] = fromWord[T](someWord(r, f))
		}
		top := c.value(x[0])
		for _, x := range x {
			if v := c.value(x); v.Cmp(top) > 0 {
				top = v
			}
		}
		sum := new(big.Rat)
		exps := make([]*big.Rat, n)
		for i := range x {
			exps[i] = expRat(new(big.Rat).Sub(top, c.value(x[i])))
			sum.Add(sum, exps[i])
		}
		log := new(big.Rat)
		if n > 1 {
			log = logRat(sum)
		}

		y := append([]T(nil), x...)
		Softmax(y, y)
		for i := range y {
			want := new(big.Rat).Quo(exps[i], sum)
			if got := wordOf(y[i]).Big(); got.Cmp(roundRat(want.Quo(want, c.unit()), 0)) != 0 {
				t.Fatalf("softmax of %v: element %d is %v units, want %v", x, i, got, want.FloatString(5))
			}
		}
		for _, mode := range []Mode{0, TowardZero, Saturate, Saturate | TowardZero, Wrap} {
			want, fails := c.rounded(new(big.Rat).Add(top, log), mode)
			got, err := LogSumExp(x, mode)
			if fails != errors.Is(err, ErrOverflow) || fails == (err == nil) || !fails && wordOf(got) != want {
				t.Fatalf("log of the sum of %v, mode %d: %v units, %v, want %v, overflow %v", x, mode, wordOf(got), err, want, fails)
			}
			first := -1
			wants := make([]T, n)
			for i := range x {
				v := new(big.Rat).Sub(c.value(x[i]), top)
				w, fails := c.rounded(v.Sub(v, log), mode)
				wants[i] = fromWord[T](w)
				if fails && first < 0 {
					first = i
				}
			}
			y := slices.Clone(x)
			err = LogSoftmax(y, y, mode)
			if first >= 0 {
				wants = x
				if !errors.Is(err, ErrOverflow) || err.(*Error).Index != first {
					t.Fatalf("log softmax of %v, mode %d: %v, want an overflow at %d", x, mode, err, first)
				}
			} else if err != nil {
				t.Fatalf("log softmax of %v, mode %d: %v", x, mode, err)
			}
			if !slices.Equal(y, wants) {
				t.Fatalf("log softmax of %v, mode %d: %v, want %v", x, mode, y, wants)
			}
		}

		// The logarithm of a sum.
		var s Sum[T]
		s.AddRow(x)
		s.AddProducts(x, x)
		v := new(big.Rat)
		for i := range x {
			a := c.value(x[i])
			v.Add(v, a)
			v.Add(v, a.Mul(a, a))
		}
		for _, mode := range []Mode{0, TowardZero, Saturate, Saturate | TowardZero, Wrap} {
			got, err := s.Log(mode)
			if v.Sign() <= 0 {
				if !errors.Is(err, ErrDomain) {
					t.Fatalf("logarithm of %v: %v", v, err)
				}
				continue
			}
			if want, _ := c.rounded(logRat(v), mode); err != nil || wordOf(got) != want {
				t.Fatalf("logarithm of %v, mode %d: %v units, %v, want %v", v, mode, wordOf(got), err, want)
			}
		}
	})
}

// rounded returns the word of a value without Wrap, and whether it overflows.
func (c calls[T]) rounded(v *big.Rat, mode Mode) (Int128, bool) {
	f := formatOf[T]()
	units := roundRat(v.Quo(v, c.unit()), mode)
	w, _ := Int128FromBig(units)
	m := magnitudeOf(units)
	if f.fits(m) {
		return w, false
	}
	return f.last(m.neg), mode&Saturate == 0
}

func TestSoftmaxRows(t *testing.T) {
	p := func(s string) FP16x16 { x, _ := Parse[FP16x16](s); return x }
	for _, c := range []struct{ x, want []FP16x16 }{
		{nil, nil},
		{[]FP16x16{p("20"), p("15")}, []FP16x16{{65097}, {439}}},
		{[]FP16x16{p("14"), p("13.5")}, []FP16x16{{40793}, {24743}}},
		{[]FP16x16{p("32767"), p("-32768")}, []FP16x16{p("1"), p("0")}},
		{[]FP16x16{p("-32768")}, []FP16x16{p("1")}},
	} {
		y := make([]FP16x16, len(c.x))
		Softmax(y, c.x)
		if !slices.Equal(y, c.want) {
			t.Errorf("softmax of %v: %v, want %v", c.x, y, c.want)
		}
	}
	// n equal numbers are 1/n each, and half a unit is a tie, with 0.
	for n, want := range map[int]int32{3: 21845, 1 << 16: 1, 1<<17 - 1: 1, 1 << 17: 0, 1<<17 + 1: 0} {
		x := make([]FP16x16, n)
		y := make([]FP16x16, n)
		Softmax(y, x)
		if y[0].bits != want || y[n-1].bits != want {
			t.Errorf("softmax of %d zeros is %d, %d units", n, y[0].bits, y[n-1].bits)
		}
		if l, err := LogSumExp(x); err != nil || math.Abs(l.Float64()-math.Log(float64(n))) > 0x1p-17 {
			t.Errorf("log of %d: %v, %v", n, l, err)
		}
	}
	if _, err := LogSumExp[FP16x16](nil, Saturate); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	if _, err := LogSumExp([]FP16x16{p("32767.99998"), p("32767.99998")}); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
}

func BenchmarkRows(b *testing.B) {
	benchmarkRows[FP16x16](b)
	benchmarkRows[FP32x32](b)
	benchmarkRows[FP64x64](b)
}

func benchmarkRows[T Number](b *testing.B) {
	f, r := formatOf[T](), rand.New(rand.NewPCG(1, 2))
	x, y := make([]T, 256), make([]T, 256)
	for i := range x {
		x[i] = fromWord[T](int128(int64(r.Uint64()) >> 50).shl(f.frac - 11))
	}
	run := func(name string, call func()) {
		b.Run(name+"/"+f.name, func(b *testing.B) {
			for b.Loop() {
				call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/number")
		})
	}
	run("Softmax", func() { Softmax(y, x) })
	run("LogSoftmax", func() { LogSoftmax(y, x, Saturate) })
	run("Norm", func() {
		var m Moments[T]
		m.AddRow(x)
		norm, _ := m.Norm(1e-5)
		norm.Apply(y, x, x, x, Saturate)
	})
}
