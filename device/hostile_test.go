package device

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func spec(d dtype.DType, o pack.Options, shape ...int) pack.Spec {
	return must(pack.NewSpec(d, shape, &o))
}

// Every mistake is an error of a type, which names the clash.
func TestMistakes(t *testing.T) {
	dev, other := open(t), open(t)
	strict := must(Open("sim:4x4", &Options{Strict: true}))
	closed := open(t)
	gone := must(ToDevice(full(1, 4).Any(), closed, MemoryConfig{}))
	if err := errors.Join(closed.Close(), closed.Close()); err != nil {
		t.Fatal(err)
	}
	tile := pack.Options{Tile: pack.TileOf(32, 32)}
	bf := spec(dtype.BFloat16, tile, 64, 64)
	a := must(ToDevice(full(1, 8).Any(), dev, MemoryConfig{}))
	tiled := must(ToDevice(must(pack.Pack(tensor.New[num.BF16](64, 64).Any(), &tile)).Any(), dev, MemoryConfig{Memory: L1}))
	bfp := must(ToDevice(must(pack.Pack(tensor.New[float32](64, 64).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})).Any(), dev, MemoryConfig{}))
	grid := func(x, y int) []Range { return []Range{Grid(x, y)} }
	place := func(s pack.Spec, c MemoryConfig) func() error {
		return func() error { _, err := c.Place(s, small); return err }
	}
	inKernel := func(f func(c *Core) error, ts ...Tensor) func() error {
		return func() error { return dev.ForEachCore(f, ts...) }
	}
	closedHost := full(1, 8)
	closedHost.Close()
	int4 := must(pack.NewIntegers(pack.Integers{Bits: 4, Scale: tensor.Scalar[float32](1)}))
	for i, tc := range []struct {
		err  error
		text string
		f    func() error
	}{
		{tensor.ErrSyntax, `no device is called "gpu:0"`, func() error { _, err := Open("gpu:0", nil); return err }},
		{tensor.ErrSyntax, "sim:4x2", func() error { _, err := Open("sim:4x", nil); return err }},
		{tensor.ErrShape, "0x2 cores", func() error { _, err := Open("sim:0x2", nil); return err }},
		{tensor.ErrShape, "65535x65535", func() error { _, err := Open("sim:65535x65535", nil); return err }},
		{tensor.ErrAlign, "power of two", func() error { _, err := New(Model{"x", Coord{1, 1}, 1, 1, 1, 3, 32}, nil); return err }},
		{tensor.ErrDType, "zero value", place(pack.Spec{}, MemoryConfig{})},
		{tensor.ErrShape, "no such config", place(bf, MemoryConfig{Memory: Host})},
		{tensor.ErrShape, "leave them out", place(bf, MemoryConfig{Shard: []int{32, 32}})},
		{tensor.ErrShape, "extents from 1 up", place(bf, MemoryConfig{Sharding: HeightSharded, Cores: grid(1, 1)})},
		{tensor.ErrShape, "extents from 1 up", place(bf, MemoryConfig{Sharding: NDSharded, Shard: []int{0, 32}, Cores: grid(1, 1)})},
		{tensor.ErrShape, "extents from 1 up", place(bf, MemoryConfig{Sharding: BlockSharded, Shard: []int{1, 32, 32}, Cores: grid(1, 1)})},
		{tensor.ErrShape, "has no cores", place(bf, MemoryConfig{Sharding: BlockSharded, Shard: []int{32, 32}})},
		{tensor.ErrShape, "height shards of [32,32] are 32 wide", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 32}, Cores: grid(2, 2)})},
		{tensor.ErrShape, "width shards of [32,32] are 32 high", place(bf, MemoryConfig{Memory: L1, Sharding: WidthSharded, Shard: []int{32, 32}, Cores: grid(2, 2)})},
		{tensor.ErrShape, "makes 2 shards", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: grid(1, 1)})},
		{tensor.ErrShape, "has room for 1 by 2", place(bf, MemoryConfig{Memory: L1, Sharding: BlockSharded, Shard: []int{32, 32}, Cores: grid(2, 1)})},
		{tensor.ErrShape, "one rectangle", place(bf, MemoryConfig{Memory: L1, Sharding: BlockSharded, Shard: []int{32, 32}, Cores: []Range{Grid(2, 1), {Coord{0, 1}, Coord{1, 1}}}})},
		{tensor.ErrShape, "isn't made of whole tiles", place(bf, MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{48, 32}, Cores: grid(2, 2)})},
		{tensor.ErrShape, "isn't made of whole tiles", place(bf, MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{64}, Cores: grid(2, 2)})},
		{tensor.ErrShape, "more axes than", place(bf, MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{1, 32, 32}, Cores: grid(2, 2)})},
		{tensor.ErrShape, "isn't in the grid", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: grid(5, 1)})},
		{tensor.ErrShape, "isn't in the grid", place(bf, MemoryConfig{Memory: DRAM, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: grid(1, 2)})},
		{tensor.ErrShape, "isn't in the grid", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: []Range{{Coord{2, 2}, Coord{1, 1}}}})},
		{tensor.ErrShape, "isn't in the grid", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: []Range{{Coord{math.MinInt, 0}, Coord{math.MaxInt, 0}}}})},
		{tensor.ErrShape, "stands in two ranges", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: []Range{Grid(2, 1), Grid(1, 1)}})},
		{tensor.ErrShape, "Grid2D is about", place(bf, MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{32, 64}, Cores: grid(2, 1), Grid2D: true})},
		{tensor.ErrShape, "Grid2D is about", place(spec(dtype.Int8, pack.Options{}, 2, 2, 2), MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{1, 1, 1}, Cores: grid(2, 1), Grid2D: true})},
		{tensor.ErrShape, "encodes 2 together", place(spec(dtype.Float32, pack.Options{Format: int4}, 4, 5), MemoryConfig{})},
		{tensor.ErrMemory, "in each bank of L1", place(spec(dtype.Int8, pack.Options{}, 2, 8), MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{1 << 20, 8}, Cores: grid(1, 1)})},
		{tensor.ErrOverflow, "", place(spec(dtype.Int8, pack.Options{}, 2, 2, 2), MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{math.MaxInt / 2, math.MaxInt / 2, 2}, Cores: grid(1, 1)})},
		{tensor.ErrOverflow, "", place(spec(dtype.Int8, pack.Options{}, 2, 2), MemoryConfig{Memory: L1, Sharding: NDSharded, Shard: []int{math.MaxInt, math.MaxInt}, Cores: grid(1, 1)})},
		{tensor.ErrShape, "has no such shards", func() error { _, err := Shards(bf, MemoryConfig{Sharding: NDSharded, Cores: grid(1, 1)}); return err }},
		{tensor.ErrShape, "is no range of cores", func() error {
			_, err := Shards(bf, MemoryConfig{Sharding: HeightSharded, Cores: grid(0, 1)})
			return err
		}},

		{tensor.ErrAlign, "the width of bfloat16 is a multiple of 2", func() error {
			_, err := Empty(spec(dtype.BFloat16, pack.Options{}, 2, 3), strict, MemoryConfig{})
			return err
		}},
		{tensor.ErrAlign, "the width of bfloat8_b is a multiple of 32", func() error {
			_, err := Empty(spec(dtype.Float32, pack.Options{Tile: pack.TileOf(16, 16), Format: pack.BFP8}, 16, 16), strict, MemoryConfig{})
			return err
		}},
		{ErrSpace, "no device", func() error { _, err := Empty(bf, nil, MemoryConfig{}); return err }},
		{tensor.ErrDType, "it is the zero value", func() error { _, err := ToDevice(tensor.Any{}, dev, MemoryConfig{}); return err }},
		{tensor.ErrClosed, "closed", func() error { _, err := ToDevice(closedHost.Any(), dev, MemoryConfig{}); return err }},
		{tensor.ErrClosed, "closed", func() error { _, err := ToDevice(full(1, 2).Any(), closed, MemoryConfig{}); return err }},
		{tensor.ErrClosed, "small is closed", func() error { _, err := FromDevice(gone); return err }},
		{tensor.ErrClosed, "zero value", func() error { _, err := FromDevice(Tensor{}); return err }},
		{tensor.ErrClosed, "zero value", func() error { _, err := Tensor{}.View(0, layout.Layout{}); return err }},
		{ErrSpec, "the shapes differ", func() error { return CopyToDevice(a, full(1, 9).Any()) }},
		{ErrSpec, "the shapes differ", func() error { return CopyToDevice(a, full(1, 8).Reshape(2, 4).Any()) }},
		{ErrSpec, "the types differ", func() error { return CopyToDevice(a, tensor.New[uint32](8).Any()) }},
		{ErrSpec, "the types differ", func() error { return CopyToHost(tensor.New[float32](8).Any(), a) }},
		{ErrSpec, "the tiles differ", func() error { return CopyToDevice(tiled, tensor.New[num.BF16](64, 64).Any()) }},
		{ErrSpec, "the tiles differ", func() error {
			return CopyToHost(must(pack.Pack(tensor.New[num.BF16](64, 64).Any(), &pack.Options{Tile: pack.TileOf(16, 32)})).Any(), tiled)
		}},
		{ErrSpec, "the types differ", func() error {
			return CopyToDevice(bfp, must(pack.Pack(tensor.New[float32](64, 64).Any(), &tile)).Any())
		}},
		{ErrSpec, "the types differ", func() error {
			return CopyToDevice(bfp, must(pack.Pack(tensor.New[float32](64, 64).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP4})).Any())
		}},
		{ErrSpace, "another device", func() error {
			_, err := Copy(other.NewQueue(), a.Any(), full(1, 8).Any())
			return err
		}},
		{ErrSpace, "both tensors are on the host", func() error { _, err := Copy(dev.NewQueue(), full(1, 8).Any(), full(1, 8).Any()); return err }},
		{ErrSpace, "no queue", func() error { _, err := Copy(nil, a.Any(), a.Any()); return err }},
		{tensor.ErrReadOnly, "read-only", func() error { return CopyToHost(full(1, 1).BroadcastTo(8).Any(), a) }},
		{tensor.ErrClosed, "closed", func() error { return CopyToHost(closedHost.Any(), a) }},
		{tensor.ErrClosed, "no elements", func() error { return CopyToDevice(a, must(tensor.NewSpec(dtype.Int32, 8)).Any()) }},
		{tensor.ErrShape, "reaches outside the 8", func() error { _, err := a.View(0, layout.MustParse("(4,4):(4,1)")); return err }},
		{tensor.ErrShape, "reaches outside the 8", func() error { _, err := a.View(0, layout.MustParse("2:-1")); return err }},
		{tensor.ErrShape, "reaches outside the 8", func() error { _, err := a.View(math.MaxInt, layout.MustParse("2:1")); return err }},
		{tensor.ErrShape, "reaches outside the 8", func() error { _, err := a.View(-1, layout.MustParse("2:1")); return err }},
		{tensor.ErrView, "no elements", func() error { _, err := bfp.View(0, layout.MustParse("2:1")); return err }},
		{tensor.ErrView, "no bytes of its own", func() error { _, _, err := bfp.p.Element(0, 0); return err }},
		{tensor.ErrView, "no bytes of its own", func() error { _, _, err := bfp.p.ElementLayouts(); return err }},
		{tensor.ErrIndex, "outside axis 1", func() error { _, _, err := tiled.p.Element(0, 64); return err }},
		{tensor.ErrIndex, "1 indices", func() error { _, _, err := tiled.p.Element(0); return err }},
		{tensor.ErrIndex, "no page 4", func() error { _, _, err := tiled.p.Page(4); return err }},
		{tensor.ErrIndex, "no slot", func() error { _, err := tiled.p.PageIn(0, 99); return err }},
		{tensor.ErrAxis, "no axis 2", func() error { return tensor.Try(func() { tiled.Dim(2) }) }},
		{tensor.ErrIndex, "no bank 3", func() error { return tensor.Try(func() { dev.Bank(3) }) }},
		{tensor.ErrIndex, "no core (0,3)", func() error { return tensor.Try(func() { dev.Core(0, 3) }) }},
		{tensor.ErrIndex, "outside", func() error { _, err := dev.Bank(0).ReadAt(make([]byte, 2), 1<<21-1); return err }},
		{tensor.ErrIndex, "outside", func() error { _, err := dev.Bank(0).WriteAt(make([]byte, 2), -1); return err }},
		{tensor.ErrIndex, "outside", func() error { _, err := dev.Bank(0).ReadAt(nil, math.MaxInt64); return err }},
		{tensor.ErrClosed, "closed", func() error { _, err := closed.Bank(0).ReadAt(make([]byte, 2), 0); return err }},
		{tensor.ErrClosed, "closed", func() error { _, err := closed.NewQueue().Copy(nil, nil); return err }},
		{tensor.ErrIndex, "bank 9", func() error { _, err := dev.Alloc(DRAM, []int{9}, 1, ""); return err }},
		{tensor.ErrIndex, "named twice", func() error { _, err := dev.Alloc(DRAM, []int{1, 1}, 1, ""); return err }},
		{tensor.ErrShape, "-1 bytes", func() error { _, err := dev.Alloc(DRAM, nil, -1, ""); return err }},
		{tensor.ErrOverflow, "don't fit", func() error { _, err := dev.Alloc(DRAM, []int{0, 1}, math.MaxInt, ""); return err }},

		{tensor.ErrDType, "it is nil", inKernel(nil)},
		{tensor.ErrDType, "a kernel of type int", func() error { _, err := dev.NewQueue().Launch(3); return err }},
		{ErrSpace, "an argument is in DRAM of small", func() error { _, err := other.NewQueue().Launch(func(*Core) error { return nil }, a); return err }},
		{ErrSpace, "in DRAM, not in the L1", inKernel(func(c *Core) error { _, err := c.Bytes(a); return err }, a)},
		{ErrSpace, "isn't an argument", inKernel(func(c *Core) error { _, err := c.Shards(tiled); return err }, a)},
		{ErrSpace, "isn't an argument", inKernel(func(c *Core) error { return c.Read(Tensor{}, 0, nil) }, a)},
		{tensor.ErrIndex, "no page -1", inKernel(func(c *Core) error { return c.Read(a, -1, make([]byte, 32)) }, a)},
		{tensor.ErrShape, "for a page of 32", inKernel(func(c *Core) error { return c.Write(a, 0, make([]byte, 31)) }, a)},
		{ErrKernel, "runs no kernel", func() error { _, err := dev.Core(0, 0).Bytes(tiled); return err }},
		{ErrPending, "being written", inKernel(func(c *Core) error { _, err := FromDevice(a); return err }, a)},
		{ErrBusy, "queued or at work", inKernel(func(c *Core) error { return dev.Close() }, a)},
	} {
		err := tc.f()
		var e *tensor.Error
		if !errors.Is(err, tc.err) || !errors.As(err, &e) || !strings.Contains(fmt.Sprint(err), tc.text) {
			t.Errorf("%d: got %v, want %v with %q", i, err, tc.err, tc.text)
		}
	}
	if got := onHost(t, a); got[0] != 1 || got[7] != 1 {
		t.Errorf("a failed call changed something: %v", got)
	}
	// Operators, and the functions of tensor, take none of the device's tensors.
	add, _ := op.Lookup("Add")
	for i, f := range []func() error{
		func() error { _, err := add.Run(&op.Call{Inputs: []tensor.Any{a.Any(), full(1, 8).Any()}}); return err },
		func() error { return tensor.Copy(full(1, 8).Any(), a.Any()) },
		func() error { return tensor.Copy(a.Any(), full(1, 8).Any()) },
		func() error { _, err := tensor.Slice(a.Any(), tensor.I(0)); return err },
		func() error { _, err := pack.Pack(a.Any(), nil); return err },
	} {
		if err := f(); !errors.As(err, new(*tensor.Error)) {
			t.Errorf("%d: across spaces: %v", i, err)
		}
	}
	if SpaceOf(full(1, 1).Any()).String() != "host" || a.Space().String() != "DRAM of small" || a.Storage().Kind.String() != "device" {
		t.Errorf("%v, %v, %v", SpaceOf(full(1, 1).Any()), a.Space(), a.Storage())
	}
	if err := errors.Join(dev.Sync(), dev.Close(), other.Close(), strict.Close()); err != nil {
		t.Error(err)
	}
}

