package layout

import (
	"strconv"
	"strings"
)

// maxExpression bounds the bytes that Eval accepts.
const maxExpression = 1 << 13

// Eval computes an expression over layouts. Operators bind alike, from left to
// right, and functions bind closer; brackets group. Arguments stand side by side,
// without commas.
//
//	expression = term { operator term }
//	operator   = "/" | "*" | "o" | "∘"
//	term       = function argument { argument } | argument
//	argument   = operand { "[" slice "]" }
//	operand    = layout | tuple | swizzle | tiler | "(" expression ")"
//	layout     = tuple ":" tuple
//	tuple      = number | "_" | "(" [ tuple { "," tuple } ] ")"
//	swizzle    = "Sw<" number "," number "," number ">"
//	tiler      = "<" expression { "," expression } ">"
//
// A / B is LogicalDivide, A * B LogicalProduct, A o B Compose; with a tiler on the
// right, the same by mode. Where a layout is wanted, the number n is n:1. A swizzle
// S stands left of o: S o A, or S o 8 o A, which adds 8 to the offsets of A first.
// A[slice] is Layout.Slice, in the text of ParseSlice.
//
// The functions are functions of this package, spelled as in CuTe and Python, with
// the layout first. T is a tuple, n a number, and B<> a layout or a tiler.
// Arguments in [ ] are optional:
//
//	row_major T, col_major T, ordered T T              dense layouts of a shape
//	coalesce A [T], flatten A, filter A                the same offsets, simpler
//	compose A B<>, complement A n, nullspace A
//	left_inverse A, right_inverse A, max_common_layout A B
//	logical_divide A B<>, zipped_divide A B<>, tiled_divide A B<>, flat_divide A B<>
//	logical_product A B<>, zipped_product A B, tiled_product A B, flat_product A B
//	blocked_product A B, raked_product A B, tile_to_shape A T [T]
//	slice A T                                          Fix: T has holes
//	mode A n, join A B …, permute A T, view A T, broadcast_to A T
//	upcast A n, downcast A n, recast A n n
//
// Functions that only rearrange the coordinates of A (coalesce, flatten, compose,
// the divisions, slices, mode, permute, view, broadcast_to) also take an A with a
// swizzle or an offset, and work on its inner layout; the others refuse it.
//
// The result is Sw<0,0,0> ∘ 0 ∘ A for a layout A: Composed.Plain gives that back.
// Evaluating the text of a result gives it again. The error is an *EvalError, which
// knows the place.
func Eval(text string) (Composed, error) { return EvalEach(text, nil) }

// EvalEach is Eval, and calls each with every function before it runs: its name, and its
// arguments as texts that Eval reads, or T and n as text. An operator is the function that
// it stands for. A swizzle left of o is a compose, whose first argument has its offset:
// Sw<2,0,3> o 8.
func EvalEach(text string, each func(function string, args ...string)) (Composed, error) {
	p := parser{text: text, op: "Eval", each: each}
	if len(text) > maxExpression {
		return Composed{}, p.fault("more than " + strconv.Itoa(maxExpression) + " bytes")
	}
	v, err := p.expression(0)
	if err != nil {
		return Composed{}, err
	}
	if p.skip(); p.at < len(text) {
		return Composed{}, p.fault("want '/', '*', 'o' or the end")
	}
	return v.composed(&p)
}

// An EvalError is a fault of an expression: of its syntax, or of a function at work
// in it.
type EvalError struct {
	Expr string
	At   int   // the byte where the fault is: for a function that failed, its name or operator
	Err  error // the rule that failed, an *Error
}

func (e *EvalError) Error() string {
	rule := ""
	if e.Err != nil {
		rule = e.Err.Error()
	}
	if own, ok := e.Err.(*Error); ok && own.Op == "Eval" {
		rule = own.Text
	}
	return "layout.Eval: " + quoteAround(e.Expr, e.at()) + " at byte " + strconv.Itoa(e.At) + ": " + rule
}

// at returns a byte of the expression, or its end, whatever the fields hold.
func (e *EvalError) at() int { return min(max(e.At, 0), len(e.Expr)) }

// Unwrap returns the rule that failed.
func (e *EvalError) Unwrap() error { return e.Err }

// Mark returns two lines for a terminal: the expression, at most 36 characters of it
// on either side of the fault, and a caret under the fault.
func (e *EvalError) Mark() string {
	const around = 36
	printable := func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}
	before, after := []rune(strings.Map(printable, e.Expr[:e.at()])), []rune(strings.Map(printable, e.Expr[e.at():]))
	if len(before) > around {
		before = append([]rune("…"), before[len(before)-around:]...)
	}
	if len(after) > around {
		after = append(after[:around:around], '…')
	}
	return string(before) + string(after) + "\n" + strings.Repeat(" ", len(before)) + "^"
}

