package float

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/exact"

	"github.com/ashlar-go/ashlar/num"
)

var minus0 = math.Copysign(0, -1)

// Functions of one argument. conformance/verify checks the float32 ones on all inputs and measures the others on many; here is a sample.
var unary = []struct {
	name  string
	f32   func(float32) float32
	f64   func(float64) float64
	exact func(float64) *big.Float
	from  float64 // the range in which exact works, and the value isn't trivial
	to    float64
	// what f gives for 0, -0, +Inf and -Inf; it gives the canonical NaN for any NaN
	zero, minusZero, inf, minusInf float64
}{
	{"Exp", Exp32, Exp64, func(x float64) *big.Float { return exact.Exp(exact.New(x)) }, -745, 709, 1, 1, math.Inf(1), 0},
	{"Log", Log32, Log64, exact.Log, 1e-310, 1e308, math.Inf(-1), math.Inf(-1), math.Inf(1), math.NaN()},
	{"Tanh", Tanh32, Tanh64, exact.Tanh, -20, 20, 0, math.Copysign(0, -1), 1, -1},
	{"Sigmoid", Sigmoid32, Sigmoid64, exact.Sigmoid, -745, 40, 0.5, 0.5, 1, 0},
	{"Erf", Erf32, Erf64, exact.Erf, -6, 6, 0, math.Copysign(0, -1), 1, -1},
	{"Exp2x", Exp2x32, Exp2x64, exact.Exp2, -1074, 1023.9, 1, 1, math.Inf(1), 0},
	{"Expm1x", Expm1x32, Expm1x64, exact.Expm1, -40, 709, 0, minus0, math.Inf(1), -1},
	{"Log2x", Log2x32, Log2x64, exact.Log2, 1e-310, 1e308, math.Inf(-1), math.Inf(-1), math.Inf(1), math.NaN()},
	{"Log10x", Log10x32, Log10x64, exact.Log10, 1e-310, 1e308, math.Inf(-1), math.Inf(-1), math.Inf(1), math.NaN()},
	{"Log1p", Log1p32, Log1p64, exact.Log1p, -0.999999, 1e308, 0, minus0, math.Inf(1), math.NaN()},
	{"Sin", Sin32, Sin64, exact.Sin, -1e5, 1e5, 0, minus0, math.NaN(), math.NaN()},
	{"Cos", Cos32, Cos64, exact.Cos, -1e5, 1e5, 1, 1, math.NaN(), math.NaN()},
	{"Tan", Tan32, Tan64, exact.Tan, -1e5, 1e5, 0, minus0, math.NaN(), math.NaN()},
	{"Asin", Asin32, Asin64, exact.Asin, -0.9999999, 0.9999999, 0, minus0, math.NaN(), math.NaN()},
	{"Acos", Acos32, Acos64, exact.Acos, -0.9999999, 0.9999999, math.Pi / 2, math.Pi / 2, math.NaN(), math.NaN()},
	{"Atan", Atan32, Atan64, exact.Atan, -1e300, 1e300, 0, minus0, math.Pi / 2, -math.Pi / 2},
	{"Sinh", Sinh32, Sinh64, exact.Sinh, -710, 710, 0, minus0, math.Inf(1), math.Inf(-1)},
	{"Cosh", Cosh32, Cosh64, exact.Cosh, -710, 710, 1, 1, math.Inf(1), math.Inf(1)},
	{"Asinh", Asinh32, Asinh64, exact.Asinh, -1e300, 1e300, 0, minus0, math.Inf(1), math.Inf(-1)},
	{"Acosh", Acosh32, Acosh64, exact.Acosh, 1.0000001, 1e308, math.NaN(), math.NaN(), math.Inf(1), math.NaN()},
	{"Atanh", Atanh32, Atanh64, exact.Atanh, -0.9999999, 0.9999999, 0, minus0, math.NaN(), math.NaN()},
	{"Cbrt", Cbrt32, Cbrt64, exact.Cbrt, -1e300, 1e300, 0, minus0, math.Inf(1), math.Inf(-1)},
	{"Rsqrt", Rsqrt32, Rsqrt64, exact.Rsqrt, 1e-310, 1e308, math.Inf(1), math.Inf(-1), 0, math.NaN()},
	{"Softplus", Softplus32, Softplus64, exact.Softplus, -745, 100, math.Ln2, math.Ln2, math.Inf(1), 0},
	{"Mish", Mish32, Mish64, exact.Mish, -745, 100, 0, minus0, math.Inf(1), minus0},
	{"Gelu", Gelu32, Gelu64, exact.Gelu, -38, 20, 0, minus0, math.Inf(1), minus0},
	{"GeluTanh", GeluTanh32, GeluTanh64, exact.GeluTanh, -21.4, 20, 0, minus0, math.Inf(1), minus0},
}

