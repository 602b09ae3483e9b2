package num

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A definition is a format by its specification: what it has besides the numbers of its exponents and fractions.
type definition struct {
	f                   Format
	bits, mbits, bias   int
	most, inf, nan      uint16 // codes without sign; 0 where there is none
	unsignedZero, small bool
}

var definitions = []definition{
	{f: FormatF16, bits: 16, mbits: 10, bias: 15, most: 0x7bff, inf: 0x7c00, nan: 0x7e00},
	{f: FormatBF16, bits: 16, mbits: 7, bias: 127, most: 0x7f7f, inf: 0x7f80, nan: 0x7fc0},
	{f: FormatF8E4M3, bits: 8, mbits: 3, bias: 7, most: 0x7e, nan: 0x7f},
	{f: FormatF8E5M2, bits: 8, mbits: 2, bias: 15, most: 0x7b, inf: 0x7c, nan: 0x7e},
	{f: FormatF4E2M1, bits: 4, mbits: 1, bias: 1, most: 7, nan: 8, small: true},
	{f: FormatF8E4M3FNUZ, bits: 8, mbits: 3, bias: 8, most: 0x7f, nan: 0x80, unsignedZero: true},
	{f: FormatF8E5M2FNUZ, bits: 8, mbits: 2, bias: 16, most: 0x7f, nan: 0x80, unsignedZero: true},
}

// magnitude is the number of a code without sign, also of one beyond the largest.
func (d *definition) magnitude(code uint16) float64 {
	m, e := float64(code&(1<<d.mbits-1)), int(code>>d.mbits)
	if e == 0 {
		return math.Ldexp(m, 1-d.bias-d.mbits)
	}
	return math.Ldexp(m+float64(int(1)<<d.mbits), e-d.bias-d.mbits)
}

// value is the number of a code.
func (d *definition) value(code uint16) float64 {
	sign := uint16(1) << (d.bits - 1)
	mag := code &^ sign
	v := d.magnitude(mag)
	switch {
	case d.unsignedZero && code == sign:
		return math.NaN()
	case mag > d.most && mag == d.inf:
		v = math.Inf(1)
	case mag > d.most:
		return math.NaN()
	}
	if code&sign != 0 {
		return -v
	}
	return v
}

// round looks for the nearest number, exactly.
func (d *definition) round(v float64, saturate bool) uint16 {
	if v != v {
		return d.nan
	}
	sign, best := uint16(0), d.most+1
	if math.Signbit(v) {
		sign = 1 << (d.bits - 1)
	}
	if a := math.Abs(v); !math.IsInf(v, 0) {
		lo, hi := uint16(0), d.most+1 // the neighbours
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; d.magnitude(mid) <= a {
				lo = mid
			} else {
				hi = mid
			}
		}
		x := new(big.Float).SetPrec(4000).SetFloat64(a)
		below := new(big.Float).Sub(x, big.NewFloat(d.magnitude(lo)))
		above := new(big.Float).Sub(new(big.Float).SetPrec(4000).SetFloat64(d.magnitude(hi)), x)
		if c := below.Cmp(above); c < 0 || c == 0 && lo&1 == 0 {
			best = lo
		} else {
			best = hi
		}
	}
	switch {
	case best > d.most && (saturate || d.small):
		best = d.most
	case best > d.most && d.inf != 0:
		best = d.inf
	case best > d.most && d.unsignedZero:
		return d.nan
	case best > d.most:
		return d.nan // F8E4M3: without its sign
	case best == 0 && d.unsignedZero:
		return 0
	}
	return best | sign
}

