package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// Strided is an array as NumPy describes it: a stride in bytes for each axis.
type Strided struct {
	Shape, Strides []int
	Offset         int // bytes before the first element
	Item           int // bytes of an element
}

// String writes shape=(4,5), strides=(20,4), itemsize=4, with offset= where there is one.
func (s Strided) String() string {
	text := "shape=" + python(s.Shape) + ", strides=" + python(s.Strides) + fmt.Sprintf(", itemsize=%d", s.Item)
	if s.Offset != 0 {
		text += fmt.Sprintf(", offset=%d", s.Offset)
	}
	return text
}

// python writes a tuple as Python does: (4,) for one entry.
func python(v []int) string {
	if len(v) == 1 {
		return fmt.Sprintf("(%d,)", v[0])
	}
	return tupleText(v)
}

// StridedOf returns a layout as NumPy's strides, of elements of some bytes: axis k is mode
// k. It is exact or a *Mismatch: NumPy has one stride for each axis, so a nested mode needs
// an axis for each of its leaves, and a swizzle has no strides at all.
func StridedOf(c layout.Composed, item int) (Strided, error) {
	const op = "StridedOf"
	if item < 1 || item > 1<<12 {
		return Strided{}, fail(op, layout.ErrRange, "elements of %d bytes", item)
	}
	in := c.Inner()
	s := Strided{Shape: in.Shape(), Item: item}
	weight := 1
	w, swizzled := c.Outer().(layout.Swizzle)
	if swizzled = swizzled && w.Bits() == 0; swizzled { // strides alone
		s.Offset = c.Base()
		for k := range in.Rank() {
			str, ok := in.Stride(k)
			if !ok {
				mode := in.Mode(k)
				whole := mode.Coalesce()
				e, d := whole.Leaf(0)
				got, err := whole.Offset(e)
				if err != nil {
					return Strided{}, err
				}
				return Strided{}, &Mismatch{op, weight * e, coordOf(s.Shape, weight*e), e * d, got,
					fmt.Sprintf("mode %d, %v, has no single stride: after %d steps of %d it goes to %d; flatten gives each leaf an axis", k, mode, e-1, d, got)}
			}
			s.Strides = append(s.Strides, str)
			weight *= in.Dim(k)
		}
	} else {
		offs, err := offsets(op, c)
		if err != nil {
			return Strided{}, err
		}
		s.Strides = make([]int, len(s.Shape))
		if len(offs) > 0 {
			s.Offset = offs[0]
			for k, e := range s.Shape {
				if e > 1 {
					s.Strides[k] = offs[weight] - offs[0]
				}
				weight *= e
			}
			for i, off := range offs {
				got := offs[0]
				for k, x := range coordOf(s.Shape, i) {
					got += x * s.Strides[k]
				}
				if got != off {
					return Strided{}, &Mismatch{op, i, coordOf(s.Shape, i), got, off, fmt.Sprintf("strides give offset %d, the layout %d", got, off)}
				}
			}
		}
	}
	const most = math.MaxInt / 2
	for _, str := range append(slices.Clone(s.Strides), s.Offset) {
		if str > most/item || str < -most/item {
			return Strided{}, fail(op, layout.ErrOverflow, "a stride of %d elements of %d bytes doesn't fit an int", str, item)
		}
	}
	for k := range s.Strides {
		s.Strides[k] *= item
	}
	s.Offset *= item
	return s, nil
}

// Layout returns the layout of the array. It fails when strides and offset aren't whole
// elements.
func (s Strided) Layout() (layout.Composed, error) {
	const op = "Strided.Layout"
	if s.Item < 1 || len(s.Shape) != len(s.Strides) {
		return layout.Composed{}, fail(op, layout.ErrShape, "%v: want as many strides as axes, and elements of at least one byte", s)
	}
	str := make([]int, len(s.Strides))
	for k, b := range s.Strides {
		if b%s.Item != 0 {
			return layout.Composed{}, fail(op, layout.ErrDivide, "stride %d of axis %d is no whole number of elements of %d bytes", b, k, s.Item)
		}
		str[k] = b / s.Item
	}
	if s.Offset%s.Item != 0 {
		return layout.Composed{}, fail(op, layout.ErrDivide, "offset %d is no whole number of elements of %d bytes", s.Offset, s.Item)
	}
	l, err := layout.New(s.Shape, str)
	if err != nil {
		return layout.Composed{}, err
	}
	return layout.NewComposed(layout.Swizzle{}, s.Offset/s.Item, l)
}

// Tiled is a matrix as TT-NN stores it: in tiles of faces, and in shards, whose memories
// are numbered one after the other. Package pack has the tiles of tensors, package device
// the shards of devices.
type Tiled struct {
	Height, Width           int
	TileHeight, TileWidth   int  // 0: row-major
	Transposed              bool // the faces of a tile, and the elements of a face, go down first
	ShardHeight, ShardWidth int
	ColumnOrder             bool // the shards are counted down first
}

