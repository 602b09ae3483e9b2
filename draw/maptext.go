package draw

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TextOptions control WriteText. A nil *TextOptions means the zero value.
type TextOptions struct {
	Colour bool // cells get background colours of 256-colour terminals
	Owners bool // cells have their threads only, and the memory is left out
}

// WriteText writes the grids and the memory in characters of fixed width: offsets, with threads if they are given, and
// lines between blocks.
func (m *Map) WriteText(w io.Writer, opts *TextOptions) error {
	colour := opts != nil && opts.Colour
	if err := writable("Map.WriteText", w); err != nil {
		return err
	}
	var b strings.Builder
	if len(m.cells) == 0 {
		b.WriteString("no elements\n")
	}
	owners := opts != nil && opts.Owners
	text := func(c Cell) string {
		switch {
		case c.Label == "":
			return strconv.Itoa(c.Offset)
		case owners:
			return c.Label
		}
		return strconv.Itoa(c.Offset) + " " + c.Label
	}
	t := textGrid{b: &b, colour: colour}
	t.width = max(widest(m.cells, text), len(m.colLabel(m.cols-1)))
	t.label = len(m.rowLabel(max(m.rows-1, 0)))
	per := m.rows * m.cols
	for g, title := range m.titles {
		if g > 0 {
			b.WriteByte('\n')
		}
		if title != "" {
			b.WriteString(title + "\n")
		}
		t.begin("")
		for c := range m.cols {
			t.cell(between(m.colCuts[c], " "), m.colLabel(c), -1)
		}
		t.end()
		for r := range m.rows {
			if m.rowCuts[r] {
				t.line(m.colCuts)
			}
			t.begin(m.rowLabel(r) + ":")
			for c := range m.cols {
				if i := g*per + r*m.cols + c; i < len(m.cells) {
					t.cell(between(m.colCuts[c], "│"), text(m.cells[i]), m.cells[i].Group)
				}
			}
			t.end()
		}
	}
	switch {
	case owners:
	case m.memory != nil:
		b.WriteString("\nmemory\n")
		t.width = max(widest(m.memory, m.holds), 1)
		t.label = max(len(strconv.Itoa(m.lo)), len(strconv.Itoa(m.hi)))
		n := m.strip()
		for at := 0; at < len(m.memory); at += n {
			t.begin(strconv.Itoa(m.lo+at) + ":")
			for _, s := range m.memory[at:min(at+n, len(m.memory))] {
				if s.count == 0 {
					t.cell("", "·", -1)
				} else {
					t.cell("", m.holds(s), m.cells[s.cell].Group)
				}
			}
			t.end()
		}
	case len(m.cells) > 0:
		b.WriteString("\n" + m.tooWide() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A textGrid writes lines of cells.
type textGrid struct {
	b            *strings.Builder
	colour       bool
	label, width int // in characters
	row          strings.Builder
}

func (t *textGrid) begin(label string) { fmt.Fprintf(&t.row, "%*s", t.label+1, label) }

// cell writes one cell; a colour below 0 is none.
func (t *textGrid) cell(before, text string, colour int) {
	t.row.WriteString(before)
	text = fmt.Sprintf(" %*s ", t.width, text)
	if t.colour && colour >= 0 {
		text = fmt.Sprintf("\x1b[30;48;5;%dm%s\x1b[0m", fills[colour].terminal, text)
	}
	t.row.WriteString(text)
}

// between returns the text before a cell: line if a block begins there, else "".
func between(cut bool, line string) string {
	if cut {
		return line
	}
	return ""
}

func (t *textGrid) end() {
	t.b.WriteString(strings.TrimRight(t.row.String(), " ") + "\n")
	t.row.Reset()
}

// line writes the line between two rows of blocks.
func (t *textGrid) line(cuts []bool) {
	t.b.WriteString(strings.Repeat(" ", t.label+1))
	for _, cut := range cuts {
		if cut {
			t.b.WriteString("┼")
		}
		t.b.WriteString(strings.Repeat("─", t.width+2))
	}
	t.b.WriteByte('\n')
}
