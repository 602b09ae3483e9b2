package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// maxShown is the most rows and columns that the page draws at once. It draws only a part of a longer mode. If a layout has
// more than two modes and more than maxShown² elements, the page draws one coordinate of each mode before the last two.
const maxShown = 32

// A picture is a map as the page draws it. Offsets are text, since JavaScript's numbers aren't exact from 2^53 on.
type picture struct {
	Facts    judge.Facts `json:"facts"`
	Span     [2]string   `json:"span"` // the smallest and the largest offset, if they are known
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
	Step     [2]int      `json:"step"`             // the rows and columns that a cell stands for
	Blocks   *picture    `json:"blocks,omitempty"` // of a matrix that is drawn in part: all of it
}

// part reads the slice and returns its map; whole tells that the slice is the whole layout.
func part(q *Question) (c layout.Composed, m *draw.Map, at []int, whole bool, err error) {
	r := reader{Question: q}
	c = r.layout("a", q.A)
	o := r.colours()
	if r.err != nil {
		return c, nil, nil, false, r.err
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
	field := "a"
	if q.Colour != "" {
		field = "by"
	}
	m, err = draw.NewMap(c, &o)
	return c, m, at, whole, in(field, false, err)
}

// bracketed puts brackets around numbers that have none.
func bracketed(text string) string {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "(") {
		return text
	}
	return "(" + text + ")"
}

// Tile reads the extents of a tile, as in (2,4), 2,4 or 2x4.
func Tile(text string) (list []int, err error) {
	text = bracketed(strings.ReplaceAll(text, "x", ","))
	if t, wrong := layout.ParseTuple(text); wrong == nil && t.Depth() == 1 {
		list, err = t.Flatten()
	}
	if list == nil || err != nil {
		return nil, fmt.Errorf("%s: want extents such as (2,4)", text)
	}
	return list, nil
}

// coordinate reads the coordinate of an element, as in 1,5.
func coordinate(text string) ([]int, error) {
	at, err := Tile(text)
	if err != nil {
		err = fmt.Errorf("%q: want a coordinate such as 1,5", clip(text))
	}
	return at, err
}

// colours reads the meaning of the colours.
func (r *reader) colours() (o draw.MapOptions) {
	if strings.TrimSpace(r.By) == "" {
		return o
	}
	switch r.Colour {
	case "threads", "values":
		l := r.plain("by", r.By)
		if o.Values = &l; r.Colour == "threads" {
			o.Threads, o.Values = &l, nil
		}
	case "tile":
		var err error
		if o.Tile, err = Tile(r.By); err != nil {
			r.fault("by", "want extents such as (2,4)")
		}
	}
	return o
}

func drawn(_ context.Context, q *Question) (*picture, error) {
	c, m, at, whole, err := part(q)
	if err != nil {
		return nil, err
	}
	inner := c.Inner()
	p := pictureOf(m)
	p.Facts, p.At, p.Part, p.Size = judge.FactsOf(c), at, !whole, strconv.Itoa(c.Size())
	p.Span = [2]string{strconv.Itoa(p.Facts.Least), strconv.Itoa(p.Facts.Most)}
	for _, n := range inner.Shape() {
		p.Shape = append(p.Shape, strconv.Itoa(n))
	}
	if p.Part && len(p.Shape) == 2 && q.Colour == "" {
		all, err := draw.NewMap(c, &draw.MapOptions{Blocks: maxShown})
		if err != nil {
			return nil, in("a", false, err)
		}
		p.Blocks = pictureOf(all)
		p.Blocks.Facts, p.Blocks.Span, p.Blocks.Size, p.Blocks.Shape, p.Blocks.At = p.Facts, p.Span, p.Size, p.Shape, []int{0, 0}
	}
	return p, nil
}

// pictureOf has the cells of a map.
func pictureOf(m *draw.Map) *picture {
	p := &picture{By: m.By(), Titles: m.Titles()}
	p.Rows, p.Cols, p.FirstRow, p.FirstCol = m.Grid()
	p.Step[0], p.Step[1] = m.Block()
	p.RowCuts, p.ColCuts = m.Cuts()
	for _, x := range m.Cells() {
		p.Coords = append(p.Coords, x.Coord)
		p.Offsets = append(p.Offsets, strconv.Itoa(x.Offset))
		p.Groups = append(p.Groups, x.Group)
		if x.Label != "" {
			p.Labels = append(p.Labels, x.Label)
		}
	}
	return p
}

// A place is an answer to find: a sentence, and the offset.
type place struct {
	Text   string `json:"text"`
	Offset string `json:"offset"`
}

// found returns the offset of a coordinate, or the coordinates of an offset.
func found(_ context.Context, q *Question) (*place, error) {
	r := reader{Question: q}
	c := r.layout("a", q.A)
	find := strings.TrimSpace(q.Find)
	isCoord := strings.ContainsAny(find, "(,")
	t, err := layout.ParseTuple(bracketed(find))
	off, bad := strconv.Atoi(find)
	if isCoord && err != nil || !isCoord && bad != nil {
		r.fault("find", "want a coordinate, as in 1,5, or an offset, as in 13")
	}
	if r.err != nil {
		return nil, r.err
	}
	if isCoord {
		if off, err = c.OffsetAt(t); err != nil {
			return nil, in("find", false, err)
		}
		return &place{fmt.Sprintf("%v lies at offset %d", t, off), strconv.Itoa(off)}, nil
	}
	const most = 4
	list, n, err := judge.Holders(c, off, most)
	if err != nil {
		return nil, in("find", false, err)
	}
	inner := c.Inner()
	var coords []string
	for _, i := range list {
		coord, err := inner.Coord(i)
		if err != nil {
			return nil, in("find", false, err)
		}
		coords = append(coords, "("+strings.ReplaceAll(strings.Trim(fmt.Sprint(coord), "[]"), " ", ",")+")")
	}
	say := fmt.Sprintf("offset %d holds no element", off)
	if n > 0 {
		say = fmt.Sprintf("offset %d holds %s", off, strings.Join(coords, ", "))
	}
	if n > most {
		say += fmt.Sprintf(" and %d more", n-most)
	}
	return &place{say, strconv.Itoa(off)}, nil
}

// copied returns the picture as text, SVG or Go; the page makes a PNG of the SVG.
func copied(_ context.Context, q *Question) (map[string]string, error) {
	c, m, _, _, err := part(q)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	switch q.What {
	case "go":
		var text string
		text, err = judge.Print(c, "go", 1)
		b.WriteString(text)
	case "svg":
		err = m.WriteSVG(&b)
	default:
		err = m.WriteText(&b, nil)
	}
	return map[string]string{"text": b.String()}, in("a", false, err)
}
