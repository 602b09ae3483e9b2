package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		want       tensor.Any
		names      []string
	}{
		{"plain", "1,2.5\n-3e2,nan\n", Options{}, tensor.FromSlice([]float64{1, 2.5, -300, num.NaN64()}, 2, 2).Any(), nil},
		{"no newline at the end", "1,2", Options{}, tensor.FromSlice([]float64{1, 2}, 1, 2).Any(), nil},
		{"carriage returns", "1,2\r\n3,4\r\n", Options{}, tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2).Any(), nil},
		{"carriage returns alone", "a,b\r1,2\r3,4\r", Options{Header: true}, tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2).Any(), []string{"a", "b"}},
		{"mixed ends", "1,2\r3,4\n5,6\r\n7,8", Options{}, tensor.FromSlice([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2).Any(), nil},
		{"ends in quotes", "\"a\rb\",\"c\r\nd\"\r\"1\r\n\",\"\r2\"\r\n", Options{Header: true}, tensor.FromSlice([]float64{1, 2}, 1, 2).Any(), []string{"a\nb", "c\nd"}},
		{"white space and quotes", " 1 ,\"2\"\n\" 3\",4\t\n", Options{}, tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2).Any(), nil},
		{"empty lines", "\n1,2\n\n\n3,4\n\n", Options{}, tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2).Any(), nil},
		{"header", "a,\"b, c\"\n1,2\n", Options{Header: true}, tensor.FromSlice([]float64{1, 2}, 1, 2).Any(), []string{"a", "b, c"}},
		{"header alone", "a,b,c\n", Options{Header: true}, tensor.New[float64](0, 3).Any(), []string{"a", "b", "c"}},
		{"nothing", "", Options{}, tensor.New[float64](0, 0).Any(), nil},
		{"byte order mark", "\ufeff7\n", Options{}, tensor.FromSlice([]float64{7}, 1, 1).Any(), nil},
		{"tabs", "1\t2\n", Options{Comma: '\t', DType: dtype.Int8}, tensor.FromSlice([]int8{1, 2}, 1, 2).Any(), nil},
		{"semicolons", "1;2\n", Options{Comma: ';', DType: dtype.Uint64}, tensor.FromSlice([]uint64{1, 2}, 1, 2).Any(), nil},
		{"bools", "true,FALSE,1,0\n", Options{DType: dtype.Bool}, tensor.FromSlice([]bool{true, false, true, false}, 1, 4).Any(), nil},
		{"signs", "+1,-128\n", Options{DType: dtype.Int8}, tensor.FromSlice([]int8{1, -128}, 1, 2).Any(), nil},
		{"unsigned sign", "+1,255\n", Options{DType: dtype.Uint8}, tensor.FromSlice([]uint8{1, 255}, 1, 2).Any(), nil},
		{"infinities", "inf,-Infinity\n", Options{DType: dtype.Float32}, tensor.FromSlice([]float32{float32(math.Inf(1)), float32(math.Inf(-1))}, 1, 2).Any(), nil},
		{"complex", "1.5-2j,(3+4i),-1,2j\n", Options{DType: dtype.Complex64}, tensor.FromSlice([]complex64{1.5 - 2i, 3 + 4i, -1, 2i}, 1, 4).Any(), nil},
	} {
		got, names, err := Read(strings.NewReader(tc.text), &tc.o)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if !tensortest.Equal(t, got, tc.want) || fmt.Sprint(names) != fmt.Sprint(tc.names) {
			t.Errorf("%s: got %v, %q", tc.name, got, names)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct {
		text string
		o    Options
		err  error
		want string
	}{
		{"1,2\n3\n", Options{}, ErrFormat, "csv: line 2: the row has 1 cells, the one of line 1 has 2"},
		{"a,b\n1,2,3\n", Options{Header: true}, ErrFormat, "csv: line 2: the row has 3 cells, the one of line 1 has 2"},
		{"1,2\n3,x\n", Options{}, ErrValue, `csv: line 2, column 2: "x" is no float64`},
		{"1,,3\n", Options{}, ErrValue, "csv: line 1, column 2: the cell is empty; a missing float is written nan"},
		{"\"1\n\",\"\n\nx\"\n", Options{}, ErrValue, `csv: line 2, column 2: "x" is no float64`},
		{"1e400\n", Options{}, ErrValue, `csv: line 1, column 1: "1e400" is out of the range of float64`},
		{"1e39\n", Options{DType: dtype.Float32}, ErrValue, `csv: line 1, column 1: "1e39" is out of the range of float32`},
		{"70000\n", Options{DType: dtype.Float16}, ErrValue, `csv: line 1, column 1: "70000" is out of the range of float16`},
		{"500\n", Options{DType: dtype.Float8E4M3}, ErrValue, `csv: line 1, column 1: "500" is out of the range of float8_e4m3`},
		{"inf\n", Options{DType: dtype.Float8E4M3}, ErrValue, `csv: line 1, column 1: "inf" is no float8_e4m3, which has no infinity`},
		{"256\n", Options{DType: dtype.Uint8}, ErrValue, `csv: line 1, column 1: "256" is out of the range of uint8`},
		{"-1\n", Options{DType: dtype.Uint8}, ErrValue, `csv: line 1, column 1: "-1" is no uint8, which has no sign`},
		{"1.0\n", Options{DType: dtype.Int32}, ErrValue, `csv: line 1, column 1: "1.0" is no int32`},
		{"2\n", Options{DType: dtype.Bool}, ErrValue, `csv: line 1, column 1: "2" is no bool; true, false, 1 and 0 are`},
		{"(1+2j\n", Options{DType: dtype.Complex128}, ErrValue, `csv: line 1, column 1: "(1+2j" is no complex128, such as 1.5+2j`},
		{"1,\"2\n", Options{}, ErrFormat, "csv: line 1: byte 6: a quote that isn't closed, or text behind a closing one; a quote in quotes is written twice"},
		{"1,2\"3\n", Options{}, ErrFormat, "csv: line 1: byte 4: a quote inside a cell that doesn't begin with one; a quote in quotes is written twice"},
		{strings.Repeat("1", 5000) + "\n", Options{}, ErrValue, `csv: line 1, column 1: "` + strings.Repeat("1", 40) + `…" is too long for a number`},
		{"1\n\"" + strings.Repeat("\n", MaxRow+9000), Options{}, format.ErrLimit, "csv: line 2: a row of more than 2097152 bytes; is a quote not closed, or is it no table?"},
		{"", Options{Comma: 'e'}, ErrOption, "csv: cells can't be separated by 'e', which may stand in a number or ends a row; a comma, ; and a tab can"},
		{"", Options{Comma: '"'}, ErrOption, "csv: cells can't be separated by '\"', which may stand in a number or ends a row; a comma, ; and a tab can"},
		{"", Options{DType: 200}, format.ErrType, ""},
	} {
		_, _, err := Read(strings.NewReader(tc.text), &tc.o)
		var own *Error
		if !errors.Is(err, tc.err) || !errors.As(err, &own) || tc.want != "" && err.Error() != tc.want {
			t.Errorf("%.40q: got  %v\nwant %s", tc.text, err, tc.want)
		}
	}
	broken := errors.New("the line is dead")
	_, _, err := Read(io.MultiReader(strings.NewReader("1,2\n"), failing{broken}), nil)
	if !errors.Is(err, broken) {
		t.Errorf("a source that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWrite(t *testing.T) {
	a := tensor.FromSlice([]float64{1, 0.1, math.Inf(-1), num.NaN64(), 1e-300, math.Copysign(0, -1)}, 2, 3)
	for _, tc := range []struct {
		t     tensor.Any
		names []string
		o     Options
		want  string
	}{
		{a.Any(), nil, Options{}, "1,0.1,-inf\nnan,1e-300,-0\n"},
		{a.Transpose().Any(), nil, Options{Comma: ';'}, "1;nan\n0.1;1e-300\n-inf;-0\n"},
		{a.Any(), []string{"x", "y, z", "say \"w\""}, Options{}, "x,\"y, z\",\"say \"\"w\"\"\"\n1,0.1,-inf\nnan,1e-300,-0\n"},
		{tensor.Arange[uint8](0, 3, 1).Any(), []string{"n"}, Options{}, "n\n0\n1\n2\n"},
		{tensor.FromSlice([]complex64{1 - 2i, 0.5i}, 1, 2).Any(), nil, Options{Comma: '\t'}, "1-2j\t0+0.5j\n"},
		{tensor.FromSlice([]bool{true, false}, 2).Any(), nil, Options{}, "true\nfalse\n"},
		{tensor.New[int32](0, 4).Any(), []string{"a", "b", "c", "d"}, Options{}, "a,b,c,d\n"},
		{tensor.New[int32](0, 0).Any(), nil, Options{}, ""},
	} {
		var b strings.Builder
		if err := Write(&b, tc.t, tc.names, &tc.o); err != nil || b.String() != tc.want {
			t.Errorf("%v: %v\n%q, want\n%q", tc.t, err, b.String(), tc.want)
		}
	}
	spec, err := tensor.NewSpec(dtype.Float32, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[float32](2)
	closed.Close()
	broken := errors.New("full")
	for _, tc := range []struct {
		t    tensor.Any
		w    io.Writer
		n    []string
		err  error
		want string
	}{
		{tensor.Scalar(1.0).Any(), io.Discard, nil, ErrShape, "csv: float64[] has rank 0; a table has 2, or 1 for one column: slice or reshape it"},
		{tensor.New[int8](3, 0).Any(), io.Discard, nil, ErrShape, "csv: int8[3,0] is rows without columns, which text can't show"},
		{a.Any(), io.Discard, []string{"x"}, ErrShape, "csv: 1 names for the 3 columns of float64[2,3]"},
		{spec.Any(), io.Discard, nil, format.ErrType, "csv: float32[2,2] has no text; convert it to another type"},
		{closed.Any(), io.Discard, nil, tensor.ErrClosed, ""},
		{a.Any(), failing{broken}, nil, broken, "csv: writing float64[2,3]: full"},
	} {
		if err := Write(tc.w, tc.t, tc.n, nil); !errors.Is(err, tc.err) || tc.want != "" && err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tensor.Describe(tc.t), err, tc.want)
		}
	}
}

// TestRoundTrip writes random bits of every element type and reads them again.
func TestRoundTrip(t *testing.T) {
	for _, d := range dtype.All() {
		t.Run(d.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rows, columns := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "columns")
				if rows == 0 {
					columns = 0
				}
				b := rapid.SliceOfN(rapid.Byte(), rows*columns*d.Size(), -1).Draw(t, "bytes")[:rows*columns*d.Size()]
				d.Mend(b)
				buf := mem.Borrow(append([]byte(nil), b...), nil)
				lay, err := layout.RowMajor(rows, columns)
				if err != nil {
					t.Fatal(err)
				}
				want, err := tensor.FromBytes(d, buf, 0, lay)
				if err != nil {
					t.Fatal(err)
				}
				o := Options{DType: d, Comma: rapid.SampledFrom([]rune{',', ';', '\t', '|', ' ', '→'}).Draw(t, "comma")}
				var text bytes.Buffer
				if err := Write(&text, want, nil, &o); err != nil {
					t.Fatal(err)
				}
				got, _, err := Read(&text, &o)
				if err != nil {
					t.Fatal(err)
				}
				if tensor.Describe(got) != tensor.Describe(want) || !same(got, want) {
					t.Fatalf("wrote\n%v\nread\n%v", want, got)
				}
			})
		})
	}
}

