// Package ask answers questions about layouts with packages judge and draw. A question has fields of text, as a person types
// them. The result is an answer, or an error with the field that is wrong. The callers are the command ashlar layout, which
// fills the fields from flags, and the page of module web, which sends them as JSON to [Answer].
package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// A Question has the name of an operation, and the fields as a person typed them.
type Question struct {
	Op     string   `json:"op"`
	A      string   `json:"a"`
	B      string   `json:"b"`
	Colour string   `json:"colour"` // "", threads, values or tile
	By     string   `json:"by"`     // of Colour
	At     []int    `json:"at"`     // the slice: a coordinate of each mode; for the last two, the first one drawn
	What   string   `json:"what"`   // an operation, a notation, xor, a form of a picture
	Find   string   `json:"find"`   // a coordinate in brackets, or an offset
	Banks  string   `json:"banks"`
	Elem   string   `json:"elem"`
	Access []string `json:"access"`
	Vector string   `json:"vector"`
	Lines  string   `json:"lines"`   // the memory of transactions; empty: none are counted
	Align  string   `json:"align"`   // bytes of the base's alignment
	Thread string   `json:"threads"` // the number of threads whose order is sought
	Bare   bool     `json:"bare"`    // solve for the layout without its swizzle
	Mesh   string   `json:"mesh"`    // devices, as grid.ParseMesh reads them
	Place  string   `json:"place"`   // the placement on them
	To     string   `json:"to"`      // another one; empty: nothing moves
	Even   bool     `json:"even"`    // refuse parts of different shapes
	N      int      `json:"n"`
	Seed   uint64   `json:"seed"`
}

// A Fault is an error beside its cause.
type Fault struct {
	Field string `json:"field"` // of the question
	Text  string `json:"text"`
	Mark  string `json:"mark,omitempty"` // two lines: the expression, and a caret under the fault
	Typed bool   `json:"-"`              // the field can't be read; false: there is no answer
	Err   error  `json:"-"`              // the cause; nil: Text says everything
}

func (f *Fault) Error() string { return f.Text }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// in makes a Fault of an error and its field; nil of nil.
func in(field string, typed bool, err error) error {
	if err == nil {
		return nil
	}
	f := &Fault{Field: field, Text: err.Error(), Typed: typed, Err: err}
	var bad *layout.EvalError
	if errors.As(err, &bad) && bad.Err != nil {
		f.Mark, f.Text = bad.Mark(), bad.Err.Error()
	}
	name, rest, ok := strings.Cut(f.Text, ": ") // without the function, as in "layout.Eval: want a number"
	if pkg, _, _ := strings.Cut(name, "."); ok && !strings.Contains(name, " ") && slices.Contains([]string{"layout", "judge", "draw", "grid"}, pkg) {
		f.Text = rest
	}
	f.Text = clip(f.Text)
	return f
}

// clip shortens a long text, to keep an error readable.
func clip(s string) string {
	const half = 300
	if r := []rune(s); len(r) > 2*half {
		return string(r[:half]) + "…" + string(r[len(r)-half:])
	}
	return s
}

// A reader reads the fields of a question. After the first field that it can't read, it reads no more.
type reader struct {
	*Question
	err error
}

// fault notes the first error, which is about a field.
func (r *reader) fault(field, format string, args ...any) {
	if r.err == nil {
		r.err = &Fault{Field: field, Text: fmt.Sprintf(format, args...), Typed: true}
	}
}

// layout reads a typed layout.
func (r *reader) layout(field, text string) layout.Composed {
	c, err := judge.Parse(text)
	if err != nil && r.err == nil {
		f := in(field, true, err).(*Fault)
		if strings.TrimSpace(text) == "" {
			f.Text, f.Mark = "a layout is wanted, such as (8,8):(8,1)", ""
		}
		r.err = f
	}
	return c
}

// A wanted is the error about a layout that an operation doesn't take.
type wanted struct{ error }

