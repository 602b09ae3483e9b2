package chunk

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// ErrSyntax says that a text isn't an expression, whatever the arrays are.
var ErrSyntax = errors.New("syntax")

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

// The longest expression, in bytes, and the deepest nesting.
const (
	maxExpr = 1 << 14
	maxDeep = 100
)

// Parse returns the array of an expression in NumPy's spelling over named arrays.
//
//	x, 2, 0.5, 1e-3, pi, e, inf, nan, True, False     arrays and constants
//	+ - * / // % ** @ == != < <= > >= & | ^ ~ << >>   operators, with Python's precedence
//	x[1:10, ::2]  x[0]  x[..., None]  x.T             parts, new axes, the transpose
//	mean(x, axis=0)  x.mean(axis=0)                   functions: see Functions
//
// Operators and functions are package op's. Two arrays need one element type: cast(x, 'float32')
// converts. A constant takes the type of the array beside it, and is an error where it doesn't fit: 0.5 beside integers,
// 300 beside uint8. Constants are written and, alone, computed as in Python. The / of integers, and the mean, var, std, median, quantile
// and norm of integers and truth values, are float64, as in NumPy. Their sum, prod, sumsquare and norm1 are int64, of
// unsigned integers uint64, and wrap there; op.ReduceSum wraps in its own type. // is op.FloorDiv. % and remainder are op.Mod, with
// the sign of the divisor. The percentile of elements outside of its range is an error, and NaN if one is NaN; that of one number is a
// scalar.
//
// The error is an *ExprError. It wraps ErrSyntax where the text is no expression.
func Parse(expr string, vars map[string]Array) (Array, error) {
	p := &parser{text: expr, vars: vars}
	if len(expr) > maxExpr {
		return Array{}, p.wrong(0, "%d bytes; an expression has at most %d", len(expr), maxExpr)
	}
	t, err := p.expression(0)
	if err == nil && p.skip() < len(p.text) {
		err = p.wrong(p.at, "%s doesn't belong here", p.next())
	}
	if err == nil && t.kind != arrayTerm {
		err = p.bad(t.at, tensor.ErrValue, "%s is the result; an array is wanted", t.kind)
	}
	if err != nil {
		return Array{}, err
	}
	return t.array, nil
}

type termKind string

const (
	arrayTerm termKind = "an array"
	intTerm   termKind = "an integer"
	floatTerm termKind = "a number"
	boolTerm  termKind = "a truth value"
	textTerm  termKind = "a text"
	listTerm  termKind = "a list"
	noneTerm  termKind = "None"
)

// A term is what a part of an expression stands for, and where it begins.
type term struct {
	kind  termKind
	at    int
	array Array
	int   int64 // of a boolTerm 0 or 1
	float float64
	text  string
	list  []term
}

func (t term) number() bool { return t.kind == intTerm || t.kind == floatTerm }

// value is the value of a number.
func (t term) value() float64 {
	if t.kind == intTerm {
		return float64(t.int)
	}
	return t.float
}

type parser struct {
	text string
	vars map[string]Array
	at   int
	deep int
}

// A reason is a text with what errors.Is finds.
type reason struct {
	text string
	is   error
}

func (r *reason) Error() string { return r.text }

func (r *reason) Unwrap() error { return r.is }

func (p *parser) bad(at int, is error, format string, args ...any) error {
	return &ExprError{p.text, at, &reason{fmt.Sprintf(format, args...), is}}
}

func (p *parser) wrong(at int, format string, args ...any) error {
	return p.bad(at, ErrSyntax, format, args...)
}

// skip passes over spaces.
func (p *parser) skip() int {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at
}

// next names what stands at the place.
func (p *parser) next() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(r)
}

// take passes over a sign if it comes next.
func (p *parser) take(sign string) bool {
	p.skip()
	ok := strings.HasPrefix(p.text[p.at:], sign)
	if ok {
		p.at += len(sign)
	}
	return ok
}

func (p *parser) want(sign string, of int) error {
	if !p.take(sign) {
		return p.wrong(p.at, "%s, where %q of column %d is to end or go on", p.next(), sign, utf8.RuneCountInString(p.text[:of])+1)
	}
	return nil
}

