package pack

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// decoded has the beginning of the SHA-256 of the values that ggml's library gives for 256 blocks of random bytes: the upper
// bytes of a congruential generator that begins with the number of the type. NaNs are 7fc00000.
//
// Source: libggml-base.so of llama.cpp v0.5.0, from the npm package @node-llama-cpp/linux-x64 3.22.1, by its functions
// dequantize_row_q4_0 and so on.
var decoded = []struct {
	name string
	seed uint64
	sum  string
}{
	{"q4_0", 2, "145a4d7316160572"},
	{"q4_1", 3, "6e13076642edbb87"},
	{"q5_0", 6, "c1e0dbb5a37dc023"},
	{"q5_1", 7, "eeae030bed8700ca"},
	{"q8_0", 8, "540bf677b8928257"},
	{"q2_k", 10, "afd27b8cc50bbaeb"},
	{"q3_k", 11, "9eb1f0529fdc0c29"},
	{"q4_k", 12, "48a1cd5575d46465"},
	{"q5_k", 13, "de153a9740a878fc"},
	{"q6_k", 14, "86b5060567f6ae29"},
	{"q8_k", 15, "f7816a0eeec3c4f0"},
	{"iq2_xxs", 16, "b2fd2e370286bb82"},
	{"iq2_xs", 17, "4b13406170578671"},
	{"iq3_xxs", 18, "ca7f4351b6debbd6"},
	{"iq1_s", 19, "beb02e178a0cd273"},
	{"iq4_nl", 20, "ad8ab4040c8146ee"},
	{"iq3_s", 21, "c7ed1d0f67be9a17"},
	{"iq2_s", 22, "a86ce83426d17ca2"},
	{"iq4_xs", 23, "71c9789e8b73ff8e"},
	{"iq1_m", 29, "5f0ba01a079bf10e"},
	{"tq1_0", 34, "ea09d68e58ea472c"},
	{"tq2_0", 35, "431b94d68c47f33a"},
	{"ggml_mxfp4", 39, "7c870ee0669736d6"},
	{"ggml_nvfp4", 40, "a54538559560455a"},
	{"q1_0", 41, "41d9d00f498a0ab1"},
	{"q2_0", 42, "a547f13eb3fb306e"},
}

func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return b
}

func TestBlocksAsGGML(t *testing.T) {
	if len(decoded) != len(ggml) {
		t.Errorf("%d types are compared, of %d", len(decoded), len(ggml))
	}
	for _, c := range decoded {
		f, err := FormatNamed(c.name)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, 256*f.Group())
		f.Decode(y, randomBytes(c.seed, f.Size(len(y))), 0)
		h := sha256.New()
		for _, v := range y {
			b := math.Float32bits(v)
			if v != v {
				b = 0x7fc00000
			}
			binary.Write(h, binary.LittleEndian, b)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != c.sum {
			t.Errorf("%s: %s, want %s", c.name, got, c.sum)
		}
	}
}

// mixed has random numbers of sixteen bits, whose unit changes from 2^-27 to 2^-4 with each 256.
func mixed(n int) (x, unit []float32) {
	b := randomBytes(1, 2*n)
	for i := range n {
		u := math.Float32frombits(uint32(127+i/256%24-27) << 23)
		x, unit = append(x, float32(int16(binary.LittleEndian.Uint16(b[2*i:])))*u), append(unit, 32768*u)
	}
	return x, unit
}

// TestBlocksEncode compares the bytes of Q4_0 and Q8_0 with those of ggml's quantize_row functions, and the errors of the
// others with theirs.
func TestBlocksEncode(t *testing.T) {
	x, unit := mixed(256 * 96)
	for _, c := range []struct {
		name, sum string
		most      float64 // what the mean error may be, of numbers from -1 to 1: ggml's, a little above
	}{
		{"q4_0", "470ae5f2d2ada8d6", 0.0376}, {"q8_0", "63277a01081e7924", 0.00256}, {"q4_k", "", 0.03198}, {"q6_k", "", 0.00817},
	} {
		f, err := FormatNamed(c.name)
		if err != nil {
			t.Fatal(err)
		}
		b, y := make([]byte, f.Size(len(x))), make([]float32, len(x))
		f.Encode(b, x, 0)
		f.Decode(y, b, 0)
		var squares float64
		for i, v := range y {
			e := float64(v-x[i]) / float64(unit[i])
			squares += e * e
		}
		sum := sha256.Sum256(b)
		if got := hex.EncodeToString(sum[:8]); c.sum != "" && got != c.sum {
			t.Errorf("%s: %s, want %s", c.name, got, c.sum)
		}
		if mean := math.Sqrt(squares / float64(len(x))); mean > c.most {
			t.Errorf("%s: a mean error of %v, want at most %v", c.name, mean, c.most)
		}
	}
}