// Any config of any tensor is placed, or an error: nothing panics, and nothing is allocated
// for a tensor that doesn't fit.
func TestWildConfigs(t *testing.T) {
	placed := 0
	rapid.Check(t, func(t *rapid.T) {
		numbers := []int{math.MinInt, -1, 0, 1, 2, 3, 5, 16, 32, 64, 1 << 20, math.MaxInt / 2, math.MaxInt}
		pick := func(name string) int { return rapid.SampledFrom(numbers).Draw(t, name) }
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 7, 32, 100, 1 << 20, math.MaxInt >> 8}), 0, 5).Draw(t, "shape")
		o := pack.Options{Tile: rapid.SampledFrom(tiles).Draw(t, "tile")}
		if rapid.Bool().Draw(t, "padded") {
			o.Padded = rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 7, 8, 32, 64, 128}), len(shape), 6).Draw(t, "padded shape")
		}
		d := rapid.SampledFrom([]dtype.DType{dtype.Float32, dtype.Uint8, dtype.Complex128}).Draw(t, "dtype")
		if rapid.Bool().Draw(t, "format") {
			d, o.Format = dtype.Float32, must(pack.NewIntegers(pack.Integers{Bits: 4, Scale: tensor.Scalar[float32](1)}))
		}
		s, err := pack.NewSpec(d, shape, &o)
		if err != nil {
			return
		}
		c := MemoryConfig{Memory: Memory(rapid.IntRange(0, 3).Draw(t, "memory")), Sharding: Sharding(rapid.IntRange(0, 5).Draw(t, "sharding")),
			ColMajor: rapid.Bool().Draw(t, "columns"), Grid2D: rapid.Bool().Draw(t, "by the grid")}
		for range rapid.IntRange(0, 4).Draw(t, "axes") {
			c.Shard = append(c.Shard, pick("extent"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "ranges") {
			at := func(name string) int {
				return rapid.SampledFrom([]int{0, 0, 1, 1, 2, 2, 3, -1, math.MaxInt, math.MinInt}).Draw(t, name)
			}
			c.Cores = append(c.Cores, Range{Coord{at("x"), at("y")}, Coord{at("x1"), at("y1")}})
		}
		if c.Sharding == Interleaved && rapid.Bool().Draw(t, "clean") {
			c = MemoryConfig{Memory: c.Memory}
		}
		m := Model{"wild", Coord{pick("w"), pick("h")}, pick("L1"), pick("banks"), pick("DRAM"), pick("align"), pick("align")}
		if rapid.Bool().Draw(t, "tame") {
			m = small
		}
		p, err := c.Place(s, m)
		if err != nil {
			if !errors.As(err, new(*tensor.Error)) {
				t.Fatal(err)
			}
			return
		}
		placed++
		_, _, _ = p.PageLayouts()
		_, _, _ = p.ElementLayouts()
		_ = p.Holes()
		n := p.Pages()
		for _, i := range []int{0, n / 2, n - 1} {
			if i < 0 || i >= n {
				continue
			}
			at, off := p.at(i)
			if got, err := p.PageIn(at, off/p.SlotBytes()); err != nil || got != i {
				t.Fatalf("%v, %v: page %d comes back as %d, %v", s, c, i, got, err)
			}
		}
		_, _ = Shards(s, MemoryConfig{Sharding: c.Sharding, Cores: []Range{Grid(pick("columns"), pick("rows"))}, ColMajor: c.ColMajor})
	})
	t.Logf("%d placed", placed)
}