// within draws a number of the range: half of them evenly, half by exponent.
func within(r *rand.Rand, from, to float64) float64 {
	for {
		x := from + float64(r.Float64()*(to-from)) // not fused, so that TestSameBits has the same arguments everywhere
		if r.IntN(2) == 0 {
			x = math.Ldexp(1+r.Float64(), r.IntN(100)-90)
			if r.IntN(2) == 0 {
				x = -x
			}
		}
		if x >= from && x <= to {
			return x
		}
	}
}

func TestUnarySpecial(t *testing.T) {
	for _, f := range unary {
		for _, c := range []struct{ x, want float64 }{
			{0, f.zero}, {math.Copysign(0, -1), f.minusZero}, {math.Inf(1), f.inf}, {math.Inf(-1), f.minusInf},
			{math.NaN(), math.NaN()}, {math.Float64frombits(0xfff8000000000123), math.NaN()},
		} {
			want32, want64 := math.Float32bits(float32(c.want)), math.Float64bits(c.want)
			if c.want != c.want {
				want32, want64 = num.Canon32, num.Canon64
			}
			if got := f.f32(float32(c.x)); math.Float32bits(got) != want32 {
				t.Errorf("%s32(%v) = %v (%#x), want %v", f.name, c.x, got, math.Float32bits(got), c.want)
			}
			if got := f.f64(c.x); math.Float64bits(got) != want64 {
				t.Errorf("%s64(%v) = %v (%#x), want %v", f.name, c.x, got, math.Float64bits(got), c.want)
			}
		}
	}
	if x := math.Float32bits(Log32(-1)); x != num.Canon32 {
		t.Errorf("Log32(-1) = %#x", x)
	}
	if x := math.Float64bits(Log64(-5e-324)); x != num.Canon64 {
		t.Errorf("Log64(-5e-324) = %#x", x)
	}
	for _, c := range []struct{ x, want float32 }{{0, 0}, {float32(math.Copysign(0, -1)), float32(math.Copysign(0, -1))}, {-1, num.NaN32()}, {num.NaN32(), num.NaN32()},
		{float32(math.Inf(1)), float32(math.Inf(1))}, {float32(math.Inf(-1)), num.NaN32()}, {2, 0x1.6a09e6p0}, {0x1p-149, 0x1.6a09e6p-75}, {9, 3}} {
		if got := Sqrt32(c.x); math.Float32bits(got) != math.Float32bits(c.want) {
			t.Errorf("Sqrt32(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}

// The arguments at which a result first becomes 0, 1 or infinite, and the ones before.
func TestUnaryThresholds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		f    func(float32) float32
		last float32 // the last argument, going up in magnitude, before the limit
		end  float32
	}{
		{"Exp32", Exp32, 88.72283, float32(inf)}, {"Exp32", Exp32, -103.97208, 0}, {"Tanh32", Tanh32, 9.010913, 1}, {"Tanh32", Tanh32, -9.010913, -1},
		{"Sigmoid32", Sigmoid32, 17.328678, 1}, {"Sigmoid32", Sigmoid32, -103.97208, 0}, {"Erf32", Erf32, 3.9192057, 1}, {"Erf32", Erf32, -3.9192057, -1},
		{"Expm1x32", Expm1x32, 88.72283, float32(inf)}, {"Expm1x32", Expm1x32, -17.328678, -1}, {"Sinh32", Sinh32, 89.415985, float32(inf)}, {"Cosh32", Cosh32, -89.415985, float32(inf)},
		{"Softplus32", Softplus32, -103.97208, 0},
	} {
		next := math.Nextafter32(c.last, float32(math.Copysign(inf, float64(c.last))))
		if got := c.f(c.last); got == c.end {
			t.Errorf("%s(%v) = %v already", c.name, c.last, got)
		}
		if got := c.f(next); got != c.end {
			t.Errorf("%s(%v) = %v, want %v", c.name, next, got, c.end)
		}
	}
	for _, c := range []struct {
		name string
		f    func(float64) float64
		last float64
		end  float64
	}{
		{"Exp64", Exp64, 709.782712893384, inf}, {"Exp64", Exp64, -745.1332191019411, 0}, {"Tanh64", Tanh64, 19.06154746539849, 1},
		{"Sigmoid64", Sigmoid64, 37.42994775023704, 1}, {"Sigmoid64", Sigmoid64, -745.1332191019411, 0}, {"Erf64", Erf64, 5.921587195794507, 1},
	} {
		next := c.last + math.Copysign(1e-12, c.last) // as far as the decimals and the last roundings reach
		if got := c.f(c.last - math.Copysign(1e-12, c.last)); got == c.end {
			t.Errorf("%s(%v) = %v already", c.name, c.last, got)
		}
		if got := c.f(next); got != c.end {
			t.Errorf("%s(%v) = %v, want %v", c.name, next, got, c.end)
		}
	}
}

func TestUnary(t *testing.T) {
	for _, f := range unary {
		t.Run(f.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(15, 16))
			for range 1200 {
				x := within(r, f.from, f.to)
				if y := float32(x); float64(y) >= f.from && float64(y) <= f.to && (y != 0 || f.zero == 0) {
					want, _ := f.exact(float64(y)).Float32()
					if got := f.f32(y); math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%s32(%x) = %x, want %x", f.name, y, got, want)
					}
				}
				if u := exact.ULP(f.f64(x), f.exact(x), 53, -1074); u > 0.501 {
					t.Fatalf("%s64(%x) = %x: %.4f ulp", f.name, x, f.f64(x), u)
				}
			}
		})
	}
}

