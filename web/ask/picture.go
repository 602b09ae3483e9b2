package ask

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// maxShown is the most rows and columns that the page draws at a time; a longer mode is drawn in part. Of a layout with more
// modes, and more elements than the square of that, it draws one coordinate of each mode before the last two.
const maxShown = 32

// A picture is a map as the page draws it. Offsets are text, as JavaScript's numbers aren't exact from 2^53 on.
type picture struct {
	Facts    judge.Facts `json:"facts"`
	Span     [2]string   `json:"span"` // the smallest and the largest offset, where they are known
	Size     string      `json:"size"`
	Shape    []string    `json:"shape"`
	At       []int       `json:"at"`
	By       string      `json:"by"`
	Rows     int         `json:"rows"`
	Cols     int         `json:"cols"`
	FirstRow int         `json:"firstRow"`
	FirstCol int         `json:"firstCol"`
	Titles   []string    `json:"titles"` // of each grid
	RowCuts  []bool      `json:"rowCuts"`
	ColCuts  []bool      `json:"colCuts"`
	Coords   []string    `json:"coords"`
	Offsets  []string    `json:"offsets"`
	Groups   []int       `json:"groups"`
	Labels   []string    `json:"labels,omitempty"`
	Part     bool        `json:"part"`
}

// part reads the slice, and returns the map of it.
func part(q *Question) (c layout.Composed, m *draw.Map, at []int, whole bool, err error) {
	if c, err = read("a", q.A); err != nil {
		return
	}
	var o draw.MapOptions
	if err = colours(q, &o); err != nil {
		return
	}
	inner := c.Inner()
	shape := inner.Shape()
	rank := len(shape)
	at, whole = make([]int, rank), true
	copy(at, q.At)
	o.From, o.To = make([]int, rank), make([]int, rank)
	for i, n := range shape {
		most := 1
		switch {
		case c.Size() <= maxShown*maxShown:
			most = n
		case rank == 1:
			most = maxShown * maxShown
		case i >= rank-2:
			most = maxShown
		}
		at[i] = max(min(at[i], n-min(n, most)), 0)
		o.From[i], o.To[i] = at[i], min(at[i]+most, n)
		whole = whole && o.To[i]-o.From[i] == n
	}
	if m, err = draw.NewMap(c, o); err != nil {
		field := "a"
		if q.Colour != "" {
			field = "by"
		}
		err = in(field, err)
	}
	return
}

// colours reads what the colours stand for.
func colours(q *Question, o *draw.MapOptions) error {
	if strings.TrimSpace(q.By) == "" {
		return nil
	}
	switch q.Colour {
	case "threads", "values":
		l, err := plain("by", q.By)
		if err != nil {
			return err
		}
		if q.Colour == "threads" {
			o.Threads = &l
		} else {
			o.Values = &l
		}
	case "tile":
		text := strings.TrimSpace(q.By)
		if !strings.HasPrefix(text, "(") {
			text = "(" + text + ")"
		}
		t, err := layout.ParseTuple(text)
		if err == nil && t.Depth() == 1 {
			o.Tile, err = t.Flatten()
		}
		if err != nil || o.Tile == nil {
			return &Fault{Field: "by", Text: "want extents such as (2,4)"}
		}
	}
	return nil
}

func drawn(_ context.Context, q *Question) (any, error) {
	c, m, at, whole, err := part(q)
	if err != nil {
		return nil, err
	}
	in := c.Inner()
	p := &picture{Facts: judge.FactsOf(c), At: at, By: m.By(), Part: !whole}
	p.Span = [2]string{strconv.Itoa(p.Facts.Least), strconv.Itoa(p.Facts.Most)}
	for _, n := range in.Shape() {
		p.Shape = append(p.Shape, strconv.Itoa(n))
	}
	p.Rows, p.Cols, p.FirstRow, p.FirstCol = m.Grid()
	p.RowCuts, p.ColCuts = m.Cuts()
	p.Titles, p.Size = m.Titles(), strconv.Itoa(c.Size())
	for _, x := range m.Cells() {
		p.Coords = append(p.Coords, x.Coord)
		p.Offsets = append(p.Offsets, strconv.Itoa(x.Offset))
		p.Groups = append(p.Groups, x.Group)
		if x.Label != "" {
			p.Labels = append(p.Labels, x.Label)
		}
	}
	return p, nil
}

// found says which offset a coordinate has, or which coordinates an offset.
func found(_ context.Context, q *Question) (any, error) {
	c, err := read("a", q.A)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(q.Find)
	if strings.ContainsAny(text, "(,") {
		if !strings.HasPrefix(text, "(") {
			text = "(" + text + ")"
		}
		t, err := layout.ParseTuple(text)
		if err != nil {
			return nil, &Fault{Field: "find", Text: "want a coordinate, as in 1,5, or an offset, as in 13"}
		}
		off, err := c.OffsetAt(t)
		if err != nil {
			return nil, in("find", err)
		}
		return map[string]any{"text": fmt.Sprintf("%s lies at offset %d", text, off), "offset": strconv.Itoa(off)}, nil
	}
	off, err := strconv.Atoi(text)
	if err != nil {
		return nil, &Fault{Field: "find", Text: "want a coordinate, as in 1,5, or an offset, as in 13"}
	}
	const most = 4
	list, n, err := judge.Holders(c, off, most)
	if err != nil {
		return nil, in("find", err)
	}
	inner := c.Inner()
	var coords []string
	for _, i := range list {
		coord, err := inner.Coord(i)
		if err != nil {
			return nil, in("find", err)
		}
		coords = append(coords, strings.ReplaceAll(strings.Replace(strings.Replace(fmt.Sprint(coord), "[", "(", 1), "]", ")", 1), " ", ","))
	}
	say := fmt.Sprintf("offset %d holds no element", off)
	if n > 0 {
		say = fmt.Sprintf("offset %d holds %s", off, strings.Join(coords, ", "))
	}
	if n > most {
		say += fmt.Sprintf(" and %d more", n-most)
	}
	return map[string]any{"text": say, "offset": strconv.Itoa(off)}, nil
}

// copied is the picture as text, SVG or Go; the page makes a PNG of the SVG.
func copied(_ context.Context, q *Question) (any, error) {
	c, m, _, _, err := part(q)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	switch q.What {
	case "go":
		text, err := judge.Print(c, "go", 1)
		if err != nil {
			return nil, in("a", err)
		}
		return map[string]string{"text": text}, nil
	case "svg":
		err = m.WriteSVG(&b)
	default:
		err = m.WriteText(&b, false)
	}
	if err != nil {
		return nil, in("a", err)
	}
	return map[string]string{"text": b.String()}, nil
}