// A value holds the result of a part of an expression, and the byte where that part
// begins.
type value struct {
	kind  valueKind
	lay   Composed // of a layoutValue; of a swizzleValue its outer map and offset
	tuple Tuple
	tiler []Layout
	at    int
}

type valueKind uint8

const (
	layoutValue valueKind = iota
	tupleValue
	swizzleValue
	tilerValue
)

var valueNames = [...]string{"a layout", "a tuple", "a swizzle", "a tiler"}

// text writes the value as Eval reads it.
func (v *value) text() string {
	switch v.kind {
	case tupleValue:
		return v.tuple.String()
	case tilerValue:
		parts := make([]string, len(v.tiler))
		for i, l := range v.tiler {
			parts[i] = l.String()
		}
		return "<" + strings.Join(parts, ",") + ">"
	}
	if l, ok := v.lay.Plain(); ok {
		return l.String()
	}
	return v.lay.String()
}

func plain(l Layout) Composed { return Composed{inner: l, outer: Swizzle{}} }

// Plain returns the inner layout, and whether it is the whole function: the offset
// is 0 and the outer map a swizzle that changes nothing.
func (c Composed) Plain() (Layout, bool) {
	w, ok := c.outer.(Swizzle)
	return c.inner, ok && w.bits == 0 && c.offset == 0
}

// wrong is an error about the kind of a value.
func (v *value) wrong(p *parser, want string) error {
	p.at = v.at
	got := valueNames[v.kind]
	if v.kind == tupleValue {
		got = v.tuple.String()
	}
	return p.fault(want + ", got " + clip(got))
}

// composed is the value as a layout that may have a swizzle and an offset.
func (v *value) composed(p *parser) (Composed, error) {
	if v.kind == layoutValue {
		return v.lay, nil
	}
	n, ok := v.tuple.Int()
	if v.kind != tupleValue || !ok {
		want := "want a layout"
		switch {
		case v.kind == tupleValue:
			want += " (row_major and col_major make one of a shape)"
		case v.kind == swizzleValue:
			want += " (a swizzle stands left of one: Sw<2,0,3> o A)"
		}
		return Composed{}, v.wrong(p, want)
	}
	l, err := New([]int{n}, []int{1})
	if err != nil {
		return Composed{}, p.failed(v.at, err)
	}
	return plain(l), nil
}

// layout is the value as a layout without a swizzle and an offset.
func (v *value) layout(p *parser) (Layout, error) {
	c, err := v.composed(p)
	if err != nil {
		return Layout{}, err
	}
	l, ok := c.Plain()
	if !ok {
		p.at = v.at
		return Layout{}, p.fault("want a layout without a swizzle and an offset, got " + clip(c.String()))
	}
	return l, nil
}

// failed is the error of a function at work at a byte.
func (p *parser) failed(at int, err error) error { return &EvalError{p.text, at, err} }

func (p *parser) expression(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, p.fault("brackets nest deeper than " + strconv.Itoa(maxDepth))
	}
	a, err := p.term(depth)
	for err == nil {
		at := p.skip()
		name, ok := p.operator()
		if !ok {
			break
		}
		var b value
		if b, err = p.term(depth); err != nil {
			break
		}
		if a.kind == swizzleValue {
			a, err = p.swizzled(name, a, b)
			continue
		}
		a, err = p.call(at, function(name), []value{a, b})
	}
	return a, err
}

// operator takes an operator and returns the function it stands for.
func (p *parser) operator() (string, bool) {
	rest := p.text[p.skip():]
	for _, o := range []struct{ text, name string }{
		{"/", "logical_divide"}, {"*", "logical_product"}, {"o", "compose"}, {"∘", "compose"},
	} {
		if after, ok := strings.CutPrefix(rest, o.text); ok && (o.text != "o" || after == "" || !wordByte(after[0])) {
			p.at += len(o.text)
			return o.name, true
		}
	}
	return "", false
}

// swizzled is Sw<…> o b, where b is a layout, or a number with another o after it.
func (p *parser) swizzled(name string, w, b value) (value, error) {
	if name != "compose" {
		return value{}, w.wrong(p, "want a layout (a swizzle stands left of one: Sw<2,0,3> o A)")
	}
	if n, ok := b.tuple.Int(); ok && b.kind == tupleValue {
		at := p.at
		if next, ok := p.operator(); ok && next == "compose" {
			p.at = at
			sum, fits := add(w.lay.offset, n)
			if !fits {
				return value{}, p.failed(b.at, fail("Eval", ErrOverflow, "the offset doesn't fit an int"))
			}
			w.lay.offset = sum
			return w, nil
		}
		p.at = at
	}
	l, err := b.layout(p)
	if err != nil {
		return value{}, err
	}
	if p.each != nil {
		first := w.lay.outer.String()
		if w.lay.offset != 0 {
			first += " o " + strconv.Itoa(w.lay.offset)
		}
		p.each("compose", first, l.String())
	}
	c, err := NewComposed(w.lay.outer, w.lay.offset, l)
	if err != nil {
		return value{}, p.failed(w.at, err)
	}
	return value{lay: c, at: w.at}, nil
}

