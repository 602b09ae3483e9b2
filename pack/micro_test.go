package pack

import (
	"math"
	"testing"
)

// published are the element types of OCP MX by the parameters of their tables: bits of exponent and fraction, bias, and the
// codes that are no finite numbers.
var published = []struct {
	name                     string
	exponent, fraction, bias int
	nan, inf                 func(code int) bool
	most                     float64 // the largest number
	least                    float64 // the smallest positive one
}{
	{"mxfp8_e4m3", 4, 3, 7, func(c int) bool { return c&0x7f == 0x7f }, nil, 448, 0x1p-9},
	{"mxfp8_e5m2", 5, 2, 15, func(c int) bool { return c&0x7f > 0x7c }, func(c int) bool { return c&0x7f == 0x7c }, 57344, 0x1p-16},
	{"mxfp6_e2m3", 2, 3, 1, nil, nil, 7.5, 0.125},
	{"mxfp6_e3m2", 3, 2, 3, nil, nil, 28, 0.0625},
	{"mxfp4", 2, 1, 1, nil, nil, 6, 0.5},
	{"nvfp4", 2, 1, 1, nil, nil, 6, 0.5},
	{"float6_e2m3", 2, 3, 1, nil, nil, 7.5, 0.125},
	{"float6_e3m2", 3, 2, 3, nil, nil, 28, 0.0625},
}

// elementOf is the value of a code by the formula of section 5.3.
func elementOf(code, exponent, fraction, bias int) float64 {
	m, e := code&(1<<fraction-1), code>>fraction&(1<<exponent-1)
	v := math.Ldexp(float64(m), 1-bias-fraction)
	if e > 0 {
		v = math.Ldexp(float64(m+1<<fraction), e-bias-fraction)
	}
	if code>>(exponent+fraction) != 0 {
		v = -v
	}
	return v
}

// put writes a code of some bits to place i, and codes are those of a block.
func put(b []byte, bits, i, code int) {
	for k := range bits {
		at := bits*i + k
		b[at/8] = b[at/8]&^(1<<(at%8)) | byte(code>>k&1)<<(at%8)
	}
}

func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }

// TestMicroCodes decodes each code of each element type at each place of a block, and with each scale.
func TestMicroCodes(t *testing.T) {
	for _, p := range published {
		f, err := FormatNamed(p.name)
		if err != nil {
			t.Fatal(err)
		}
		bits, at := 1+p.exponent+p.fraction, f.Size(f.Group())-f.Group()*(1+p.exponent+p.fraction)/8
		var most, least float64 = 0, 1
		y, b := make([]float32, f.Group()), make([]byte, f.Size(f.Group()))
		for code := range 1 << bits {
			want := elementOf(code, p.exponent, p.fraction, p.bias)
			switch {
			case p.nan != nil && p.nan(code):
				want = math.NaN()
			case p.inf != nil && p.inf(code):
				want = math.Copysign(math.Inf(1), want)
			default:
				most = max(most, want)
				if want > 0 {
					least = min(least, want)
				}
			}
			for i := range y {
				clear(b)
				if at == 1 {
					b[0] = map[bool]byte{true: 127, false: 0x38}[p.name != "nvfp4"] // 1
				}
				put(b[at:], bits, i, code)
				f.Decode(y, b, 0)
				for j, v := range y {
					if j == i && !same(v, float32(want)) || j != i && !same(v, 0) {
						t.Fatalf("%s, code %x at %d: element %d is %v, want %v", p.name, code, i, j, v, want)
					}
				}
			}
			for scale := range 256 * at {
				s := math.Ldexp(1, scale-127)
				switch {
				case p.name == "nvfp4" && scale&0x7f == 0x7f, p.name != "nvfp4" && scale == 255:
					s = math.NaN()
				case p.name == "nvfp4":
					s = elementOf(scale, 4, 3, 7)
				}
				b[0] = byte(scale)
				put(b[1:], bits, 0, code)
				if f.Decode(y, b, 0); !same(y[0], float32(want*s)) {
					t.Fatalf("%s, code %x with scale %x: %v, want %v", p.name, code, scale, y[0], float32(want*s))
				}
			}
		}
		if most != p.most || least != p.least {
			t.Errorf("%s: from %v to %v, want %v to %v", p.name, least, most, p.least, p.most)
		}
	}
	f, err := FormatNamed("mxint8")
	if err != nil {
		t.Fatal(err)
	}
	y, b := make([]float32, 32), make([]byte, 33)
	for code := range 256 {
		for scale := range 256 {
			b[0], b[32] = byte(scale), byte(code)
			f.Decode(y, b, 0)
			want := float32(math.Ldexp(float64(int8(code)), scale-127-6))
			if scale == 255 {
				want = float32(math.NaN())
			}
			if !same(y[31], want) {
				t.Fatalf("code %x with scale %x: %v, want %v", code, scale, y[31], want)
			}
		}
	}
}

// TestMicroEncodes compares with the nearest of all codes, of two the even one, and with the scale of section 6.3.
func TestMicroEncodes(t *testing.T) {
	x, _ := mixed(1 << 14)
	for i := range x { // numbers beside ties, and ties
		if i%7 == 0 {
			x[i] = float32(i%64) / 8
		}
	}
	for _, p := range published {
		f, err := FormatNamed(p.name)
		if err != nil {
			t.Fatal(err)
		}
		n, bits := f.Group(), 1+p.exponent+p.fraction
		at := f.Size(n) - n*bits/8
		for k := 0; k+n <= len(x); k += n {
			got, want := make([]byte, f.Size(n)), make([]byte, f.Size(n))
			f.Encode(got, x[k:k+n], 0)
			var most float64
			for _, v := range x[k : k+n] {
				most = max(most, math.Abs(float64(v)))
			}
			s := 1.0
			switch {
			case p.name == "nvfp4":
				best := math.Inf(1)
				for c := range 127 {
					d := math.Abs(elementOf(c, 4, 3, 7) - most/6)
					if d < best || d == best && c%2 == 0 {
						best, want[0] = d, byte(c)
					}
				}
				s = elementOf(int(want[0]), 4, 3, 7)
			case at == 1:
				e := -127
				for math.Ldexp(1, e+1) <= most {
					e++
				}
				top := 0
				for math.Ldexp(1, top+1) <= p.most {
					top++
				}
				e = max(e-top, -127)
				want[0], s = byte(e+127), math.Ldexp(1, e)
			}
			for i, v := range x[k : k+n] {
				best, code := math.Inf(1), 0
				for c := range 1 << (bits - 1) {
					if p.nan != nil && p.nan(c) || p.inf != nil && p.inf(c) {
						continue
					}
					d := math.Abs(elementOf(c, p.exponent, p.fraction, p.bias)*s - math.Abs(float64(v)))
					if d < best || d == best && c%2 == 0 {
						best, code = d, c
					}
				}
				if s == 0 {
					code = 0
				}
				if v < 0 && s != 0 {
					code |= 1 << (bits - 1)
				}
				put(want[at:], bits, i, code)
			}
			if string(got) != string(want) {
				t.Fatalf("%s, block at %d: %x, want %x of %v", p.name, k, got, want, x[k:k+n])
			}
		}
	}
}