// Arguments at which plainer methods go wrong.
func TestHard32(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(float32) float32
		x, out uint32
	}{
		{"Log32", Log32, 0x3c413d3a, 0xc08e158f}, {"Log32", Log32, 0x41178feb, 0x400fe5e7}, {"Log32", Log32, 0x4c5d65a5, 0x418f034b},
		{"Log32", Log32, 0x65d890d3, 0x4254d1f9}, {"Log32", Log32, 0x6f31a8ec, 0x42845a89},
		{"Sigmoid32", Sigmoid32, 0x34c00000, 0x3f000001}, {"Sigmoid32", Sigmoid32, 0x35600000, 0x3f000003}, {"Sigmoid32", Sigmoid32, 0x369c0000, 0x3f000013},
	} {
		if got := math.Float32bits(c.f(math.Float32frombits(c.x))); got != c.out {
			t.Errorf("%s(%#x) = %#x, want %#x", c.name, c.x, got, c.out)
		}
	}
}

// The angles nearest to a multiple of π/2, and others whose reduction is long; the values are by mpmath 1.3.
func TestHardAngles(t *testing.T) {
	const near = 0x1.6ac5b262ca1ffp+849
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Cos64", Cos64(near), -0x1.14ae72e6ba22fp-61}, {"Sin64", Sin64(near), 1}, {"Tan64", Tan64(near), -0x1.d9ba9a7975636p60},
		{"Sin64", Sin64(-near), -1}, {"Sin64", Sin64(math.MaxFloat64), 0x1.452fc98b34e97p-8}, {"Cos64", Cos64(math.MaxFloat64), -0x1.fffe62ecfab75p-1},
		{"Sin64", Sin64(math.Pi), 0x1.1a62633145c07p-53}, {"Sin64", Sin64(0x1p14), -0x1.1eb0412ba4ffdp-1}, {"Sin64", Sin64(0x1.fffffffffffffp13), -0x1.1eb0412ba1af6p-1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %x, want %x", c.name, c.got, c.want)
		}
	}
}

