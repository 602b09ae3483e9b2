package fixed

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// forFormats runs a test for each fixed-point type.
func forFormats(t *testing.T, a func(*testing.T, calls[FP8x23]), b func(*testing.T, calls[FP16x16]), c func(*testing.T, calls[FP32x32]), d func(*testing.T, calls[FP64x64])) {
	t.Run("FP8x23", func(t *testing.T) { a(t, calls[FP8x23]{}) })
	t.Run("FP16x16", func(t *testing.T) { b(t, calls[FP16x16]{}) })
	t.Run("FP32x32", func(t *testing.T) { c(t, calls[FP32x32]{}) })
	t.Run("FP64x64", func(t *testing.T) { d(t, calls[FP64x64]{}) })
}

type calls[T Number] struct{}

// draw returns a number of T, those next to powers of two often.
func (calls[T]) draw(t *rapid.T, label string) T {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 1))
	return fromWord[T](someWord(r, formatOf[T]()))
}

func (calls[T]) unit() *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), unit(formatOf[T]().frac))
}

// value returns x, exactly.
func (c calls[T]) value(x T) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(wordOf(x).Big()), c.unit())
}

// check compares a result, and its error, with the exact value it is to be rounded from.
func (c calls[T]) check(t *rapid.T, what string, f func(mode ...Mode) (T, error), exact *big.Rat) {
	format := formatOf[T]()
	units := new(big.Rat).Quo(exact, c.unit())
	for mode := range Wrap << 1 {
		want := roundRat(units, mode)
		first, last := format.last(true).Big(), format.last(false).Big()
		fails := false
		switch {
		case want.Cmp(first) >= 0 && want.Cmp(last) <= 0:
		case mode&Wrap != 0:
			want.And(want, new(big.Int).Sub(unit(format.width), big.NewInt(1)))
			if want.Bit(int(format.width)-1) == 1 {
				want.Sub(want, unit(format.width))
			}
		case mode&Saturate != 0 && want.Sign() < 0:
			want = first
		case mode&Saturate != 0:
			want = last
		default:
			fails = true
		}
		got, err := f(mode)
		if fails != errors.Is(err, ErrOverflow) || err != nil && !fails {
			t.Fatalf("%s, mode %d: error %v, want an overflow: %v", what, mode, err, fails)
		}
		if !fails && wordOf(got).Big().Cmp(want) != 0 {
			t.Fatalf("%s, mode %d: got %v units, want %v", what, mode, wordOf(got), want)
		}
	}
}

// roundRat rounds to nearest even, or toward zero.
func roundRat(r *big.Rat, mode Mode) *big.Int {
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	cmp := rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom())
	if mode&TowardZero == 0 && (cmp > 0 || cmp == 0 && n.Bit(0) == 1) {
		n.Add(n, big.NewInt(int64(r.Sign())))
	}
	return n
}

func TestArithmetic(t *testing.T) {
	forFormats(t, testArithmetic[FP8x23], testArithmetic[FP16x16], testArithmetic[FP32x32], testArithmetic[FP64x64])
}

func testArithmetic[T Number](t *testing.T, c calls[T]) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := c.draw(t, "x"), c.draw(t, "y")
		a, b := c.value(x), c.value(y)
		two := func(f func(x, y T, mode ...Mode) (T, error)) func(...Mode) (T, error) {
			return func(mode ...Mode) (T, error) { return f(x, y, mode...) }
		}
		one := func(f func(x T, mode ...Mode) (T, error)) func(...Mode) (T, error) {
			return func(mode ...Mode) (T, error) { return f(x, mode...) }
		}
		c.check(t, "x+y", two(Add[T]), new(big.Rat).Add(a, b))
		c.check(t, "x-y", two(Sub[T]), new(big.Rat).Sub(a, b))
		c.check(t, "xy", two(Mul[T]), new(big.Rat).Mul(a, b))
		c.check(t, "-x", one(Neg[T]), new(big.Rat).Neg(a))
		c.check(t, "|x|", one(Abs[T]), new(big.Rat).Abs(a))
		if got := Compare(x, y); got != a.Cmp(b) {
			t.Fatalf("Compare is %d", got)
		}
		if b.Sign() == 0 {
			if _, err := Div(x, y, Saturate|Wrap); !errors.Is(err, ErrDomain) {
				t.Fatalf("x/0: %v", err)
			}
			if _, err := Rem(x, y); !errors.Is(err, ErrDomain) {
				t.Fatalf("x%%0: %v", err)
			}
		} else {
			q := new(big.Rat).Quo(a, b)
			c.check(t, "x/y", two(Div[T]), q)
			whole := roundRat(q, TowardZero)
			want := new(big.Rat).Sub(a, q.Mul(b, q.SetInt(whole)))
			if got, err := Rem(x, y); err != nil || c.value(got).Cmp(want) != 0 {
				t.Fatalf("x%%y = %v, %v, want %v", got, err, want)
			}
		}
		if a.Sign() != 0 {
			c.check(t, "1/x", one(Reciprocal[T]), new(big.Rat).Inv(a))
		}
	})
}

