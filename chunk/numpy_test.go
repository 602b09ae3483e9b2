package chunk

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	lang "github.com/ashlar-go/ashlar/chunk/internal/expr"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Expressions have the answers of Python and NumPy, recorded by testdata/expressions.py, or are refused. Of numbers alone, only
// expressions that are errors there too, or are beyond 64 bits, are refused. With ASHLAR_EXPRESSIONS=N, N more are asked of Python now.
func TestBesideNumPy(t *testing.T) {
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	if n := os.Getenv("ASHLAR_EXPRESSIONS"); n != "" {
		more, err := exec.Command("python3", "testdata/expressions.py", "2", n).Output()
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	vars := map[string]Array{
		"x": FromTensor("x", tensor.FromSlice([]float64{-7.5, math.Copysign(0, -1), 2, math.Inf(1), math.NaN(), 3.25}, 2, 3).Any(), 1, 2),
		"f": FromTensor("f", tensor.FromSlice([]float32{0.1, -3, 1e30}, 3).Any(), 2),
		"h": FromTensor("h", tensor.FromSlice([]num.F16{num.F16FromBits(0x3800), num.F16FromBits(0xc100)}, 2, 1).Any(), 1, 1),
		"i": FromTensor("i", tensor.FromSlice([]int8{-7, 3, 100, 5, -1, 2}, 2, 3).Any(), 2, 1),
		"u": FromTensor("u", tensor.FromSlice([]uint8{200, 7, 255}, 3).Any(), 1),
		"b": FromTensor("b", tensor.FromSlice([]bool{true, false, true}, 3).Any(), 2),
	}
	lines, refused := 0, 0
	for in := bufio.NewScanner(strings.NewReader(string(text))); in.Scan(); lines++ {
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
		case err != nil && (want == "!" || strings.Contains(err.Error(), "64 bits") || strings.Contains(err.Error(), "too large")):
			refused++
			continue
		case err != nil:
			got = err.Error()
		case v.Kind == lang.Int:
			got = fmt.Sprint("i ", v.Int)
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
