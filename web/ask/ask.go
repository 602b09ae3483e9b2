// Package ask answers the questions of the page: JSON in, JSON out. It reads what a person
// typed, calls packages judge and draw, and says which field a fault is in.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// A Question names what is asked, and has the fields of the page as they were typed.
type Question struct {
	Op     string   `json:"op"`
	A      string   `json:"a"`
	B      string   `json:"b"`
	Colour string   `json:"colour"` // "", threads, values or tile
	By     string   `json:"by"`     // of Colour
	At     []int    `json:"at"`     // the slice: a coordinate of each mode, of the last two the first drawn
	What   string   `json:"what"`   // an operation, a spelling, a form of a picture
	Find   string   `json:"find"`   // a coordinate in brackets, or an offset
	Banks  string   `json:"banks"`
	Elem   string   `json:"elem"`
	Access []string `json:"access"`
	Vector string   `json:"vector"`
	N      int      `json:"n"`
	Seed   uint64   `json:"seed"`
}

// A Fault is an error beside its cause.
type Fault struct {
	Field string `json:"field"` // of the question
	Text  string `json:"text"`
	Mark  string `json:"mark,omitempty"` // two lines: the expression, and a caret under the fault
}

func (f *Fault) Error() string { return f.Text }

// in says which field an error comes from.
func in(field string, err error) error {
	f := &Fault{Field: field, Text: err.Error()}
	var bad *layout.EvalError
	if errors.As(err, &bad) && bad.Err != nil {
		f.Mark, f.Text = bad.Mark(), bad.Err.Error()
	}
	f.Text = clip(bare(f.Text))
	return f
}

// bare is the text of an error without the name of the function before it, as in "layout.Eval: want a number".
func bare(text string) string {
	name, rest, ok := strings.Cut(text, ": ")
	if pkg, _, _ := strings.Cut(name, "."); ok && !strings.Contains(name, " ") && (pkg == "layout" || pkg == "judge" || pkg == "draw") {
		return rest
	}
	return text
}

// clip keeps an error readable.
func clip(s string) string {
	const half = 300
	if r := []rune(s); len(r) > 2*half {
		return string(r[:half]) + "…" + string(r[len(r)-half:])
	}
	return s
}

var answers = map[string]func(context.Context, *Question) (any, error){
	"map": drawn, "find": found, "compare": compared, "copy": copied,
	"verdict": judged, "faults": faults, "banks": counted, "solve": solved,
	"convert": spelled, "infer": inferred, "relayout": moved,
}

// Answer answers a question. It never fails: an error is an answer, too, with a Fault.
func Answer(ctx context.Context, question []byte) []byte {
	var q Question
	if err := json.Unmarshal(question, &q); err != nil {
		return Reply(nil, err)
	}
	f := answers[q.Op]
	if f == nil {
		return Reply(nil, fmt.Errorf("no question %q", clip(q.Op)))
	}
	return Reply(f(ctx, &q))
}

// Reply writes an answer, or what kept it.
func Reply(answer any, err error) []byte {
	var out struct {
		Answer any    `json:"answer,omitempty"`
		Fault  *Fault `json:"fault,omitempty"`
	}
	if out.Answer = answer; err != nil {
		out.Answer = nil
		if !errors.As(err, &out.Fault) {
			out.Fault = &Fault{Text: clip(err.Error())}
		}
	}
	b, err := json.Marshal(&out)
	if err != nil {
		b, _ = json.Marshal(map[string]*Fault{"fault": {Text: err.Error()}})
	}
	return b
}

// read reads a layout that was typed.
func read(field, text string) (layout.Composed, error) {
	if strings.TrimSpace(text) == "" {
		return layout.Composed{}, &Fault{Field: field, Text: "a layout is wanted, such as (8,8):(8,1)"}
	}
	c, err := judge.Parse(text)
	if err != nil {
		return c, in(field, err)
	}
	return c, nil
}

// plain reads a layout without a swizzle and an offset.
func plain(field, text string) (layout.Layout, error) {
	c, err := read(field, text)
	if err != nil {
		return layout.Layout{}, err
	}
	l, ok := c.Plain()
	if !ok {
		return l, &Fault{Field: field, Text: c.String() + ": a layout without a swizzle and an offset is wanted"}
	}
	return l, nil
}

// bits reads bytes of an element, or bits as in 4b.
func bits(field, text string) (int, error) {
	number, isBits := strings.CutSuffix(strings.TrimSpace(text), "b")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1<<10 {
		return 0, &Fault{Field: field, Text: "want bytes, as in 2, or bits, as in 4b"}
	}
	if !isBits {
		n *= 8
	}
	return n, nil
}

func compared(_ context.Context, q *Question) (any, error) {
	a, err := read("a", q.A)
	if err != nil {
		return nil, err
	}
	b, err := read("b", q.B)
	if err != nil {
		return nil, err
	}
	d, err := judge.Compare(a, b)
	if err != nil {
		return nil, in("a", err)
	}
	return d, nil
}

func judged(_ context.Context, q *Question) (any, error) {
	a, err := plain("a", q.A)
	if err != nil {
		return nil, err
	}
	var b layout.Layout
	n := 0
	switch q.What {
	case "coalesce", "left_inverse", "right_inverse":
	case "complement", "product_by":
		if n, err = strconv.Atoi(strings.TrimSpace(q.B)); err != nil {
			return nil, &Fault{Field: "b", Text: q.What + " takes a layout and a number"}
		}
	default:
		if b, err = plain("b", q.B); err != nil {
			return nil, err
		}
	}
	v, err := judge.Judge(q.What, a, b, n)
	if err != nil {
		return nil, in("b", err)
	}
	if v.Missing != nil {
		v.Refused = v.Missing.Text()
	}
	return v, nil
}