// same compares bits where there is no NaN.
func same(got, want tensor.Any) bool {
	g, _ := tensor.Bytes(got)
	w, _ := tensor.Bytes(want)
	return bytes.Equal(g, w) || fmt.Sprint(got) == fmt.Sprint(want) && strings.Contains(fmt.Sprint(want), "nan")
}

// TestReadManyPieces reads more numbers than are collected in one piece.
func TestReadManyPieces(t *testing.T) {
	want := tensor.Arange[int32](0, 300_000, 1).Reshape(1000, 300)
	var text bytes.Buffer
	if err := Write(&text, want.Any(), nil, nil); err != nil {
		t.Fatal(err)
	}
	got, _, err := Read(&text, &Options{DType: dtype.Int32})
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Equal(t, got, want.Any())
}

// TestNarrowFloatsRoundOnce reads numbers just beside the ties of float16, where
// the nearest float64 is the tie itself.
func TestNarrowFloatsRoundOnce(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(60), nil))
	for bits := range uint16(0x7bff) {
		low, high := num.FromBits[num.F16](bits), num.FromBits[num.F16](bits+1)
		tie := new(big.Rat).SetFloat64((low.Float64() + high.Float64()) / 2)
		even := low
		if bits%2 == 1 {
			even = high
		}
		for i, want := range []num.F16{low, even, high} {
			v := new(big.Rat).Add(tie, new(big.Rat).Mul(big.NewRat(int64(i-1), 1), tiny))
			got, why := narrow(dtype.Float16, num.FromBits[num.F16])(v.FloatString(90))
			if got != want || why != "" {
				t.Fatalf("%s: got %v %s, want %v", v.FloatString(90), got, why, want)
			}
		}
	}
}

