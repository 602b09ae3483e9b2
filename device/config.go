package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sharding is the way in which pages are dealt to banks.
type Sharding uint8

const (
	Interleaved   Sharding = iota // page by page over all banks
	HeightSharded                 // a shard is some rows of the matrix, as wide as it
	WidthSharded                  // a shard is some columns, as high as the matrix
	BlockSharded                  // shards are blocks of the matrix; the grid of cores has their order in the matrix
	NDSharded                     // shards are boxes of the tensor, dealt to the cores in turn
)

var shardings = []string{"interleaved", "height sharded", "width sharded", "block sharded", "ND sharded"}

func (s Sharding) String() string {
	if int(s) < len(shardings) {
		return shardings[s]
	}
	return "device.Sharding(?)"
}

// Range is the cores from First to Last, both included, with all between them.
type Range struct{ First, Last Coord }

// Grid returns the range of a number of columns and rows of cores, from (0,0).
func Grid(columns, rows int) Range {
	return Range{Last: Coord{max(columns, 0) - 1, max(rows, 0) - 1}}
}

// size returns the columns and rows of a range in a grid.
func (r *Range) size() (columns, rows int) {
	return r.Last.X - r.First.X + 1, r.Last.Y - r.First.Y + 1
}

// MemoryConfig describes the place of a tensor in a device. The zero value is TT-NN's
// DRAM_MEMORY_CONFIG: interleaved over the banks of DRAM. MemoryConfig{Memory: L1} is
// TT-NN's L1_MEMORY_CONFIG. Place explains the other fields.
type MemoryConfig struct {
	Memory   Memory
	Sharding Sharding
	Shard    []int   // the extents of a shard, in elements: two, but for NDSharded
	Cores    []Range // the cores that get shards, range after range; in DRAM, bank n is (n,0)
	ColMajor bool    // cores of a range count down its columns, and blocks lie transposed
	Grid2D   bool    // for NDSharded with two extents: the grid decides, as for BlockSharded
}

// String writes L1, block sharded [128,128] on (0,0)-(7,7).
func (c MemoryConfig) String() string {
	text := c.Memory.String() + ", " + c.Sharding.String()
	if c.Sharding == Interleaved {
		return text
	}
	text += " " + ints(c.Shard) + " on "
	for i, r := range c.Cores {
		if i > 0 {
			text += " and "
		}
		text += fmt.Sprintf("%v-%v", r.First, r.Last)
	}
	if c.ColMajor {
		text += ", columns first"
	}
	if c.Grid2D {
		text += ", by the grid"
	}
	return text
}

// ints writes [14,28].
func ints(v []int) string {
	return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
}

// Equal reports whether two configs agree in every field. TT-NN doesn't compare ND shards.
func (c MemoryConfig) Equal(o MemoryConfig) bool {
	return c.Memory == o.Memory && c.Sharding == o.Sharding && slices.Equal(c.Shard, o.Shard) &&
		slices.Equal(c.Cores, o.Cores) && c.ColMajor == o.ColMajor && c.Grid2D == o.Grid2D
}

// banks returns the banks that pages are dealt to, in that order.
func (c *MemoryConfig) banks(op string, m *Model) ([]int, error) {
	grid := m.grid(c.Memory)
	if c.Sharding == Interleaved {
		list := make([]int, grid.X*grid.Y)
		for i := range list {
			list[i] = i
		}
		return list, nil
	}
	if len(c.Cores) == 0 {
		return nil, fail(op, tensor.ErrShape, "%v has no cores; %q has a grid of %dx%d", c.Sharding, m.Name, grid.X, grid.Y)
	}
	var list []int
	seen := make([]bool, grid.X*grid.Y)
	for _, r := range c.Cores {
		if r.First.X < 0 || r.First.Y < 0 || r.Last.X >= grid.X || r.Last.Y >= grid.Y || r.Last.X < r.First.X || r.Last.Y < r.First.Y {
			return nil, fail(op, tensor.ErrShape, "%v-%v isn't in the grid of %q, which ends at (%d,%d)", r.First, r.Last, m.Name, grid.X-1, grid.Y-1)
		}
		w, h := r.size()
		for i := range w * h {
			x, y := i%w, i/w
			if c.ColMajor {
				x, y = i/h, i%h
			}
			bank := (r.First.Y+y)*grid.X + r.First.X + x
			if seen[bank] {
				return nil, fail(op, tensor.ErrShape, "core %v stands in two ranges; name it once", m.Coord(c.Memory, bank))
			}
			seen[bank] = true
			list = append(list, bank)
		}
	}
	return list, nil
}