func (wanted) Unwrap() error { return layout.ErrSyntax }

// plain reads a layout without a swizzle and an offset.
func (r *reader) plain(field, text string) layout.Layout {
	c := r.layout(field, text)
	l, ok := c.Plain()
	if !ok && r.err == nil {
		r.err = in(field, true, wanted{fmt.Errorf("%v: a layout without a swizzle and an offset is wanted", c)})
	}
	return l
}

// bits reads bytes of an element, or bits as in 4b.
func (r *reader) bits(field, text string) int {
	number, isBits := strings.CutSuffix(strings.TrimSpace(text), "b")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1<<10 {
		r.fault(field, "want bytes, as in 2, or bits, as in 4b")
	}
	if isBits {
		return n
	}
	return 8 * n
}

// number reads a number of at least 1.
func (r *reader) number(field, text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		r.fault(field, "want a number from 1 on, not %q", clip(text))
	}
	return n
}

// lines reads a memory of lines, and the alignment of the base.
func (r *reader) lines() (judge.Lines, int) {
	m, err := judge.ParseLines(r.Lines)
	if err != nil && r.err == nil {
		r.err = in("lines", true, err)
	}
	return m, r.number("align", r.Align)
}

// memory has the common fields of questions about banks.
type memory struct {
	l     layout.Composed
	b     judge.Banks
	lines judge.Lines
	align int // 0: no transactions are asked for
	bits  int
	list  []judge.Access
}

func memoryOf(q *Question) (m memory, err error) {
	if m.b, err = judge.ParseBanks(q.Banks); err != nil {
		return m, in("banks", true, err)
	}
	r := reader{Question: q}
	m.bits = r.bits("elem", q.Elem)
	if strings.TrimSpace(q.Lines) != "" {
		m.lines, m.align = r.lines()
	}
	for k, text := range q.Access {
		if strings.TrimSpace(text) != "" && r.err == nil {
			var a judge.Access
			a, err = judge.ParseAccess(text)
			r.err, m.list = in("access"+strconv.Itoa(k), true, err), append(m.list, a)
		}
	}
	if len(m.list) == 0 {
		r.fault("access0", "an access is wanted: row, column, row:8, ldmatrix or tv:LAYOUT")
	}
	m.l = r.layout("a", q.A)
	return m, r.err
}

