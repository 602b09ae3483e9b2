package device

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Memory is a kind of memory.
type Memory uint8

const (
	DRAM Memory = iota // the banks of a device
	L1                 // the memory of its cores, a bank each
	Host               // the memory of the program
)

func (m Memory) String() string {
	switch m {
	case DRAM:
		return "DRAM"
	case L1:
		return "L1"
	case Host:
		return "host"
	}
	return "device.Memory(?)"
}

// Coord is the place of a core in the grid, from (0,0). In DRAM it is a bank: X is its
// number, and Y is 0.
type Coord struct{ X, Y int }

func (c Coord) String() string { return fmt.Sprintf("(%d,%d)", c.X, c.Y) }

// Model is the numbers of a device.
type Model struct {
	Name      string
	Grid      Coord // columns and rows of cores
	L1Bytes   int   // of each core
	DRAMBanks int
	DRAMBytes int // of each bank
	L1Align   int // pages in L1 begin at multiples of it: a power of two
	DRAMAlign int
}

// Wormhole returns the numbers of Tenstorrent's processor of that name: the cores of the
// grid that tensors use, and their whole L1, although firmware takes a part of it on the
// hardware. A size that doesn't fit an int is the largest int.
func Wormhole() Model {
	return Model{"wormhole", Coord{8, 8}, 1_499_136, 12, 1 << 30, 16, 32}
}

// Blackhole returns the numbers of Tenstorrent's processor of that name: see Wormhole.
func Blackhole() Model {
	return Model{"blackhole", Coord{13, 10}, 1_572_864, 8, int(min(4_278_190_080, int64(maxInt))), 16, 64}
}

// modelNamed reads the text after sim: in the name of a device.
func modelNamed(name string) (Model, bool) {
	switch name {
	case "wormhole":
		return Wormhole(), true
	case "blackhole":
		return Blackhole(), true
	}
	m := Wormhole()
	w, h, ok := strings.Cut(name, "x")
	x, errX := strconv.ParseUint(w, 10, 16)
	y, errY := strconv.ParseUint(h, 10, 16)
	m.Name, m.Grid = name, Coord{int(x), int(y)}
	return m, ok && errX == nil && errY == nil
}

// mostBanks is the most cores or banks of a device.
const mostBanks = 1 << 12

func (m Model) check(op string) error {
	n, ok := mul(max(m.Grid.X, 0), max(m.Grid.Y, 0))
	switch {
	case !ok || m.Grid.X < 1 || m.Grid.Y < 1 || n > mostBanks || m.DRAMBanks < 1 || m.DRAMBanks > mostBanks:
		return fail(op, tensor.ErrShape, "%q has a grid of %dx%d cores and %d banks of DRAM; there are 1 to %d of each", m.Name, m.Grid.X, m.Grid.Y, m.DRAMBanks, mostBanks)
	case m.L1Bytes < 0 || m.DRAMBytes < 0:
		return fail(op, tensor.ErrShape, "%q has %d bytes of L1 and %d of DRAM; a size isn't negative", m.Name, m.L1Bytes, m.DRAMBytes)
	}
	for _, a := range []int{m.L1Align, m.DRAMAlign} {
		if a < 1 || a&(a-1) != 0 || a > 1<<16 {
			return fail(op, tensor.ErrAlign, "%q aligns pages to %d bytes; want a power of two up to %d", m.Name, a, 1<<16)
		}
	}
	return nil
}

// Banks returns the number of banks of a kind of memory; Host has none.
func (m Model) Banks(k Memory) int {
	grid := m.grid(k)
	return grid.X * grid.Y
}

// grid is the coordinates of the banks.
func (m Model) grid(k Memory) Coord {
	switch k {
	case DRAM:
		return Coord{m.DRAMBanks, 1}
	case L1:
		return m.Grid
	}
	return Coord{}
}

// Coord returns the place of a bank; in L1 it is the place of its core, row by row. It panics
// if there is no such bank.
func (m Model) Coord(k Memory, bank int) Coord {
	g := m.grid(k)
	if bank < 0 || bank >= g.X*g.Y {
		panic(fail("device.Coord", tensor.ErrIndex, "there is no bank %d of %d of %v", bank, g.X*g.Y, k))
	}
	return Coord{bank % g.X, bank / g.X}
}

func (m Model) bytes(k Memory) (size, align int) {
	if k == DRAM {
		return m.DRAMBytes, m.DRAMAlign
	}
	return m.L1Bytes, m.L1Align
}

// MinWidth returns the number of which every width of a tensor on a device must be a
// multiple. It is the number of elements in four bytes: 1 for float32 and uint32, 2 for
// bfloat16. For block floats, which come in tiles, it is 32. For another format it is four
// times the format's Group. f is nil if there is no format. Only Strict devices check it.
func MinWidth(d dtype.DType, f pack.Format) int {
	switch {
	case f == pack.BFP8 || f == pack.BFP4:
		return 32
	case f != nil:
		return 4 * max(f.Group(), 1)
	}
	return max(4/max(d.Size(), 1), 1)
}
