package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// What is drawn at most; beyond it NewMap fails.
const (
	MaxCells = 4096 // coordinates of a layout, or offsets of the memory strip
	MaxSide  = 128  // rows or columns of a grid
)

// A Map is the picture of a layout: a grid that shows the offset of each coordinate, and below it the memory, which shows the
// coordinate at each offset. The last two modes are the rows and columns of a grid; a layout of more modes has one grid for
// each coordinate of the others, in row-major order. A layout of one mode is written in lines of 16.
//
// Colours tell groups apart: the threads or tiles of MapOptions; else, where modes nest, the blocks of their first leaves;
// else the columns of a swizzled layout and the rows of another. There are 12 of them, then they repeat. The same Map gives
// the same bytes everywhere.
type Map struct {
	lay        layout.Composed
	by         string // what a colour stands for
	rows, cols int    // of one grid
	titles     []string
	cells      []cell // grid after grid, each in row-major order
	rowCuts    []bool // whether a block begins at a row
	colCuts    []bool
	lo, hi     int
	memory     []slot // from lo to hi; nil when there are more than MaxCells
}

// A cell is one coordinate.
type cell struct {
	coord  string
	label  string // of its thread
	off    int
	colour int
}

// A slot is one offset: the first cell there, or -1, and how many there are.
type slot struct{ cell, count int }

// MapOptions say what the colours of a Map stand for; one of them at most may be given.
type MapOptions struct {
	// Threads takes the coordinate of a thread to its number. Threads take elements in turn: the element at c belongs to the
	// thread at c mod the shape of Threads, mode by mode; modes beyond it are shared.
	Threads *layout.Layout
	// Tile has the extents of a tile, mode by mode. Tiles at the end are clipped.
	Tile []int
}

// NewMap returns the picture of a layout. It fails with layout.ErrLimit when there are more than MaxCells coordinates, or more
// than MaxSide rows or columns, and with layout.ErrShape when the threads or the tile don't fit the layout.
func NewMap(c layout.Composed, o MapOptions) (*Map, error) {
	in := c.Inner()
	shape := in.Shape()
	m := &Map{lay: c, rows: 1, cols: 1}
	rank := len(shape)
	if n := c.Size(); n > MaxCells {
		return nil, fail("NewMap", layout.ErrLimit, "%s has %d coordinates, at most %d are drawn: draw a part of it, A[0:16, 0:16]", in.ShapeString(), n, MaxCells)
	}
	switch {
	case rank == 1:
		m.cols = min(max(shape[0], 1), 16)
		m.rows = (shape[0] + m.cols - 1) / m.cols
	case rank > 1:
		m.rows, m.cols = shape[rank-2], shape[rank-1]
		if m.rows > MaxSide || m.cols > MaxSide {
			return nil, fail("NewMap", layout.ErrLimit, "%s has %d rows and %d columns, at most %d are drawn: draw a part of it, A[0:16, 0:16]", in.ShapeString(), m.rows, m.cols, MaxSide)
		}
	}
	group, blocks, err := m.grouping(&in, o)
	if err != nil {
		return nil, err
	}
	m.rowCuts, m.colCuts = make([]bool, m.rows), make([]bool, m.cols)
	if rank > 1 {
		cut(m.rowCuts, blocks[rank-2])
		cut(m.colCuts, blocks[rank-1])
	}
	coord := make([]int, rank)
	for range c.Size() {
		if rank < 2 || coord[rank-1] == 0 && coord[rank-2] == 0 {
			m.title(coord)
		}
		linear, place := 0, 1
		for i, x := range coord {
			linear += x * place
			place *= shape[i]
		}
		off, err := c.Offset(linear)
		if err != nil {
			return nil, err
		}
		number, label := group(coord)
		name := numbers(coord)
		if rank == 0 {
			name = "()"
		}
		m.cells = append(m.cells, cell{name, label, off, number % len(fills)})
		for i := rank - 1; i >= 0; i-- { // the next coordinate in row-major order
			if coord[i]++; coord[i] < shape[i] {
				break
			}
			coord[i] = 0
		}
	}
	m.remember()
	return m, nil
}

// title adds the heading of the grid that begins at a coordinate.
func (m *Map) title(coord []int) {
	switch {
	case len(coord) < 3:
		if len(m.titles) == 0 {
			m.titles = []string{""}
		}
	default:
		m.titles = append(m.titles, "("+numbers(coord[:len(coord)-2])+",_,_)")
	}
}

func numbers(v []int) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.Itoa(x)
	}
	return strings.Join(s, ",")
}

// cut marks where blocks of n begin; none when n is 0.
func cut(cuts []bool, n int) {
	for i := n; n > 0 && i < len(cuts); i += n {
		cuts[i] = true
	}
}