// TestBlocksAtTheEnds encodes zeros, numbers that scales of 16 bits hardly hold or don't, and what isn't a number.
func TestBlocksAtTheEnds(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, name := range []string{"q4_0", "q8_0", "q4_k", "q6_k", "mxfp4", "mxint8", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "nvfp4"} {
		f, err := FormatNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		off := float32(0.02)
		if !strings.HasPrefix(name, "q") {
			off = 0.26 // of an E2M1
		}
		for _, v := range []float32{0, 1e-45, -1e-30, 1e-7, 1, -3e4, 1e9, math.MaxFloat32, -math.MaxFloat32, inf, -inf, float32(math.NaN())} {
			x, y, b := make([]float32, f.Group()), make([]float32, f.Group()), make([]byte, f.Size(f.Group()))
			x[3] = v
			f.Encode(b, x, 0)
			f.Decode(y, b, 0)
			for i, got := range y {
				switch {
				case v-v != 0:
					if got == got {
						t.Errorf("%s, %v: element %d is %v, want NaN", name, v, i, got)
					}
				case got-got != 0, i != 3 && got != 0, abs32(got) > (1+off)*abs32(v), got*v < 0:
					t.Errorf("%s, %v: element %d is %v", name, v, i, got)
				case i == 3 && v != 0 && abs32(v) >= 1e-2 && abs32(v) <= 1e3 && abs32(got-v) > off*abs32(v):
					t.Errorf("%s, %v: %v", name, v, got)
				}
			}
		}
	}
}

// TestSixBits encodes what isn't a number as floats of six bits, which have no code for it.
func TestSixBits(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, most := range map[string]float32{"float6_e2m3": 7.5, "float6_e3m2": 28} {
		f, err := FormatNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		b, y := make([]byte, 3), make([]float32, 4)
		f.Encode(b, []float32{inf, -inf, float32(math.NaN()), 1e30}, 0)
		f.Decode(y, b, 0)
		if want := [4]float32{most, -most, 0, most}; [4]float32(y) != want {
			t.Errorf("%s: %v, want %v", name, y, want)
		}
	}
}

// TestRange encodes numbers whose distance no float32 holds: the scale is the largest of a float16 as for others of their size.
func TestRange(t *testing.T) {
	x := make([]float32, 32)
	for i := range x {
		x[i] = math.MaxFloat32 / 16 * float32(i-16)
	}
	d, m := fitRange(x)
	if d < math.MaxFloat32/16 || d > math.MaxFloat32/7 || m < math.MaxFloat32/2 {
		t.Error(d, m)
	}
	for i, v := range x {
		if e := math.Abs(float64(d)*math.RoundToEven((float64(v)+float64(m))/float64(d)) - float64(m) - float64(v)); e > float64(d) {
			t.Errorf("element %d of %v is off by %v of %v", i, v, e, d)
		}
	}
}

func TestBlockErrors(t *testing.T) {
	q3, err := FormatNamed("Q3_K") // any case
	if err != nil {
		t.Fatal(err)
	}
	q4, err := FormatNamed("q4_0")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New[float32](2, 48).Any()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Format: q3}, "pack.Pack: q3_k is read and not made: nothing here finds its best codes; q4_0, q8_0, q4_k and q6_k are made"},
		{Options{Format: q4}, "pack.Pack: q4_0 has rows of whole blocks of 32, which shape [2,48] doesn't: pad the last axis"},
		{Options{Format: q4, Tile: TileOf(32, 32)}, "pack.Pack: q4_0 has no tiles: its blocks are parts of rows"},
	} {
		if _, err := Pack(x, &c.o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	p, err := Pack(x, &Options{Format: q4, Align: []int{32}})
	if err != nil || p.Bytes() != 4*18 {
		t.Fatal(p, err)
	}
	if y, err := p.Unpack(); err != nil || y.Dim(1) != 48 {
		t.Error(y, err)
	}
}