// inGrid returns the banks of rows × columns shards that lie in a grid as blocks in a
// matrix, in row-major order.
func (c *MemoryConfig) inGrid(op string, m *Model, rows, columns int) ([]int, error) {
	if len(c.Cores) != 1 {
		return nil, fail(op, tensor.ErrShape, "%v takes one rectangle of cores, not %d", c.Sharding, len(c.Cores))
	}
	r := c.Cores[0]
	w, h := r.size()
	if c.ColMajor {
		w, h = h, w
	}
	if rows > h || columns > w {
		return nil, fail(op, tensor.ErrShape, "%d by %d shards don't lie in %v-%v, which has room for %d by %d; make shards larger, or the grid", rows, columns, r.First, r.Last, h, w)
	}
	list := make([]int, 0, rows*columns)
	for i := range rows {
		for k := range columns {
			x, y := k, i
			if c.ColMajor {
				x, y = i, k
			}
			list = append(list, (r.First.Y+y)*m.grid(c.Memory).X+r.First.X+x)
		}
	}
	return list, nil
}

// Shards returns c in L1 with the smallest shards for which each of its cores has at most
// one, as TT-NN's helpers choose them. Only Sharding, Cores and ColMajor of c count. Rows of
// height shards and columns of width shards are rounded up to tiles. Columns of blocks
// without tiles are rounded up to 64 bytes. Blocks are dealt to the cores in turn, so the
// config is NDSharded, which differs from BlockSharded if there are fewer shards than cores.
// Shards fails if the cores aren't one rectangle, if there are none, or for another
// sharding.
func Shards(s pack.Spec, c MemoryConfig) (MemoryConfig, error) {
	const op = "device.Shards"
	c = MemoryConfig{Memory: L1, Sharding: c.Sharding, Cores: c.Cores, ColMajor: c.ColMajor}
	if len(c.Cores) != 1 {
		return c, fail(op, tensor.ErrShape, "%d ranges of cores; want one, as Grid(8, 8)", len(c.Cores))
	}
	cores := c.Cores[0]
	a, b := cores.First, cores.Last
	if a.X < 0 || a.Y < 0 || b.X < a.X || b.Y < a.Y || b.X >= mostBanks || b.Y >= mostBanks {
		return c, fail(op, tensor.ErrShape, "%v-%v is no range of cores; Grid(8, 8) is one of 64", a, b)
	}
	w, h := cores.size()
	height, width := s.PhysicalShape()
	toH, toW := 1, 1
	if t := s.Tile(); t != (pack.Tile{}) {
		toH, toW = t.Height, t.Width
	}
	rows, columns := 1, 1
	switch c.Sharding {
	case HeightSharded:
		rows = w * h
	case WidthSharded:
		columns = w * h
	case BlockSharded:
		c.Sharding = NDSharded
		if rows, columns = h, w; c.ColMajor {
			rows, columns = w, h
		}
		if s.Tile() == (pack.Tile{}) {
			toW = max(64/max(s.DType().Size(), 1), 1)
		}
	default:
		return c, fail(op, tensor.ErrShape, "%v has no such shards; HeightSharded, WidthSharded and BlockSharded do", c.Sharding)
	}
	shardH, okH := roundUp(max(divUp(height, rows), 1), toH)
	shardW, okW := roundUp(max(divUp(width, columns), 1), toW)
	if !okH || !okW {
		return c, fail(op, tensor.ErrOverflow, "a shard of %v doesn't fit an int", s)
	}
	c.Shard = []int{shardH, shardW}
	return c, nil
}