func TestFormats(t *testing.T) {
	for _, d := range definitions {
		if d.f.Bits() != d.bits {
			t.Errorf("format %d has %d bits, want %d", d.f, d.f.Bits(), d.bits)
		}
		check := func(v float64) {
			for range 2 {
				if got, want := d.f.Round(v), d.round(v, false); got != want {
					t.Fatalf("format %d: Round(%g) is %#x, want %#x", d.f, v, got, want)
				}
				if got, want := d.f.Saturate(v), d.round(v, true); got != want {
					t.Fatalf("format %d: Saturate(%g) is %#x, want %#x", d.f, v, got, want)
				}
				v = -v
			}
		}
		for code := range 1 << d.bits {
			v, want := d.f.Value(uint16(code)), d.value(uint16(code))
			if math.Float64bits(v) != math.Float64bits(want) && !(v != v && want != want && math.Float64bits(v) == Canon64) {
				t.Fatalf("format %d: code %#x is %v, want %v", d.f, code, v, want)
			}
			check(v)
			if v == v && d.f.Round(v) != uint16(code) {
				t.Fatalf("format %d: code %#x comes back as %#x", d.f, code, d.f.Round(v))
			}
		}
		for code := range d.most + 1 {
			lo, hi := d.magnitude(code), d.magnitude(code+1)
			middle := lo + (hi-lo)/2
			for _, v := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.Inf(1)), math.Nextafter(lo, 0), math.Nextafter(lo, math.Inf(1))} {
				check(v)
			}
		}
		for _, v := range []float64{0, math.Inf(1), math.NaN(), 1e300, math.MaxFloat64, 5e-324, 1e-300} {
			check(v)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20000 {
			check(math.Ldexp(r.Float64(), r.IntN(2*d.bias+20)-d.bias-10))
		}
		least, most := d.f.Ends()
		for code := range 1 << d.bits {
			if v := d.f.Value(uint16(code)); v > d.f.Value(most) || v < d.f.Value(least) {
				t.Errorf("format %d: %v is outside its ends", d.f, v)
			}
		}
	}
}

// The functions of the types are those of their formats.
func TestStoredTypes(t *testing.T) {
	for b := range uint16(256) {
		for i, v := range []interface {
			Float64() float64
			Float32() float32
			Bits() uint8
			fmt.Stringer
		}{FromBits[F4E2M1](b), FromBits[F8E4M3FNUZ](b), FromBits[F8E5M2FNUZ](b), FromBits[F8E8M0](b)} {
			f := []Format{FormatF4E2M1, FormatF8E4M3FNUZ, FormatF8E5M2FNUZ, FormatF8E8M0}[i]
			if v.Bits() != uint8(b&(1<<f.Bits()-1)) {
				t.Errorf("format %d: the bits of %#x are %#x", f, b, v.Bits())
			}
			if x := f.Value(b); math.Float64bits(v.Float64()) != math.Float64bits(x) || math.Float32bits(v.Float32()) != math.Float32bits(float32(x)) || v.String() != format(x, 32) {
				t.Errorf("format %d: %#x is %v, %v, %v; want %v", f, b, v.Float64(), v.Float32(), v, x)
			}
		}
		if x := FromBits[F4E2M1](b); FromFloat64[F4E2M1](x.Float64()) != x {
			t.Errorf("%#x doesn't come back", b)
		}
		for _, nan := range []bool{FromBits[F8E4M3FNUZ](b).IsNaN(), FromBits[F8E5M2FNUZ](b).IsNaN()} {
			if nan != (b == 0x80) {
				t.Errorf("%#x: IsNaN is %v", b, nan)
			}
		}
		for _, v := range []float64{FromBits[F8E4M3FNUZ](b).Float64(), 1000 * FromBits[F8E4M3FNUZ](b).Float64(), FromBits[F8E8M0](b).Float64()} {
			if FromFloat64[F8E4M3FNUZ](v).Bits() != uint8(FormatF8E4M3FNUZ.Round(v)) || Saturate[F8E4M3FNUZ](v).Bits() != uint8(FormatF8E4M3FNUZ.Saturate(v)) ||
				FromFloat64[F8E5M2FNUZ](v).Bits() != uint8(FormatF8E5M2FNUZ.Round(v)) || Saturate[F8E5M2FNUZ](v).Bits() != uint8(FormatF8E5M2FNUZ.Saturate(v)) {
				t.Errorf("%v is rounded in two ways", v)
			}
		}
		if got := FromBits[Int4](b); got.Int64() != int64(int8(b<<4)>>4) || got.Bits() != uint8(b&0xf) || FromBits[Int4](^uint16(0xf)|b) != got || got.String() != fmt.Sprint(got.Int64()) {
			t.Errorf("Int4 of %#x is %v", b, got)
		}
		if got := FromBits[Uint4](b); got.Int64() != int64(b&0xf) || got.Bits() != uint8(b&0xf) || FromBits[Uint4](^uint16(0xf)|b) != got || got.String() != fmt.Sprint(got.Int64()) {
			t.Errorf("Uint4 of %#x is %v", b, got)
		}
		if got := FromBits[Int2](b); got.Int64() != int64(int8(b<<6)>>6) || got.Bits() != uint8(b&3) || FromBits[Int2](^uint16(3)|b) != got || got.String() != fmt.Sprint(got.Int64()) {
			t.Errorf("Int2 of %#x is %v", b, got)
		}
		if got := FromBits[Uint2](b); got.Int64() != int64(b&3) || got.Bits() != uint8(b&3) || FromBits[Uint2](^uint16(3)|b) != got || got.String() != fmt.Sprint(got.Int64()) {
			t.Errorf("Uint2 of %#x is %v", b, got)
		}
	}
}

