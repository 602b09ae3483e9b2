package expr_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/chunk/internal/expr"
)

// written shows a tree with a pair of parentheses around each operator.
func written(n expr.Node) string {
	in := make([]string, len(n.In))
	for i, m := range n.In {
		in[i] = written(m)
	}
	list := strings.Join(in, ", ")
	switch n.Kind {
	case expr.Int, expr.Big:
		return n.Integer().String()
	case expr.Float:
		return fmt.Sprint(n.Float)
	case expr.Text:
		return fmt.Sprintf("%q", n.Text)
	case expr.List:
		return "[" + list + "]"
	case expr.Sign:
		return "(" + n.Text + " " + list + ")"
	case expr.Part:
		return fmt.Sprint(list, n.Index)
	case expr.Transposed:
		return list + ".T"
	case expr.Call:
		return n.Text + "(" + list + ")"
	case expr.Argument:
		return n.Text + "=" + list
	}
	return n.Text
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"a - b - c": "(- (- a, b), c)", "a + b * c": "(+ a, (* b, c))", "-a ** -b": "(- (** a, (- b)))", "a ** b ** c": "(** a, (** b, c))",
		"a | b ^ c & d == e": "(== (| a, (^ b, (& c, d))), e)", "~x[0, ::2].T": "(~ x[0 ::2].T)", "((x))": "x", "(x,)": "[x]", "()": "[]", "[1, 2.5,]": "[1, 2.5]",
		"x.mean((0, 1), keepdims=True)": "mean(x, [0, 1], keepdims=True)", "f()": "f()", "'é'": `"é"`, "0x_1f + 1_0": "(+ 31, 10)", "x == y": "(== x, y)",
		"9223372036854775807 + 9223372036854775808": "(+ 9223372036854775807, 9223372036854775808)", "0x_1_0000_0000_0000_0000": "18446744073709551616", "0_0 + 00": "(+ 0, 0)", "01.5": "1.5",
		"x[0x10:1_0, -0b11, 00::0o7]": "x[16:10 -3 0::7]", "x[1, ..., None]": "x[1 ... None]",
	} {
		n, err := expr.Parse(text)
		if got := written(n); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}

// Numbers have one rule, as operands and in indices.
func TestNumerals(t *testing.T) {
	for text, want := range map[string]string{
		"010": "it is 10, or 0o10 in base 8", "0_7": "a 0 before its digits", "01": "it is 1", "1__0": "isn't a number", "1_": "isn't a number", "0x": "isn't a number", "0b2": "isn't a number",
		"08": "it is 8", "1.5.2": "isn't a number", strings.Repeat("9", 6000): "at most 16384 bits", "1e999": "too large",
	} {
		for _, text := range []string{text, "x[" + text + "]", "x[1:, " + text + "]", "x[::-" + text + "]"} {
			n, err := expr.Parse(text)
			var e *expr.Error
			if !errors.As(err, &e) || !errors.Is(err, expr.ErrSyntax) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.50s is %v, %.300v; want %q", text, n, err, want)
			}
		}
	}
}

// Numbers alone are Python's, whatever their size.
func TestFold(t *testing.T) {
	big := func(n int) string { return "2 ** " + fmt.Sprint(n) }
	for text, want := range map[string]string{
		"2 ** 64 - 1": "18446744073709551615", "-2 ** 63": "-9223372036854775808", "-9223372036854775808 * -1": "9223372036854775808", "(-7) ** 25 // 10 ** 3": "-1341068619663964901",
		"-(2 ** 70) % 1000": "576", "2 ** 70 % -1000": "-576", "2 ** 70 / 2 ** 69": "2.0", "10 ** 400 / 10 ** 399": "10.0", "10 ** 400 - 10 ** 400": "0", "1 ** 10 ** 400": "1", "(-1) ** (10 ** 400 + 1)": "-1", "0 ** 10 ** 400": "0",
		big(16383) + " - " + big(16383): "0", big(16384): "too large", "2 ** 2 ** 70": "too large", "10 ** 400 + 0.5": "beyond the largest float64", "0.5 < 1": "alone", "10 ** 400 / 3": "beyond the largest float64", "2 ** -10 ** 400": "beyond the largest float64",
		"10 ** 400 // 0": "a division by 0", "2 ** 64 * 0.5": "9.223372036854775808e18", "7 // 2 ** 64": "0", "-7 // 2 ** 64": "-1", "0 ** -(2 ** 70)": "a division by 0",
	} {
		n, err := expr.Parse(text)
		var fold func(n expr.Node) expr.Node
		fold = func(n expr.Node) expr.Node {
			if n.Kind != expr.Sign {
				return n
			}
			in := []expr.Node{{Kind: expr.Int}, fold(n.In[0])}
			if len(n.In) == 2 {
				in = []expr.Node{in[1], fold(n.In[1])}
			}
			r, e := expr.Fold(n.At, n.Text, in[0], in[1])
			if err == nil {
				err = e
			}
			return r
		}
		r := fold(n)
		switch f, e := strconv.ParseFloat(want, 64); {
		case e != nil && (err == nil || !strings.Contains(err.Error(), want)), e == nil && err != nil:
			t.Errorf("%s: %v, want %s", text, err, want)
		case e == nil && r.Kind == expr.Float && r.Float != f, e == nil && r.IsInteger() && r.Integer().String() != want:
			t.Errorf("%s is %v, want %s", text, r, want)
		}
	}
}

// Whatever the text: a tree whose places lie in it, or an *Error at such a place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"mean(x, axis=0)", "x[1:2, ::-1].T @ x", "-x ** 2 // 1e-3", "f(((", "'é", "0x_1f", "x.sum((0,1), k=True)", "a < b < c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := expr.Parse(text)
		var e *expr.Error
		if err != nil && (!errors.As(err, &e) || !errors.Is(err, expr.ErrSyntax) || e.At < 0 || e.At > len(text)) {
			t.Fatalf("%q: %T %v", text, err, err)
		}
		var visit func(n expr.Node)
		visit = func(n expr.Node) {
			if n.Kind == 0 || n.At < 0 || n.At >= len(text) {
				t.Fatalf("%q: %d at %d", text, n.Kind, n.At)
			}
			for _, m := range n.In {
				visit(m)
			}
		}
		if err == nil {
			visit(n)
		}
	})
}

func ExampleParse() {
	n, err := expr.Parse("x.mean(axis=0) - 1")
	fmt.Println(n.Text, n.In[0].Text, n.In[0].In[1].Text, n.In[1].Int, err)
	_, err = expr.Parse("x +")
	fmt.Println(err)
	// Output:
	// - mean axis 1 <nil>
	// byte 3: the end, where an array or a number is wanted
}

func ExampleFold() {
	n, err := expr.Fold(0, "//", expr.Node{Kind: expr.Int, Int: -7}, expr.Node{Kind: expr.Int, Int: 2})
	fmt.Println(n.Int, err)
	// Output: -4 <nil>
}
