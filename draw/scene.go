package draw

import (
	"image/color"
	"strconv"
)

// A fill is the background of a group of cells. It is light, so that dark text is readable on it. The panel is light, too,
// so that the picture fits a page of any colour.
type fill struct {
	rgb      color.NRGBA
	terminal int // the nearest of the 256 colours of terminals
}

var fills = []fill{
	{color.NRGBA{0xad, 0xd0, 0xf7, 255}, 153}, // blue
	{color.NRGBA{0xfc, 0xd3, 0x9d, 255}, 222}, // orange
	{color.NRGBA{0xb8, 0xe2, 0xb5, 255}, 151}, // green
	{color.NRGBA{0xf6, 0xb9, 0xbe, 255}, 217}, // red
	{color.NRGBA{0xd6, 0xc6, 0xf2, 255}, 183}, // violet
	{color.NRGBA{0xfa, 0xee, 0xa2, 255}, 229}, // yellow
	{color.NRGBA{0xa6, 0xe3, 0xdf, 255}, 158}, // turquoise
	{color.NRGBA{0xe2, 0xc9, 0xb4, 255}, 180}, // brown
	{color.NRGBA{0xf4, 0xc4, 0xe6, 255}, 218}, // pink
	{color.NRGBA{0xd3, 0xe8, 0x97, 255}, 192}, // lime
	{color.NRGBA{0xbf, 0xcb, 0xdd, 255}, 146}, // slate
	{color.NRGBA{0xd9, 0xd9, 0xd9, 255}, 252}, // grey
}

// The paints of a scene beside the fills of the groups.
const (
	panel  = iota + 100 // behind everything
	border              // around the panel
	hole                // memory without an element
	thin                // between cells
	thick               // between blocks
	dark                // text
	faint               // text beside it
)

var paints = map[int]color.NRGBA{
	panel: {0xff, 0xff, 0xff, 255}, border: {0xd0, 0xd7, 0xde, 255}, hole: {0xf3, 0xf4, 0xf6, 255}, thin: {0xff, 0xff, 0xff, 255},
	thick: {0x24, 0x29, 0x2f, 255}, dark: {0x1f, 0x23, 0x28, 255}, faint: {0x42, 0x4a, 0x53, 255},
}

// paint returns the colour of a paint.
func paint(p int) color.NRGBA {
	if p < len(fills) {
		return fills[p].rgb
	}
	return paints[p]
}

// background returns the paint of a group.
func background(group int) int {
	if group < 0 {
		return hole
	}
	return group
}

// A scene is a drawing of rectangles and texts in whole pixels, in the order of painting. SVG and PNG are made of it.
type scene struct {
	title string
	w, h  int
	rects []rect
	texts []text

	curves, heads []string // paths of lines, and of the heads of arrows, behind the rectangles; only in SVG
}

type rect struct{ x, y, w, h, paint int }

// A text is centred on x, or begins or ends there; y is its base line.
type text struct {
	x, y   int
	s      string
	anchor anchor
	bold   bool // a character is 8 pixels wide and 16 high; else 7 and 13
	paint  int
}

type anchor uint8

const (
	middle anchor = iota
	start
	end
)

const (
	margin     = 16
	gap        = 20 // between grids
	boldWidth  = 8
	smallWidth = 7
	pageWidth  = 1100 // a grid beyond it begins a new line
)

func (s *scene) rect(x, y, w, h, paint int) {
	s.rects = append(s.rects, rect{x, y, w, h, paint})
	s.w, s.h = max(s.w, x+w+margin), max(s.h, y+h+margin)
}

func (s *scene) text(t text) {
	s.texts = append(s.texts, t)
	n := len([]rune(t.s)) * smallWidth
	if t.bold {
		n = len([]rune(t.s)) * boldWidth
	}
	switch t.anchor {
	case start:
		s.w = max(s.w, t.x+n+margin)
	case middle:
		s.w = max(s.w, t.x+n/2+margin)
	}
	s.h = max(s.h, t.y+4+margin)
}

