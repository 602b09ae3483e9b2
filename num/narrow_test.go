package num

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// A narrowFormat is one of the narrow types by its parameters, its conversions as functions of bits.
type narrowFormat struct {
	name              string
	bits, mbits, bias int
	inf               uint32 // the first code past the finite ones
	overflow, nan     uint32 // what is too large becomes, and NaN
	from32            func(float32) uint32
	from64            func(float64) uint32
	to32              func(uint32) float32
	to64              func(uint32) float64
	text              func(uint32) string
	isNaN             func(uint32) bool
	widen             func(dst []float32, src []uint32)
	narrow            func(dst []uint32, src []float32)
}

func formatOf[T Narrow](name string, bits, mbits, bias int, inf, overflow, nan uint32, make func(uint32) T, code func(T) uint32,
	from32 func(float32) T, from64 func(float64) T, to32 func(T) float32, to64 func(T) float64, text func(T) string, isNaN func(T) bool,
	widen func([]float32, []T), narrow func([]T, []float32)) narrowFormat {
	return narrowFormat{name: name, bits: bits, mbits: mbits, bias: bias, inf: inf, overflow: overflow, nan: nan,
		from32: func(f float32) uint32 { return code(from32(f)) },
		from64: func(f float64) uint32 { return code(from64(f)) },
		to32:   func(b uint32) float32 { return to32(make(b)) },
		to64:   func(b uint32) float64 { return to64(make(b)) },
		text:   func(b uint32) string { return text(make(b)) },
		isNaN:  func(b uint32) bool { return isNaN(make(b)) },
		widen: func(dst []float32, src []uint32) {
			s := []T{}
			for _, b := range src {
				s = append(s, make(b))
			}
			widen(dst, s)
		},
		narrow: func(dst []uint32, src []float32) {
			d := append([]T(nil), make(1), make(1))
			for len(d) < len(dst) {
				d = append(d, make(1))
			}
			d = d[:len(dst)]
			narrow(d, src)
			for i, x := range d {
				dst[i] = code(x)
			}
		},
	}
}

var formats = []narrowFormat{
	formatOf("BF16", 16, 7, 127, 0x7f80, 0x7f80, 0x7fc0, func(b uint32) BF16 { return FromBits[BF16](uint16(b)) }, func(x BF16) uint32 { return uint32(x.Bits()) },
		bf16From32, FromFloat64[BF16], BF16.Float32, BF16.Float64, BF16.String, BF16.IsNaN, WidenRow[BF16], NarrowRow[BF16]),
	formatOf("F16", 16, 10, 15, 0x7c00, 0x7c00, 0x7e00, func(b uint32) F16 { return FromBits[F16](uint16(b)) }, func(x F16) uint32 { return uint32(x.Bits()) },
		f16From32, FromFloat64[F16], F16.Float32, F16.Float64, F16.String, F16.IsNaN, WidenRow[F16], NarrowRow[F16]),
	formatOf("F8E4M3", 8, 3, 7, 0x7f, 0x7f, 0x7f, func(b uint32) F8E4M3 { return FromBits[F8E4M3](uint16(b)) }, func(x F8E4M3) uint32 { return uint32(x.Bits()) },
		f8e4m3From32, FromFloat64[F8E4M3], F8E4M3.Float32, F8E4M3.Float64, F8E4M3.String, F8E4M3.IsNaN, WidenRow[F8E4M3], NarrowRow[F8E4M3]),
	formatOf("F8E5M2", 8, 2, 15, 0x7c, 0x7c, 0x7e, func(b uint32) F8E5M2 { return FromBits[F8E5M2](uint16(b)) }, func(x F8E5M2) uint32 { return uint32(x.Bits()) },
		f8e5m2From32, FromFloat64[F8E5M2], F8E5M2.Float32, F8E5M2.Float64, F8E5M2.String, F8E5M2.IsNaN, WidenRow[F8E5M2], NarrowRow[F8E5M2]),
}

func (f *narrowFormat) sign() uint32 { return 1 << (f.bits - 1) }

// value is the number a code without sign stands for by the definition of the format; of the code inf, the one it would have if the
// exponent went on.
func (f *narrowFormat) value(code uint32) float64 {
	m, e := float64(code&(1<<f.mbits-1)), int(code>>f.mbits)
	if e == 0 {
		return math.Ldexp(m, 1-f.bias-f.mbits)
	}
	return math.Ldexp(m+float64(uint(1)<<f.mbits), e-f.bias-f.mbits)
}

// signed is code with the sign, unless it is a NaN.
func (f *narrowFormat) signed(code uint32, negative bool) uint32 {
	if code == f.inf {
		code = f.overflow
	}
	if negative && !f.isNaN(code) {
		return code | f.sign()
	}
	return code
}

