package expr_test

import (
	"errors"
	"fmt"
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
	case expr.Int:
		return fmt.Sprint(n.Int)
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
	} {
		n, err := expr.Parse(text)
		if got := written(n); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
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
