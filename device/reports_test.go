package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// filled returns the tensor of a report: elements that differ, and 7 in the padding.
func filled(t *testing.T, d dtype.DType, f pack.Format, shape ...int) (tensor.Any, pack.Tensor) {
	t.Helper()
	x, err := tensor.Make(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := tensor.Bytes(x)
	if !ok {
		t.Fatalf("%v has no bytes", d)
	}
	seed := uint32(7)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed>>24) & 0x3f // no NaN in any type
	}
	o := &pack.Options{Tile: pack.TileOf(32, 32), Format: f}
	if d == dtype.BFloat16 {
		o.Padding = tensor.Full(num.FromFloat64[num.BF16](7)).Any()
	}
	p, err := pack.Pack(x, o)
	if err != nil {
		t.Fatal(err)
	}
	return x, p
}

// tt-metal#53110: 100 rows of 256 in tiles have 28 rows of padding. To fill it on two by two cores, blocks down the columns,
// changed elements and left half the padding. Here a kernel finds the padding by the shards of its core.
func TestFillPaddingOfBlocks(t *testing.T) {
	x, p := filled(t, dtype.BFloat16, nil, 1, 1, 100, 256)
	for name, config := range map[string]MemoryConfig{
		"blocks down columns": {Memory: L1, Sharding: BlockSharded, Shard: []int{64, 128}, Cores: []Range{Grid(2, 2)}, ColMajor: true},
		"blocks along rows":   {Memory: L1, Sharding: BlockSharded, Shard: []int{64, 128}, Cores: []Range{Grid(2, 2)}},
		"heights":             {Memory: L1, Sharding: HeightSharded, Shard: []int{32, 256}, Cores: []Range{Grid(2, 2)}},
		"widths":              {Memory: L1, Sharding: WidthSharded, Shard: []int{128, 64}, Cores: []Range{Grid(2, 2)}},
	} {
		dev := open(t)
		d, err := ToDevice(p.Any(), dev, config)
		if err != nil {
			t.Fatal(err)
		}
		err = dev.ForEachCore(func(c *Core) error {
			shards, err := c.Shards(d)
			for _, s := range shards {
				part, ok := tensor.As[num.BF16](s.Tensor)
				if !ok {
					return fmt.Errorf("a shard of %v", s.Tensor.DType())
				}
				for i := max(0, 100-s.Origin[0]); i < part.Dim(0); i++ {
					for k := range part.Dim(1) {
						part.Set(num.BF16{}, i, k)
					}
				}
			}
			return err
		}, d)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := d.View(0, d.Spec().Storage())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := host(whole)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := tensor.As[num.BF16](rows)
		want, _ := tensor.As[num.BF16](x)
		for i := range 128 {
			for k := range 256 {
				v := num.BF16{}
				if i < 100 {
					v = want.At(0, 0, i, k)
				}
				if got := all.At(0, 0, i, k); got != v {
					t.Fatalf("%s: row %d, column %d is %v, want %v", name, i, k, got, v)
				}
			}
		}
	}
}

func host(t Tensor) (tensor.Any, error) {
	p, err := FromDevice(t)
	if err != nil {
		return tensor.Any{}, err
	}
	return p.Unpack()
}