func TestNarrowDecode(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for code := range uint32(1) << f.bits {
				abs, negative := code&^f.sign(), code&f.sign() != 0
				want := f.value(abs)
				if abs >= f.inf {
					want = math.Inf(1)
				}
				if negative {
					want = -want
				}
				if nan := abs > f.inf || abs == f.nan; nan {
					if !f.isNaN(code) || math.Float32bits(f.to32(code)) != Canon32 || math.Float64bits(f.to64(code)) != Canon64 {
						t.Fatalf("%#x is a NaN: got %v %v", code, f.to32(code), f.to64(code))
					}
					continue
				}
				if f.isNaN(code) || math.Float64bits(f.to64(code)) != math.Float64bits(want) || math.Float32bits(f.to32(code)) != math.Float32bits(float32(want)) {
					t.Fatalf("%#x: got %v and %v, want %v", code, f.to32(code), f.to64(code), want)
				}
				if f.from32(float32(want)) != code || f.from64(want) != code {
					t.Fatalf("%v: got %#x and %#x, want %#x", want, f.from32(float32(want)), f.from64(want), code)
				}
			}
		})
	}
}

// Between two neighbours the middle goes to the even code, and the numbers beside it to the nearer one.
func TestNarrowBoundaries(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for code := range f.inf {
				low, high := f.value(code), f.value(code+1)
				middle := low + (high-low)/2
				even := code + code&1
				for _, negative := range []bool{false, true} {
					s := 1.0
					if negative {
						s = -1
					}
					for _, c := range []struct {
						x    float64
						want uint32
					}{
						{low, code}, {math.Nextafter(low, high), code},
						{math.Nextafter(middle, low), code}, {middle, even}, {math.Nextafter(middle, high), code + 1},
						{math.Nextafter(high, low), code + 1}, {high, code + 1},
					} {
						if got, want := f.from64(s*c.x), f.signed(c.want, negative); got != want {
							t.Fatalf("from float64 %b, between codes %#x and %#x: got %#x, want %#x", s*c.x, code, code+1, got, want)
						}
					}
					m32 := float32(middle)
					if float64(m32) != middle {
						t.Fatalf("the middle %b is no float32", middle)
					}
					for _, c := range []struct {
						x    float32
						want uint32
					}{
						{math.Nextafter32(m32, 0), code}, {m32, even}, {math.Nextafter32(m32, float32(math.Inf(1))), code + 1},
					} {
						if got, want := f.from32(float32(s)*c.x), f.signed(c.want, negative); got != want {
							t.Fatalf("from float32 %b, between codes %#x and %#x: got %#x, want %#x", float32(s)*c.x, code, code+1, got, want)
						}
					}
				}
			}
		})
	}
}

// round is the conversion by math/big.
func (f *narrowFormat) round(x float64) uint32 {
	if x != x {
		return f.nan
	}
	negative := math.Signbit(x)
	if x == 0 {
		return f.signed(0, negative)
	}
	if math.IsInf(x, 0) {
		return f.signed(f.inf, negative)
	}
	b := new(big.Float).SetFloat64(math.Abs(x))
	// Subnormal results have fewer bits: the lowest is worth 2^(1-bias-mbits).
	prec := min(f.mbits+1, b.MantExp(nil)-(1-f.bias-f.mbits))
	if prec < 1 { // below the smallest positive number: to that from just above its half
		half := math.Ldexp(1, -f.bias-f.mbits)
		if math.Abs(x) > half {
			return f.signed(1, negative)
		}
		return f.signed(0, negative)
	}
	y, _ := b.SetMode(big.ToNearestEven).SetPrec(uint(prec)).Float64()
	if y >= f.value(f.inf) {
		return f.signed(f.inf, negative)
	}
	m, e := math.Frexp(y)
	if e <= 1-f.bias {
		return f.signed(uint32(math.Ldexp(y, f.bias-1+f.mbits)), negative)
	}
	return f.signed(uint32((e-1+f.bias)<<f.mbits)+uint32(math.Ldexp(2*m-1, f.mbits)), negative)
}

func TestNarrowRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for _, x := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1e-45, math.MaxFloat64, -math.MaxFloat32, 1e300} {
				if got, want := f.from64(x), f.round(x); got != want {
					t.Errorf("from float64 %v: got %#x, want %#x", x, got, want)
				}
				if got, want := f.from32(float32(x)), f.round(float64(float32(x))); got != want {
					t.Errorf("from float32 %v: got %#x, want %#x", float32(x), got, want)
				}
			}
			for range 100_000 {
				b := r.Uint32()
				x := math.Float32frombits(b)
				if got, want := f.from32(x), f.round(float64(x)); got != want {
					t.Fatalf("from float32 %b (%#x): got %#x, want %#x", x, b, got, want)
				}
				// A float64 within the format's range, close to a float32: rounding to that first would go wrong.
				y := math.Float64frombits(math.Float64bits(math.Ldexp(1+r.Float64(), r.IntN(2*f.bias+20)-f.bias-15))&^(1<<29-1) + uint64(r.IntN(3)-1))
				if got, want := f.from64(y), f.round(y); got != want {
					t.Fatalf("from float64 %b: got %#x, want %#x", y, got, want)
				}
			}
		})
	}
}

func TestNarrowRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			codes := make([]uint32, 1<<f.bits)
			for i := range codes {
				codes[i] = uint32(i)
			}
			wide := make([]float32, len(codes))
			f.widen(wide, codes)
			for i, x := range wide {
				if f.isNaN(codes[i]) {
					if x == x || (math.Float32bits(x)>>31 == 1) != (codes[i]&f.sign() != 0) {
						t.Fatalf("widening the NaN %#x: got %#x", codes[i], math.Float32bits(x))
					}
				} else if math.Float32bits(x) != math.Float32bits(f.to32(codes[i])) {
					t.Fatalf("widening %#x: got %v, want %v", codes[i], x, f.to32(codes[i]))
				}
			}
			for n := range 20 {
				src, dst := make([]float32, n+1), make([]uint32, n)
				for i := range src {
					src[i] = math.Float32frombits(r.Uint32())
				}
				f.narrow(dst, src)
				for i := range dst {
					if dst[i] != f.from32(src[i]) {
						t.Fatalf("narrowing %v in a row of %d: got %#x, want %#x", src[i], n, dst[i], f.from32(src[i]))
					}
				}
			}
		})
	}
}

func TestSaturate(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x      float64
		e4, e5 uint8
	}{
		{0, 0, 0}, {math.Copysign(0, -1), 0x80, 0x80}, {1, 0x38, 0x3c}, {448, 0x7e, 0x5f}, {464.5, 0x7e, 0x5f}, {-1e9, 0xfe, 0xfb}, {57344, 0x7e, 0x7b},
		{61441, 0x7e, 0x7b}, {inf, 0x7e, 0x7b}, {-inf, 0xfe, 0xfb}, {math.NaN(), 0x7f, 0x7e},
	} {
		if got := Saturate[F8E4M3](c.x).Bits(); got != c.e4 {
			t.Errorf("Saturate[F8E4M3](%v) = %#x, want %#x", c.x, got, c.e4)
		}
		if got := Saturate[F8E5M2](c.x).Bits(); got != c.e5 {
			t.Errorf("Saturate[F8E5M2](%v) = %#x, want %#x", c.x, got, c.e5)
		}
	}
}

func TestNarrowString(t *testing.T) {
	for _, f := range formats {
		for code := range uint32(1) << f.bits {
			s := f.text(code)
			y, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatalf("%s %#x prints %q: %v", f.name, code, s, err)
			}
			want := code
			if f.isNaN(code) {
				want = f.nan
			}
			if got := f.from64(y); got != want {
				t.Fatalf("%s %#x prints %q, which is %#x", f.name, code, s, got)
			}
		}
	}
	for _, c := range []struct {
		x    fmt.Stringer
		want string
	}{
		{FromFloat64[BF16](0.1), "0.1"}, {FromFloat64[BF16](3.14159), "3.14"}, {FromBits[BF16](0x7f7f), "3.39e+38"}, {FromBits[BF16](1), "9e-41"},
		{FromFloat64[F16](0.1), "0.1"}, {FromBits[F16](0x7bff), "65500"}, {FromBits[F16](1), "6e-08"}, {FromBits[F16](0x8000), "-0"}, {FromBits[F16](0xfc00), "-Inf"},
		{FromBits[F16](0xfe01), "NaN"}, {FromFloat64[F8E4M3](448), "448"}, {FromFloat64[F8E4M3](1), "1"}, {FromFloat64[F8E5M2](1.75), "1.75"}, {BF16{}, "0"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("%T %v: got %s, want %s", c.x, c.x, got, c.want)
		}
	}
}

func TestCanonicalNaNs(t *testing.T) {
	if math.Float32bits(NaN32()) != Canon32 || math.Float64bits(NaN64()) != Canon64 {
		t.Errorf("NaN32 %#x, NaN64 %#x", math.Float32bits(NaN32()), math.Float64bits(NaN64()))
	}
	odd := math.Float64frombits(0xfff0000000000001)
	for _, f := range formats {
		if got := f.from64(odd); got != f.nan {
			t.Errorf("%s of a negative NaN: %#x, want %#x", f.name, got, f.nan)
		}
	}
	if got := [...]uint32{formats[0].nan, formats[1].nan, formats[2].nan, formats[3].nan}; got != [...]uint32{CanonBF16, CanonF16, CanonF8E4M3, CanonF8E5M2} {
		t.Errorf("%#x", got)
	}
}

func TestRowsAllocateNothing(t *testing.T) {
	x := make([]float32, 64)
	half, brain, e4, e5 := make([]F16, 64), make([]BF16, 64), make([]F8E4M3, 64), make([]F8E5M2, 64)
	n := testing.AllocsPerRun(10, func() {
		NarrowRow[F16](half, x)
		WidenRow[F16](x, half)
		NarrowRow[BF16](brain, x)
		WidenRow[BF16](x, brain)
		NarrowRow[F8E4M3](e4, x)
		WidenRow[F8E4M3](x, e4)
		NarrowRow[F8E5M2](e5, x)
		WidenRow[F8E5M2](x, e5)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
