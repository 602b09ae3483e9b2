package pack

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/tensor"
)

// Values in range come back within half a scale, all others as the nearest end; each
// by the scale that its place has.
func TestIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 4, 6}), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		o := Integers{Bits: rapid.SampledFrom([]int{4, 8}).Draw(t, "bits"), Unsigned: rapid.Bool().Draw(t, "unsigned"), Shape: shape, Axis: axis - len(shape)}
		scales := []int{}
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		switch kind {
		case 1:
			scales = []int{shape[axis]}
		case 2:
			o.Block = rapid.IntRange(1, shape[axis]).Filter(func(n int) bool { return shape[axis]%n == 0 }).Draw(t, "block")
			scales = slices.Clone(shape)
			scales[axis] /= o.Block
		}
		o.Scale = tensor.RandomUniform[float32](7, 0.01, 2, scales...)
		o.Zero = tensor.New[int32](scales...)
		for i := range o.Zero.Elems() {
			o.Zero.Elems()[i] = int32(i % 5)
		}
		f, err := NewIntegers(o)
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.RandomNormal[float32](uint64(rapid.Uint32().Draw(t, "seed")), 0, 20, shape...)
		p, err := Pack(x.Any(), &Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if want := (x.Len()*o.Bits + 7) / 8; p.Bytes() != want {
			t.Fatalf("%d bytes, want %d", p.Bytes(), want)
		}
		a, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		least, most := -1<<(o.Bits-1), 1<<(o.Bits-1)-1
		if o.Unsigned {
			least, most = 0, 1<<o.Bits-1
		}
		for idx, v := range x.All() {
			at := idx
			switch kind {
			case 0:
				at = []int{}
			case 1:
				at = idx[axis : axis+1]
			case 2:
				at = slices.Clone(idx)
				at[axis] /= o.Block
			}
			s, z := float64(o.Scale.At(at...)), float64(o.Zero.At(at...))
			want := min(max(float64(v), (float64(least)-z)*s), (float64(most)-z)*s)
			got := float64(held[float32](a).At(idx...))
			one, err := p.At(idx...)
			if math.Abs(got-want) > s/2*1.0001 || err != nil || one != got {
				t.Fatalf("%v at %v by %v, %v: %v and %v by At, %v", v, idx, s, z, got, one, err)
			}
		}
	})
}

func TestIntegersBytes(t *testing.T) {
	f, err := NewIntegers(Integers{Bits: 4, Scale: tensor.Scalar(float32(0.5))})
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	p, err := Pack(tensor.FromSlice([]float32{0.5, -0.5, 0.75, 1.25, inf, -inf, nan, 100, -4}).Any(), &Options{Format: f})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := p.Data()
	if got, want := held[uint8](data).Elems(), []byte{0xf1, 0x22, 0x87, 0x70, 0x08}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	tiled, err := Pack(tensor.Full(float32(1), 3, 3).Any(), &Options{Format: f, Tile: TileOf(16, 16)})
	if err != nil || tiled.Bytes() != 128 {
		t.Errorf("in tiles: %v, %v", tiled.Spec, err)
	}
}

func TestIntegersErrors(t *testing.T) {
	one := tensor.Scalar(float32(1))
	list := tensor.Full(float32(1), 3)
	of := func(v float32) tensor.Tensor[float32] { return tensor.Scalar(v) }
	for _, c := range []struct {
		o    Integers
		is   error
		want string
	}{
		{Integers{Bits: 5, Scale: one}, tensor.ErrDType, "pack.NewIntegers: integers of 5 bits; there are 4 and 8"},
		{Integers{Bits: 4}, tensor.ErrValue, "pack.NewIntegers: there is no scale; Calibrate makes them"},
		{Integers{Bits: 4, Scale: of(0)}, tensor.ErrValue, "pack.NewIntegers: scale 0 is 0; it must be positive and finite"},
		{Integers{Bits: 4, Scale: of(float32(math.NaN()))}, tensor.ErrValue, "pack.NewIntegers: scale 0 is NaN; it must be positive and finite"},
		{Integers{Bits: 8, Scale: of(float32(math.Inf(1)))}, tensor.ErrValue, "pack.NewIntegers: scale 0 is +Inf; it must be positive and finite"},
		{Integers{Bits: 4, Scale: one, Zero: tensor.Scalar(int32(8))}, tensor.ErrValue, "pack.NewIntegers: zero 0 is 8, which int4 doesn't hold"},
		{Integers{Bits: 4, Scale: one, Zero: tensor.New[int32](2)}, tensor.ErrShape, "pack.NewIntegers: zeros of shape [2] for scales of []"},
		{Integers{Bits: 8, Scale: list}, tensor.ErrAxis, "pack.NewIntegers: axis 0 of shape []: give the tensor's shape, and one of its axes"},
		{Integers{Bits: 8, Scale: list, Shape: []int{2, 4}, Axis: 1}, tensor.ErrShape, "pack.NewIntegers: scales of shape [3]; of shape [2,4] along axis 1 they have [4]"},
		{Integers{Bits: 8, Scale: list, Shape: []int{2, 4}, Axis: 1, Block: 3}, tensor.ErrShape, "pack.NewIntegers: blocks of 3 along axis 1 of shape [2,4]; they must divide it"},
	} {
		if _, err := NewIntegers(c.o); !errors.Is(err, c.is) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	f, err := NewIntegers(Integers{Bits: 8, Scale: list, Shape: []int{3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(tensor.New[float32](3, 5).Any(), &Options{Format: f}); !errors.Is(err, tensor.ErrShape) || err.Error() != "pack.Pack: the scales are for rows without padding of shape [3,4], not for [3,5]" {
		t.Error(err)
	}
}

// Any rows of a matrix, in tiles or without, are those of all of it.
func TestUnpackRows(t *testing.T) {
	f4, err := NewIntegers(Integers{Bits: 4, Scale: tensor.Scalar(float32(0.25))})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		shape := []int{rapid.IntRange(0, 80).Draw(t, "height"), rapid.IntRange(0, 50).Draw(t, "width")}
		o := Options{Tile: rapid.SampledFrom(tiles).Draw(t, "tile"), Format: BFP8}
		if o.Tile == (Tile{}) {
			o.Format = f4
		}
		p, err := Pack(tensor.RandomNormal[float32](5, 0, 1, shape...).Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		row := rapid.IntRange(0, shape[0]).Draw(t, "row")
		n := rapid.IntRange(0, shape[0]-row).Draw(t, "rows")
		dst := tensor.New[float32](shape[1], n).Transpose()
		if err := p.UnpackRows(dst, row); err != nil {
			t.Fatal(err)
		}
		want := held[float32](all).Slice(tensor.R(row, row+n))
		if !slices.Equal(slices.Collect(dst.Values()), slices.Collect(want.Values())) {
			t.Fatalf("rows %d of %v, %d of them: %v, want %v", row, p.Spec, n, dst, want)
		}
	})
	p, _ := Pack(tensor.New[float32](3, 4).Any(), &Options{Format: f4})
	plain, _ := Pack(tensor.New[float32](3, 4).Any(), nil)
	for _, err := range []error{p.UnpackRows(tensor.New[float32](3, 5), 0), p.UnpackRows(tensor.New[float32](3, 4), 1), p.UnpackRows(tensor.New[float32](4), 0)} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("got %v", err)
		}
	}
	if err := plain.UnpackRows(tensor.New[float32](3, 4), 0); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("got %v", err)
	}
}