// Memory that nobody wrote is no trap for bools, a lost copy is reported, and empty tensors
// and tensors of rank 0 go both ways.
func TestEdges(t *testing.T) {
	dev := open(t)
	s := spec(dtype.Bool, pack.Options{Tile: pack.TileOf(32, 32)}, 3)
	b := must(Empty(s, dev, MemoryConfig{Memory: L1}))
	x := held[bool](must(must(FromDevice(b)).Unpack()))
	if x.String() != "[ True  True  True]" {
		t.Errorf("bools of nothing: %v", x)
	}
	if err := CopyToHost(tensor.New[bool](3).Any(), b); err == nil {
		t.Error("tiles to rows")
	}
	for _, shape := range [][]int{{}, {0}, {0, 3}, {3, 0}, {2, 0, 3}, {1}, {1, 1, 1, 1, 1}} {
		for _, c := range []MemoryConfig{{}, {Memory: L1}, {Memory: L1, Sharding: BlockSharded, Shard: []int{4, 4}, Cores: []Range{Grid(4, 3)}},
			{Memory: L1, Sharding: NDSharded, Shard: []int{4}, Cores: []Range{Grid(2, 1)}}} {
			x := tensor.New[int32](shape...)
			d, err := ToDevice(x.Any(), dev, c)
			if err != nil {
				t.Errorf("%v, %v: %v", shape, c, err)
				continue
			}
			if err := dev.ForEachCore(func(c *Core) error {
				if d.p.config.Sharding == Interleaved {
					return nil
				}
				_, err := c.Shards(d)
				return err
			}, d); err != nil && d.p.Pages() > 0 {
				t.Errorf("%v, %v: %v", shape, c, err)
			}
			p := must(FromDevice(d))
			if same, err := p.Equal(must(pack.Pack(x.Any(), nil))); err != nil || !same {
				t.Errorf("%v, %v: %v", shape, c, err)
			}
		}
	}
	a := must(ToDevice(full(1, 4).Any(), dev, MemoryConfig{}))
	e := must(Copy(dev.NewQueue(), a.Any(), full(2, 4).Any()))
	for !e.Done() {
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("waiting for what is lost: %v", err)
	}
	if err := dev.Sync(); err != nil {
		t.Error(err)
	}
	closed := full(0, 4)
	dev = open(t)
	a = must(ToDevice(full(1, 4).Any(), dev, MemoryConfig{}))
	q := dev.NewQueue()
	e = must(Copy(q, closed.Any(), a.Any()))
	last := must(Copy(q, a.Any(), full(3, 4).Any()))
	closed.Close()
	if err := last.Wait(); err != nil {
		t.Error(err)
	}
	if err := e.Wait(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("a copy to a closed tensor: %v", err)
	}
	if err := q.Wait(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("the queue: %v", err)
	}
	if err := q.Wait(); err != nil {
		t.Error(err)
	}
}

