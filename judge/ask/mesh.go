package ask

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/device/grid"
)

// Devices is a tensor on a mesh: the part of each device, and the way to another placement.
type Devices struct {
	Mesh     string    `json:"mesh"`
	Shape    []int     `json:"shape"`
	Place    string    `json:"place"`
	Devices  []Held    `json:"devices"`
	Columns  []string  `json:"columns,omitempty"` // the parts of the last axis; of a scalar there are none
	Rows     []Band    `json:"rows,omitempty"`    // the parts of the other axes
	Owners   []int     `json:"owners,omitempty"`  // the devices that have the element that was asked for
	Axes     string    `json:"axes,omitempty"`    // the placement over named axes
	Reason   string    `json:"reason,omitempty"`  // why there are no such axes
	Exchange *Exchange `json:"exchange,omitempty"`
}

// Held is the part of one device.
type Held struct {
	Number   int    `json:"number"`
	At       []int  `json:"at"`
	First    []int  `json:"first"`
	Extent   []int  `json:"extent"`
	Elements int    `json:"elements"` // with all its addends
	Text     string `json:"text"`
}

// Band is the boxes with the same coordinates on all axes but the last.
type Band struct {
	Name  string  `json:"name"`
	Cells [][]int `json:"cells"` // the devices that have each box
}

// Exchange is the way to another placement.
type Exchange struct {
	Name    string          `json:"name"`
	Place   string          `json:"place"`
	Stages  []ExchangeStage `json:"stages"`
	Bytes   int             `json:"bytes"`
	Bound   int             `json:"bound"`
	Busiest int             `json:"busiest"`
	Links   []Link          `json:"links"`
}

// ExchangeStage is one stage of an exchange.
type ExchangeStage struct {
	Name  string `json:"name"`
	Place string `json:"place"`
	Steps int    `json:"steps"`
	Bytes int    `json:"bytes"`
	Bound int    `json:"bound"`
}

// Link is the bytes from a device to its neighbour.
type Link struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Bytes int `json:"bytes"`
}

// mostBoxes is the most boxes of a picture.
const mostBoxes = 1 << 12

