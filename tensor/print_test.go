package tensor_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

var (
	nan, inf = math.NaN(), math.Inf(1)
	negzero  = math.Copysign(0, -1)
)

func floats(v ...float64) tensor.Tensor[float64] { return tensor.FromSlice(v) }

func halves(v ...float64) tensor.Tensor[num.F16] {
	h := make([]num.F16, len(v))
	for i, x := range v {
		h[i] = num.FromFloat64[num.F16](x)
	}
	return tensor.FromSlice(h)
}

// TestPrint compares texts with testdata/print.txt.
func TestPrint(t *testing.T) {
	type o = tensor.PrintOptions
	m := tensor.Arange[float32](0, 6, 1).View(2, 3)
	big := tensor.Arange[int64](0, 1001, 1)
	cube := tensor.Arange[int32](0, 12*11*10, 1).View(12, 11, 10)
	nested := tensor.FromLayout([]int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, layout.MustParse("((2,2),4):((1,8),2)"))
	closed := tensor.New[float32](2, 3)
	closed.Close()
	var out bytes.Buffer
	for _, c := range []struct {
		call string
		text string
	}{
		{"rank 0", fmt.Sprint(tensor.Scalar(2.0), tensor.Scalar(float32(0.1)), tensor.Scalar(1e16), tensor.Scalar(1e-5), tensor.Scalar(nan), tensor.Scalar(-inf), tensor.Scalar(negzero))},
		{"rank 0, others", fmt.Sprint(tensor.Scalar(int8(-3)), tensor.Scalar(true), tensor.Scalar(false), tensor.Scalar(1+2i), tensor.Scalar(2.5i), tensor.Scalar(complex(negzero, -1)), tensor.Scalar(complex(nan, inf)), tensor.Scalar(complex(1.5, nan)))},
		{"rank 0, narrow", fmt.Sprint(halves(65504).S("0"), halves(0.1).S("0"), tensor.Scalar(num.FromFloat64[num.BF16](0.1)), tensor.Scalar(num.FromFloat64[num.F8E4M3](448)), tensor.Scalar(num.FromFloat64[num.F8E5M2](57344)))},
		{"rank 0 with an option", tensor.Sprint(tensor.Scalar(1.0/3).Any(), &o{Precision: 3})},
		{"empty", fmt.Sprint(floats(), tensor.New[int8](3, 0, 2))},
		{"matrix", fmt.Sprint(m)},
		{"transposed", fmt.Sprint(m.Transpose())},
		{"nested layout", fmt.Sprint(nested)},
		{"rank 4", fmt.Sprint(tensor.Arange[int8](0, 8, 1).View(2, 1, 2, 2))},
		{"ints", fmt.Sprint(tensor.FromSlice([]int8{-128, 0, 5}), tensor.FromSlice([]uint64{math.MaxUint64, 1}))},
		{"bools", fmt.Sprint(tensor.FromSlice([]bool{true, false}), tensor.FromSlice([]bool{true, true}))},
		{"points stand under each other", fmt.Sprint(floats(1, 2.5, -3.25, 100))},
		{"precision", fmt.Sprint(floats(1.0/3, 2.0/3, 1e-4/3))},
		{"exponents: range", fmt.Sprint(floats(0.01, 100))},
		{"exponents: large", fmt.Sprint(floats(1e8), floats(99999999))},
		{"exponents: small", fmt.Sprint(floats(0.0001), floats(0.00009))},
		{"exponents: three digits", fmt.Sprint(floats(1e-100, 1, 1e100))},
		{"not finite", fmt.Sprint(floats(nan, inf, -inf, 1), floats(nan, 1), floats(inf), floats(-inf, nan))},
		{"zeros", fmt.Sprint(floats(0, negzero))},
		{"float32", fmt.Sprint(tensor.FromSlice([]float32{0.1, 1.0 / 3, 16777216}), tensor.FromSlice([]float32{0.1, 1e-3}))},
		{"float16", fmt.Sprint(halves(0.1, 1.0/3, 65504), halves(1, 0.5))},
		{"bfloat16", fmt.Sprint(tensor.FromSlice([]num.BF16{num.FromFloat64[num.BF16](0.1), num.FromFloat64[num.BF16](100), num.FromFloat64[num.BF16](-1)}))},
		{"float8", fmt.Sprint(tensor.FromSlice([]num.F8E4M3{num.FromFloat64[num.F8E4M3](0.1), num.FromFloat64[num.F8E4M3](448)}), tensor.FromSlice([]num.F8E5M2{num.FromFloat64[num.F8E5M2](0.1), num.FromBits[num.F8E5M2](0x7c)}))},
		{"complex", fmt.Sprint(tensor.FromSlice([]complex128{1 + 2i, 3.5 - 4i}), tensor.FromSlice([]complex64{complex(float32(nan), 1), 2i}))},
		{"complex exponents", fmt.Sprint(tensor.FromSlice([]complex128{1e10 + 2i, -1}))},
		{"wrapped", fmt.Sprint(tensor.Arange(0.0, 4, 0.125))},
		{"elided", fmt.Sprint(big)},
		{"elided cube", fmt.Sprint(cube)},
		{"widths of what is shown alone", fmt.Sprint(tensor.Arange[int32](-500, 1501, 1).Flip())},
		{"Threshold", tensor.Sprint(m.Any(), &o{Threshold: 5, EdgeItems: 1})},
		{"Threshold -1", tensor.Sprint(m.Any(), &o{Threshold: -1, EdgeItems: 1})},
		{"LineWidth", tensor.Sprint(tensor.Arange(0.0, 12, 1).Any(), &o{LineWidth: 20})},
		{"LineWidth too small", tensor.Sprint(m.Any(), &o{LineWidth: 1})},
		{"Precision 3", tensor.Sprint(floats(1.0/3, 2).Any(), &o{Precision: 3})},
		{"Precision -1", tensor.Sprint(floats(1.0/3, 2.5, 3.5).Any(), &o{Precision: -1})},
		{"Suppress", tensor.Sprint(floats(1e-10, 1, 1000.5).Any(), &o{Suppress: true})},
		{"Sign +", tensor.Sprint(floats(1, -2, nan, inf).Any(), &o{Sign: '+'})},
		{"Sign space", tensor.Sprint(floats(1, 2).Any(), &o{Sign: ' '}) + tensor.Sprint(floats(1, -2).Any(), &o{Sign: ' '})},
		{"FloatMode Fixed", tensor.Sprint(floats(1, 2.5).Any(), &o{FloatMode: tensor.Fixed, Precision: 4})},
		{"FloatMode Fixed, exponents", tensor.Sprint(floats(1, 1e9).Any(), &o{FloatMode: tensor.Fixed, Precision: 2})},
		{"FloatMode MaxPrecEqual", tensor.Sprint(floats(1, 2.5, 3.125).Any(), &o{FloatMode: tensor.MaxPrecEqual})},
		{"FloatMode Unique", tensor.Sprint(floats(1.0/3, 2.5).Any(), &o{FloatMode: tensor.Unique, Precision: 2})},
		{"NaN and Inf", tensor.Sprint(floats(nan, -inf, 1).Any(), &o{NaN: "none", Inf: "∞"})},
		{"Separator and Indent", "x = " + tensor.Sprint(m.Any(), &o{Separator: ", ", Indent: 4})},
		{"%.2v", fmt.Sprintf("%.2v", floats(1.0/3, 1))},
		{"%.0v", fmt.Sprintf("%.0v", floats(1.25, 3))},
		{"%+v", fmt.Sprintf("%+v", floats(1, -1))},
		{"% v", fmt.Sprintf("% v", floats(1, 1))},
		{"%6v", fmt.Sprintf("%6v", tensor.FromSlice([]int8{1, -2}))},
		{"%s", fmt.Sprintf("%s", m)},
		{"%.3f", fmt.Sprintf("%.3f", floats(1.0/3, -20, nan))},
		{"%8.2e", fmt.Sprintf("%8.2e", floats(1.0/3, -20))},
		{"%g of float16", fmt.Sprintf("%g", halves(0.1, 2))},
		{"%.1f of complex", fmt.Sprintf("%.1f", tensor.FromSlice([]complex64{1 - 2i}))},
		{"%d", fmt.Sprintf("%d", tensor.FromSlice([]int8{1, -20}))},
		{"%#x", fmt.Sprintf("%#x", tensor.FromSlice([]uint8{1, 200}))},
		{"%08b", fmt.Sprintf("%08b", tensor.FromSlice([]uint8{1, 200}))},
		{"%t", fmt.Sprintf("%t", tensor.FromSlice([]bool{true, false}))},
		{"%.3f, elided", fmt.Sprintf("%.3f", tensor.New[float32](2000))},
		{"%d of floats", fmt.Sprintf("%d", m)},
		{"%t of ints", fmt.Sprintf("%t", big)},
		{"%f of bools", fmt.Sprintf("%f", tensor.FromSlice([]bool{true}))},
		{"closed", fmt.Sprintf("%v %d %#v", closed, closed, closed)},
		{"zero value", fmt.Sprintf("%v", tensor.Tensor[num.BF16]{})},
		{"%#v", fmt.Sprintf("%#v\n%#v\n%#v", m.Transpose(), tensor.Scalar(uint8(3)), tensor.New[int64](2, 0))},
		{"%#v, floats", fmt.Sprintf("%#v", floats(1, 0.1, nan, inf, -inf, negzero, 1e21))},
		{"%#v, float32", fmt.Sprintf("%#v", tensor.FromSlice([]float32{0.1, float32(nan), float32(inf)}))},
		{"%#v, bools", fmt.Sprintf("%#v", tensor.FromSlice([]bool{true}))},
		{"%#v, narrow", fmt.Sprintf("%#v %#v", halves(1), tensor.FromSlice([]num.F8E5M2{num.FromFloat64[num.F8E5M2](1)}))},
		{"%#v, complex", fmt.Sprintf("%#v %#v", tensor.FromSlice([]complex128{1 + 2i, complex(nan, 0)}), tensor.FromSlice([]complex64{complex(float32(inf), -1)}))},
		{"%#v, elided", fmt.Sprintf("%#v", big)},
	} {
		fmt.Fprintf(&out, "--- %s\n%s\n", c.call, c.text)
	}
	golden(t, "print.txt", out.String())
	if s := m.String(); s != fmt.Sprint(m) {
		t.Error(s)
	}
}

