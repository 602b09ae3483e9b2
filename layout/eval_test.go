package layout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestEval runs the lines of testdata/expressions.txt: an expression and, indented
// below, its value, or the caret and the rule that failed. Each production of the
// grammar and each function stands there.
func TestEval(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the numbers in the texts are those of 64 bits")
	}
	const file = "testdata/expressions.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\t") {
			continue
		}
		fmt.Fprintln(&out, line)
		if line == "" || line[0] == '#' {
			continue
		}
		fmt.Fprintf(&out, "\t%s\n", strings.ReplaceAll(evaluated(line), "\n", "\n\t"))
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gotLines, wantLines := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(text, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := line(gotLines, i), line(wantLines, i); g != w && !*update {
			t.Errorf("line %d (-update rewrites the file)\n got %s\nwant %s", i+1, g, w)
			break
		}
	}
	for _, f := range callables() {
		if !strings.Contains("\n"+string(text), "\n"+f.name+" ") {
			t.Errorf("no expression begins with %s", f.name)
		}
	}
}

// evaluated is the value of an expression as text, or the mark and the rule.
func evaluated(expr string) string {
	c, err := Eval(expr)
	var e *EvalError
	switch {
	case errors.As(err, &e):
		_, caret, _ := strings.Cut(e.Mark(), "\n")
		return caret + "\n" + e.Err.Error()
	case err != nil:
		return "no *EvalError: " + err.Error()
	}
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

func TestEvalLimits(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "want a layout",
		strings.Repeat("(", 1000):        "nest deeper than",
		strings.Repeat("<", 1000):        "nest deeper than",
		strings.Repeat(" ", 1<<13) + "4": "more than 8192 bytes",
	} {
		_, err := Eval(text)
		var e *EvalError
		if !errors.As(err, &e) || !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q…: %v, want %q", text, err, want)
		}
	}
	deep := strings.Repeat("(", maxDepth) + "4:1" + strings.Repeat(")", maxDepth)
	if c, err := Eval(deep); err != nil || c.Size() != 4 {
		t.Errorf("%d brackets: %v, %v", maxDepth, c, err)
	}
}

func TestEvalErrorMark(t *testing.T) {
	long := "8 ∘ " + strings.Repeat("1:1 ∘ ", 20)
	for _, c := range []struct{ expr, want string }{
		{"8 ∘ x", "8 ∘ x\n    ^"},
		{"8\n/ x", "8 / x\n ^"},
		{"8 / \x1b[", "8 /  [\n    ^"},
		{long + "x" + strings.Repeat("y", 50), "…" + strings.Repeat("1:1 ∘ ", 6) + "x" + strings.Repeat("y", 35) + "…\n" + strings.Repeat(" ", 37) + "^"},
	} {
		_, err := Eval(c.expr)
		var e *EvalError
		if !errors.As(err, &e) || e.Mark() != c.want {
			t.Errorf("%q: %v is marked\n%s\nwant\n%s", c.expr, err, e.Mark(), c.want)
		}
	}
}

// FuzzEval wants a result whose text evaluates to itself, or a typed error that names
// a place in the text.
func FuzzEval(f *testing.F) {
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line[0] != '\t' && line[0] != '#' {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	f.Add("Sw<0,0,1> o 4") // changes nothing, and isn't Sw<0,0,0>
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Eval(text)
		if err != nil {
			var e *EvalError
			var rule *Error
			if !errors.As(err, &e) || !errors.As(err, &rule) || e.At < 0 || e.At > len(text) {
				t.Fatalf("%q: %v is no *EvalError with a rule and a place in the text", text, err)
			}
			if mark := e.Mark(); strings.Count(mark, "\n") != 1 || len(err.Error()) > 2000 {
				t.Fatalf("%q is marked\n%s\n%v", text, mark, err)
			}
			return
		}
		s := c.String()
		if len(s) > maxExpression {
			return
		}
		again, err := Eval(s)
		if err != nil || again.String() != s {
			t.Fatalf("%q gives %v, which gives %v, %v", text, c, again, err)
		}
		if l, ok := c.Plain(); ok {
			again, err := Eval(l.String())
			if m, ok := again.Plain(); err != nil || !ok || !m.Equal(l) {
				t.Fatalf("%q gives %v, which gives %v, %v", text, l, again, err)
			}
		}
		if n := c.Size(); n > 0 {
			a, err := c.Offset(n - 1)
			b, err2 := again.Offset(n - 1)
			if err != nil || err2 != nil || a != b {
				t.Fatalf("%q gives %v: offset %d, %v; again %d, %v", text, c, a, err, b, err2)
			}
		}
	})
}