// Mesh tells the part of each device of Mesh: of a tensor of shape A under the placement Place. It tells which devices have the element
// Find. If there is To, it tells the exchange that leads there, with elements of Elem bytes. Even refuses parts of different shapes.
func Mesh(_ context.Context, q *Question) (*Devices, error) {
	shape, err := Tile(q.A)
	if text := strings.TrimSpace(q.A); text == "()" || text == "" {
		shape, err = []int{}, nil
	}
	if err != nil {
		return nil, in("a", true, err)
	}
	m, err := grid.ParseMesh(q.Mesh)
	if err != nil {
		return nil, in("mesh", true, err)
	}
	m.Even = q.Even
	on, err := m.ParsePlacement(q.Place)
	if err != nil {
		return nil, in("place", true, err)
	}
	d := &Devices{Mesh: m.String(), Shape: shape, Place: placed(m, on)}
	cuts := make([][]int, len(shape))
	for i := range m.Len() {
		first, extent, err := m.Box(shape, on, i)
		if err != nil {
			return nil, in("place", false, err)
		}
		h := Held{Number: i, At: m.Coord(i), First: first, Extent: extent, Elements: 1}
		var text []string
		for k, n := range extent {
			h.Elements *= n
			text = append(text, span(first[k], n))
			cuts[k] = append(cuts[k], first[k], first[k]+n)
		}
		h.Text = "[" + strings.Join(text, ", ") + "]"
		for a, o := range on {
			if o.Kind != grid.PartialSum && o.Kind != grid.PartialMax {
				continue
			}
			if o.Parts > 1 {
				h.Elements *= o.Parts
			}
			what := "addend"
			if o.Kind == grid.PartialMax {
				what = "candidate"
			}
			from := h.At[a] * max(o.Parts, 1)
			if o.Parts > 1 {
				h.Text += fmt.Sprintf(" %ss %d to %d", what, from, from+o.Parts-1)
			} else {
				h.Text += fmt.Sprintf(" %s %d", what, from)
			}
		}
		d.Devices = append(d.Devices, h)
	}
	d.picture(cuts)
	if a, err := m.NamedAxes(shape, on); err != nil {
		d.Reason = in("", false, err).Error()
	} else {
		d.Axes = a.String()
	}
	if strings.TrimSpace(q.Find) != "" {
		at, err := coordinate(q.Find)
		if err == nil && len(at) != len(shape) {
			err = fmt.Errorf("%s: want %d coordinates", strings.TrimSpace(q.Find), len(shape))
		}
		for k := range at {
			if err == nil && (at[k] < 0 || at[k] >= shape[k]) {
				err = fmt.Errorf("%s: coordinate %d is outside %d", strings.TrimSpace(q.Find), k, shape[k])
			}
		}
		if err != nil {
			return nil, in("find", true, err)
		}
		for _, h := range d.Devices {
			if within(at, h.First, h.Extent) {
				d.Owners = append(d.Owners, h.Number)
			}
		}
	}
	if strings.TrimSpace(q.To) == "" {
		return d, nil
	}
	to, err := m.ParsePlacement(q.To)
	if err != nil {
		return nil, in("to", true, err)
	}
	r := reader{Question: q}
	bytes := r.number("elem", q.Elem)
	if r.err != nil {
		return nil, r.err
	}
	e, err := m.Plan(shape, bytes, on, to)
	if err != nil {
		return nil, in("to", false, err)
	}
	d.Exchange = &Exchange{Name: e.Name, Place: placed(m, to), Bytes: e.Bytes, Bound: e.Bound, Busiest: e.Busiest(), Links: []Link{}}
	for _, s := range e.Stages {
		d.Exchange.Stages = append(d.Exchange.Stages, ExchangeStage{s.Name, placed(m, s.On), len(s.Steps), s.Bytes, s.Bound})
	}
	for _, l := range e.Links {
		d.Exchange.Links = append(d.Exchange.Links, Link(l))
	}
	return d, nil
}

// placed writes row:S(0) col:R.
func placed(m grid.Mesh, on []grid.OnAxis) string {
	parts := make([]string, len(on))
	for i, o := range on {
		parts[i] = m.Axes[i].Name + ":" + o.String()
	}
	return strings.Join(parts, " ")
}

// span writes the indices of a part as in Python.
func span(first, n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(first) + ":" + strconv.Itoa(first+n)
}

func within(at, first, extent []int) bool {
	for k, v := range at {
		if v < first[k] || v >= first[k]+extent[k] {
			return false
		}
	}
	return true
}

// picture lists the devices of each box between cuts.
func (d *Devices) picture(cuts [][]int) {
	boxes := 1
	for k := range cuts {
		slices.Sort(cuts[k])
		cuts[k] = slices.Compact(cuts[k])
		boxes = min(boxes*(len(cuts[k])-1), mostBoxes+1)
	}
	last := len(cuts) - 1
	if last < 0 || boxes == 0 || boxes > mostBoxes {
		return
	}
	for i := range len(cuts[last]) - 1 {
		d.Columns = append(d.Columns, span(cuts[last][i], cuts[last][i+1]-cuts[last][i]))
	}
	bands := 1
	for _, c := range cuts[:last] {
		bands *= len(c) - 1
	}
	for b := range bands {
		first, names := make([]int, last+1), make([]string, last)
		for k := last - 1; k >= 0; k-- {
			i := b % (len(cuts[k]) - 1)
			b /= len(cuts[k]) - 1
			first[k], names[k] = cuts[k][i], span(cuts[k][i], cuts[k][i+1]-cuts[k][i])
		}
		band := Band{Name: strings.Join(names, ", ")}
		for i := range len(cuts[last]) - 1 {
			first[last] = cuts[last][i]
			cell := []int{}
			for _, h := range d.Devices {
				if within(first, h.First, h.Extent) {
					cell = append(cell, h.Number)
				}
			}
			band.Cells = append(band.Cells, cell)
		}
		d.Rows = append(d.Rows, band)
	}
}
