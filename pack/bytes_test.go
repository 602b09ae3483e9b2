package pack

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// TestPackedBytes checks that packing loses no byte and adds only padding: View has each byte of the storage once, Unpack
// returns the bytes of the operand, and of a format packing again gives the same storage. A pin of View outlives Close.
func TestPackedBytes(t *testing.T) {
	bag := func(t *rapid.T, a tensor.Any) []byte {
		c, err := tensor.Contiguous(a)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := tensor.Bytes(c)
		b = bytes.Clone(b)
		slices.Sort(b)
		return b
	}
	packed := 0
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 4).Draw(t, "shape")
		x := tensor.RandomNormal[float32](rapid.Uint64().Draw(t, "seed"), 0, 3, shape...)
		x = x.Permute(rapid.Permutation(axes(len(shape))).Draw(t, "order")...)
		o := Options{
			Tile:   rapid.SampledFrom([]Tile{{}, TileOf(32, 32), TileOf(16, 32), TileOf(32, 16), TileOf(16, 16)}).Draw(t, "tile"),
			Format: rapid.SampledFrom([]Format{nil, BFP8, BFP4}).Draw(t, "format"),
		}
		p, err := Pack(x.Any(), &o)
		if err != nil {
			return // a tile or a format that this shape has no place for
		}
		packed++
		y, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		data, err := p.Data()
		if err != nil {
			t.Fatal(err)
		}
		if o.Format != nil {
			again, err := Pack(y, &o)
			if err != nil {
				t.Fatal(err)
			}
			d, err := again.Data()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bag(t, d), bag(t, data)) {
				t.Fatalf("%v of %v: packed again it has other bytes", o, shape)
			}
			return
		}
		if !bytes.Equal(bag(t, y), bag(t, x.Any())) {
			t.Fatalf("%v of %v: Unpack returns other bytes", o, shape)
		}
		v, err := p.View()
		if err != nil {
			t.Fatal(err)
		}
		whole := bag(t, v)
		if !bytes.Equal(whole, bag(t, data)) {
			t.Fatalf("%v of %v: View has other bytes than the storage", o, shape)
		}
		release := v.Pin()
		held, first := v.Memory()
		lo, hi := v.LayoutRef().Span()
		held = held[(first+lo)*v.DType().Size():][:(hi+1-lo)*v.DType().Size()]
		p.Close()
		tensor.Full[float32](-1, max(1, len(held)/4)) // takes a block that was given back
		held = bytes.Clone(held)
		if slices.Sort(held); !bytes.Equal(held, whole) {
			t.Fatalf("%v of %v: the pinned bytes changed after Close", o, shape)
		}
		release()
	})
	t.Logf("%d tensors packed", packed)
	if packed == 0 {
		t.Error("nothing was packed")
	}
}

func axes(rank int) []int {
	a := make([]int, rank)
	for i := range a {
		a[i] = i
	}
	return a
}

// Rows may be unpacked to the storage that they are packed in: all are decoded before the first is written.
func TestUnpackRowsInPlace(t *testing.T) {
	p, err := Pack(tensor.RandomNormal[float32](1, 0, 3, 2048, 32).Any(), &Options{Format: BFP8, Tile: TileOf(32, 32)})
	if err != nil {
		t.Fatal(err)
	}
	want := tensor.New[float32](540, 32) // more than are decoded at a time
	if err := p.UnpackRows(want, 900); err != nil {
		t.Fatal(err)
	}
	over, err := tensor.FromBytes(want.DType(), p.buf, 0, want.Layout())
	if err != nil {
		t.Fatal(err)
	}
	got, _ := tensor.As[float32](over)
	if err := p.UnpackRows(got, 900); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Elems(), want.Elems()) {
		t.Error("rows were written over bytes that others are decoded from")
	}
}