// The operators of two operands, from the ones that bind least, and all of them, the longest first.
var (
	levels = [][]string{{"==", "!=", "<", "<=", ">", ">="}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}
	signs  = []string{"**", "//", "<<", ">>", "==", "!=", "<=", ">=", "<", ">", "|", "^", "&", "+", "-", "*", "/", "%", "@"}
)

// sign returns the operator that comes next, or "".
func (p *parser) sign() string {
	p.skip()
	for _, s := range signs {
		if strings.HasPrefix(p.text[p.at:], s) {
			return s
		}
	}
	return ""
}

func (p *parser) expression(level int) (term, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.expression(level + 1)
	for n := 0; err == nil; n++ {
		sign := p.sign()
		if !slices.Contains(levels[level], sign) {
			break
		}
		if level == 0 && n > 0 {
			return left, p.wrong(p.at, "comparisons don't chain: join two with &, each in parentheses")
		}
		at := p.at
		p.at += len(sign)
		var right term
		if right, err = p.expression(level + 1); err == nil {
			left, err = p.operate(at, sign, left, right)
		}
	}
	return left, err
}

// unary reads signs, a term, and its power.
func (p *parser) unary() (term, error) {
	if p.deep++; p.deep > maxDeep {
		return term{}, p.wrong(p.at, "it nests deeper than %d", maxDeep)
	}
	defer func() { p.deep-- }()
	at := p.skip()
	for _, sign := range []string{"-", "+", "~"} {
		if !p.take(sign) {
			continue
		}
		t, err := p.unary()
		if err != nil {
			return t, err
		}
		switch {
		case sign == "-" && t.kind == floatTerm:
			return term{kind: floatTerm, at: at, float: -t.float}, nil
		case sign == "-" && t.kind == intTerm:
			return p.fold(at, "-", term{kind: intTerm, at: at}, t)
		case sign == "-" && t.kind == arrayTerm:
			return p.mapped(at, "Neg", nil, t)
		case sign == "+" && (t.number() || t.kind == arrayTerm):
			return t, nil
		case sign == "~" && t.kind == arrayTerm && t.array.DType() == dtype.Bool:
			return p.mapped(at, "Not", nil, t)
		case sign == "~" && t.kind == arrayTerm:
			return p.mapped(at, "BitwiseNot", nil, t)
		}
		return t, p.bad(at, op.ErrUnsupported, "%s of %s", sign, t.kind)
	}
	t, err := p.postfix()
	if err == nil && p.sign() == "**" {
		at = p.at
		p.at += 2
		var by term
		if by, err = p.unary(); err == nil {
			return p.operate(at, "**", t, by)
		}
	}
	return t, err
}

// postfix reads a term and what follows it: a part, .T, a function by its name behind a point.
func (p *parser) postfix() (term, error) {
	t, err := p.atom()
	for err == nil {
		at := p.skip()
		switch {
		case p.take("["):
			t, err = p.part(at, t)
		case t.kind == arrayTerm && p.take("."):
			at = p.skip()
			name := p.name()
			if name == "T" {
				t, err = p.made(at, Transpose(t.array))
			} else if name == "" {
				return t, p.wrong(at, "%s, where the name of a function is wanted", p.next())
			} else if !p.take("(") {
				return t, p.wrong(at, "%q isn't .T and has no parentheses, as a function has", name)
			} else {
				t, err = p.call(at, name, t)
			}
		default:
			return t, nil
		}
	}
	return t, err
}

// part reads indices up to the bracket that ends them.
func (p *parser) part(at int, t term) (term, error) {
	if t.kind != arrayTerm {
		return t, p.bad(at, op.ErrUnsupported, "a part of %s", t.kind)
	}
	n := strings.IndexByte(p.text[p.at:], ']')
	if n < 0 {
		return t, p.wrong(at, "the bracket isn't closed")
	}
	idx, err := layout.ParseSlice(p.text[p.at : p.at+n])
	if err != nil {
		return t, &ExprError{p.text, p.at, fmt.Errorf("%w: %w", ErrSyntax, err)}
	}
	p.at += n + 1
	return p.made(at, Slice(t.array, idx...))
}

// name reads a name.
func (p *parser) name() string {
	begin := p.skip()
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if r != '_' && !unicode.IsLetter(r) && (p.at == begin || !unicode.IsDigit(r)) {
			break
		}
		p.at += n
	}
	return p.text[begin:p.at]
}

