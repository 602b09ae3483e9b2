package judge

import (
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
)

// Tiled is a matrix as TT-NN stores it: in tiles of faces, and in shards, whose memories
// are numbered one after the other. Package pack has the tiles of tensors, package device
// the shards of devices.
type Tiled struct {
	Height, Width           int
	TileHeight, TileWidth   int  // 0: row-major
	Transposed              bool // the faces of a tile, and the elements of a face, go down first
	ShardHeight, ShardWidth int
	ColumnOrder             bool // the shards are counted down the columns first
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

// TiledOf recognises a matrix in TT-NN's tiles or shards. It may be row-major or in the
// tiles of pack.Tile, transposed or not, of up to 32 rows and of 16 or 32 columns. It may be
// whole or in equal shards. For any other layout the error is a *Mismatch with the first
// coordinate that differs from tiles of 32×32, or from row-major order if such tiles
// don't fill the matrix.
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
