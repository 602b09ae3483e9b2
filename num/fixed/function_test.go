package fixed

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
)

// functions are all of one argument that have a fast form.
var functions = []*function{&expFunc, &exp2Func, &logFunc, &log2Func, &log10Func, &sinFunc, &cosFunc, &tanFunc, &asinFunc, &acosFunc, &atanFunc,
	&sinhFunc, &coshFunc, &tanhFunc, &asinhFunc, &acoshFunc, &atanhFunc, &erfFunc, &sigmoidFunc, &softplusFunc}

// someWord returns a word of a format: all magnitudes are as likely, and a fifth are next to a power of two.
func someWord(r *rand.Rand, f *format) Int128 {
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
func TestFast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, f := range formats[:2] {
		for _, fn := range functions {
			worst, least := 0.0, 0.0
			for range 4000 {
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

// The wide functions are as near as they say to what they give with 200 bits more, also where they are asked for few bits.
func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, f := range formats {
		for _, fn := range functions {
			for range 50 {
				w := someWord(r, &f)
				if fn.defined != nil && !fn.defined(w, &f) {
					continue
				}
				if _, exact := fn.exact(w, &f); exact {
					continue
				}
				p := f.frac + r.UintN(100)
				v, more := fn.wide(w.Big(), f.frac, p), fn.wide(w.Big(), f.frac, p+200)
				if v.BitLen() > int(p+65) && more.BitLen() > int(p+265) {
					continue // overflows
				}
				if d := more.Sub(v.Lsh(v, 200), more); d.CmpAbs(new(big.Int).Lsh(big.NewInt(2), 200)) > 0 {
					t.Errorf("%s(%v) in %s to %d bits is off by 2^%d", fn.name, w, f.name, p, d.BitLen()-200)
				}
			}
		}
	}
}

// The tables are what their comments say.
func TestTables(t *testing.T) {
	near := func(name string, got uint64, want *big.Int, q uint) {
		want.Rsh(want.Add(want, unit(99-q)), 100-q)
		if want.Uint64() != got {
			t.Errorf("%s is %#x, want %#x", name, got, want)
		}
	}
	const q = 100
	for j, v := range exp2TableQ63 {
		x := wideLn2.at(q)
		near("exp2TableQ63", v, wideExp(x.Rsh(x.Mul(x, big.NewInt(int64(j))), 6), q), 63)
	}
	for j, v := range logTableQ61 {
		near("logTableQ61", uint64(v), wideLog(big.NewInt(int64(2*j+129)), 7, q), 61)
	}
	for j, v := range atanTableQ62 {
		near("atanTableQ62", uint64(v), wideAngle(big.NewInt(int64(j)), big.NewInt(32), q), 62)
	}
	for j, v := range erfTableQ62 {
		near("erfTableQ62", uint64(v), wideErf(new(big.Int).Lsh(big.NewInt(int64(j)), q-4), q), 62)
	}
	factorial := big.NewInt(1)
	for n := 2; n < len(inverseFactorialQ64); n++ {
		factorial.Mul(factorial, big.NewInt(int64(n)))
		near("inverseFactorialQ64", inverseFactorialQ64[n], divQ(big.NewInt(1), factorial, q), 64)
	}
	for n := 2; n < len(inverseQ64); n++ {
		near("inverseQ64", inverseQ64[n], divQ(big.NewInt(1), big.NewInt(int64(n)), q), 64)
	}
	one := unit(q)
	near("log2eQ62", log2eQ62, divQ(one, wideLn2.at(q), q), 62)
	near("ln2Q64", ln2Q64, wideLn2.at(q), 64)
	near("ln2Q57", ln2Q57, wideLn2.at(q), 57)
	near("invLn10Q64", invLn10Q64, divQ(one, wideLn10.at(q), q), 64)
	near("piQ61", piQ61, widePi.at(q), 61)
	near("halfPiQ62", halfPiQ62, widePi.at(q-1), 62)
	near("halfPiQ63", halfPiQ63, widePi.at(q-1), 63)
	near("twoOverRootPiQ62", twoOverRootPiQ62, divQ(unit(q+1), sqrtQ(widePi.at(q), q), q), 62)
	two := divQ(unit(301), widePi.at(300), 300)
	two.Add(two, unit(300-129)).Rsh(two, 300-128)
	if two.Uint64() != twoOverPiLow || two.Rsh(two, 64).Uint64() != twoOverPiHigh {
		t.Error("twoOverPi")
	}
}

// What is exactly a number, or exactly between two, and what is nearer to one than any fixed precision sees.
func TestExact(t *testing.T) {
	p := func(s string) FP64x64 { x, _ := Parse[FP64x64](s); return x }
	unit64 := FP64x64FromBits(Int128{Lo: 1})
	one, below := p("1"), FP64x64FromBits(Int128{Lo: 1<<64 - 1})
	for _, c := range []struct {
		name           string
		f              func(FP64x64, ...Mode) (FP64x64, error)
		x, near, under FP64x64
	}{
		{"exp 0", Exp[FP64x64], p("0"), one, one},
		{"exp of a unit", Exp[FP64x64], unit64, FP64x64FromBits(Int128{1, 1}), FP64x64FromBits(Int128{1, 1})},
		{"exp of minus a unit", Exp[FP64x64], FP64x64FromBits(Int128{-1, 1<<64 - 1}), below, below},
		{"exp2 of -65: half a unit", Exp2[FP64x64], p("-65"), p("0"), p("0")},
		{"exp2 of -64", Exp2[FP64x64], p("-64"), unit64, unit64},
		{"exp2 of -1", Exp2[FP64x64], p("-1"), p("0.5"), p("0.5")},
		{"exp2 of 62", Exp2[FP64x64], p("62"), p("4611686018427387904"), p("4611686018427387904")},
		{"log2 of a unit", Log2[FP64x64], unit64, p("-64"), p("-64")},
		{"log10 of 10^18", Log10[FP64x64], p("1e18"), p("18"), p("18")},
		{"sin of a unit", Sin[FP64x64], unit64, unit64, p("0")},
		{"sinh of a unit", Sinh[FP64x64], unit64, unit64, unit64},
		{"cos of a unit", Cos[FP64x64], unit64, one, below},
		{"cosh of a unit", Cosh[FP64x64], unit64, one, one},
		{"tanh of 2^62", Tanh[FP64x64], p("4611686018427387904"), one, below},
		{"tanh of -2^62", Tanh[FP64x64], p("-4611686018427387904"), p("-1"), FP64x64FromBits(Int128{-1, 1})},
		{"erf of 2^62", Erf[FP64x64], p("4611686018427387904"), one, below},
		{"sigmoid of 2^62", Sigmoid[FP64x64], p("4611686018427387904"), one, below},
		{"sigmoid of -2^62", Sigmoid[FP64x64], p("-4611686018427387904"), p("0"), p("0")},
		{"softplus of 2^62", Softplus[FP64x64], p("4611686018427387904"), p("4611686018427387904"), p("4611686018427387904")},
		{"acos of 1", Acos[FP64x64], one, p("0"), p("0")},
		{"2 to the power", func(x FP64x64, mode ...Mode) (FP64x64, error) { return Pow(p("2.25"), x, mode...) }, p("1.5"), p("3.375"), p("3.375")},
		{"0 to the power 0", func(x FP64x64, mode ...Mode) (FP64x64, error) { return Pow(x, x, mode...) }, p("0"), one, one},
		{"-0.5 to the power -3", func(x FP64x64, mode ...Mode) (FP64x64, error) { return Pow(p("-0.5"), x, mode...) }, p("-3"), p("-8"), p("-8")},
		{"2 to the power -65, a tie", func(x FP64x64, mode ...Mode) (FP64x64, error) { return Pow(p("2"), x, mode...) }, p("-65"), p("0"), p("0")},
	} {
		if got, err := c.f(c.x); got != c.near || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if got, err := c.f(c.x, TowardZero); got != c.under || err != nil {
			t.Errorf("%s, toward zero: %v, %v", c.name, got, err)
		}
	}
}

func TestDomains(t *testing.T) {
	p := func(s string) FP16x16 { x, _ := Parse[FP16x16](s); return x }
	pow := func(y string) func(FP16x16, ...Mode) (FP16x16, error) {
		return func(x FP16x16, mode ...Mode) (FP16x16, error) { return Pow(x, p(y), mode...) }
	}
	for _, c := range []struct {
		f    func(FP16x16, ...Mode) (FP16x16, error)
		x    string
		want error
	}{
		{Log[FP16x16], "0", ErrDomain}, {Log2[FP16x16], "-1", ErrDomain}, {Log10[FP16x16], "0", ErrDomain},
		{Asin[FP16x16], "1.00002", ErrDomain}, {Asin[FP16x16], "-1", nil}, {Acos[FP16x16], "-1.00002", ErrDomain}, {Acos[FP16x16], "-1", nil},
		{Atanh[FP16x16], "1", ErrDomain}, {Atanh[FP16x16], "-1", ErrDomain}, {Atanh[FP16x16], "0.99998", nil},
		{Acosh[FP16x16], "0.99998", ErrDomain}, {Acosh[FP16x16], "-32768", ErrDomain}, {Sqrt[FP16x16], "-1", ErrDomain},
		{Reciprocal[FP16x16], "0", ErrDomain}, {Exp2[FP16x16], "15", ErrOverflow},
		{pow("-1"), "0", ErrDomain}, {pow("0.5"), "-4", ErrDomain}, {pow("0.5"), "0", nil}, {pow("3"), "-100", ErrOverflow}, {pow("32767.5"), "1.5", ErrOverflow},
		{pow("-32767.5"), "1.5", nil}, {Exp[FP16x16], "32767", ErrOverflow}, {Sinh[FP16x16], "-32768", ErrOverflow}, {Tan[FP16x16], "1.5708", ErrOverflow},
	} {
		y, err := c.f(p(c.x), Wrap)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("f(%s) = %v, %v, want %v", c.x, y, err, c.want)
		}
		_, err = c.f(p(c.x), Saturate)
		if c.want == ErrOverflow && err != nil || c.want == ErrDomain && err == nil {
			t.Errorf("f(%s) saturated: %v", c.x, err)
		}
	}
}

func BenchmarkFunctions(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var words [1024]FP16x16
	for i := range words {
		words[i].bits = int32(r.Uint32()) >> 13 // ±4
	}
	var wide [1024]FP32x32
	for i := range wide {
		wide[i].bits = int64(r.Uint64()) >> 29
	}
	var widest [1024]FP64x64
	for i := range widest {
		widest[i].bits = Int128{int64(r.Uint64()) >> 61, r.Uint64()}
	}
	run := func(name string, f func(i int)) {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				f(i & 1023)
			}
		})
	}
	next := func(i int) int { return (i + 7) & 1023 }
	run("Add/FP16x16", func(i int) { Add(words[i], words[next(i)], Saturate) })
	run("Mul/FP16x16", func(i int) { Mul(words[i], words[next(i)], Saturate) })
	run("Div/FP16x16", func(i int) { Div(words[i], words[next(i)], Saturate) })
	run("Sqrt/FP16x16", func(i int) { Sqrt(words[i], Saturate) })
	run("Mul/FP32x32", func(i int) { Mul(wide[i], wide[next(i)], Saturate) })
	run("Div/FP32x32", func(i int) { Div(wide[i], wide[next(i)], Saturate) })
	run("Sqrt/FP32x32", func(i int) { Sqrt(wide[i], Saturate) })
	run("Mul/FP64x64", func(i int) { Mul(widest[i], widest[next(i)], Saturate) })
	run("Div/FP64x64", func(i int) { Div(widest[i], widest[next(i)], Saturate) })
	run("Sqrt/FP64x64", func(i int) { Sqrt(widest[i], Saturate) })
	for _, fn := range functions {
		name := fn.name
		run(name+"/FP16x16", func(i int) { call(fn, words[i], nil) })
		run(name+"/FP32x32", func(i int) { call(fn, wide[i], nil) })
		run(name+"/FP64x64", func(i int) { call(fn, widest[i], nil) })
	}
	run("Pow/FP16x16", func(i int) { Pow(words[i], words[next(i)], Saturate) })
	run("String/FP16x16", func(i int) { _ = words[i].String() })
}
