package device

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

var tiles = []pack.Tile{{}, {}, pack.TileOf(32, 32), pack.TileOf(16, 16), pack.TileOf(4, 16), pack.TileOf(1, 32), {Height: 32, Width: 16, Transposed: true}}

var small = Model{"small", Coord{4, 3}, 1 << 20, 3, 1 << 21, 16, 32}

// drawSpec draws a tensor, and drawConfig a config that often fits it.
func drawSpec(t *rapid.T) pack.Spec {
	shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 1, 2, 3, 4, 5, 7, 16, 17, 33, 40}), 0, 4).Draw(t, "shape")
	o := pack.Options{Tile: rapid.SampledFrom(tiles).Draw(t, "tile")}
	d := rapid.SampledFrom([]dtype.DType{dtype.BFloat16, dtype.Int32, dtype.Uint8, dtype.Complex128}).Draw(t, "dtype")
	if o.Tile != (pack.Tile{}) && rapid.IntRange(0, 3).Draw(t, "format") == 0 {
		d, o.Format = dtype.Float32, rapid.SampledFrom([]pack.Format{pack.BFP8, pack.BFP4}).Draw(t, "which")
	}
	s, err := pack.NewSpec(d, shape, &o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawConfig(t *rapid.T, s pack.Spec) MemoryConfig {
	c := MemoryConfig{Memory: rapid.SampledFrom([]Memory{DRAM, L1, L1}).Draw(t, "memory"), Sharding: Sharding(rapid.IntRange(0, 4).Draw(t, "sharding"))}
	if c.Sharding == Interleaved {
		return c
	}
	g := small.grid(c.Memory)
	x, y := rapid.IntRange(0, g.X-1).Draw(t, "x"), rapid.IntRange(0, g.Y-1).Draw(t, "y")
	c.Cores = []Range{{Coord{x, y}, Coord{rapid.IntRange(x, g.X-1).Draw(t, "x1"), rapid.IntRange(y, g.Y-1).Draw(t, "y1")}}}
	if y > 0 && c.Sharding != BlockSharded && rapid.Bool().Draw(t, "two ranges") {
		c.Cores = append(c.Cores, Range{Coord{0, 0}, Coord{g.X - 1, y - 1}})
	}
	c.ColMajor = rapid.Bool().Draw(t, "columns")
	h, w := s.PhysicalShape()
	unitH, unitW := 1, 1
	if tile := s.Tile(); tile != (pack.Tile{}) {
		unitH, unitW = tile.Height, tile.Width
	}
	side := func(name string, unit, all int) int {
		return unit * rapid.IntRange(1, max(all/unit+1, 1)).Draw(t, name)
	}
	c.Shard = []int{side("height", unitH, h), side("width", unitW, w)}
	switch c.Sharding {
	case HeightSharded:
		c.Shard[1] = max(w, 1)
	case WidthSharded:
		c.Shard[0] = max(h, 1)
	case NDSharded:
		lead := rapid.SliceOfN(rapid.IntRange(1, 4), 0, max(s.Rank()-2, 0)).Draw(t, "lead")
		c.Grid2D = len(lead) == 0 && rapid.Bool().Draw(t, "by the grid")
		c.Shard = append(lead, c.Shard...)
	}
	return c
}

// Each page is in one slot of one bank, at an offset of its own, and that slot has it; the
// other slots are holes. Each element is in its page. Where there are layouts, they say so
// too.
func TestPlacement(t *testing.T) {
	placed, layouts, inexact := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		c := drawConfig(t, s)
		p, err := c.Place(s, small)
		if err != nil {
			if !errors.As(err, new(*tensor.Error)) || errors.Is(err, tensor.ErrOverflow) {
				t.Fatal(err)
			}
			return
		}
		placed++
		pages := map[[2]int]int{}
		for i := range p.Pages() {
			bank, off, err := p.Page(i)
			at := slices.Index(p.banks, bank)
			if err != nil || at < 0 || off%p.SlotBytes() != 0 || off+p.PageBytes() > p.BankBytes() {
				t.Fatalf("page %d of %v, %v: %d, %d, %v", i, s, c, bank, off, err)
			}
			if _, twice := pages[[2]int{at, off}]; twice {
				t.Fatalf("two pages of %v, %v at %d, %d", s, c, bank, off)
			}
			pages[[2]int{at, off}] = i
		}
		holes := 0
		for at := range p.banks {
			for slot := range p.Slots() {
				want, ok := pages[[2]int{at, slot * p.SlotBytes()}]
				if !ok {
					want = -1
					holes++
				}
				if got, err := p.PageIn(at, slot); err != nil || got != want {
					t.Fatalf("slot %d of bank %d of %v, %v: got %d, %v, want %d", slot, at, s, c, got, err, want)
				}
			}
		}
		if holes != p.Holes() {
			t.Fatalf("%d holes, Holes says %d", holes, p.Holes())
		}
		bank, off, err := p.PageLayouts()
		if err != nil {
			if !errors.Is(err, tensor.ErrView) {
				t.Fatal(err)
			}
			inexact++
			return
		}
		layouts++
		checkLayouts(t, &p, bank, off)
	})
	t.Logf("%d placed, %d with layouts, %d without", placed, layouts, inexact)
	if !testing.Short() && (placed < 20 || layouts < 10) { // rapid makes a fifth of the checks with -short
		t.Errorf("%d placed, %d with layouts: the test hardly tests anything", placed, layouts)
	}
}