var constants = map[string]term{
	"None": {kind: noneTerm}, "True": {kind: boolTerm, int: 1}, "False": {kind: boolTerm},
	"pi": {kind: floatTerm, float: math.Pi}, "e": {kind: floatTerm, float: math.E},
	"inf": {kind: floatTerm, float: math.Inf(1)}, "nan": {kind: floatTerm, float: math.NaN()},
}

func (p *parser) atom() (term, error) {
	at := p.skip()
	if at == len(p.text) {
		return term{}, p.wrong(at, "the end, where an array or a number is wanted")
	}
	switch c := p.text[at]; {
	case c >= '0' && c <= '9' || c == '.':
		return p.numeral()
	case c == '"' || c == '\'':
		n := strings.IndexByte(p.text[at+1:], c)
		if n < 0 {
			return term{}, p.wrong(at, "the quotation mark isn't closed")
		}
		p.at = at + n + 2
		return term{kind: textTerm, at: at, text: p.text[at+1 : at+1+n]}, nil
	case c == '(' || c == '[':
		return p.list(at)
	}
	name := p.name()
	switch {
	case name == "":
		return term{}, p.wrong(at, "%s, where an array or a number is wanted", p.next())
	case p.take("("):
		return p.call(at, name)
	}
	if a, ok := p.vars[name]; ok {
		return p.made(at, a)
	}
	if t, ok := constants[name]; ok {
		t.at = at
		return t, nil
	}
	return term{}, p.bad(at, tensor.ErrValue, "there is no array %.60q%s", name, among(slices.Sorted(maps.Keys(p.vars))))
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

// list reads what stands in parentheses or brackets: one term in parentheses is itself.
func (p *parser) list(at int) (term, error) {
	end := ")"
	if p.text[at] == '[' {
		end = "]"
	}
	p.at++
	t := term{kind: listTerm, at: at}
	comma := end == "]"
	for !p.take(end) {
		item, err := p.expression(0)
		if err != nil {
			return t, err
		}
		t.list = append(t.list, item)
		if !p.take(",") {
			if err := p.want(end, at); err != nil {
				return t, err
			}
			break
		}
		comma = true
	}
	if len(t.list) == 1 && !comma {
		return t.list[0], nil
	}
	return t, nil
}

func (p *parser) numeral() (term, error) {
	at := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponent := (c == '+' || c == '-') && p.text[p.at-1]|0x20 == 'e' && !strings.HasPrefix(p.text[at:], "0x")
		if c != '.' && c != '_' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !(p.at > at && exponent) {
			break
		}
		p.at++
	}
	text := p.text[at:p.at]
	digits := strings.ReplaceAll(text, "_", "")
	t := term{kind: intTerm, at: at}
	var err error
	switch {
	case integers.MatchString(text):
		t.int, err = strconv.ParseInt(digits, 0, 64)
	case reals.MatchString(text):
		t.kind = floatTerm
		t.float, err = strconv.ParseFloat(digits, 64)
	case strings.Trim(digits, "0123456789") == "" && text[0] == '0':
		return t, p.wrong(at, "%.40s has a 0 before its digits; in base 8 it is 0o%.40s", text, strings.TrimLeft(text, "0_"))
	default:
		return t, p.wrong(at, "%.40s isn't a number", text)
	}
	if err != nil {
		return t, p.wrong(at, "%.40s is too large", text)
	}
	return t, nil
}

// The numbers of Python, The Python Language Reference, 2.6: single underscores between digits and behind the base, no 0 before
// the digits of an integer.
var (
	integers = regexp.MustCompile(`^(0(_?0)*|[1-9](_?[0-9])*|0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+)$`)
	reals    = regexp.MustCompile(strings.ReplaceAll(`^((D\.|D?\.D)([eE][+-]?D)?|D[eE][+-]?D)$`, "D", `([0-9](_?[0-9])*)`))
)

// made is the term of an array that was made at a place.
func (p *parser) made(at int, a Array) (term, error) {
	if err := a.Err(); err != nil {
		var inner *ExprError
		if errors.As(err, &inner) {
			return term{}, err
		}
		return term{}, &ExprError{p.text, at, err}
	}
	return term{kind: arrayTerm, at: at, array: a}, nil
}