// String names the parts.
func (t Tiled) String() string {
	s := fmt.Sprintf("%d×%d, row-major", t.Height, t.Width)
	if t.TileHeight > 0 {
		s = fmt.Sprintf("%d×%d in tiles of %d×%d", t.Height, t.Width, t.TileHeight, t.TileWidth)
		if t.Transposed {
			s += " transposed"
		}
	}
	down, across := t.Height/max(1, t.ShardHeight), t.Width/max(1, t.ShardWidth)
	if down*across == 1 {
		return s
	}
	kind := "block"
	if across == 1 {
		kind = "height"
	} else if down == 1 {
		kind = "width"
	}
	s += fmt.Sprintf(", %s-sharded on %d cores in shards of %d×%d", kind, down*across, t.ShardHeight, t.ShardWidth)
	if t.ColumnOrder && kind == "block" {
		s += " counted down first"
	}
	return s
}

// Layout returns the layout: tiles repeated to a shard, shards repeated to the matrix.
func (t Tiled) Layout() (layout.Layout, error) {
	const op = "Tiled.Layout"
	if t.Height < 1 || t.Width < 1 || t.ShardHeight < 1 || t.ShardWidth < 1 {
		return layout.Layout{}, fail(op, layout.ErrRange, "%v: sides and shards are at least 1", t)
	}
	shard, err := layout.RowMajor(t.ShardHeight, t.ShardWidth)
	if t.TileHeight > 0 && err == nil {
		h, w := min(t.TileHeight, 16), min(t.TileWidth, 16)
		str, order := []int{w, 1}, []int{1, 0}
		if t.Transposed {
			str, order = []int{1, h}, []int{0, 1}
		}
		var face layout.Layout
		if face, err = layout.New([]int{h, w}, str); err == nil {
			face, err = layout.TileToShape(face, []int{t.TileHeight, t.TileWidth}, order...)
		}
		if err == nil {
			shard, err = layout.TileToShape(face, []int{t.ShardHeight, t.ShardWidth}, 1, 0)
		}
	}
	if err != nil {
		return layout.Layout{}, err
	}
	if t.ShardHeight == t.Height && t.ShardWidth == t.Width {
		return shard, nil
	}
	order := []int{1, 0}
	if t.ColumnOrder {
		order = []int{0, 1}
	}
	return layout.TileToShape(shard, []int{t.Height, t.Width}, order...)
}

// TiledOf recognises a matrix in TT-NN's tiles or shards: tiles of 1 to 32 by 16 or 32, as
// pack.Tile has them, transposed or not, or row-major; whole, or in equal shards. If it is
// none of them, the error is a *Mismatch with the first coordinate that isn't where tiles of
// 32 by 32 have it, or row-major order, when such tiles don't fill the matrix.
func TiledOf(l layout.Layout) (Tiled, error) {
	const op = "TiledOf"
	if l.Rank() != 2 || l.Size() == 0 {
		return Tiled{}, fail(op, layout.ErrShape, "%v: TT-NN's tiles are of matrices, which have two modes and elements", l)
	}
	rows, cols := l.Mode(0), l.Mode(1)
	rows, cols = rows.Coalesce(), cols.Coalesce()
	cuts := func(m layout.Layout) (n []int) { // where a mode may be cut, the whole first
		size := 1
		for k := range m.Leaves() {
			e, _ := m.Leaf(k)
			size *= e
			n = append([]int{size}, n...)
		}
		return n
	}
	heights, widths := cuts(rows), cuts(cols)
	try := Tiled{Height: l.Dim(0), Width: l.Dim(1)}
	for _, try.ShardHeight = range heights {
		for _, try.ShardWidth = range widths {
			for _, tile := range ttnnTiles() {
				try.TileHeight, try.TileWidth, try.Transposed = tile.TileHeight, tile.TileWidth, tile.Transposed
				for _, try.ColumnOrder = range []bool{false, true} {
					c, err := try.Layout()
					if err != nil {
						continue
					}
					a, b := c.Mode(0), c.Mode(1)
					if a.Coalesce().Equal(rows) && b.Coalesce().Equal(cols) {
						return try, nil
					}
				}
			}
		}
	}
	try = Tiled{Height: l.Dim(0), Width: l.Dim(1), TileHeight: 32, TileWidth: 32, ShardHeight: l.Dim(0), ShardWidth: l.Dim(1)}
	near, err := try.Layout()
	if err != nil {
		try.TileHeight, try.TileWidth = 0, 0
		if near, err = try.Layout(); err != nil {
			return Tiled{}, err
		}
	}
	for i := range min(l.Size(), MaxElements) {
		got, err := near.Offset(i)
		if err != nil {
			return Tiled{}, err
		}
		if want, _ := l.Offset(i); got != want {
			shape := []int{l.Dim(0), l.Dim(1)}
			return Tiled{}, &Mismatch{op, i, coordOf(shape, i), got, want,
				fmt.Sprintf("the offset is %d, and %d in %v; no tile and no sharding of TT-NN's is this layout", want, got, try)}
		}
	}
	return Tiled{}, fail(op, ErrNone, "%v isn't tiled, and its first %d coordinates don't say why", l, MaxElements)
}

func ttnnTiles() []Tiled {
	list := []Tiled{{}}
	for _, w := range []int{32, 16} {
		for _, h := range []int{32, 16, 8, 4, 2, 1} {
			list = append(list, Tiled{TileHeight: h, TileWidth: w})
		}
	}
	for _, w := range []int{32, 16} {
		for _, h := range []int{32, 16} {
			list = append(list, Tiled{TileHeight: h, TileWidth: w, Transposed: true})
		}
	}
	return list
}