func faults(ctx context.Context, q *Question) (any, error) {
	return judge.FindFaults(ctx, q.Seed, min(q.N, 1<<16))
}

// memory reads what the questions about banks have in common.
func memory(q *Question) (l layout.Composed, b judge.Banks, n int, list []judge.Access, err error) {
	if l, err = read("a", q.A); err != nil {
		return
	}
	if b, err = judge.ParseBanks(q.Banks); err != nil {
		err = in("banks", err)
		return
	}
	if n, err = bits("elem", q.Elem); err != nil {
		return
	}
	for k, text := range q.Access {
		if strings.TrimSpace(text) == "" {
			continue
		}
		a, err := judge.ParseAccess(text)
		if err != nil {
			return l, b, n, list, in("access"+strconv.Itoa(k), err)
		}
		list = append(list, a)
	}
	if len(list) == 0 {
		err = &Fault{Field: "access0", Text: "an access is wanted: row, column, row:8, ldmatrix or tv:LAYOUT"}
	}
	return
}

func counted(_ context.Context, q *Question) (any, error) {
	l, b, n, list, err := memory(q)
	if err != nil {
		return nil, err
	}
	type counted struct {
		*judge.Report
		Conflicts int `json:"conflicts"`
	}
	var out []counted
	for k, a := range list {
		r, err := judge.Conflicts(l, b, n, a)
		if err != nil {
			return nil, in("access"+strconv.Itoa(k), err)
		}
		if most := 512; len(r.PerStep) > most { // the page draws no more
			r.PerStep = r.PerStep[:most]
		}
		out = append(out, counted{r, r.Conflicts()})
	}
	return map[string]any{"layout": text(l), "banks": b, "bits": n, "accesses": out}, nil
}

func text(c layout.Composed) string {
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

func solved(ctx context.Context, q *Question) (any, error) {
	l, b, n, list, err := memory(q)
	if err != nil {
		return nil, err
	}
	removed := ""
	if w, ok := l.Outer().(layout.Swizzle); ok && w.Bits() > 0 {
		removed = w.String()
		if l, err = layout.NewComposed(layout.Swizzle{}, l.Base(), l.Inner()); err != nil {
			return nil, in("a", err)
		}
	}
	out := map[string]any{"layout": text(l), "removed": removed}
	if q.What == "xor" {
		r, err := judge.SolveXOR(ctx, l, b, n, list...)
		if err != nil {
			return nil, in("a", err)
		}
		out["found"], out["decided"], out["why"] = r.Found, r.Decided, r.Why
		if r.Found {
			out["answer"] = r.Matrix.String()
		}
		return out, nil
	}
	r, err := judge.SolveSwizzle(ctx, l, b, n, list...)
	if err != nil {
		return nil, in("a", err)
	}
	out["found"], out["decided"], out["why"] = r.Found, true, r.Why()
	if r.Found {
		out["answer"] = r.Swizzle.String()
		if p, ok := l.Plain(); ok {
			out["use"] = r.Swizzle.String() + " o " + p.String()
		}
	}
	return out, nil
}

// A spelling is a layout in one notation, or the reason why there is none.
type spelling struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func spelled(_ context.Context, q *Question) (any, error) {
	c, err := read("a", q.A)
	if err != nil {
		return nil, err
	}
	n, err := bits("elem", q.Elem)
	if err != nil {
		return nil, err
	}
	if n%8 != 0 {
		return nil, &Fault{Field: "elem", Text: "NumPy's strides count whole bytes"}
	}
	var list []spelling
	for _, s := range judge.Spellings {
		text, err := judge.Print(c, s, n/8)
		var bad *judge.Mismatch
		var other *judge.Error
		switch {
		case errors.As(err, &bad):
			list = append(list, spelling{Name: s, Reason: clip(bad.Text())})
		case errors.As(err, &other):
			list = append(list, spelling{Name: s, Reason: clip(other.Text)})
		case err != nil:
			list = append(list, spelling{Name: s, Reason: clip(err.Error())})
		default:
			list = append(list, spelling{Name: s, Text: strings.TrimSuffix(text, "\n")})
		}
	}
	return list, nil
}

func inferred(_ context.Context, q *Question) (any, error) {
	c, err := plain("a", q.A)
	if err != nil {
		return nil, err
	}
	a, err := plain("b", q.B)
	if err != nil {
		return nil, err
	}
	b, err := judge.Infer(c, a)
	var bad *judge.Mismatch
	switch {
	case errors.As(err, &bad):
		return map[string]any{"missing": bad, "text": bad.Text()}, nil
	case err != nil:
		return nil, in("a", err)
	}
	return map[string]any{"layout": b.String()}, nil
}

func moved(_ context.Context, q *Question) (any, error) {
	from, err := read("a", q.A)
	if err != nil {
		return nil, err
	}
	to, err := read("b", q.B)
	if err != nil {
		return nil, err
	}
	elem, err := bits("elem", q.Elem)
	if err != nil {
		return nil, err
	}
	wide, err := bits("vector", q.Vector)
	if err != nil {
		return nil, err
	}
	if wide < elem || wide%elem != 0 {
		return nil, &Fault{Field: "vector", Text: "the widest move has whole elements"}
	}
	m, err := judge.Relay(from, to, wide/elem)
	if err != nil {
		return nil, in("b", err)
	}
	return m, nil
}