// The cases of C23, Annex F.10.1.4 and F.10.4.4.
func TestAtan2AndHypotSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	const pi = math.Pi
	for _, c := range []struct{ y, x, angle, hypot float64 }{
		{0, 0, 0, 0}, {minus0, 0, minus0, 0}, {0, minus0, pi, 0}, {minus0, minus0, -pi, 0}, {0, 3, 0, 3}, {minus0, 3, minus0, 3}, {0, -3, pi, 3}, {minus0, -3, -pi, 3},
		{2, 0, pi / 2, 2}, {2, minus0, pi / 2, 2}, {-2, 0, -pi / 2, 2}, {inf, 1, pi / 2, inf}, {-inf, -1, -pi / 2, inf}, {1, inf, 0, inf}, {-1, inf, minus0, inf},
		{1, -inf, pi, inf}, {-1, -inf, -pi, inf}, {inf, inf, pi / 4, inf}, {-inf, inf, -pi / 4, inf}, {inf, -inf, 3 * pi / 4, inf}, {-inf, -inf, -3 * pi / 4, inf},
		{nan, 1, nan, nan}, {1, nan, nan, nan}, {nan, inf, nan, inf}, {-inf, nan, nan, inf}, {0x1p-1074, -1, pi, 1}, {1, 1, pi / 4, math.Sqrt2},
		{0x1p-140, 0x1p-140, pi / 4, 0x1.6a09e667f3bcdp-140}, {0x1p-149, 0x1p127, 0, 0x1p127}, {3, 4, 0x1.4978fa3269ee1p-1, 5},
	} {
		same32 := func(got float32, want float64) bool {
			return math.Float32bits(got) == math.Float32bits(float32(want)) || want != want && math.Float32bits(got) == num.Canon32
		}
		same64 := func(got, want float64) bool {
			return math.Float64bits(got) == math.Float64bits(want) || want != want && math.Float64bits(got) == num.Canon64
		}
		if got := Atan2x64(c.y, c.x); !same64(got, c.angle) && !(c.x == 0x1p127) {
			t.Errorf("Atan2x64(%v, %v) = %v, want %v", c.y, c.x, got, c.angle)
		}
		if got := Hypot64(c.y, c.x); !same64(got, c.hypot) {
			t.Errorf("Hypot64(%v, %v) = %v, want %v", c.y, c.x, got, c.hypot)
		}
		if got := Atan2x32(float32(c.y), float32(c.x)); !same32(got, c.angle) && !(c.y == 0x1p-1074) {
			t.Errorf("Atan2x32(%v, %v) = %v, want %v", c.y, c.x, got, c.angle)
		}
		if got := Hypot32(float32(c.y), float32(c.x)); !same32(got, c.hypot) {
			t.Errorf("Hypot32(%v, %v) = %v, want %v", c.y, c.x, got, c.hypot)
		}
	}
	if got := Hypot64(0x1p1023, 0x1p1023); got != 0x1.6a09e667f3bcdp1023 {
		t.Errorf("Hypot64 at the end of the range: %x", got)
	}
	if got := Hypot64(0x1.8p1023, 0x1.8p1023); got != inf {
		t.Errorf("Hypot64 beyond it: %x", got)
	}
	if got := Atan2x64(0x1p-1074, 0x1p-1073); got != 0x1.dac670561bb4fp-2 {
		t.Errorf("Atan2x64 of subnormal numbers: %x", got)
	}
	for n := -20; n <= 20; n++ {
		if got := Exp2x64(float64(n)); got != math.Ldexp(1, n) {
			t.Errorf("Exp2x64(%d) = %v", n, got)
		}
		if got := Log2x64(math.Ldexp(1, n)); got != float64(n) {
			t.Errorf("Log2x64(2^%d) = %v", n, got)
		}
	}
	for n, p := 0, 1.0; n <= 22; n, p = n+1, p*10 {
		if got := Log10x64(p); got != float64(n) {
			t.Errorf("Log10x64(1e%d) = %v", n, got)
		}
	}
	for n := float64(-30); n <= 30; n++ {
		if got := Cbrt64(n * n * n); got != n {
			t.Errorf("Cbrt64(%v³) = %v", n, got)
		}
	}
}