// Only the shown elements are read: a tensor of 2^40 elements prints at once.
func TestPrintHuge(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("too many elements for 32 bits")
	}
	x := tensor.FromSlice([]int8{1, 2, 3, 4}, 4, 1, 1).BroadcastTo(4, 1<<20, 1<<20)
	s := fmt.Sprint(x)
	if n := strings.Count(s, "\n"); n != 4*6+3*2 || !strings.HasPrefix(s, "[[[1 1 1 ... 1 1 1]\n") {
		t.Errorf("%d lines:\n%s", n, s)
	}
	if s := fmt.Sprintf("%#v", x); len(s) > 200 {
		t.Error(s)
	}
}

// parse reads the numbers of a printed tensor.
func parse(t interface{ Fatal(...any) }, text string) []float64 {
	var out []float64
	for _, w := range strings.Fields(strings.Map(func(r rune) rune {
		if r == '[' || r == ']' {
			return ' '
		}
		return r
	}, text)) {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

var all = tensor.PrintOptions{FloatMode: tensor.Unique, Threshold: math.MaxInt, LineWidth: math.MaxInt}

// Digits that only fill a column don't change the number: the digits of the second value,
// cut after the column's fifteenth, read back as its neighbour.
func TestPrintFill(t *testing.T) {
	x := tensor.FromSlice([]float64{1.000030517578125, 6.10987272699921e-151})
	if s := tensor.Sprint(x.Any(), &all); s != "[1.000030517578125e+000 6.109872726999210e-151]" {
		t.Error(s)
	}
}

// With all digits, the printed text reads back as the same numbers.
func TestPrintReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64(), 1, 20).Draw(t, "values")
		got := parse(t, tensor.Sprint(tensor.FromSlice(v).Any(), &all))
		for i := range v {
			if math.Float64bits(got[i]) != math.Float64bits(v[i]) {
				t.Fatalf("%v reads back as %v", v, got)
			}
		}
		w := rapid.SliceOfN(rapid.Float32(), 1, 20).Draw(t, "values")
		for i, x := range parse(t, tensor.Sprint(tensor.FromSlice(w).Any(), &all)) {
			if math.Float32bits(float32(x)) != math.Float32bits(w[i]) {
				t.Fatalf("%v reads back as %v", w[i], x)
			}
		}
	})
}

