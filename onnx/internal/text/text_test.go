package text_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/onnx/internal/text"
)

func ExampleTable() {
	session := text.NewTable(nil)
	session.Add("yes")
	run := text.NewTable(session)
	a, err := run.Tensor([]int{2, 2}, []string{"no", "yes", "", "no"})
	fmt.Println(a, err)
	fmt.Println(run.Strings(a), run.Len())
	// Output:
	// [[2 1]
	//  [0 2]] <nil>
	// [no yes  no] 3
}

func TestRenumbered(t *testing.T) {
	from, to := text.NewTable(nil), text.NewTable(nil)
	to.Add("c")
	a, err := from.Tensor([]int{3}, []string{"a", "c", "a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := to.Renumbered(from, a)
	if got := to.Strings(b); err != nil || !slices.Equal(got, []string{"a", "c", "a"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if to.Bytes != 2*(1+text.PerString) {
		t.Errorf("the table counts %d bytes", to.Bytes)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    any
		want string
	}{{true, "True"}, {float32(0.1), "0.1"}, {1.0, "1.0"}, {1e16, "1e+16"}, {1e-5, "1e-05"}, {math.NaN(), "NaN"}, {math.Inf(1), "INF"}, {math.Inf(-1), "-INF"}, {int8(-3), "-3"}} {
		if got := text.Number(c.x); got != c.want {
			t.Errorf("%v: got %q, want %q", c.x, got, c.want)
		}
	}
	for s, want := range map[string]float64{"1e400": math.Inf(1), "-INF": math.Inf(-1), "0.5": 0.5} {
		if got, err := text.ParseFloat(s, 64); got != want || err != nil {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	}
	if _, err := text.ParseFloat("0x1p3", 64); err == nil {
		t.Error("read a hexadecimal number")
	}
}

func TestWords(t *testing.T) {
	if got := text.ChangeCase("É\xffa", strings.ToLower); got != "é\xffa" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		s, delimiter string
		most         int64
		want         []string
	}{{" a  b c ", "", -1, []string{"a", "b", "c"}}, {"a b c", "", 1, []string{"a", "b c"}}, {"a--b-c", "-", 2, []string{"a", "", "b-c"}}} {
		if got := text.Split(c.s, c.delimiter, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.s, got, c.want)
		}
	}
}
