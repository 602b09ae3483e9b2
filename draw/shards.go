//go:build !layoutonly

package draw

import (
	"fmt"
	"image/png"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/layout"
)

// Shards is the picture of a tensor on a device: its pages, coloured by their bank or core,
// and the banks, which show their pages. There are 12 colours, which repeat. The same
// placement gives the same bytes everywhere.
type Shards struct {
	p       *device.Placement
	model   device.Model
	config  device.MemoryConfig
	word    string // bank or core
	holders []holder
}

// A holder is a bank that gets pages of the tensor.
type holder struct {
	at    device.Coord
	name  string
	pages []int // in its slots; -1 for a hole
	holes int
	part  string // the elements of its first shard, and the number of its other shards
}

// NewShards returns the picture. It fails with layout.ErrLimit if the banks have more than
// MaxCells slots each, or more than 16 times as many together.
func NewShards(p device.Placement) (*Shards, error) {
	s := &Shards{p: &p, model: p.Model(), config: p.Config(), word: "bank"}
	if s.config.Memory == device.L1 {
		s.word = "core"
	}
	banks := p.Banks()
	if len(banks) == 0 {
		return nil, fail("NewShards", layout.ErrShape, "the placement is the zero value; MemoryConfig.Place makes one")
	}
	if p.Slots() > MaxCells || len(banks) > 16*MaxCells/max(p.Slots(), 1) {
		return nil, fail("NewShards", layout.ErrLimit, "%d slots in each of %d banks; at most %d in each and %d in all are drawn", p.Slots(), len(banks), MaxCells, 16*MaxCells)
	}
	for i, bank := range banks {
		h := holder{at: s.model.Coord(s.config.Memory, bank), name: strconv.Itoa(bank)}
		if s.config.Memory == device.L1 {
			h.name = h.at.String()
		}
		for slot := range p.Slots() {
			page, err := p.PageIn(i, slot)
			if err != nil {
				return nil, err
			}
			if h.pages = append(h.pages, page); page < 0 {
				h.holes++
			}
		}
		if s.config.Sharding != device.Interleaved {
			h.part = s.part(i, len(banks))
		}
		s.holders = append(s.holders, h)
	}
	return s, nil
}

