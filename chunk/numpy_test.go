package chunk

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	lang "github.com/ashlar-go/ashlar/chunk/internal/expr"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Expressions have the answers of Python and NumPy, recorded by testdata/expressions.py, or are refused. Of numbers alone, only
// expressions that are errors there too, or are beyond the bound on integers, are refused. With ASHLAR_EXPRESSIONS=N, N more are asked of Python now.
func TestBesideNumPy(t *testing.T) {
	text := answers(t, "expressions")
	vars := map[string]Array{
		"x": FromTensor("x", tensor.FromSlice([]float64{-7.5, math.Copysign(0, -1), 2, math.Inf(1), math.NaN(), 3.25}, 2, 3).Any(), 1, 2),
		"f": FromTensor("f", tensor.FromSlice([]float32{0.1, -3, 1e30}, 3).Any(), 2),
		"h": FromTensor("h", tensor.FromSlice([]num.F16{num.FromBits[num.F16](0x3800), num.FromBits[num.F16](0xc100)}, 2, 1).Any(), 1, 1),
		"i": FromTensor("i", tensor.FromSlice([]int8{-7, 3, 100, 5, -1, 2}, 2, 3).Any(), 2, 1),
		"u": FromTensor("u", tensor.FromSlice([]uint8{200, 7, 255}, 3).Any(), 1),
		"b": FromTensor("b", tensor.FromSlice([]bool{true, false, true}, 3).Any(), 2),
	}
	lines, refused := 0, 0
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); lines++ {
		kind, line, _ := strings.Cut(in.Text(), "\t")
		expr, want, _ := strings.Cut(line, "\t")
		if kind == "a" {
			a, err := Parse(expr, vars)
			var got tensor.Any
			if err == nil {
				got, err = elementsOf(a)
			}
			if err != nil {
				refused++
				continue
			}
			if want == "!" {
				t.Errorf("%s is %v, and an error in NumPy", expr, got)
				continue
			}
			sameArray(t, expr, got, want)
			continue
		}
		v, err := evaluated(expr, vars)
		got := fmt.Sprint(v.Kind)
		switch {
		case err != nil && (want == "!" || strings.Contains(err.Error(), "too large")):
			refused++
			continue
		case err != nil:
			got = err.Error()
		case v.IsInteger():
			if got = fmt.Sprint("i ", v.Integer()); v.Integer().BitLen() > 70 {
				got = "i big"
			}
		case v.Kind == lang.Float && strings.HasPrefix(want, "f "):
			if w, err := strconv.ParseFloat(want[2:], 64); err == nil && (math.Float64bits(w) == math.Float64bits(v.Float) || w != w && v.Float != v.Float ||
				strings.Contains(expr, "**") && math.Abs(w-v.Float) <= 1e-15*math.Abs(w)) {
				continue
			}
			got = "f " + strconv.FormatFloat(v.Float, 'x', -1, 64)
		}
		if got != want {
			t.Errorf("%s is %s, in Python %s", expr, got, want)
		}
	}
	t.Logf("%d expressions, of which %d are refused", lines, refused)
}