// narrow checks every value of a narrow type: alone it reads back, and has no more
// digits than the shortest decimal of its own String.
func narrow[T num.Narrow](t *testing.T, name string, n int, of func(bits int) T, round func(float64) T, value func(T) float64, str func(T) string) {
	for bits := range n {
		x := of(bits)
		v := value(x)
		if v != v || math.IsInf(v, 0) {
			continue
		}
		text := tensor.Sprint(tensor.FromSlice([]T{x}).Any(), &all)
		if got := parse(t, text)[0]; value(round(got)) != v || math.Signbit(got) != math.Signbit(v) {
			t.Fatalf("%s %#x: %v prints as %s", name, bits, v, text)
		}
		if s := tensor.Scalar(x).String(); digits(s) > digits(str(x)) {
			t.Fatalf("%s %#x: %v prints as %s, which is longer than %s", name, bits, v, s, str(x))
		}
	}
}

// digits counts the significant digits of a decimal.
func digits(s string) int {
	s, _, _ = strings.Cut(strings.TrimLeft(s, "+-"), "e")
	s = strings.Trim(strings.Replace(s, ".", "", 1), "0")
	return len(s)
}

func TestPrintNarrow(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	narrow(t, "F16", 1<<16/step, func(b int) num.F16 { return num.FromBits[num.F16](uint16(b * step)) }, num.FromFloat64[num.F16], num.F16.Float64, num.F16.String)
	narrow(t, "BF16", 1<<16/step, func(b int) num.BF16 { return num.FromBits[num.BF16](uint16(b * step)) }, num.FromFloat64[num.BF16], num.BF16.Float64, num.BF16.String)
	narrow(t, "F8E4M3", 1<<8, func(b int) num.F8E4M3 { return num.FromBits[num.F8E4M3](uint16(b)) }, num.FromFloat64[num.F8E4M3], num.F8E4M3.Float64, num.F8E4M3.String)
	narrow(t, "F8E5M2", 1<<8, func(b int) num.F8E5M2 { return num.FromBits[num.F8E5M2](uint16(b)) }, num.FromFloat64[num.F8E5M2], num.F8E5M2.Float64, num.F8E5M2.String)
}

// %#v is Go, whatever the elements are.
func TestPrintGoSyntax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64(), 1, 5).Draw(t, "values")
		for _, s := range []string{
			fmt.Sprintf("%#v", tensor.FromSlice(v)), fmt.Sprintf("%#v", tensor.Scalar(complex(v[0], -v[0]))),
			fmt.Sprintf("%#v", tensor.Full(num.FromFloat64[num.BF16](v[0]), 2000)), fmt.Sprintf("%#v", tensor.Scalar(float32(v[0]))),
		} {
			if _, err := parser.ParseExpr(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	})
}
