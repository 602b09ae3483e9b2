package chunk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/chunk/internal/expr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// ErrSyntax says that a text isn't an expression, whatever the arrays are.
var ErrSyntax = expr.ErrSyntax

// An ExprError says where an expression is wrong.
type ExprError struct {
	Expr string
	At   int   // the byte
	Err  error // the reason
}

func (e *ExprError) Error() string {
	at := min(max(e.At, 0), len(e.Expr))
	return fmt.Sprintf("chunk.Parse: column %d: %v", utf8.RuneCountInString(e.Expr[:at])+1, e.Err)
}

// Unwrap returns the reason.
func (e *ExprError) Unwrap() error { return e.Err }

// Mark returns two lines for a terminal: the expression, cut if it is long, and a caret under the fault.
func (e *ExprError) Mark() string { return (&layout.EvalError{Expr: e.Expr, At: e.At}).Mark() }

// Parse returns the array of an expression in NumPy's spelling over named arrays.
//
//	x, 2, 0.5, 1e-3, pi, e, inf, nan, True, False     arrays and constants
//	+ - * / // % ** @ == != < <= > >= & | ^ ~ << >>   operators, with Python's precedence
//	x[1:10, ::2]  x[0]  x[..., None]  x.T             parts, new axes, the transpose
//	mean(x, axis=0)  x.mean(axis=0)                   functions: see Functions
//
// Operators and functions are package op's. Two arrays need one element type: cast(x, 'float32')
// converts. Constants are written and, alone, computed as in Python; integers have at most 16,384 bits.
// A constant takes the type of the array beside it, as in NumPy 2. A type of floats rounds it.
// It is an error where it doesn't fit: 0.5 beside integers, 300 or -1 beside uint8, 1e39 beside float32.
// Two operations take integers of any size. A comparison is exact: x > -1 is true for all uint64, and no float32 equals
// 2 ** 24 + 1, which NumPy rounds. A bound of clip beyond all elements bounds nothing.
//
// The / of integers, and the mean, var, std, median, quantile
// and norm of integers and truth values, are float64, as in NumPy. Their sum, prod, sumsquare and norm1 are int64, of
// unsigned integers uint64, and wrap there; op.ReduceSum wraps in its own type. Their nansum, nanmax and the like, fmax and fmin are
// sum, max, maximum and so on. An integer to a negative power is an error, also of an array with one negative exponent; op.Pow truncates.
// The operator // is op.FloorDiv. % and remainder are op.Mod, with
// the sign of the divisor. The percentile of elements outside of its range is an error, and NaN if one is NaN; that of one number is a
// scalar.
//
// The error is an *ExprError. It wraps ErrSyntax where the text is no expression.
func Parse(text string, vars map[string]Array) (Array, error) {
	t, err := evaluated(text, vars)
	if err == nil && t.Kind < expr.Name {
		err = expr.Wrong(t.At, tensor.ErrValue, "%s is the result; an array is wanted", t.Kind)
	}
	var at *expr.Error
	switch {
	case errors.As(err, &at):
		return Array{}, &ExprError{text, at.At, at.Err}
	case err != nil:
		return Array{}, err
	}
	return t.array, nil
}

// evaluated returns the value of an expression.
func evaluated(text string, vars map[string]Array) (term, error) {
	n, err := expr.Parse(text)
	if err != nil {
		return term{}, err
	}
	return scope(vars).eval(n)
}

// A scope holds the arrays that have names.
type scope map[string]Array

func (s scope) eval(n expr.Node) (term, error) {
	t := term{Node: n}
	switch n.Kind {
	case expr.Name:
		if a, ok := s[n.Text]; ok {
			return made(n.At, a)
		}
		if c, ok := expr.Constants[n.Text]; ok {
			c.At = n.At
			return term{Node: c}, nil
		}
		if n.Text == "np" || n.Text == "numpy" {
			return t, expr.Wrong(n.At, tensor.ErrValue, "there is no module %s: leave it out, as in mean(x)", n.Text)
		}
		return t, expr.Wrong(n.At, tensor.ErrValue, "there is no array %.60q%s", n.Text, among(slices.Sorted(maps.Keys(s))))
	case expr.Call:
		return s.call(n)
	}
	for _, in := range n.In {
		item, err := s.eval(in)
		if err != nil {
			return t, err
		}
		t.list = append(t.list, item)
	}
	switch {
	case n.Kind == expr.Sign && len(t.list) == 1:
		return signed(n.At, n.Text, t.list[0])
	case n.Kind == expr.Sign:
		return operate(n.At, n.Text, t.list[0], t.list[1])
	case n.Kind < expr.Name:
		return t, nil
	case !t.list[0].isArray():
		return t, expr.Wrong(n.At, op.ErrUnsupported, "a part of %s", t.list[0].Kind)
	case n.Kind == expr.Part:
		return made(n.At, Slice(t.list[0].array, n.Index...))
	}
	return made(n.At, Transpose(t.list[0].array))
}

// call evaluates the arguments of a function, and calls it.
func (s scope) call(n expr.Node) (term, error) {
	f, ok := functionNamed()[n.Text]
	if !ok {
		return term{}, expr.Wrong(n.At, op.ErrUnsupported, "there is no function %.60q%s", n.Text, similar(n.Text))
	}
	params := strings.Split(f.Args, ", ")
	c := &call{at: n.At, f: f, args: make([]term, len(params))}
	for i, in := range n.In {
		if in.Kind == expr.Argument {
			if i = c.named(in.Text); i < 0 {
				return term{}, expr.Wrong(in.At, ErrSyntax, "%s has no argument %.60q: it is %v", n.Text, in.Text, f)
			}
			in = in.In[0]
		}
		t, err := s.eval(in)
		switch {
		case err != nil:
			return t, err
		case i >= len(params):
			return t, expr.Wrong(t.At, ErrSyntax, "an argument too many: it is %v", f)
		case c.args[i].Kind != 0:
			return t, expr.Wrong(t.At, ErrSyntax, "the argument %s is given twice", strings.Split(params[i], "=")[0])
		}
		c.args[i] = t
	}
	for i, param := range params {
		if c.args[i].Kind != 0 {
			continue
		}
		key, value, optional := strings.Cut(param, "=")
		if !optional {
			hint := ""
			if key == "bins" || key == "range" {
				hint = "; quantile and median count exactly, without bins"
			}
			return term{}, expr.Wrong(n.At, ErrSyntax, "the argument %s isn't given: it is %v%s", key, f, hint)
		}
		d, err := evaluated(value, nil)
		if err != nil {
			return d, err
		}
		d.At = n.At
		c.args[i] = d
	}
	return f.call(c)
}

// among lists names in an error.
func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const most = 12
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return "; there are " + strings.Join(names, ", ") + more
}

// similar suggests a function with a similar name.
func similar(name string) string {
	best, most := "", 2
	for _, f := range functions() {
		for _, other := range f.Names {
			if d := distance(strings.ToLower(name), other, most); d <= most && 2*d <= len(name) { // else any short name is near
				best, most = other, d-1
			}
		}
	}
	if best == "" {
		return "; Functions and ashlar help compute list all"
	}
	return "; did you mean " + best + "?"
}

// distance is Levenshtein's where that is most at most, and more than most elsewhere.
func distance(a, b string, most int) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return distance(a[1:], b[1:], most)
	case most == 0:
		return 1
	}
	return 1 + min(distance(a[1:], b, most-1), distance(a, b[1:], most-1), distance(a[1:], b[1:], most-1))
}