// A view has the elements that its layout picks from the storage.
func TestViews(t *testing.T) {
	dev := open(t)
	rapid.Check(t, func(t *rapid.T) {
		o := pack.Options{Tile: rapid.SampledFrom([]pack.Tile{{}, pack.TileOf(16, 16)}).Draw(t, "tile")}
		p := must(pack.Pack(tensor.Arange[int32](0, 20*20, 1).Reshape(20, 20).Any(), &o))
		d := must(ToDevice(p.Any(), dev, MemoryConfig{Memory: L1}))
		defer d.Deallocate()
		lay, err := layout.New(rapid.SliceOfN(rapid.IntRange(0, 6), 2, 2).Draw(t, "shape"), rapid.SliceOfN(rapid.IntRange(-30, 60), 2, 2).Draw(t, "strides"))
		if err != nil {
			t.Fatal(err)
		}
		off := rapid.IntRange(-1, p.StorageLen()).Draw(t, "offset")
		all := held[int32](must(p.Data())).Elems()
		lo, hi := lay.Span()
		v, err := d.View(off, lay)
		if inside := off >= 0 && off+lo >= 0 && off+hi < len(all); inside != (err == nil) {
			t.Fatalf("%v from %d of %d: %v", lay, off, len(all), err)
		}
		if err != nil {
			return
		}
		defer v.Deallocate()
		again := must(ToDevice(v.Any(), dev, MemoryConfig{}))
		defer again.Deallocate()
		want := must(pack.Pack(tensor.FromLayout(all[off+lo:], lay).Any(), nil))
		for _, x := range []Tensor{v, again} {
			if same, err := must(FromDevice(x)).Equal(want); err != nil || !same {
				t.Fatalf("%v from %d: other elements, %v", lay, off, err)
			}
		}
	})
}