// TestEndsOfLines reads one table with each end of a line, and with all of them mixed,
// in pieces of any size: it is the same table, and has the same error on the same line.
func TestEndsOfLines(t *testing.T) {
	cell := rapid.SampledFrom([]string{"1", "-2.5", " nan ", "\"3\"", "\"4\n\"", "\"\n5\"", "x", "", "\"6", "7\"8"})
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		var lf strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "rows") {
			good := rapid.IntRange(0, 9).Draw(t, "good") > 0
			for i := range columns {
				c := cell.Draw(t, "cell")
				if good && (c == "" || strings.ContainsAny(c, "x68")) {
					c = "1"
				}
				if i > 0 {
					lf.WriteByte(',')
				}
				lf.WriteString(c)
			}
			lf.WriteString(strings.Repeat("\n", rapid.IntRange(1, 2).Draw(t, "ends")))
		}
		text := strings.TrimRight(lf.String(), strings.Repeat("\n", rapid.IntRange(0, 1).Draw(t, "trim")))
		o := Options{Header: rapid.Bool().Draw(t, "header")}
		want, names, fail := Read(strings.NewReader(text), &o)
		for _, kind := range []string{"\r", "\r\n", "mixed"} {
			var b strings.Builder
			last := ""
			for _, c := range []byte(text) {
				end := kind
				if kind == "mixed" {
					end = rapid.SampledFrom([]string{"\n", "\r", "\r\n"}).Draw(t, "end")
				}
				switch {
				case c != '\n':
					last = string(c)
				case last == "\r" && end == "\n": // the two would be one end
					last = "\r"
				default:
					last = end
				}
				b.WriteString(last)
			}
			var r io.Reader = strings.NewReader(b.String())
			if rapid.Bool().Draw(t, "byte by byte") {
				r = iotest.OneByteReader(r)
			}
			got, again, err := Read(r, &o)
			if fmt.Sprint(err) != fmt.Sprint(fail) || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", names) {
				t.Fatalf("%q: %v, %q; %q: %v, %q", text, fail, names, b.String(), err, again)
			}
			if err == nil && !(tensor.Describe(got) == tensor.Describe(want) && same(got, want)) {
				t.Fatalf("%q is %v, %q is %v", text, want, b.String(), got)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"1,2\n3,4\n", "a,b\n1,nan\n", "\ufeff\"1\",-0\r\n\n+inf,0x1p-2\n", "1\t2j\n(1-2j)\t3i\n", "\"\"\"\"\n", "1;2\n3\n", "true,0\n", "1e-400,5e-324\n", "a,b\r1,2\r3,4\r", "1\r\r\n\n2\r\n", "a,\"b\r\nc\rd\"\r1,2"} {
		for d := range uint8(len(dtype.All())) {
			f.Add([]byte(s), d, s[0] == 'a', strings.ContainsRune(s, '\t'))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, d uint8, header, tab bool) {
		types := dtype.All()
		o := Options{DType: types[int(d)%len(types)], Header: header}
		if tab {
			o.Comma = '\t'
		}
		a, names, err := Read(bytes.NewReader(text), &o)
		if err != nil {
			var own *Error
			if !errors.As(err, &own) || own.Err == nil || own.Line < 1 || own.Line > bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+2 {
				t.Fatalf("an error of another kind: %#v", err)
			}
			return
		}
		if a.DType() != o.DType || a.Rank() != 2 || names != nil && len(names) != a.Dim(1) {
			t.Fatalf("%s with the names %q", tensor.Describe(a), names)
		}
		var first, second bytes.Buffer
		if err := Write(&first, a, names, &o); err != nil {
			t.Fatal(err)
		}
		b, again, err := Read(bytes.NewReader(first.Bytes()), &o)
		if err != nil {
			t.Fatalf("%q, written as %q: %v", text, first.Bytes(), err)
		}
		if err := Write(&second, b, again, &o); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) || !same(b, a) {
			t.Fatalf("%q and %q, %v", first.Bytes(), second.Bytes(), err)
		}
	})
}