// tt-metal#57363: ports of pad, reshard, slice, transpose and pool lack branches for a type or a layout. Two that its text names are that BFP4
// isn't known as a block float, and that tiles are copied as rows when ND shards change. Here every type goes through every pair of
// configs, tiles and rows, and comes back with its bits.
func TestReshardTypesAndLayouts(t *testing.T) {
	configs := []MemoryConfig{
		{},
		{Memory: L1},
		{Memory: L1, Sharding: HeightSharded, Shard: []int{64, 96}, Cores: []Range{Grid(2, 2)}},
		{Memory: L1, Sharding: BlockSharded, Shard: []int{96, 64}, Cores: []Range{Grid(2, 3)}, ColMajor: false},
		{Memory: L1, Sharding: NDSharded, Shard: []int{1, 32, 64}, Cores: []Range{Grid(3, 1)}},
		{Memory: L1, Sharding: NDSharded, Shard: []int{2, 64, 32}, Cores: []Range{Grid(2, 2)}, ColMajor: true},
		{Sharding: NDSharded, Shard: []int{1, 32, 32}, Cores: []Range{Grid(3, 1)}},
	}
	types := []struct {
		d dtype.DType
		f pack.Format
	}{{dtype.BFloat16, nil}, {dtype.Float32, nil}, {dtype.Uint32, nil}, {dtype.Int32, nil}, {dtype.Uint16, nil}, {dtype.Uint8, nil}, {dtype.Float32, pack.BFP8}, {dtype.Float32, pack.BFP4}}
	pairs := 0
	for _, ty := range types {
		_, tiled := filled(t, ty.d, ty.f, 2, 62, 70) // padded to 64 by 96
		list := []pack.Tensor{tiled}
		if ty.d == dtype.BFloat16 || ty.d == dtype.Uint8 { // copies of rows go element by element
			x, _ := tiled.Unpack()
			rows, err := pack.Pack(x, nil)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, rows)
		}
		for _, p := range list {
			for _, from := range configs {
				for _, to := range configs {
					dev := open(t)
					a, err := ToDevice(p.Any(), dev, from)
					if err != nil && p.Spec.Tile() == (pack.Tile{}) {
						continue // rows of 70 have no shards of 64 by 96
					}
					if err != nil {
						t.Fatal(p.Spec, from, err)
					}
					b, err := ToDevice(a.Any(), dev, to)
					if err != nil && p.Spec.Tile() == (pack.Tile{}) {
						continue
					}
					if err != nil {
						t.Fatal(p.Spec, to, err)
					}
					pairs++
					got, err := host(b)
					want, _ := p.Unpack()
					if err != nil || tensor.Describe(got) != tensor.Describe(want) {
						t.Fatalf("%v from %v to %v: %v, %v", p.Spec, from, to, tensor.Describe(got), err)
					}
					g, _ := tensor.Bytes(got)
					w, _ := tensor.Bytes(want)
					if string(g) != string(w) {
						t.Fatalf("%v from %v to %v has other bits", p.Spec, from, to)
					}
				}
			}
		}
	}
	if pairs < len(types)*len(configs)*len(configs) {
		t.Errorf("%d pairs; the configs don't fit the tensors", pairs)
	}
}

// tt-metal#4360: rows of [1,8,1500,64], padded, in tiles, on a device, permuted by (0,1,3,2), are another tensor's. 1500 isn't a multiple of 32.
// Two of the eight matrices do here.
func TestPadTilePermute(t *testing.T) {
	x, p := filled(t, dtype.BFloat16, nil, 1, 2, 1500, 64)
	dev := open(t)
	for _, config := range []MemoryConfig{{}, {Memory: L1}, {Memory: L1, Sharding: HeightSharded, Shard: []int{47 * 32, 64}, Cores: []Range{Grid(2, 1)}}} {
		d, err := ToDevice(p.Any(), dev, config)
		if err != nil {
			t.Fatal(err)
		}
		turned, err := d.Spec().Storage().Permute(0, 1, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		v, err := d.View(0, turned)
		if err != nil {
			t.Fatal(err)
		}
		back, err := host(v)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := tensor.Bytes(back.Slice(tensor.Colon, tensor.Colon, tensor.Colon, tensor.R(0, 1500)).Clone().Contiguous())
		want, _ := tensor.Bytes(x.Permute(0, 1, 3, 2).Contiguous())
		if string(got) != string(want) {
			t.Errorf("%v: the permuted tensor is another one", config)
		}
		d.Deallocate()
		v.Deallocate()
	}
}

// tt-metal#47414: shards of a convolution's output that aren't made of whole tiles. Its 56 by 56 pixels on 32 cores are 98 rows each. In tiles that is an
// error that says so; Shards chooses whole tiles, and rows take 98.
func TestShardsOfWholeTiles(t *testing.T) {
	x, p := filled(t, dtype.BFloat16, nil, 1, 1, 56*56, 64)
	config := MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{98, 64}, Cores: []Range{Grid(8, 4)}}
	dev, err := New(Wormhole(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ToDevice(p.Any(), dev, config)
	if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), "a shard of [98,64] isn't made of whole tiles of 32×32") {
		t.Errorf("got %v", err)
	}
	whole, err := Shards(p.Spec, config)
	if err != nil || whole.Shard[0] != 128 {
		t.Fatalf("%v, %v, want 128 rows", whole, err)
	}
	rows, err := pack.Pack(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p pack.Tensor
		c MemoryConfig
	}{{p, whole}, {rows, config}} {
		d, err := ToDevice(c.p.Any(), dev, c.c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromDevice(d)
		if same, e := got.Equal(c.p); err != nil || e != nil || !same {
			t.Errorf("%v: %v, %v", d, err, e)
		}
		d.Deallocate()
	}
}