// Scaled integers of rows come back, or the memory config doesn't take them and the error says so.
func TestIntegers(t *testing.T) {
	dev := open(t)
	x := tensor.Arange[float32](0, 128, 1).Reshape(8, 16)
	scales := tensor.Full[float32](10, 8)
	for _, in := range []pack.Integers{{Bits: 4, Scale: tensor.Scalar[float32](9)}, {Bits: 8, Scale: scales, Shape: []int{8, 16}, Axis: 0}, {Bits: 4, Scale: scales, Shape: []int{8, 16}, Axis: 0}} {
		f := must(pack.NewIntegers(in))
		p := must(pack.Pack(x.Any(), &pack.Options{Format: f}))
		for _, c := range []MemoryConfig{{}, {Memory: L1}, {Memory: L1, Sharding: HeightSharded, Shard: []int{3, 16}, Cores: []Range{Grid(4, 1)}},
			{Memory: L1, Sharding: BlockSharded, Shard: []int{3, 6}, Cores: []Range{Grid(4, 3)}},
			{Memory: L1, Sharding: WidthSharded, Shard: []int{8, 4}, Cores: []Range{Grid(4, 3)}}, {Memory: L1, Sharding: NDSharded, Shard: []int{2, 5}, Cores: []Range{Grid(4, 3)}}} {
			d, err := ToDevice(p.Any(), dev, c)
			if err != nil {
				if !errors.As(err, new(*tensor.Error)) || c.Sharding == Interleaved || c.Sharding == HeightSharded {
					t.Error(c, err)
				}
				continue
			}
			q, err := FromDevice(d)
			if err != nil {
				t.Error(c, err)
				continue
			}
			same, err := q.Equal(p)
			if !same || err != nil {
				t.Error(c, same, err)
			}
			if err := CopyToDevice(d, p.Any()); (err == nil) != d.Spec().Identical(p.Spec) {
				t.Error(c, err)
			}
			d.Deallocate()
		}
	}
}