// A root is right if its square and those of the halves next to it lie around x.
func TestSqrt(t *testing.T) {
	forFormats(t, testSqrt[FP8x23], testSqrt[FP16x16], testSqrt[FP32x32], testSqrt[FP64x64])
}

func testSqrt[T Number](t *testing.T, c calls[T]) {
	f := formatOf[T]()
	rapid.Check(t, func(t *rapid.T) {
		x := c.draw(t, "x")
		n := wordOf(x).Big()
		if n.Sign() < 0 {
			if _, err := Sqrt(x); !errors.Is(err, ErrDomain) {
				t.Fatal(err)
			}
			return
		}
		n.Lsh(n, f.frac+2) // four times the square of the root in units
		for _, mode := range []Mode{0, TowardZero} {
			y, err := Sqrt(x, mode)
			if err != nil {
				t.Fatal(err)
			}
			low := wordOf(y).Big()
			low.Lsh(low, 1)
			high := new(big.Int).Add(low, big.NewInt(2))
			if mode == 0 {
				low.Sub(low, big.NewInt(1))
				high.Sub(high, big.NewInt(1))
			}
			if wordOf(y).isZero() {
				low.SetInt64(0)
			}
			if low.Mul(low, low).Cmp(n) > 0 || high.Mul(high, high).Cmp(n) <= 0 {
				t.Fatalf("the root of %v is not %v, mode %d", x, y, mode)
			}
		}
	})
}

func TestConversions(t *testing.T) {
	forFormats(t, testConversions[FP8x23], testConversions[FP16x16], testConversions[FP32x32], testConversions[FP64x64])
}

func testConversions[T Number](t *testing.T, c calls[T]) {
	rapid.Check(t, func(t *rapid.T) {
		x := c.draw(t, "x")
		v := c.value(x)
		// To other formats, and back to this one from them.
		calls[FP8x23]{}.check(t, "to FP8x23", func(mode ...Mode) (FP8x23, error) { return Convert[FP8x23](x, mode...) }, v)
		calls[FP16x16]{}.check(t, "to FP16x16", func(mode ...Mode) (FP16x16, error) { return Convert[FP16x16](x, mode...) }, v)
		calls[FP32x32]{}.check(t, "to FP32x32", func(mode ...Mode) (FP32x32, error) { return Convert[FP32x32](x, mode...) }, v)
		calls[FP64x64]{}.check(t, "to FP64x64", func(mode ...Mode) (FP64x64, error) { return Convert[FP64x64](x, mode...) }, v)
		// Floats.
		var f64 float64
		var f32 float32
		switch x := any(x).(type) {
		case FP8x23:
			f64, f32 = x.Float64(), x.Float32()
		case FP16x16:
			f64, f32 = x.Float64(), x.Float32()
		case FP32x32:
			f64, f32 = x.Float64(), x.Float32()
		case FP64x64:
			f64, f32 = x.Float64(), x.Float32()
		}
		if want, _ := v.Float64(); f64 != want || math.Signbit(f64) != (v.Sign() < 0) {
			t.Fatalf("%v as a float64 is %v, want %v", x, f64, want)
		}
		if want, _ := v.Float32(); f32 != want {
			t.Fatalf("%v as a float32 is %v, want %v", x, f32, want)
		}
		e := rapid.IntRange(-140, 100).Draw(t, "e")
		f64 = math.Ldexp(float64(rapid.Int64().Draw(t, "m")>>rapid.IntRange(0, 63).Draw(t, "shift")), e)
		c.check(t, "from float64", func(mode ...Mode) (T, error) { return FromFloat64[T](f64, mode...) }, new(big.Rat).SetFloat64(f64))
		// Integers.
		n := rapid.Int64().Draw(t, "n")
		c.check(t, "from int64", func(mode ...Mode) (T, error) { return FromInt64[T](n, mode...) }, new(big.Rat).SetInt64(n))
		for _, mode := range []Mode{0, TowardZero, Saturate, Wrap} {
			want := roundRat(v, mode)
			got, err := ToInt64(x, mode)
			switch {
			case want.IsInt64():
			case mode == Saturate:
				want = big.NewInt(math.MaxInt64)
			case mode == Wrap:
				want = big.NewInt(math.MinInt64)
			default:
				if !errors.Is(err, ErrOverflow) {
					t.Fatalf("%v as an int64 is %v, %v", x, got, err)
				}
				continue
			}
			if err != nil || got != want.Int64() {
				t.Fatalf("%v as an int64 is %v, %v, want %v", x, got, err, want)
			}
		}
	})
	for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
		if _, err := FromFloat64[T](v, Wrap); !errors.Is(err, ErrOverflow) {
			t.Errorf("%v: %v", v, err)
		}
		if x, err := FromFloat64[T](v, Saturate); err != nil || wordOf(x) != formatOf[T]().last(v < 0) {
			t.Errorf("%v saturates to %v, %v", v, x, err)
		}
	}
	if _, err := FromFloat64[T](math.NaN(), Saturate); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	if x, err := FromFloat64[T](5e-324); err != nil || !wordOf(x).isZero() {
		t.Error(x, err)
	}
}

