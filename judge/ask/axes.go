package ask

import (
	"context"
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/judge"
)

// Places is a layout over named axes with its conversions, or the reasons why there are none.
type Places struct {
	Layout string   `json:"layout"`
	Size   int      `json:"size"`
	Axes   []string `json:"axes"`             // with the numbers on each
	Owners []string `json:"owners,omitempty"` // the places of the element that was asked for
	Forms  []Form   `json:"forms,omitempty"`  // if a shape is given
}

// A Form is the layout in another notation, or the reason why there is none.
type Form struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Axes reads A as a layout over named axes, composes it with B if there is one, and tells the places of the element Find. By
// is the shape of the tensor, which the conversions need, and What the axes of the threads.
func Axes(_ context.Context, q *Question) (*Places, error) {
	a, err := judge.ParseAxes(q.A)
	if err != nil {
		return nil, in("a", true, err)
	}
	r := reader{Question: q}
	if strings.TrimSpace(q.B) != "" {
		b := r.layout("b", q.B)
		if r.err != nil {
			return nil, r.err
		}
		if a, err = a.Compose(b); err != nil {
			return nil, in("b", false, err)
		}
	}
	shape := []int{a.Size()}
	if strings.TrimSpace(q.By) != "" {
		if shape, err = Tile(q.By); err != nil {
			return nil, in("by", true, err)
		}
	}
	out := &Places{Layout: a.String(), Size: a.Size()}
	low, high := a.Span()
	names := a.Names()
	for k, name := range names {
		out.Axes = append(out.Axes, fmt.Sprintf("%s %d to %d", name, low[k], high[k]))
	}
	if strings.TrimSpace(q.Find) != "" {
		at, err := coordinate(q.Find)
		if err == nil && len(at) == 1 {
			shape = []int{a.Size()}
		}
		x := 0
		for k, n := range shape {
			if err == nil && (len(at) != len(shape) || at[k] < 0 || at[k] >= n) {
				err = fmt.Errorf("%s: want a coordinate of the shape %v, or the index of an element", strings.TrimSpace(q.Find), shape)
			}
			if err == nil {
				x = x*n + at[k]
			}
		}
		if err != nil {
			return nil, in("find", true, err)
		}
		list, err := a.Owners(x)
		if err != nil {
			return nil, in("find", false, err)
		}
		for _, p := range list {
			var parts []string
			for k, name := range names {
				parts = append(parts, fmt.Sprintf("%s %d", name, p[k]))
			}
			out.Owners = append(out.Owners, strings.Join(parts, ", "))
		}
	}
	if strings.TrimSpace(q.By) == "" {
		return out, nil
	}
	if shape, err = Tile(q.By); err != nil {
		return nil, in("by", true, err)
	}
	form := func(name, text string, err error) {
		f := Form{Name: name, Text: text}
		if err != nil {
			f.Text, f.Reason = "", in("", false, err).Error()
		}
		out.Forms = append(out.Forms, f)
	}
	tv, err := a.Threads(shape, strings.FieldsFunc(q.What, func(c rune) bool { return c == ',' || c == ' ' })...)
	form("threads", tv.String(), err)
	l, err := a.Linear(shape...)
	form("triton", l.String(), err)
	mesh, err := a.Mesh(shape...)
	var cuts []string
	for _, s := range mesh {
		cut := fmt.Sprintf("%s %d: all of it", s.Name, s.Size)
		if s.Of >= 0 {
			cut = fmt.Sprintf("%s %d: cuts axis %d", s.Name, s.Size, s.Of)
		}
		cuts = append(cuts, cut)
	}
	form("mesh", strings.Join(cuts, ", "), err)
	return out, nil
}