// Text writes a layout, plainly if it has no swizzle and no offset.
func Text(c layout.Composed) string {
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

// Counts has the bank conflicts of accesses through a layout.
type Counts struct {
	Layout   string      `json:"layout"`
	Banks    string      `json:"banks"`
	Bits     int         `json:"bits"`  // of an element
	Clean    bool        `json:"clean"` // no access has a conflict or a split vector
	Accesses []Count     `json:"accesses"`
	Memory   judge.Banks `json:"-"`
}

// A Count has the conflicts of one access.
type Count struct {
	*judge.Report
	Conflicts int            `json:"conflicts"`
	Traffic   *judge.Traffic `json:"traffic,omitempty"`
}

// Banks counts the conflicts of the accesses to A, and the transactions if the question names Lines.
func Banks(_ context.Context, q *Question) (*Counts, error) {
	m, err := memoryOf(q)
	if err != nil {
		return nil, err
	}
	out := &Counts{Layout: Text(m.l), Banks: m.b.String(), Bits: m.bits, Clean: true, Memory: m.b}
	for k, a := range m.list {
		r, err := judge.Conflicts(m.l, m.b, m.bits, a)
		if err != nil {
			return nil, in("access"+strconv.Itoa(k), false, err)
		}
		out.Clean = out.Clean && r.Clean()
		c := Count{r, r.Conflicts(), nil}
		if m.align > 0 {
			if c.Traffic, err = judge.Transactions(m.l, m.lines, m.align, m.bits, a); err != nil {
				return nil, in("access"+strconv.Itoa(k), false, err)
			}
		}
		out.Accesses = append(out.Accesses, c)
	}
	return out, nil
}

// counted is Banks for the page, which draws only a limited number of steps.
func counted(ctx context.Context, q *Question) (*Counts, error) {
	out, err := Banks(ctx, q)
	for i := 0; err == nil && i < len(out.Accesses); i++ {
		r := out.Accesses[i].Report
		r.PerStep = r.PerStep[:min(len(r.PerStep), 512)]
		if t := out.Accesses[i].Traffic; t != nil {
			shorten(t)
		}
	}
	return out, err
}

// A Solution is a swizzle, or a matrix, without bank conflicts.
type Solution struct {
	Layout  string               `json:"layout"`
	Removed string               `json:"removed,omitempty"` // the swizzle that A had, if Bare is set
	Found   bool                 `json:"found"`
	Answer  string               `json:"answer,omitempty"` // the swizzle, or the matrix
	Why     string               `json:"why"`
	XOR     *judge.XORResult     `json:"xor,omitempty"`
	Search  *judge.SwizzleResult `json:"swizzle,omitempty"`
}

// Solve finds the smallest swizzle of A with which no access has a conflict, or a matrix if the question asks for xor.
func Solve(ctx context.Context, q *Question) (*Solution, error) {
	m, err := memoryOf(q)
	if err != nil {
		return nil, err
	}
	out := &Solution{}
	if w, ok := m.l.Outer().(layout.Swizzle); q.Bare && ok && w.Bits() > 0 {
		out.Removed = w.String()
		if m.l, err = layout.NewComposed(layout.Swizzle{}, m.l.Base(), m.l.Inner()); err != nil {
			return nil, in("a", false, err)
		}
	}
	out.Layout = Text(m.l)
	if q.What == "xor" {
		r, err := judge.SolveXOR(ctx, m.l, m.b, m.bits, m.list...)
		if out.Found, out.Why, out.XOR = r.Found, r.Why, &r; r.Found {
			out.Answer = r.Matrix.String()
		}
		return out, in("a", false, err)
	}
	r, err := judge.SolveSwizzle(ctx, m.l, m.b, m.bits, m.list...)
	if out.Found, out.Why, out.Search = r.Found, r.Why(), &r; r.Found {
		out.Answer = r.Swizzle.String()
	}
	return out, in("a", false, err)
}

// Explain gives the steps from the expression A to its value.
func Explain(_ context.Context, q *Question) (*judge.Explanation, error) {
	e, err := judge.Explain(q.A)
	return e, in("a", errors.Is(err, layout.ErrSyntax), err)
}

// explained is Explain for the page, which says of the text in another place that it can't be read. It has no steps then.
func explained(ctx context.Context, q *Question) (*judge.Explanation, error) {
	if e, err := Explain(ctx, q); err == nil {
		return e, nil
	}
	return &judge.Explanation{}, nil
}

// Order finds the order of threads with which an access to A touches the fewest sectors.
func Order(ctx context.Context, q *Question) (*judge.Order, error) {
	r := reader{Question: q}
	m, align := r.lines()
	elem, threads, l := r.bits("elem", q.Elem), r.number("threads", q.Thread), r.layout("a", q.A)
	if r.err != nil {
		return nil, r.err
	}
	o, err := judge.SolveOrder(ctx, l, m, align, elem, threads)
	return o, in("a", false, err)
}

// ordered is Order for the page.
func ordered(ctx context.Context, q *Question) (*judge.Order, error) {
	o, err := Order(ctx, q)
	if err == nil {
		shorten(o.Traffic)
	}
	return o, err
}

// shorten keeps as much of a count as the page draws.
func shorten(t *judge.Traffic) {
	t.PerStep = t.PerStep[:min(len(t.PerStep), 512)]
	if w := t.Worst; w != nil {
		n := min(len(w.Coords), maxShown*maxShown)
		w.Coords, w.Offsets = w.Coords[:n], w.Offsets[:n]
	}
}

// A Spelling is a layout in one notation, or the reason why there is none.
type Spelling struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
	Err    error  `json:"-"` // of Reason
}