// Pairs at random: [conformance/verify] draws more.
func TestTwoArguments(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 2000 {
		y, x := within(r, -1e6, 1e6), within(r, -1e6, 1e6)
		if u := exact.ULP(Atan2x64(y, x), exact.Atan2(y, x), 53, -1074); u > 0.501 {
			t.Fatalf("Atan2x64(%x, %x) = %x: %.4f ulp", y, x, Atan2x64(y, x), u)
		}
		if u := exact.ULP(Hypot64(y, x), exact.Hypot(y, x), 53, -1074); u > 0.501 {
			t.Fatalf("Hypot64(%x, %x) = %x: %.4f ulp", y, x, Hypot64(y, x), u)
		}
		p, q := float32(y), float32(x)
		if want, _ := exact.Hypot(float64(p), float64(q)).Float32(); Hypot32(p, q) != want {
			t.Fatalf("Hypot32(%x, %x) = %x, want %x", p, q, Hypot32(p, q), want)
		}
		if want, _ := exact.Atan2(float64(p), float64(q)).Float32(); Atan2x32(p, q) != want {
			t.Fatalf("Atan2x32(%x, %x) = %x, want %x", p, q, Atan2x32(p, q), want)
		}
	}
}

func TestPowSpecial(t *testing.T) {
	inf, nan, zero, minus := math.Inf(1), math.NaN(), 0.0, math.Copysign(0, -1)
	for _, c := range []struct{ x, y, want float64 }{
		{nan, 0, 1}, {inf, minus, 1}, {1, nan, 1}, {1, inf, 1}, {nan, 1, nan}, {2, nan, nan}, {0, nan, nan},
		{-1, inf, 1}, {-1, -inf, 1}, {2, inf, inf}, {2, -inf, 0}, {0.5, inf, 0}, {0.5, -inf, inf}, {-2, inf, inf}, {-0.5, -inf, inf}, {0, inf, 0}, {minus, -inf, inf}, {-inf, inf, inf},
		{zero, 3, 0}, {minus, 3, minus}, {minus, 2, 0}, {minus, 2.5, 0}, {zero, -3, inf}, {minus, -3, -inf}, {minus, -2, inf}, {minus, -0.5, inf},
		{inf, 0.5, inf}, {inf, -0.5, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {-inf, -3, minus}, {-inf, -2, 0},
		{-8, 1.0 / 3, nan}, {-2, 3, -8}, {-2, 2, 4}, {-2, -1, -0.5}, {3, 1, 3}, {-3, 1, -3}, {9, 0.5, 3}, {2, 10, 1024}, {10, 2, 100}, {7, -1, 1.0 / 7},
		{2, -149, 0x1p-149}, {2, 2000, inf}, {-2, 2001, -inf}, {2, -2000, 0}, {-2, -2001, minus}, {1.5, 1e30, inf}, {1.5, -1e30, 0}, {-1, 1e30, 1}, {-1, 3, -1}, {5, 1e-40, 1},
	} {
		for _, g := range []struct {
			name string
			got  float64
			nan  bool
		}{
			{"Pow64", Pow64(c.x, c.y), math.Float64bits(Pow64(c.x, c.y)) == num.Canon64},
			{"Pow32", float64(Pow32(float32(c.x), float32(c.y))), math.Float32bits(Pow32(float32(c.x), float32(c.y))) == num.Canon32},
		} {
			want := c.want
			if g.name == "Pow32" {
				if float64(float32(c.y)) != c.y && c.x == -8 {
					continue
				}
				want = float64(float32(want))
			}
			if want != want && !g.nan || want == want && math.Float64bits(g.got) != math.Float64bits(want) {
				t.Errorf("%s(%v, %v) = %v, want %v", g.name, c.x, c.y, g.got, want)
			}
		}
	}
	if got := Pow64(2, -1074); got != 5e-324 {
		t.Errorf("Pow64(2, -1074) = %v", got)
	}
}

func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for i := range 6000 {
		x := math.Exp(r.NormFloat64() * 5)
		if i%3 == 0 {
			x = 1 + math.Ldexp(r.Float64()-0.5, -r.IntN(20))
		}
		y := (r.Float64()*1400 - 720) / math.Log(x)
		if i%2 == 0 {
			x = float64(float32(x))
			y = float64(float32((r.Float64()*180 - 95) / math.Log(x)))
		}
		if x == 1 || math.IsInf(y, 0) {
			continue
		}
		want := exact.Pow(x, y)
		if i%2 == 0 {
			w, _ := want.Float32()
			if got := Pow32(float32(x), float32(y)); got != w {
				t.Fatalf("Pow32(%x, %x) = %x, want %x", x, y, got, w)
			}
		}
		if u := exact.ULP(Pow64(x, y), want, 53, -1074); u > 0.501 {
			t.Fatalf("Pow64(%x, %x) = %x: %.4f ulp", x, y, Pow64(x, y), u)
		}
	}
	// Powers that are exactly halfway between two float32, or a float32.
	halfway := 0
	for range 20000 {
		x := float32(1<<12 + 1 + 2*r.IntN(1<<12))
		x *= float32(math.Ldexp(1, r.IntN(20)-10))
		square := float64(x) * float64(x) // 25 or 26 bits
		if math.Float64bits(square)&(1<<29-1) == 1<<28 {
			halfway++
		}
		if got := Pow32(x, 2); got != float32(square) {
			t.Fatalf("Pow32(%v, 2) = %v, want %v", x, got, float32(square))
		}
	}
	if halfway < 1000 {
		t.Errorf("only %d squares were halfway", halfway)
	}
}