func TestText(t *testing.T) {
	forFormats(t, testText[FP8x23], testText[FP16x16], testText[FP32x32], testText[FP64x64])
}

func testText[T Number](t *testing.T, c calls[T]) {
	f := formatOf[T]()
	rapid.Check(t, func(t *rapid.T) {
		x := c.draw(t, "x")
		short := Format(x, -1)
		if back, err := Parse[T](short); err != nil || back != x {
			t.Fatalf("%q is read as %v, %v", short, back, err)
		}
		if _, part, ok := strings.Cut(short, "."); ok {
			if back, err := Parse[T](Format(x, len(part)-1)); err == nil && back == x {
				t.Fatalf("%q has a digit too many", short)
			}
		}
		exact, ok := new(big.Rat).SetString(Format(x, int(f.frac)))
		if !ok || exact.Cmp(c.value(x)) != 0 {
			t.Fatalf("%v with %d digits is %q", x, f.frac, Format(x, int(f.frac)))
		}
		// Any decimal is rounded once, halves of a unit too.
		half := new(big.Rat).Add(c.value(x), new(big.Rat).Mul(c.unit(), big.NewRat(rapid.Int64Range(-2, 2).Draw(t, "halves"), 2)))
		s := half.FloatString(int(f.frac) + 1)
		if d := rapid.IntRange(0, 90).Draw(t, "zeros"); rapid.Bool().Draw(t, "above") {
			s += strings.Repeat("0", d) + "1"
		}
		v, _ := new(big.Rat).SetString(s)
		c.check(t, s, func(mode ...Mode) (T, error) { return Parse[T](s, mode...) }, v)
	})
	for _, s := range []string{"", "-", ".", "+.", "1.2.3", "1e", "1e+", "e5", "1e5.5", "0x10", "NaN", "Inf", "1_000", " 1", "1 ", "--1", "1e1e1", "٣"} {
		if x, err := Parse[T](s, Saturate, Wrap); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q is read as %v, %v", s, x, err)
		}
	}
	for _, s := range []string{"1e99999999999999999999", "-1e999999999", strings.Repeat("9", 1000)} {
		if x, err := Parse[T](s); !errors.Is(err, ErrOverflow) {
			t.Errorf("%q is read as %v, %v", s, x, err)
		}
		if x, err := Parse[T](s, Saturate); err != nil || wordOf(x) != f.last(s[0] == '-') {
			t.Errorf("%q is read as %v, %v", s, x, err)
		}
	}
	for _, s := range []string{"0", "-0", "+0.000", "0e999999999", "1e-99999999999999999999", ".0", "0.", "00000000000000000000000000000000000000000000000000000000000000000"} {
		if x, err := Parse[T](s); err != nil || !wordOf(x).isZero() {
			t.Errorf("%q is read as %v, %v", s, x, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-12.5", "1e-3", ".5", "255.99999999999", "1e400", "-0.0000152587890625", "9223372036854775807.9999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse[FP64x64](s)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%T", err)
			}
			return
		}
		if back, err := Parse[FP64x64](x.String()); err != nil || back != x {
			t.Fatalf("%q is %v, which is read as %v, %v", s, x, back, err)
		}
	})
}

func TestInt128(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Int128{rapid.Int64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
		if back, ok := Int128FromBig(x.Big()); !ok || back != x || x.String() != x.Big().String() {
			t.Fatalf("%v comes back as %v, %v", x, back, ok)
		}
		far := x.Big()
		far.Add(far, unit(128+uint(rapid.IntRange(0, 9).Draw(t, "n"))))
		if back, ok := Int128FromBig(far); ok || back != x {
			t.Fatalf("%v is %v, %v", far, back, ok)
		}
	})
}

// Arithmetic and functions don't allocate, where their first approximation settles it.
func TestAllocations(t *testing.T) {
	wide := FP64x64FromBits(Int128{1, 1 << 60})
	for _, fn := range functions {
		call(fn, wide, nil) // makes tables
		small := FP64x64FromBits(Int128{0, 1<<63 + 12345})
		if fn == &acoshFunc {
			small = wide
		}
		if n := testing.AllocsPerRun(10, func() {
			call(fn, small, nil)
			if fn.defined == nil {
				call(fn, wide, nil)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", fn.name, n)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		Div(wide, wide)
		Sqrt(wide)
		Pow(wide, wide)
	}); n != 0 {
		t.Errorf("FP64x64: %v allocations", n)
	}
	x, y := FP16x16FromBits(70000), FP16x16FromBits(-3)
	z := FP32x32FromBits(1 << 40)
	if n := testing.AllocsPerRun(100, func() {
		Add(x, y)
		Mul(x, y, TowardZero, Saturate)
		Div(x, y)
		Sqrt(x)
		Exp(x)
		Sin(y)
		Pow(x, y)
		Mul(z, z, Saturate)
		Div(z, z)
		_ = x.Float64()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