func (p *parser) term(depth int) (value, error) {
	at := p.skip()
	name := p.name()
	if name == "" || name == "Sw" {
		p.at = at
		return p.argument(depth)
	}
	f := function(name)
	if f == nil {
		p.at = at
		return value{}, p.fault("there is no function " + strconv.Quote(clip(name)) + similar(name))
	}
	var args []value
	for p.startsArgument() {
		v, err := p.argument(depth)
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
	}
	if p.skip(); p.at < len(p.text) && p.text[p.at] == ',' && depth == 0 {
		return value{}, p.fault("want an argument or the end" + noCommas)
	}
	return p.call(at, f, args)
}

const noCommas = "; arguments stand side by side, without commas"

func wordByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c-'0' < 10 }

// name takes a name: it begins with a letter.
func (p *parser) name() string {
	from := p.skip()
	if from == len(p.text) || p.text[from]|0x20 < 'a' || p.text[from]|0x20 > 'z' {
		return ""
	}
	for p.at < len(p.text) && wordByte(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) startsArgument() bool {
	rest := p.text[p.skip():]
	return rest != "" && strings.IndexByte("(<_-+0123456789", rest[0]) >= 0 || strings.HasPrefix(rest, "Sw<")
}

func (p *parser) argument(depth int) (value, error) {
	v, err := p.operand(depth)
	for err == nil && p.take('[') {
		at := p.at - 1
		n := strings.IndexByte(p.text[p.at:], ']')
		if n < 0 {
			p.at = len(p.text)
			return value{}, p.fault("want ']'")
		}
		var idx []Index
		if idx, err = ParseSlice(p.text[p.at : p.at+n]); err != nil {
			return value{}, p.failed(at, err)
		}
		p.at += n + 1
		v, err = p.rearrange(at, &v, func(l *Layout) (Layout, int, error) { return l.Slice(idx...) })
	}
	return v, err
}

func (p *parser) operand(depth int) (value, error) {
	at := p.skip()
	rest := p.text[at:]
	switch {
	case rest == "":
		return value{}, p.fault("want a layout")
	case rest[0] == '<':
		return p.tiler(depth)
	case strings.HasPrefix(rest, "Sw<"):
		return p.swizzle()
	}
	left := maxRank
	shape, err := p.nested(0, &left)
	if err != nil {
		if rest[0] != '(' {
			p.at = at
			return value{}, p.fault("want a layout")
		}
		tupleErr, reached := err, p.at
		p.at = at + 1
		v, err := p.expression(depth + 1)
		if err == nil && !p.take(')') {
			want := "want ')'"
			if p.at < len(p.text) && p.text[p.at] == ',' {
				want += noCommas
			}
			err = p.fault(want)
		}
		if err != nil && reached > p.at {
			err = tupleErr
		}
		v.at = at
		return v, err
	}
	if !p.take(':') {
		return value{kind: tupleValue, tuple: shape, at: at}, nil
	}
	p.skip()
	left = maxRank
	stride, err := p.nested(0, &left)
	if err != nil {
		return value{}, err
	}
	l, err := Of(shape, stride)
	if err != nil {
		return value{}, p.failed(at, err)
	}
	return value{lay: plain(l), at: at}, nil
}

func (p *parser) tiler(depth int) (value, error) {
	v := value{kind: tilerValue, at: p.at}
	for p.at++; ; {
		e, err := p.expression(depth + 1)
		if err != nil {
			return value{}, err
		}
		l, err := e.layout(p)
		if err != nil {
			return value{}, err
		}
		v.tiler = append(v.tiler, l)
		if p.take('>') {
			return v, nil
		}
		if !p.take(',') {
			return value{}, p.fault("want ',' or '>'")
		}
	}
}

func (p *parser) swizzle() (value, error) {
	at := p.at
	p.at += len("Sw<")
	var n [3]int
	for i, end := range []byte(",,>") {
		var err error
		if n[i], err = p.number(); err != nil {
			return value{}, err
		}
		if !p.take(end) {
			return value{}, p.fault("want '" + string(end) + "': a swizzle is Sw<bits,base,shift>")
		}
	}
	w, err := NewSwizzle(n[0], n[1], n[2])
	if err != nil {
		return value{}, p.failed(at, err)
	}
	return value{kind: swizzleValue, lay: Composed{outer: w}, at: at}, nil
}