func checkLayouts(t *rapid.T, p *Placement, bank, off layout.Layout) {
	grid := p.PageGrid()
	at := make([]int, len(grid))
	for i := range p.Pages() {
		wantBank, wantOff := p.at(i)
		k := i
		for j := len(grid) - 1; j >= 0; j-- {
			at[j], k = k%grid[j], k/grid[j]
		}
		b, axis := bank.At(at)
		o, _ := off.At(at)
		if axis >= 0 || b != wantBank || o != wantOff {
			t.Fatalf("%v, %v: page %v: the layouts %v and %v say %d, %d, not %d, %d", p.spec, p.config, at, bank, off, b, o, wantBank, wantOff)
		}
	}
	if p.spec.Format() != nil {
		return
	}
	bank, off, err := p.ElementLayouts()
	if err != nil {
		t.Fatal(err)
	}
	all := p.spec.Storage()
	padded := p.spec.Padded().Shape()
	n := min(p.spec.StorageLen(), 2000)
	for i := range n {
		at := make([]int, len(padded))
		k := i * max(p.spec.StorageLen()/n, 1)
		for j := len(padded) - 1; j >= 0; j-- {
			at[j], k = k%padded[j], k/padded[j]
		}
		e, _ := all.At(at)
		wantBank, wantOff := p.element(e)
		for len(at) < len(grid) {
			at = append([]int{0}, at...)
		}
		for more := len(at) - len(grid); more > 0; more-- {
			at[1] += at[0] * padded[len(padded)-len(at)+1]
			at = at[1:]
		}
		b, axis := bank.At(at)
		o, _ := off.At(at)
		if axis >= 0 || b != wantBank || o != wantOff {
			t.Fatalf("%v, %v: element %v: the layouts %v and %v say %d, %d (axis %d), not %d, %d", p.spec, p.config, at, bank, off, b, o, axis, wantBank, wantOff)
		}
	}
}

// A tensor that goes to a device comes back with the same bits, by every config, through views of
// other cores, and into tensors that were there before.
func TestRoundTrip(t *testing.T) {
	dev, err := New(small, nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		x := fill(t, s)
		p, err := pack.Pack(x, &pack.Options{Tile: s.Tile(), Format: s.Format()})
		if err != nil {
			t.Fatal(err)
		}
		c := drawConfig(t, s)
		d, err := ToDevice(p.Any(), dev, c)
		if err != nil {
			if !errors.As(err, new(*tensor.Error)) {
				t.Fatal(err)
			}
			return
		}
		defer d.Deallocate()
		back(t, d, p)
		other, err := ToDevice(d.Any(), dev, drawConfig(t, s)) // from core to core
		if err == nil {
			back(t, other, p)
			y := fill(t, s)
			q, err := pack.Pack(y, &pack.Options{Tile: s.Tile(), Format: s.Format()})
			if err != nil {
				t.Fatal(err)
			}
			if d.Spec().Identical(s) || s.Format() == nil {
				if err := CopyToDevice(other, q.Any()); err != nil {
					t.Fatal(err)
				}
				back(t, other, q)
				if err := CopyToHost(p.Any(), other); err != nil {
					t.Fatal(err)
				}
				if same, err := p.Equal(q); err != nil || !same {
					t.Fatalf("CopyToHost of %v: %v, %v", other, same, err)
				}
			}
			other.Deallocate()
		}
	})
	for k := range small.Banks(L1) {
		if n := dev.Used(L1, k); n != 0 {
			t.Errorf("bank %d of L1 has %d bytes in use after all", k, n)
		}
	}
}

// fill returns a tensor of a spec's type and shape with elements that differ.
func fill(t *rapid.T, s pack.Spec) tensor.Any {
	x, err := tensor.Make(s.DType(), s.Shape()...)
	if err != nil {
		t.Fatal(err)
	}
	seed := rapid.Uint32().Draw(t, "seed")
	if f, ok := tensor.As[float32](x); ok {
		for i, v := range f.Elems() {
			f.Elems()[i] = v + float32(uint32(i)*seed%1000)
		}
		return x
	}
	b, _ := tensor.Bytes(x)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return x
}

func back(t *rapid.T, d Tensor, want pack.Tensor) {
	got, err := FromDevice(d)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := got.Equal(want); err != nil || !same {
		t.Fatalf("%v comes back with other bits: %v", d, err)
	}
}