// A call that waits in a kernel is an error there, not a deadlock, and leaves nothing behind.
func TestWaitInKernel(t *testing.T) {
	dev := open(t)
	a, b := must(ToDevice(full(1, 8).Any(), dev, MemoryConfig{})), must(ToDevice(full(2, 8).Any(), dev, MemoryConfig{}))
	for i, wait := range []func(q Queue, e Event) error{
		func(q Queue, e Event) error { return e.Wait() },
		func(q Queue, e Event) error { return q.Wait() },
		func(Queue, Event) error { return dev.Sync() },
		func(Queue, Event) error { return dev.ForEachCore(func(*Core) error { return nil }) },
		func(Queue, Event) error { _, err := FromDevice(b); return err },
		func(Queue, Event) error { _, err := ToDevice(full(1, 8).Any(), dev, MemoryConfig{}); return err },
		func(Queue, Event) error { return CopyToDevice(b, full(3, 8).Any()) },
	} {
		q := dev.NewQueue()
		known := make(chan Event, small.Banks(L1))
		e, err := q.Launch(func(*Core) error { return wait(q, <-known) }, a)
		if err != nil {
			t.Fatal(err)
		}
		for range cap(known) {
			known <- e
		}
		if err := e.Wait(); !errors.Is(err, ErrKernel) || !strings.Contains(err.Error(), "wait on the host") {
			t.Error(i, err)
		}
		if err := q.Wait(); !errors.Is(err, ErrKernel) {
			t.Error(i, err)
		}
	}
	q := dev.NewQueue()
	var e Event
	e, err := q.Copy(nil, func() error { return e.Wait() })
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(); !errors.Is(err, ErrKernel) {
		t.Error(err)
	}
	if y, err := FromDevice(b); err != nil || held[int32](must(y.Data())).At(0) != 2 {
		t.Error(err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// noError is a nil pointer that is an error, and can't say which.
type noError struct{ text string }

func (e *noError) Error() string { return e.text }

// A kernel returns an error that isn't nil and has no text; a core is kept after its kernel; the
// slices of arguments change after a call.
func TestKernelRemains(t *testing.T) {
	dev := open(t)
	a := must(ToDevice(full(1, 8).Any(), dev, MemoryConfig{Memory: L1}))
	if err := dev.ForEachCore(func(*Core) error { return (*noError)(nil) }); !errors.Is(err, ErrKernel) {
		t.Error(err)
	}
	var kept *Core
	if err := dev.ForEachCore(func(c *Core) error {
		if c.Coord == (Coord{}) {
			kept = c
		}
		return nil
	}, a); err != nil {
		t.Fatal(err)
	}
	if err := kept.Read(a, 0, make([]byte, 32)); !errors.Is(err, ErrKernel) {
		t.Error(err)
	}

	q, gate := dev.NewQueue(), make(chan bool)
	stop := func(c *Core) error {
		if c.Coord == (Coord{}) {
			<-gate
		}
		return nil
	}
	args := []Tensor{a}
	banks := []int{1, 2}
	raw := must(dev.Alloc(L1, banks, 64, "raw"))
	_, err1 := q.Launch(stop)
	_, err2 := q.Launch(func(c *Core) error { return c.Read(a, 0, make([]byte, 32)) }, args...)
	move := []Move{{To: Place{Buffer: raw}, N: 64}}
	_, err3 := q.Copy(move, nil)
	args[0], banks[0], banks[1] = Tensor{}, 0, 0
	raw.Free()
	_, err4 := q.Copy(move, nil) // while the first is queued
	close(gate)
	if err := errors.Join(err1, err2, err3, q.Wait()); err != nil || !errors.Is(err4, tensor.ErrClosed) {
		t.Error(err, err4)
	}
	if a.Deallocate(); dev.Used(L1, 0)+dev.Used(L1, 1)+dev.Used(L1, 2) != 0 {
		t.Error("memory is still in use")
	}
}

// The host's write to a bank is seen by a queue that wrote another part of the buffer.
func TestWriteAtSeen(t *testing.T) {
	dev := open(t)
	a := must(ToDevice(full(1, 8).Any(), dev, MemoryConfig{}))
	half := must(a.View(4, layout.MustParse("4:1")))
	q := dev.NewQueue()
	e := must(Copy(q, half.Any(), full(2, 4).Any()))
	for !e.Done() {
	}
	must(dev.Bank(0).WriteAt([]byte{7, 0, 0, 0}, int64(must(a.Address()))))
	b := must(Empty(a.Spec(), dev, MemoryConfig{}))
	if err := must(Copy(q, b.Any(), a.Any())).Wait(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []Tensor{a, b} {
		if got := fmt.Sprint(must(must(FromDevice(x)).Data())); got != "[7 1 1 1 2 2 2 2]" {
			t.Error(got)
		}
	}
	if buf, first, err := half.Buffer(); err != nil || first != 4 || buf.Address() != must(a.Address()) || buf.Device() != Device(dev) {
		t.Error(first, err)
	}
}

// A tensor in another order goes as fast as its copy in rows does: in moves of pages.
func TestOtherOrder(t *testing.T) {
	dev := open(t)
	x := tensor.Arange[int32](0, 6*10*4, 1).Reshape(6, 10, 4)
	for _, y := range []tensor.Tensor[int32]{x.Transpose(), x.Flip(1), x.Reshape(24, 10).Transpose()} {
		d := must(ToDevice(y.Any(), dev, MemoryConfig{}))
		same, err := must(FromDevice(d)).Equal(must(pack.Pack(y.Any(), nil)))
		if !same || err != nil {
			t.Error(same, err)
		}
		counted := &movesOf{Queue: dev.NewQueue()}
		if err := must(Copy(counted, d.Any(), y.Any())).Wait(); err != nil || counted.n != d.p.Pages() {
			t.Errorf("%d moves, %v; want %d, one for each page", counted.n, err, d.p.Pages())
		}
		d.Deallocate()
	}
}

// movesOf counts moves.
type movesOf struct {
	Queue
	n int
}

func (q *movesOf) Copy(moves []Move, seen func() error) (Event, error) {
	q.n += len(moves)
	return q.Queue.Copy(moves, seen)
}

// The zero Placement has nothing, a page's bytes fit an int or it is an error, and no Model
// has banks of the host.
func TestNothingPlaced(t *testing.T) {
	var p Placement
	_, _, err := p.Page(0)
	_, _, err2 := p.Element()
	_, err3 := p.PageIn(0, 0)
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, tensor.ErrIndex) {
			t.Error(err)
		}
	}
	if p.Pages() != 0 || p.Holes() != 0 || small.Banks(Host) != 0 {
		t.Error(p.Pages(), p.Holes(), small.Banks(Host))
	}
	for _, bank := range []int{-1, small.Banks(L1)} {
		if err := tensor.Try(func() { small.Coord(L1, bank) }); !errors.Is(err, tensor.ErrIndex) {
			t.Error(err)
		}
	}
	if err := tensor.Try(func() { Model{}.Coord(DRAM, 0) }); !errors.Is(err, tensor.ErrIndex) {
		t.Error(err)
	}
	wide := MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{1, math.MaxInt/8 + 1}, Cores: []Range{Grid(1, 1)}}
	if _, err := wide.Place(spec(dtype.Float64, pack.Options{}, 0, 5), small); !errors.Is(err, tensor.ErrOverflow) {
		t.Error(err)
	}
	if err := open(t).NewQueue().After(nil); !errors.Is(err, ErrSpace) {
		t.Error(err)
	}
}