// grouping returns what numbers the group of a coordinate, and the extent of a block of each mode, 0 for none.
func (m *Map) grouping(in *layout.Layout, o MapOptions) (group func([]int) (int, string), blocks []int, err error) {
	rank := in.Rank()
	blocks = make([]int, rank)
	counts := make([]int, rank) // how many blocks each mode has
	switch {
	case o.Threads != nil && o.Tile != nil:
		return nil, nil, fail("NewMap", layout.ErrShape, "threads and a tile are given: one of them colours the cells")
	case o.Threads != nil:
		t := *o.Threads
		lo, hi := t.Span()
		if t.Rank() > rank || t.Size() == 0 || lo < 0 || hi >= math.MaxInt32 {
			return nil, nil, fail("NewMap", layout.ErrShape, "threads %v don't fit the shape %s: they have no more modes than it, at least one thread, and numbers from 0 to 2^31-2", t, in.ShapeString())
		}
		for i := range t.Rank() {
			blocks[i] = t.Dim(i)
		}
		m.by = fmt.Sprintf("thread of %v", t)
		return func(coord []int) (int, string) {
			linear, place := 0, 1
			for i := range t.Rank() {
				linear += coord[i] % t.Dim(i) * place
				place *= t.Dim(i)
			}
			id, _ := t.Offset(linear)
			return id, "t" + strconv.Itoa(id)
		}, blocks, nil
	case o.Tile != nil:
		if len(o.Tile) > rank {
			return nil, nil, fail("NewMap", layout.ErrShape, "a tile of (%s) has more modes than the shape %s", numbers(o.Tile), in.ShapeString())
		}
		for i, n := range o.Tile {
			if n < 1 {
				return nil, nil, fail("NewMap", layout.ErrShape, "a tile of (%s): extents are positive", numbers(o.Tile))
			}
			blocks[i], counts[i] = n, (in.Dim(i)+n-1)/n
		}
		m.by = "tile of (" + numbers(o.Tile) + ")"
	case !in.Flat():
		for i := range rank {
			if lo, hi := in.ModeLeaves(i); hi-lo > 1 {
				blocks[i], _ = in.Leaf(lo)
				counts[i] = in.Dim(i) / max(blocks[i], 1)
			}
		}
		m.by = "block"
	case rank > 1:
		axis := rank - 2
		m.by = "row"
		if w, ok := m.lay.Outer().(layout.Swizzle); ok && w.Bits() > 0 { // which moves elements along their row
			m.by, axis = "column", rank-1
		}
		return func(coord []int) (int, string) { return coord[axis], "" }, blocks, nil
	default:
		return func([]int) (int, string) { return 0, "" }, blocks, nil
	}
	return func(coord []int) (int, string) {
		number := 0
		for i, n := range blocks {
			if n > 0 {
				number = number*counts[i] + coord[i]/n
			}
		}
		return number, ""
	}, blocks, nil
}

// remember finds what lies at each offset.
func (m *Map) remember() {
	if len(m.cells) == 0 {
		m.hi = -1
		return
	}
	m.lo, m.hi = m.cells[0].off, m.cells[0].off
	for _, c := range m.cells {
		m.lo, m.hi = min(m.lo, c.off), max(m.hi, c.off)
	}
	if uint(m.hi)-uint(m.lo) >= MaxCells {
		return
	}
	m.memory = make([]slot, m.hi-m.lo+1)
	for i, c := range m.cells {
		s := &m.memory[c.off-m.lo]
		if s.count == 0 {
			s.cell = i
		}
		s.count++
	}
}

// holds is what the picture writes at an offset: the first coordinate there, and how many.
func (m *Map) holds(s slot) string {
	switch s.count {
	case 0:
		return ""
	case 1:
		return m.cells[s.cell].coord
	}
	return m.cells[s.cell].coord + "×" + strconv.Itoa(s.count)
}

// strip is how many offsets stand on one line of the memory.
func (m *Map) strip() int {
	if m.cols < 4 || m.cols > 32 {
		return 16
	}
	return m.cols
}

// tooWide says why there is no memory strip.
func (m *Map) tooWide() string {
	return fmt.Sprintf("memory: offsets %d to %d are more than the %d that are drawn", m.lo, m.hi, MaxCells)
}

// name is the layout as the heading shows it.
func (m *Map) name() string {
	l, ok := m.lay.Plain()
	w, swizzled := m.lay.Outer().(layout.Swizzle)
	switch {
	case ok:
		return l.String()
	case swizzled && w.Bits() == 0:
		return fmt.Sprintf("%v from offset %d", l, m.lay.Base())
	}
	return m.lay.String()
}

// widest is the longest text, in characters.
func widest[T any](list []T, text func(T) string) (n int) {
	for _, x := range list {
		n = max(n, len([]rune(text(x))))
	}
	return n
}

// rowLabel is what stands left of a row.
func (m *Map) rowLabel(r int) string {
	if in := m.lay.Inner(); in.Rank() == 1 {
		return strconv.Itoa(r * m.cols)
	}
	return strconv.Itoa(r)
}
