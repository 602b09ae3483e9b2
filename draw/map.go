package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// Limits of a picture; beyond them NewMap fails.
const (
	MaxCells = 8192 // coordinates of a layout, or offsets of the memory strip
	MaxSide  = 128  // rows or columns of a grid
)

// A Map is the picture of a layout. A grid shows the offset of each coordinate. Below it, the memory shows the coordinate at
// each offset. The last two modes are the rows and columns of a grid. A layout of more modes has one grid for each
// coordinate of the other modes, in row-major order. A layout of one mode is written in lines of 16.
//
// Colours tell groups apart. Groups are the threads or tiles of MapOptions. Without these, they are the blocks of the first
// leaves if modes nest; else the columns of a swizzled layout, or the rows of another one. There are 12 colours, which
// repeat. The same Map gives the same bytes everywhere.
type Map struct {
	lay        layout.Composed
	by         string // the meaning of a colour
	from       []int  // the first coordinate that is drawn, mode by mode
	part       bool   // not all coordinates are drawn
	step       [2]int // the rows and columns of a block, of which the first coordinate is drawn
	rows, cols int    // of one grid
	titles     []string
	cells      []Cell // grid after grid, each in row-major order
	rowCuts    []bool // a block begins at the row
	colCuts    []bool
	lo, hi     int
	memory     []slot // from lo to hi; nil if there are more than MaxCells
}

// A Cell is one coordinate of a Map.
type Cell struct {
	Coord  string // 3,1
	Label  string // of its thread, t5, or of its thread and value, t5 v1
	Offset int
	Group  int // the number of its colour, 0 to 11; -1: none
}

// A slot is one offset: its first cell, or -1, and the number of its cells.
type slot struct{ cell, count int }

// MapOptions choose a part and the meaning of the colours. At most one of Threads, Values and Tile may be given.
type MapOptions struct {
	// From has the first coordinate that is drawn, and To the one behind the last, mode by mode; nil draws all.
	From, To []int
	// Threads maps the coordinate of a thread to its number. Threads take elements in turn: the element at c belongs to the
	// thread at c mod the shape of Threads, mode by mode. Threads share the modes beyond that shape.
	Threads *layout.Layout
	// Values is a thread–value layout. Its first mode counts threads, the second the values of a thread. Its offsets are
	// linear coordinates of the layout, the first mode fastest. Coordinates without a thread get no colour.
	Values *layout.Layout
	// Tile has the extents of a tile, mode by mode. Tiles at the end are clipped.
	Tile []int
	// Blocks draws a matrix of more rows or columns, or of more than MaxCells coordinates, as blocks; 0 never does. They are a grid of at most 16 by 16, in which the first coordinate of a block
	// stands for it. The sides of a block are powers of two. Threads, Values and Tile are about coordinates, and draw no blocks.
	Blocks int
}