func TestScales(t *testing.T) {
	for code := range 256 {
		x := FromBits[F8E8M0](uint16(code))
		want := math.Ldexp(1, code-127)
		if code == 255 {
			want = math.NaN()
		}
		if got := x.Float64(); got != want && !(x.IsNaN() && got != got && want != want) {
			t.Errorf("code %#x is %v, want %v", code, got, want)
		}
		for _, r := range []Rounding{Up, Down, Nearest} {
			if got := F8E8M0FromFloat64(want, r, false); got != x {
				t.Errorf("%v becomes %#x, want %#x", want, got.Bits(), code)
			}
		}
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		v                                          float64
		up, down, nearest, upSat, downSat, nearSat uint8
	}{
		{1.25, 128, 127, 127, 128, 127, 127},
		{1.5, 128, 127, 128, 128, 127, 128},
		{math.Nextafter(1.5, 1), 128, 127, 127, 128, 127, 127},
		{math.Nextafter(1, 2), 128, 127, 127, 128, 127, 127},
		{math.Nextafter(1, 0), 127, 126, 127, 127, 126, 127},
		{0, 255, 255, 255, 0, 0, 0},
		{math.Copysign(0, -1), 255, 255, 255, 0, 0, 0},
		{-1, 255, 255, 255, 255, 255, 255},
		{inf, 255, 255, 255, 254, 254, 254},
		{-inf, 255, 255, 255, 255, 255, 255},
		{math.NaN(), 255, 255, 255, 255, 255, 255},
		{0x1.8p127, 255, 254, 255, 254, 254, 254},
		{0x1.4p127, 255, 254, 254, 254, 254, 254},
		{0x1p128, 255, 255, 255, 254, 254, 254},
		{0x1.8p-128, 0, 255, 0, 0, 0, 0},
		{0x1.4p-128, 0, 255, 255, 0, 0, 0},
		{0x1p-128, 255, 255, 255, 0, 0, 0},
		{5e-324, 255, 255, 255, 0, 0, 0},
	} {
		got := []uint8{F8E8M0FromFloat64(c.v, Up, false).Bits(), F8E8M0FromFloat64(c.v, Down, false).Bits(), F8E8M0FromFloat64(c.v, Nearest, false).Bits(),
			F8E8M0FromFloat64(c.v, Up, true).Bits(), F8E8M0FromFloat64(c.v, Down, true).Bits(), F8E8M0FromFloat64(c.v, Nearest, true).Bits()}
		want := []uint8{c.up, c.down, c.nearest, c.upSat, c.downSat, c.nearSat}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%g becomes %v, want %v", c.v, got, want)
		}
	}
}