// answers returns the recorded lines of a script in testdata, and as many new ones as ASHLAR_EXPRESSIONS says.
func answers(t *testing.T, script string) string {
	text, err := os.ReadFile("testdata/" + script + ".txt")
	if n := os.Getenv("ASHLAR_EXPRESSIONS"); n != "" && err == nil {
		var more []byte
		more, err = exec.Command("python3", "testdata/"+script+".py", "2", n).Output()
		text = append(text, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Integer constants of any size beside arrays: comparisons are Python's, and the rest is refused where NumPy 2 refuses it, and only there.
// But a number beyond a type of floats is refused here, and an infinity there. The answers are recorded by testdata/constants.py.
func TestConstants(t *testing.T) {
	vars := map[string]Array{
		"f2": valueOf([]num.F16{num.FromFloat64[num.F16](0.5), num.FromFloat64[num.F16](math.Copysign(0, -1)), num.FromFloat64[num.F16](2048), num.FromFloat64[num.F16](65504), num.FromFloat64[num.F16](-65504), num.FromFloat64[num.F16](3), num.FromFloat64[num.F16](math.Inf(1)), num.FromFloat64[num.F16](math.NaN())}...),
		"f4": valueOf(0.5, float32(math.Copysign(0, -1)), 1<<24, 1<<63, -1<<31, 255, math.MaxFloat32, float32(math.Inf(-1)), float32(math.NaN())),
		"f8": valueOf(0.5, math.Copysign(0, -1), 1<<53, 1<<64, -1<<63, 255, math.MaxFloat64, math.Inf(1), math.NaN()),
		"b":  valueOf(true, false, true), "p": valueOf[int8](0, 1, 2, 5), "q": valueOf[int8](3, 2, -1, 0),
		"i1": signedEnds[int8](math.MinInt8), "i2": signedEnds[int16](math.MinInt16), "i4": signedEnds[int32](math.MinInt32), "i8": signedEnds[int64](math.MinInt64),
		"u1": valueOf[uint8](0, math.MaxUint8, math.MaxUint8-1, 0, 1, 3, 100), "u2": valueOf[uint16](0, math.MaxUint16, math.MaxUint16-1, 0, 1, 3, 100),
		"u4": valueOf[uint32](0, math.MaxUint32, math.MaxUint32-1, 0, 1, 3, 100), "u8": valueOf[uint64](0, math.MaxUint64, math.MaxUint64-1, 0, 1, 3, 100),
	}
	lines, refused, large := 0, 0, 0
	for in := bufio.NewScanner(strings.NewReader(answers(t, "constants"))); in.Scan(); lines++ {
		text, want, _ := strings.Cut(in.Text(), "\t")
		a, err := Parse(text, vars)
		var got tensor.Any
		if err == nil {
			got, err = elementsOf(a)
		}
		switch {
		case err != nil && want == "!":
			refused++
		case err != nil && strings.Contains(err.Error(), "fit elements of float") && !comparison.MatchString(text):
			large++
		case err != nil || !agrees(got, text, want):
			t.Errorf("%s is %v, %v; want %s", text, got, err, want)
		}
	}
	t.Logf("%d expressions, of which %d are errors in both, and %d have a number too large for a float here", lines, refused, large)
}

var comparison = regexp.MustCompile(`^(not_)?(equal|less|greater)|^[^wc].* [=!<>]=? `)

func valueOf[T num.Elem](v ...T) Array { return Value(tensor.FromSlice(v, len(v)).Any()) }

func signedEnds[T num.Int](least T) Array {
	return valueOf(least, -(least + 1), -(least + 2), 0, 1, 3, 100, -1, -7, least+1)
}

// agrees compares a vector with the answer of testdata/constants.py to an expression.
func agrees(t tensor.Any, expr, answer string) bool {
	w := strings.Fields(answer)
	if t.IsZero() || len(w) != 1+t.Len() || t.DType().String() != w[0] {
		return false
	}
	zeros := strings.Contains(expr, "m") || strings.Contains(expr, "clip") // a maximum or a minimum of two zeros is either
	at := tensor.Float64s(t)
	for i := range t.Indices() {
		want := w[1+i[0]]
		if t.DType().IsFloat() {
			x := at(i...)
			y, err := strconv.ParseFloat(want, 64)
			if err != nil || math.Float64bits(x) != math.Float64bits(y) && !(x != x && y != y) && !(zeros && x == y) {
				return false
			}
			continue
		}
		e, err := tensor.Slice(t, tensor.I(i[0]))
		if got := fmt.Sprint(e); err != nil || got != want && got != map[string]string{"0": "False", "1": "True"}[want] {
			return false
		}
	}
	return true
}

func sameArray(t *testing.T, expr string, got tensor.Any, want string) {
	w := strings.Fields(want)
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(got.Shape()), " ", ","), "[]")
	if w[0] == "i" { // count_nonzero is Python's int
		w = []string{"a", "int64", "-", w[1]}
	}
	if shape == "" {
		shape = "-"
	}
	if got.DType().String() != w[1] || shape != w[2] {
		t.Errorf("%s is %v, in NumPy %s", expr, tensor.Describe(got), want)
		return
	}
	at := tensor.Float64s(got)
	k := 3
	for i := range got.Indices() {
		x := at(i...)
		if got.DType() == dtype.Bool {
			v, _ := tensor.As[bool](got)
			if x = 0; v.At(i...) {
				x = 1
			}
		}
		y, err := strconv.ParseFloat(w[k], 64)
		if err != nil {
			t.Fatal(err)
		}
		rounds := strings.Contains(expr, "sum") || strings.Contains(expr, "mean") || strings.Contains(expr, "prod")
		zeros := strings.Contains(expr, "m") && x == y // max and min of two zeros give either
		near := zeros || rounds && math.Abs(x-y) <= 1e-3*math.Abs(y)
		if math.Float64bits(x) != math.Float64bits(y) && !(x != x && y != y) && !near {
			t.Errorf("%s is %v, in NumPy %s", expr, got, want)
			return
		}
		k++
	}
}