// part returns the elements of the first shard in bank number at of n, and the number of its other shards. It says whether there is
// padding behind the elements:
//
//	[0:64, 32:50] and padding, and 3 more
func (s *Shards) part(at, n int) string {
	grid, pages, box, ends := s.p.ShardGrid(), s.p.PageGrid(), s.p.ShardPages(), s.ends()
	count := 1
	for _, g := range grid {
		count *= g
	}
	if at >= count {
		return ""
	}
	height, width := s.p.PageShape()
	texts := make([]string, len(grid))
	shard, padded := at, false
	for k := len(grid) - 1; k >= 0; k-- {
		unit := 1
		switch k {
		case len(grid) - 1:
			unit = width
		case len(grid) - 2:
			unit = height
		}
		from := shard % grid[k] * box[k]
		shard /= grid[k]
		first, end := from*unit, min(from+box[k], pages[k])*unit
		padded = padded || end > ends[k]
		texts[k] = fmt.Sprintf("%d:%d", min(first, ends[k]), min(end, ends[k]))
	}
	text := "[" + strings.Join(texts, ", ") + "]"
	more := (count - at - 1) / n
	if padded {
		text += " and padding"
		if more > 0 {
			text += ","
		}
	}
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ends returns where the tensor ends on each axis of the pages. Where matrices lie one below the other, the padding between them counts as rows.
func (s *Shards) ends() []int {
	spec, list := s.p.Spec(), s.p.PageGrid()
	shape, last := spec.Shape(), len(list)-1
	rows, _ := s.p.PageShape()
	height, width := spec.LogicalMatrix()
	list[last-1], list[last] = list[last-1]*rows, width
	if above := len(shape) - 2; above < 0 || height == shape[above] {
		list[last-1] = height
	} else if last > 1 {
		list[last-1] = shape[above]
	}
	return list
}

// runs writes pages as in 0-3 8 9, and … in place of text beyond width.
func runs(pages []int, width int) string {
	var b strings.Builder
	for i := 0; i < len(pages); i++ {
		if pages[i] < 0 {
			continue
		}
		from := i
		for i+1 < len(pages) && pages[i+1] == pages[i]+1 {
			i++
		}
		text := strconv.Itoa(pages[from])
		if i > from {
			text += "-" + strconv.Itoa(pages[i])
		}
		if b.Len()+len(text)+2 > width {
			b.WriteString(" …")
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// facts returns the lines above the picture: names and values.
func (s *Shards) facts() [][2]string {
	p := s.p
	spec := p.Spec()
	height, width := p.PageShape()
	stored, elements := p.Pages()*height*width, 1
	for _, n := range spec.Shape() {
		elements *= n
	}
	list := [][2]string{
		{"tensor", spec.String()},
		{"config", s.config.String()},
		{"device", fmt.Sprintf("%s, %d %ss of %v", s.model.Name, s.model.Banks(s.config.Memory), s.word, s.config.Memory)},
		{"pages", fmt.Sprintf("%d of %d bytes, %d apart", p.Pages(), p.PageBytes(), p.SlotBytes())},
		{s.word + "s", fmt.Sprintf("%d with %d slots each, %d bytes", len(s.holders), p.Slots(), p.BankBytes())},
	}
	if padding := stored - elements; padding > 0 {
		list = append(list, [2]string{"padding", fmt.Sprintf("%d of %d elements in the pages", padding, stored)})
	}
	return append(list, [2]string{"holes", strconv.Itoa(p.Holes())})
}

// WriteText writes the facts above the picture, and a line for each bank.
func (s *Shards) WriteText(w io.Writer) error {
	if err := writable("Shards.WriteText", w); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range s.facts() {
		fmt.Fprintf(t, "%s\t%s\n", f[0], f[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	elements := s.config.Sharding != device.Interleaved
	cells := func(list ...string) {
		if !elements {
			list = append(list[:4], list[5:]...)
		}
		fmt.Fprintln(t, strings.Join(list, "\t"))
	}
	cells(s.word, "bytes", "pages", "holes", "elements", "page numbers")
	for _, h := range s.holders {
		cells(h.name, strconv.Itoa(s.p.BankBytes()), strconv.Itoa(len(h.pages)-h.holes), strconv.Itoa(h.holes), orNone(h.part), orNone(runs(h.pages, 40)))
	}
	return t.Flush()
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// WriteSVG writes the picture as SVG, a pixel to a unit.
func (s *Shards) WriteSVG(w io.Writer) error {
	if err := writable("Shards.WriteSVG", w); err != nil {
		return err
	}
	_, err := io.WriteString(w, s.scene().svg())
	return err
}

// WritePNG writes the picture as PNG: see Map.WritePNG.
func (s *Shards) WritePNG(w io.Writer) error {
	if err := writable("Shards.WritePNG", w); err != nil {
		return err
	}
	return png.Encode(w, s.scene().image())
}

// scene lays the picture out: heading, the tensor, the banks.
func (s *Shards) scene() *scene {
	facts := s.facts()
	c := &scene{title: facts[0][1]}
	c.text(text{margin, margin + 13, c.title, start, true, dark})
	y := margin + 31
	said := ""
	for _, f := range facts[3:] {
		said += "; " + f[0] + ": " + f[1]
	}
	for _, line := range []string{facts[1][1] + "; " + facts[2][1], said[2:]} {
		c.text(text{margin, y, line, start, false, faint})
		y += 17
	}
	y = s.tensor(c, y+8)
	s.banks(c, y+gap)
	return c
}

// tensor draws the pages, or the shards if there are too many pages, from y on, and returns
// the y of the end.
func (s *Shards) tensor(c *scene, y int) int {
	grid := s.p.PageGrid()
	unit := make([]int, len(grid)) // pages of a cell along each axis
	what := "page"
	for k := range unit {
		unit[k] = 1
	}
	rows, columns := sides(grid)
	if rows > MaxSide || columns > MaxSide {
		grid, unit, what = s.p.ShardGrid(), s.p.ShardPages(), "shard"
		if rows, columns = sides(grid); rows > MaxSide || columns > MaxSide {
			c.text(text{margin, y + 11, fmt.Sprintf("the tensor: %d by %d shards are more than the %d that are drawn a side", rows, columns, MaxSide), start, false, faint})
			return y + 20
		}
	}
	c.text(text{margin, y + 11, fmt.Sprintf("the tensor, %s by %[1]s, coloured by %s", what, s.word), start, false, dark})
	y += 20
	if rows*columns == 0 {
		c.text(text{margin, y + 11, "no " + what + "s", start, false, faint})
		return y + 20
	}
	number := map[int]int{}
	for i, h := range s.holders {
		for _, page := range h.pages {
			if page >= 0 {
				number[page] = i
			}
		}
	}
	cw, ch := max(len(strconv.Itoa(rows*columns))*smallWidth+9, 24), 22
	if rows*columns > 1024 {
		cw, ch = 8, 8
	}
	whole := s.p.PageGrid()
	for i := range rows * columns {
		page, place, k := 0, 1, i
		for axis := len(grid) - 1; axis >= 0; axis-- {
			page += k % grid[axis] * unit[axis] * place
			k /= grid[axis]
			place *= whole[axis]
		}
		x, top := margin+i%columns*cw, y+i/columns*ch
		c.rect(x, top, cw-1, ch-1, number[page]%len(fills))
		if cw > 8 {
			c.text(text{x + cw/2, top + 15, strconv.Itoa(i), middle, false, dark})
		}
	}
	return y + rows*ch
}

// sides returns the rows and columns for drawing a grid: the columns are its last axis, the
// rows all others.
func sides(grid []int) (rows, columns int) {
	rows = 1
	for _, n := range grid[:len(grid)-1] {
		rows *= n
	}
	return rows, grid[len(grid)-1]
}

// banks draws the banks at their places in the grid.
func (s *Shards) banks(c *scene, y int) {
	c.text(text{margin, y + 11, fmt.Sprintf("the %ss: %d bytes each", s.word, s.p.BankBytes()), start, false, dark})
	y += 22
	const ch = 64
	var first, last device.Coord
	cw := 96
	for i, h := range s.holders {
		if i == 0 {
			first, last = h.at, h.at
		}
		first.X, first.Y = min(first.X, h.at.X), min(first.Y, h.at.Y)
		last.X, last.Y = max(last.X, h.at.X), max(last.Y, h.at.Y)
		cw = max(cw, (len(h.part)+1)*smallWidth+8)
	}
	if len(s.holders) == 0 {
		return
	}
	across := last.X - first.X + 1
	if last.Y == first.Y { // a single line of banks is broken into several
		across = min(across, max(pageWidth/cw, 1))
	}
	for i, h := range s.holders {
		column, row := h.at.X-first.X, h.at.Y-first.Y
		if last.Y == first.Y {
			column, row = column%across, column/across
		}
		x, top := margin+column*cw, y+row*ch
		fill := i % len(fills)
		if h.holes == len(h.pages) {
			fill = hole
		}
		c.rect(x, top, cw-2, ch-2, fill)
		c.text(text{x + cw/2, top + 15, s.word + " " + h.name, middle, false, faint})
		lines := []string{runs(h.pages, cw/smallWidth-1)}
		if h.part != "" {
			lines = []string{h.part, lines[0]}
		}
		if h.holes > 0 {
			lines = append(lines, fmt.Sprintf("%d holes", h.holes))
			if h.holes == 1 {
				lines[len(lines)-1] = "1 hole"
			}
		}
		for k, line := range lines {
			c.text(text{x + cw/2, top + 30 + 14*k, line, middle, false, dark})
		}
	}
}