// A NaN in each spelling of C is read as every type that has one, digits apart are read as none, and both alike alone, in a
// complex number and in quotes.
func TestSpellings(t *testing.T) {
	read := func(cell string, d dtype.DType) (tensor.Any, error) {
		a, _, err := Read(strings.NewReader("\""+cell+"\"\n"), &Options{DType: d})
		return a, err
	}
	for _, d := range dtype.All() {
		if d == dtype.Bool || d.Size() == 0 {
			continue
		}
		for _, cell := range []string{"1_000", "1_0", "0_1", "_1", "1_", "0x_1p0", "1_0j", "1+1_0j"} {
			if a, err := read(cell, d); !errors.Is(err, ErrValue) {
				t.Errorf("%s as %v is %v, %v", cell, d, a, err)
			}
		}
		_, has := read("nan", d)
		for _, nan := range []string{"NaN", "-nan", "+nan", "-NAN", "nan(ind)", "-nan(0x8_0)", "nan()", "+nan(snan)"} {
			cells := []string{nan, " " + nan + " "}
			if d.IsComplex() {
				cells = append(cells, "("+nan+")", nan+"j", "1+"+strings.TrimLeft(nan, "+-")+"j", nan+"-2e-1j", "("+nan+"+infi)", nan+"+j")
			}
			for _, cell := range cells {
				a, err := read(cell, d)
				if (err == nil) != (has == nil) {
					t.Errorf("%s as %v: %v; nan gives %v", cell, d, err, has)
				} else if err == nil && !strings.Contains(strings.ToLower(a.String()), "nan") {
					t.Errorf("%s as %v is %v", cell, d, a)
				}
			}
		}
		for _, cell := range []string{"na", "nan(", "nan)", "--nan", "nan(-)", "nanx", "nan(a)b", "nan1"} {
			if a, err := read(cell, d); err == nil {
				t.Errorf("%s as %v is %v", cell, d, a)
			}
		}
	}
	for cell, want := range map[string]complex128{"1e-2+3e+1j": complex(.01, 30), "-j": -1i, "+i": 1i, "j": 1i, "2": 2, "(3i)": 3i, "-1-2j": -1 - 2i, "0x1p+1-0x1p-1j": 2 - .5i, "1-0j": complex(1, math.Copysign(0, -1))} {
		if a, err := read(cell, dtype.Complex128); err != nil || fmt.Sprint(a) != fmt.Sprint(tensor.Full(want, 1, 1)) {
			t.Errorf("%s is %v, %v", cell, a, err)
		}
	}
	for _, cell := range []string{"", "()", "1+2", "1++2j", "1+2j)", "(1+2j", "jj", "1j2", "e+1j", "1e400j", "1+1e400j"} {
		if a, err := read(cell, dtype.Complex128); err == nil {
			t.Errorf("%q is %v", cell, a)
		}
	}
}

// A table without elements comes back in its shape, or is refused.
func TestEmptyTables(t *testing.T) {
	for _, shape := range [][]int{{0}, {0, 0}, {0, 1}, {0, 3}, {1, 0}, {3, 0}} {
		x := tensor.New[float64](shape...)
		for _, names := range [][]string{nil, {}, {"a"}, {"a", "b", "c"}} {
			var b strings.Builder
			if err := Write(&b, x.Any(), names, nil); err != nil {
				if !errors.Is(err, ErrShape) || b.Len() > 0 {
					t.Errorf("%v: %v, %q", shape, err, b.String())
				}
				continue
			}
			back, _, err := Read(strings.NewReader(b.String()), &Options{Header: len(names) > 0})
			if want := append(slices.Clone(shape), 1)[:2]; err != nil || !slices.Equal(back.Shape(), want) {
				t.Errorf("%v under %v comes back as %v, %v", shape, names, back, err)
			}
		}
	}
}