// NewMap returns the picture of a layout. It fails with layout.ErrLimit for more than MaxCells coordinates, or more than
// MaxSide rows or columns, and with layout.ErrShape if an option doesn't fit the layout.
func NewMap(c layout.Composed, opts *MapOptions) (*Map, error) {
	o := MapOptions{}
	if opts != nil {
		o = *opts
	}
	in := c.Inner()
	shape := in.Shape()
	m := &Map{lay: c, rows: 1, cols: 1, step: [2]int{1, 1}}
	rank := len(shape)
	to, err := m.window(&in, o)
	if err != nil {
		return nil, err
	}
	drawn, steps := make([]int, rank), slices.Repeat([]int{1}, rank)
	if o.Blocks > 0 && rank == 2 && o.Threads == nil && o.Values == nil && o.Tile == nil {
		m.zoom(to, o.Blocks)
		copy(steps, m.step[:])
	}
	n := 1
	for i := range drawn {
		drawn[i] = (to[i]-m.from[i])/steps[i] + min((to[i]-m.from[i])%steps[i], 1)
		if n *= drawn[i]; n > MaxCells || n < 0 {
			n = MaxCells + 1
		}
	}
	if slices.Contains(drawn, 0) {
		n = 0
	}
	if n > MaxCells {
		return nil, fail("NewMap", layout.ErrLimit, "%s has %d coordinates, at most %d are drawn: draw a part of it, A[0:16, 0:16]", in.ShapeString(), c.Size(), MaxCells)
	}
	switch {
	case rank == 1:
		m.cols = min(max(drawn[0], 1), 16)
		m.rows = (drawn[0] + m.cols - 1) / m.cols
	case rank > 1:
		m.rows, m.cols = drawn[rank-2], drawn[rank-1]
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
		cut(m.rowCuts, blocks[rank-2], m.from[rank-2], m.step[0])
		cut(m.colCuts, blocks[rank-1], m.from[rank-1], m.step[1])
	}
	coord := slices.Clone(m.from)
	for range n {
		if rank < 2 || coord[rank-1] == m.from[rank-1] && coord[rank-2] == m.from[rank-2] {
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
		number, label := group(coord, linear)
		name := numbers(coord)
		if rank == 0 {
			name = "()"
		}
		if number >= 0 {
			number %= len(fills)
		}
		m.cells = append(m.cells, Cell{name, label, off, number})
		for i := rank - 1; i >= 0; i-- { // the next coordinate in row-major order
			if coord[i] += steps[i]; coord[i] < to[i] {
				break
			}
			coord[i] = m.from[i]
		}
	}
	m.remember()
	return m, nil
}

// most is the most blocks on a side.
const most = 16

// zoom chooses blocks for a matrix of more than side rows or columns.
func (m *Map) zoom(to []int, side int) {
	rows, cols := to[0]-m.from[0], to[1]-m.from[1]
	if side = min(side, MaxSide); rows <= side && cols <= side && rows*cols <= MaxCells {
		return
	}
	for i, n := range []int{rows, cols} {
		for (n-1)/m.step[i] >= most {
			m.step[i] *= 2
		}
	}
	m.part = true
}

// blocks reports whether a cell stands for a block.
func (m *Map) blocks() bool { return m.step != [2]int{1, 1} }

// Block returns the rows and columns that a cell stands for: 1 and 1, but for MapOptions.Blocks.
func (m *Map) Block() (rows, cols int) { return m.step[0], m.step[1] }

// window sets the first coordinate that is drawn, and returns the one behind the last.
func (m *Map) window(in *layout.Layout, o MapOptions) (to []int, err error) {
	shape := in.Shape()
	m.from, to = make([]int, len(shape)), shape
	if o.From == nil && o.To == nil {
		return to, nil
	}
	if len(o.From) != len(shape) || len(o.To) != len(shape) {
		return nil, fail("NewMap", layout.ErrShape, "from (%s) to (%s): the shape %s has %d modes", numbers(o.From), numbers(o.To), in.ShapeString(), len(shape))
	}
	for i, n := range shape {
		if o.From[i] < 0 || o.To[i] < o.From[i] || o.To[i] > n {
			return nil, fail("NewMap", layout.ErrRange, "from (%s) to (%s) isn't in the shape %s", numbers(o.From), numbers(o.To), in.ShapeString())
		}
		m.part = m.part || o.To[i]-o.From[i] < n
	}
	copy(m.from, o.From)
	return o.To, nil
}

// Grid returns the number of rows and columns of one grid, and the coordinates of the first row and the first column.
func (m *Map) Grid() (rows, cols, firstRow, firstCol int) {
	switch n := len(m.from); {
	case n == 1:
		firstRow = m.from[0]
	case n > 1:
		firstRow, firstCol = m.from[n-2], m.from[n-1]
	}
	return m.rows, m.cols, firstRow, firstCol
}

// Cells returns the cells of the picture: grid after grid, each in row-major order.
func (m *Map) Cells() []Cell { return slices.Clone(m.cells) }

// Titles returns the heading of each grid; the heading of a single grid is empty.
func (m *Map) Titles() []string { return slices.Clone(m.titles) }

// Cuts reports for each row and each column of a grid whether a block begins there.
func (m *Map) Cuts() (rows, cols []bool) { return slices.Clone(m.rowCuts), slices.Clone(m.colCuts) }

// By returns the meaning of a colour: row, column, block, thread of T or tile of T; empty if there is one colour.
func (m *Map) By() string { return m.by }

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

// cut marks the beginnings of blocks of n in a row of steps that begins at from; none if n is 0, or less than a step.
func cut(cuts []bool, n, from, step int) {
	for i := 1; n >= step && n > 0 && i < len(cuts); i++ {
		cuts[i] = (from+i*step)/n > (from+(i-1)*step)/n
	}
}

// grouping returns the function that gives a coordinate its group, and for each mode the extent of a block, 0 for none.
func (m *Map) grouping(in *layout.Layout, o MapOptions) (group func(coord []int, linear int) (int, string), blocks []int, err error) {
	rank := in.Rank()
	blocks = make([]int, rank)
	counts := make([]int, rank) // the blocks of each mode
	switch {
	case o.Threads != nil && o.Tile != nil:
		return nil, nil, fail("NewMap", layout.ErrShape, "threads and a tile are given: one of them colours the cells")
	case o.Values != nil && (o.Threads != nil || o.Tile != nil):
		return nil, nil, fail("NewMap", layout.ErrShape, "values are given, and threads or a tile: one of them colours the cells")
	case o.Values != nil:
		group, err = m.values(in, *o.Values)
		return group, blocks, err
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
		return func(coord []int, _ int) (int, string) {
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
		if w, ok := m.lay.Outer().(layout.Swizzle); ok && w.Bits() > 0 { // a swizzle moves elements along their row
			m.by, axis = "column", rank-1
		}
		step := m.step[axis-(rank-2)]
		return func(coord []int, _ int) (int, string) { return coord[axis] / step, "" }, blocks, nil
	default:
		return func([]int, int) (int, string) { return 0, "" }, blocks, nil
	}
	return func(coord []int, _ int) (int, string) {
		number := 0
		for i, n := range blocks {
			if n > 0 {
				number = number*counts[i] + coord[i]/n
			}
		}
		return number, ""
	}, blocks, nil
}

// values finds the thread of each linear coordinate, by a thread–value layout.
func (m *Map) values(in *layout.Layout, tv layout.Layout) (func(coord []int, linear int) (int, string), error) {
	lo, hi := tv.Span()
	if tv.Rank() != 2 || tv.Size() == 0 || lo < 0 || hi >= in.Size() {
		return nil, fail("NewMap", layout.ErrShape, "values %v don't fit the shape %s: a thread–value layout has two modes, threads and values, and takes them to its linear coordinates", tv, in.ShapeString())
	}
	if tv.Size() > 1<<20 {
		return nil, fail("NewMap", layout.ErrLimit, "values %v have %d elements, more than %d", tv, tv.Size(), 1<<20)
	}
	type owner struct{ thread, value, count int }
	owners := make(map[int]owner)
	for i := range tv.Size() {
		at, err := tv.Offset(i)
		if err != nil {
			return nil, err
		}
		o, ok := owners[at]
		if !ok {
			o.thread, o.value = i%tv.Dim(0), i/tv.Dim(0)
		}
		o.count++
		owners[at] = o
	}
	m.by = fmt.Sprintf("thread of %v", tv)
	return func(_ []int, linear int) (int, string) {
		o, ok := owners[linear]
		if !ok {
			return -1, "–"
		}
		label := "t" + strconv.Itoa(o.thread) + " v" + strconv.Itoa(o.value)
		if o.count > 1 {
			label += "×" + strconv.Itoa(o.count)
		}
		return o.thread, label
	}, nil
}

// remember finds the cells at each offset.
func (m *Map) remember() {
	if len(m.cells) == 0 {
		m.hi = -1
		return
	}
	m.lo, m.hi = m.cells[0].Offset, m.cells[0].Offset
	for _, c := range m.cells {
		m.lo, m.hi = min(m.lo, c.Offset), max(m.hi, c.Offset)
	}
	if m.blocks() || uint(m.hi)-uint(m.lo) >= MaxCells {
		return
	}
	m.memory = make([]slot, m.hi-m.lo+1)
	for i, c := range m.cells {
		s := &m.memory[c.Offset-m.lo]
		if s.count == 0 {
			s.cell = i
		}
		s.count++
	}
}

// holds returns the text at an offset: the first coordinate there, and the number of coordinates.
func (m *Map) holds(s slot) string {
	switch s.count {
	case 0:
		return ""
	case 1:
		return m.cells[s.cell].Coord
	}
	return m.cells[s.cell].Coord + "×" + strconv.Itoa(s.count)
}

// strip returns the number of offsets on one line of the memory.
func (m *Map) strip() int {
	if m.cols < 4 || m.cols > 32 {
		return 16
	}
	return m.cols
}

// tooWide returns the text in place of a memory strip that is too long.
func (m *Map) tooWide() string {
	if m.blocks() {
		return fmt.Sprintf("each cell is a block of %d by %d, with the offset of its first coordinate; A[0:16, 0:16] draws a part, coordinate by coordinate", m.step[0], m.step[1])
	}
	return fmt.Sprintf("memory: offsets %d to %d are more than the %d that are drawn", m.lo, m.hi, MaxCells)
}

// name returns the layout as the heading shows it.
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

// widest returns the length of the longest text, in characters.
func widest[T any](list []T, text func(T) string) (n int) {
	for _, x := range list {
		n = max(n, len([]rune(text(x))))
	}
	return n
}

// rowLabel returns the text left of a row.
func (m *Map) rowLabel(r int) string {
	_, _, first, _ := m.Grid()
	if len(m.from) == 1 {
		r *= m.cols
	}
	return strconv.Itoa(first + r*m.step[0])
}

// colLabel returns the text above a column.
func (m *Map) colLabel(c int) string {
	_, _, _, first := m.Grid()
	return strconv.Itoa(first + c*m.step[1])
}