// The bits of the float64 functions, which are fixed sequences of operations: they must be these on every machine.
func TestSameBits(t *testing.T) {
	digest := func(f func(r *rand.Rand) float64) uint64 {
		h := uint64(0xcbf29ce484222325)
		r := rand.New(rand.NewPCG(19, 20))
		for range 20000 {
			b := math.Float64bits(f(r))
			h = (h ^ b ^ b>>29) * 0x100000001b3
		}
		return h
	}
	got := map[string]uint64{}
	for _, f := range unary {
		got[f.name+"64"] = digest(func(r *rand.Rand) float64 { return f.f64(within(r, f.from, f.to)) })
		got[f.name+"32"] = digest(func(r *rand.Rand) float64 { return float64(f.f32(math.Float32frombits(r.Uint32()))) })
	}
	got["Pow64"] = digest(func(r *rand.Rand) float64 { return Pow64(within(r, 1e-300, 1e300), within(r, -700, 700)) })
	got["Pow32"] = digest(func(r *rand.Rand) float64 {
		return float64(Pow32(math.Float32frombits(r.Uint32()>>1), float32(within(r, -10, 10))))
	})
	got["FMA32"] = digest(func(r *rand.Rand) float64 {
		a, b, c := fmaCase(r, 24, -126, 127)
		return float64(FMA32(float32(a), float32(b), float32(c)))
	})
	got["FMA64"] = digest(func(r *rand.Rand) float64 { return FMA64(fmaCase(r, 53, -1022, 1023)) })
	got["Atan2x64"] = digest(func(r *rand.Rand) float64 { return Atan2x64(within(r, -1e9, 1e9), within(r, -1e9, 1e9)) })
	got["Hypot64"] = digest(func(r *rand.Rand) float64 { return Hypot64(within(r, -1e9, 1e9), within(r, -1e9, 1e9)) })
	for name, want := range sameBits {
		if got[name] != want {
			t.Errorf("%q: %#x,", name, got[name])
		}
		delete(got, name)
	}
	for name, h := range got {
		t.Errorf("%q: %#x,", name, h)
	}
}