// Spell writes A in all notations, or only in the question's notation.
func Spell(_ context.Context, q *Question) (list []Spelling, err error) {
	r := reader{Question: q}
	n := r.bits("elem", q.Elem)
	if n%8 != 0 {
		r.fault("elem", "NumPy's strides count whole bytes")
	}
	c := r.layout("a", q.A)
	for _, name := range judge.Spellings {
		if r.err != nil || q.What != "" && q.What != name {
			continue
		}
		s := Spelling{Name: name}
		s.Text, s.Err = judge.Print(c, name, n/8)
		s.Text = strings.TrimSuffix(s.Text, "\n")
		var bad *judge.Mismatch
		var other *judge.Error
		switch {
		case errors.As(s.Err, &bad):
			s.Reason = bad.Text()
		case errors.As(s.Err, &other):
			s.Reason = other.Text
		case s.Err != nil:
			s.Reason = s.Err.Error()
		}
		list = append(list, s)
	}
	return list, r.err
}

// Infer finds the layout whose composition with B is A.
func Infer(_ context.Context, q *Question) (layout.Layout, error) {
	r := reader{Question: q}
	c, a := r.plain("a", q.A), r.plain("b", q.B)
	if r.err != nil {
		return layout.Layout{}, r.err
	}
	b, err := judge.Infer(c, a)
	return b, in("a", false, err)
}

// inferred is Infer for the page: the absence of a layout is an answer, no error.
func inferred(ctx context.Context, q *Question) (map[string]any, error) {
	b, err := Infer(ctx, q)
	var bad *judge.Mismatch
	if errors.As(err, &bad) {
		return map[string]any{"missing": bad, "text": bad.Text()}, nil
	}
	return map[string]any{"layout": b.String()}, err
}

// Relay counts the moves from A to B.
func Relay(_ context.Context, q *Question) (*judge.Moves, error) {
	r := reader{Question: q}
	elem, wide := r.bits("elem", q.Elem), r.bits("vector", q.Vector)
	if wide < elem || wide%max(elem, 1) != 0 {
		r.fault("vector", "the widest move has whole elements")
	}
	from, to := r.layout("a", q.A), r.layout("b", q.B)
	if r.err != nil {
		return nil, r.err
	}
	m, err := judge.Relay(from, to, wide/elem)
	return m, in("b", false, err)
}

// Arguments returns the number of layouts and numbers that an operation takes.
func Arguments(op string) int {
	if slices.Contains([]string{"coalesce", "left_inverse", "right_inverse"}, op) {
		return 1
	}
	return 2
}

// Verdict judges the question's operation on A and, if it takes two layouts, on B.
func Verdict(_ context.Context, q *Question) (*judge.Verdict, error) {
	r := reader{Question: q}
	a := r.plain("a", q.A)
	var b layout.Layout
	n := 0
	switch {
	case Arguments(q.What) == 1:
	case q.What == "complement" || q.What == "product_by":
		var err error
		if n, err = strconv.Atoi(strings.TrimSpace(q.B)); err != nil {
			r.fault("b", "%s takes a layout and a number, not %q", q.What, clip(q.B))
		}
	default:
		b = r.plain("b", q.B)
	}
	if r.err != nil {
		return nil, r.err
	}
	v, err := judge.Judge(q.What, a, b, n)
	return v, in("b", false, err)
}

// faults looks for inputs for which published rules are wrong.
func faults(ctx context.Context, q *Question) ([]judge.Fault, error) {
	return judge.FindFaults(ctx, q.Seed, min(q.N, 1<<16))
}

// compared returns the difference of A and B.
func compared(_ context.Context, q *Question) (*judge.Difference, error) {
	r := reader{Question: q}
	a, b := r.layout("a", q.A), r.layout("b", q.B)
	if r.err != nil {
		return nil, r.err
	}
	d, err := judge.Compare(a, b)
	return d, in("a", false, err)
}