// scene lays the picture out: heading, grids, memory.
func (m *Map) scene() *scene {
	s := &scene{title: m.name()}
	s.text(text{margin, margin + 13, s.title, start, true, dark})
	sub := "size " + strconv.Itoa(m.lay.Size())
	if m.part {
		sub += ", " + strconv.Itoa(len(m.cells)) + " drawn"
		if m.blocks() {
			sub += ", for blocks of " + strconv.Itoa(m.step[0]) + " by " + strconv.Itoa(m.step[1])
		}
	}
	if len(m.cells) > 0 {
		sub += ", offsets " + strconv.Itoa(m.lo) + " to " + strconv.Itoa(m.hi)
	}
	if m.by != "" {
		sub += ", a colour for each " + m.by
	}
	s.text(text{margin, margin + 31, sub, start, false, faint})
	y := margin + 50

	off := func(c Cell) string { return strconv.Itoa(c.Offset) }
	cw := max(widest(m.cells, off)*boldWidth, widest(m.cells, func(c Cell) string { return c.Coord })*smallWidth,
		widest(m.cells, func(c Cell) string { return c.Label })*smallWidth, 24) + 14
	ch := 37
	threads := len(m.cells) > 0 && m.cells[0].Label != ""
	if threads {
		ch = 52
	}
	labels := len(m.rowLabel(max(m.rows-1, 0)))*smallWidth + 8
	gridW, gridH := labels+m.cols*cw, 18+m.rows*ch
	across := max((pageWidth+gap)/(gridW+gap), 1)
	bottom := y
	for g, title := range m.titles {
		x, top := margin+g%across*(gridW+gap), y+g/across*(gridH+gap+18)
		if title != "" {
			s.text(text{x, top + 11, title, start, false, dark})
			top += 18
		}
		m.grid(s, g, x+labels, top+18, cw, ch)
		bottom = top + gridH
	}
	if len(m.cells) > 0 {
		m.strips(s, bottom+gap+8)
	}
	return s
}

// grid draws a grid whose first cell begins at x, y.
func (m *Map) grid(s *scene, g, x, y, cw, ch int) {
	first := g * m.rows * m.cols
	count := min(m.rows*m.cols, len(m.cells)-first)
	for c := range m.cols {
		s.text(text{x + c*cw + cw/2, y - 5, m.colLabel(c), middle, false, faint})
	}
	for r := range m.rows {
		s.text(text{x - 6, y + r*ch + ch/2 + 4, m.rowLabel(r), end, false, faint})
	}
	for i := range count {
		c := m.cells[first+i]
		left, top := x+i%m.cols*cw, y+i/m.cols*ch
		s.rect(left, top, cw-1, ch-1, background(c.Group))
		s.text(text{left + cw/2, top + 14, c.Coord, middle, false, faint})
		s.text(text{left + cw/2, top + 30, strconv.Itoa(c.Offset), middle, true, dark})
		if c.Label != "" {
			s.text(text{left + cw/2, top + 45, c.Label, middle, false, dark})
		}
	}
	for c, cut := range m.colCuts {
		if cut {
			s.rect(x+c*cw-2, y, 3, m.rows*ch-1, thick)
		}
	}
	for r, cut := range m.rowCuts {
		if cut {
			s.rect(x, y+r*ch-2, m.cols*cw-1, 3, thick)
		}
	}
}

// strips draws the memory from y on.
func (m *Map) strips(s *scene, y int) {
	if m.memory == nil {
		s.text(text{margin, y + 11, m.tooWide(), start, false, faint})
		return
	}
	s.text(text{margin, y + 11, "memory: the coordinate at each offset", start, false, dark})
	y += 22
	n := m.strip()
	const ch = 32
	cw := max(widest(m.memory, m.holds)*smallWidth, len(strconv.Itoa(m.hi))*smallWidth, len(strconv.Itoa(m.lo))*smallWidth, 24) + 11
	for i, slot := range m.memory {
		x, top := margin+i%n*cw, y+i/n*(ch+4)
		paint := hole
		if slot.count > 0 {
			paint = background(m.cells[slot.cell].Group)
		}
		s.rect(x, top, cw-1, ch, paint)
		s.text(text{x + cw/2, top + 13, strconv.Itoa(m.lo + i), middle, false, faint})
		s.text(text{x + cw/2, top + 27, m.holds(slot), middle, false, dark})
	}
}