var sameBits = map[string]uint64{
	"Acos32":     0xb101b95aef8f8dd9,
	"Acos64":     0x6d7fa70d5dbc3c46,
	"Acosh32":    0x45770ece76973337,
	"Acosh64":    0x6ca623ef88f64bf4,
	"Asin32":     0x786b02ee8cec0ee0,
	"Asin64":     0x6378c40a3e8712c4,
	"Asinh32":    0xee60f87f5abf0b64,
	"Asinh64":    0x3d424b62b5826325,
	"Atan2x64":   0x877870265344ca96,
	"Atan32":     0x332080300d49762,
	"Atan64":     0xb2c77c3626d7f16e,
	"Atanh32":    0xfc683deeacb88d89,
	"Atanh64":    0x6dad079097efcda6,
	"Cbrt32":     0xf62e71ee7c459c3,
	"Cbrt64":     0xcda45e73e671a927,
	"Cos32":      0x24f22d13617c1135,
	"Cos64":      0x2641ef03207d919b,
	"Cosh32":     0xadaf73aaff934b17,
	"Cosh64":     0x6a7274b8b07ddaf0,
	"Erf32":      0x93e11e4db104caa4,
	"Erf64":      0xbfa45fbd9553a5b9,
	"Exp2x32":    0xf4974f80d563843a,
	"Exp2x64":    0x31092d2a519e5c2b,
	"Exp32":      0x55e2cb341187dbd5,
	"Exp64":      0x3dc0162c302fa61f,
	"Expm1x32":   0xe0b859fdcdea12e3,
	"Expm1x64":   0x6709f7e94cd81eef,
	"FMA32":      0x9d49a2c3f89da205,
	"FMA64":      0xfcb6a417c13fdbd7,
	"Gelu32":     0x6ea4877b9faab09d,
	"Gelu64":     0x3113df6c0ab92c7c,
	"GeluTanh32": 0x1f67631616c32138,
	"GeluTanh64": 0x5a1d76c13a738a11,
	"Hypot64":    0x3396bf89c61dc618,
	"Log10x32":   0xc8ea9808dab107d5,
	"Log10x64":   0x285ade38492c3cef,
	"Log1p32":    0x77efad08dc6bd965,
	"Log1p64":    0xb43c578d2b8084f5,
	"Log2x32":    0xc1a6b48b2813b2b0,
	"Log2x64":    0xfed80fb527ab7d2e,
	"Log32":      0x7e7e9bc089ad4176,
	"Log64":      0x9486b582ddc61588,
	"Mish32":     0x8edc814d177735fe,
	"Mish64":     0xbd5e83d6ddf202a2,
	"Pow32":      0x3b81741069508b53,
	"Pow64":      0xbc949ab4bf140d88,
	"Rsqrt32":    0x99c5e3662cc6cf78,
	"Rsqrt64":    0x9b757a04b66b1fe,
	"Sigmoid32":  0x2f5b5435fffb9a44,
	"Sigmoid64":  0x6e0b02f536add9d4,
	"Sin32":      0xdbf96738190e0bef,
	"Sin64":      0xcaad730760bb5d8f,
	"Sinh32":     0x13d5764abc653116,
	"Sinh64":     0xe4cccb2c790d908c,
	"Softplus32": 0x315ff0b4a44c5a93,
	"Softplus64": 0x589237d1ee10f9f8,
	"Tan32":      0x1204c746065f6945,
	"Tan64":      0xdaf001e6c38b344,
	"Tanh32":     0x699ab2c0b34d0641,
	"Tanh64":     0x10d75963bcc9e832,
}

func TestNoAllocation(t *testing.T) {
	x, y := make([]float32, 64), make([]float64, 64)
	for name, f := range map[string]func(){
		"functions": func() {
			for _, u := range unary {
				x[1], y[1] = u.f32(x[0]+0.5), u.f64(y[0]+0.5)
			}
			x[1], y[1] = Pow32(x[0]+2, 3), Pow64(y[0]+2, 3)
		},
		"fused": func() {
			FMABlock32(x[32:], 4, x[:16], 4, 1, x[16:32], 4, 4, 4, 4)
			FMABlock64(y[32:], 4, y[:16], 4, 1, y[16:32], 4, 4, 4, 4)
		},
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
