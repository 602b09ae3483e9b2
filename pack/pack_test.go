package pack

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

var tiles = []Tile{{}, TileOf(32, 32), TileOf(16, 32), TileOf(32, 16), TileOf(16, 16), TileOf(8, 32), TileOf(4, 32), TileOf(2, 32), TileOf(1, 32),
	TileOf(8, 16), TileOf(4, 16), TileOf(2, 16), TileOf(1, 16), {32, 32, true}, {16, 32, true}, {32, 16, true}, {16, 16, true}}

func drawOptions(t *rapid.T) Options {
	o := Options{Tile: rapid.SampledFrom(tiles).Draw(t, "tile")}
	if rapid.Bool().Draw(t, "align") {
		o.Align = rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 4, 16, 32, 48}), 0, 4).Draw(t, "alignment")
	}
	return o
}

// place is where TT-NN's formula puts an element of the physical matrix.
func place(t Tile, width, r, c int) int {
	if t == (Tile{}) {
		return r*width + c
	}
	h, w := min(t.Height, 16), 16
	tile := r/t.Height*(width/t.Width) + c/t.Width
	fr, fc := r%t.Height/h, c%t.Width/w
	face, in := fr*(t.Width/w)+fc, r%h*w+c%w
	if t.Transposed {
		face, in = fc*(t.Height/h)+fr, c%w*h+r%h
	}
	return tile*t.Len() + face*h*w + in
}

// Each element is at one place of the storage, the one of the formula; padding is at
// the others, and what stands there shows nowhere.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 16, 17, 31, 33, 40}), 0, 4).Draw(t, "shape")
		o := drawOptions(t)
		s, err := NewSpec(dtype.Int32, shape, &o)
		if errors.Is(err, tensor.ErrShape) && len(o.Align) > 2 || s.StorageLen() > 1<<20 {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		padded := s.Padded().Shape()
		x := tensor.Arange(int32(0), int32(s.Len()), 1).Reshape(shape...)
		o.Padding = tensor.Scalar(int32(-42)).Any()
		p, err := Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Identical(s) {
			t.Fatalf("packed as %v, not %v", p.Spec, s)
		}
		back, err := p.Unpack()
		if err != nil || !slices.Equal(held[int32](back).Elems(), x.Elems()) || !slices.Equal(back.Shape(), shape) {
			t.Fatalf("%v comes back as %v, %v", x, back, err)
		}
		v, err := p.View()
		if err != nil {
			t.Fatal(err)
		}
		if s.StorageLen() == 0 {
			return
		}
		all := held[int32](v)
		data, origin := all.Data()
		_, width := s.PhysicalShape()
		seen := make([]bool, s.StorageLen())
		i := 0
		for idx, got := range all.All() {
			want, row, logical, id := int32(-42), 0, true, 0
			for k, at := range idx {
				if k < len(idx)-1 {
					row = row*padded[k] + at
				}
				have := 1
				if j := k - (len(idx) - len(shape)); j >= 0 {
					have = shape[j]
				}
				logical = logical && at < have
				id = id*have + at
			}
			if logical {
				want = int32(id)
			}
			col := 0
			if len(idx) > 0 {
				col = idx[len(idx)-1]
			}
			off := place(s.tile, width, row, col)
			if got != want || data[origin+off] != want || seen[off] {
				t.Fatalf("%v: %v holds %d, place %d %d, want %d once", s, idx, got, off, data[off], want)
			}
			seen[off] = true
			i++
		}
		if i != s.StorageLen() {
			t.Fatalf("%d places of %d", i, s.StorageLen())
		}
	})
}

// Block floats in tiles: what comes back is what the format makes of each group, and
// At gives the same.
func TestFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 5, 17, 40}), 0, 3).Draw(t, "shape")
		o := drawOptions(t)
		if o.Tile == (Tile{}) || len(o.Align) > 2 {
			return
		}
		o.Format = rapid.SampledFrom([]Format{BFP8, BFP4}).Draw(t, "format")
		x := tensor.RandomNormal[float32](uint64(rapid.Uint32().Draw(t, "seed")), 0, 3, shape...)
		padding := tensor.Scalar(float32(1e-3))
		o.Padding = padding.Any()
		p, err := Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		if p.StorageLen() > 1<<16 {
			return
		}
		// The same by way of tiles that nothing encodes.
		f := o.Format
		o.Format = nil
		q, err := Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		data, err := q.Data()
		if err != nil {
			t.Fatal(err)
		}
		values := held[float32](data).Elems()
		want := make([]byte, 0, p.Bytes())
		for n := o.Tile.Len(); len(values) > 0; values = values[n:] {
			b := make([]byte, f.Size(n))
			f.Encode(b, values[:n], 0)
			want = append(want, b...)
			f.Decode(values[:n], b, 0) // in q's storage
		}
		if got, err := p.Data(); err != nil || !bytes.Equal(held[uint8](got).Elems(), want) {
			t.Fatalf("%v: the storage differs, %v", p.Spec, err)
		}
		a, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		b, err := q.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for idx, v := range held[float32](a).All() {
			at, err := p.At(idx...)
			if w := held[float32](b).At(idx...); v != w || err != nil || at != float64(w) {
				t.Fatalf("%v: %v is %v, %v by At, want %v: %v", p.Spec, idx, v, at, w, err)
			}
			if i++; i == 50 {
				break // At decodes a tile
			}
		}
		again, err := Pack(p.Any(), &Options{Tile: TileOf(16, 16), Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Equal(again); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEqual(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, float32(math.NaN())}, 2, 3)
	a, _ := Pack(x.Any(), &Options{Tile: TileOf(2, 16), Padding: tensor.Scalar(float32(7)).Any()})
	b, _ := Pack(x.Any(), &Options{Tile: TileOf(32, 32)})
	if same, err := a.Equal(b); !same || err != nil {
		t.Errorf("padding or tiles make a difference: %v", err)
	}
	y := x.Clone()
	y.Set(-1, 0, 0)
	c, _ := Pack(y.Any(), &Options{Tile: TileOf(2, 16)})
	if same, err := a.Equal(c); same || err != nil {
		t.Errorf("an element makes no difference: %v", err)
	}
	d, _ := Pack(x.Any(), &Options{Tile: TileOf(2, 16), Format: BFP8})
	if same, err := a.Equal(d); same || err != nil {
		t.Errorf("the format makes no difference: %v", err)
	}
}

// Every element type can be in tiles, in memory that held anything.
func TestTypes(t *testing.T) {
	for range 3 {
		for _, d := range dtype.All() {
			x, err := tensor.Make(d, 20, 40)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := tensor.Bytes(x)
			for i := range b {
				b[i] = byte(i)
			}
			d.Mend(b)
			p, err := Pack(x, &Options{Tile: TileOf(32, 32)})
			if err != nil {
				t.Fatal(err)
			}
			y, err := p.Unpack()
			if err != nil {
				t.Fatal(err)
			}
			if c, _ := tensor.Bytes(y); !bytes.Equal(b, c) {
				t.Errorf("%v comes back as something else", d)
			}
			if data, err := p.Data(); err != nil {
				t.Error(err)
			} else if raw, _ := tensor.Bytes(data); !d.IsPartial() { // as if its memory were used again
				for i := range raw {
					raw[i] = 0xff
				}
			}
			p.Close()
		}
	}
}

// Narrow floats are packed as the float32 of the same value.
func TestNarrow(t *testing.T) {
	x := tensor.RandomNormal[float32](3, 0, 1, 20, 40)
	y := tensor.New[num.BF16](40, 20).Transpose()
	for idx, v := range x.All() {
		y.Set(num.FromFloat64[num.BF16](float64(v)), idx...)
		x.Set(num.FromFloat64[num.BF16](float64(v)).Float32(), idx...)
	}
	o := Options{Tile: TileOf(32, 32), Format: BFP4}
	a, err := Pack(x.Any(), &o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Pack(y.Any(), &o)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := a.Equal(b); !same || err != nil {
		t.Errorf("they differ: %v", err)
	}
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	x, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " holds another type")
	}
	return x
}

func TestCloseAny(t *testing.T) {
	p, err := Pack(tensor.New[float32](3).Any(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Any().Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Unpack(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("Close of an Any leaves it open: %v", err)
	}
}

func TestErrors(t *testing.T) {
	x := tensor.New[float32](14, 28)
	tile := TileOf(32, 32)
	closed, err := Pack(x.Any(), &Options{Tile: tile})
	if err != nil {
		t.Fatal(err)
	}
	spec := closed.Spec
	bfp, _ := Pack(x.Any(), &Options{Tile: tile, Format: BFP8})
	closed.Close()
	pack := func(x tensor.Any, o Options, padding tensor.Any) func() error {
		o.Padding = padding
		return func() error { _, err := Pack(x, &o); return err }
	}
	bare, _ := tensor.NewSpec(dtype.Float32, 2)
	bare0, _ := tensor.NewSpec(dtype.Float32)
	closed0 := tensor.Scalar(float32(1))
	closed0.Close()
	packed0, _ := Pack(tensor.Scalar(float32(1)).Any(), nil)
	gone := mem.Borrow(make([]byte, 8192), nil)
	gone.Close()
	large, _ := tensor.NewSpec(dtype.Float32, math.MaxInt/8)
	for _, c := range []struct {
		f    func() error
		is   error
		want string
	}{
		{pack(x.Any(), Options{Tile: TileOf(24, 32)}, tensor.Any{}), tensor.ErrShape, "pack.Pack: no tile of 24×32: heights are 1, 2, 4, 8, 16 and 32, widths 16 and 32; layout.TileToShape makes others"},
		{pack(x.Any(), Options{Tile: Tile{8, 32, true}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: no tile of 8×32 transposed: transposed ones have 16 or 32 rows"},
		{pack(x.Any(), Options{Padded: []int{13, 32}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: axis 0 of the padded shape (13,32) is 13, less than the 14 of shape (14,28)"},
		{pack(x.Any(), Options{Padded: []int{32}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: shape (14,28) has 2 axes, the padded shape (32) has 1; it needs as many or more"},
		{pack(x.Any(), Options{Padded: []int{32, 40}, Tile: tile}, tensor.Any{}), tensor.ErrShape, "pack.Pack: the padded shape [32,40] isn't made of whole tiles of 32×32"},
		{pack(x.Any(), Options{Padded: []int{32, 32}, Align: []int{4}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: both an alignment and a padded shape are given; leave one out"},
		{pack(x.Any(), Options{Align: []int{0}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: the alignment 0 of axis 1 is not positive; 1 keeps an extent"},
		{pack(x.Any(), Options{Align: []int{10, 32, 32}}, tensor.Any{}), tensor.ErrShape, "pack.Pack: the alignment 10 of axis 0 and the 32 rows below it don't divide each other; make one a multiple of the other"},
		{pack(x.Any(), Options{Format: BFP8}, tensor.Any{}), tensor.ErrDType, "pack.Pack: bfloat8_b has no row-major form: its exponents belong to tiles; give a tile, as 32×32"},
		{pack(tensor.New[int32](2).Any(), Options{Tile: tile, Format: BFP8}, tensor.Any{}), tensor.ErrDType, "pack.Pack: formats encode float32 and narrower floats, not int32; convert it with op.Cast"},
		{pack(bare.Any(), Options{Tile: tile, Format: BFP8}, tensor.Any{}), tensor.ErrDType, "pack.Pack: tensor.Spec has no elements to encode"},
		{pack(x.Any(), Options{Tile: tile}, tensor.Scalar(1.0).Any()), tensor.ErrDType, "pack.Pack: the padding is float64[]; want a tensor of rank 0 and type float32"},
		{pack(x.Any(), Options{Tile: tile}, x.Any()), tensor.ErrDType, "pack.Pack: the padding is float32[14,28]; want a tensor of rank 0 and type float32"},
		{pack(large.Any(), Options{Tile: tile}, tensor.Any{}), tensor.ErrOverflow, ""},
		{pack(tensor.Any{}, Options{}, tensor.Any{}), tensor.ErrDType, "pack.Pack: there is no tensor: it is the zero value"},
		{pack(x.Any(), Options{Tile: tile, Format: BFP8}, bare0.Any()), tensor.ErrDType, "pack.Pack: the padding: tensor.Spec has no elements to view"},
		{pack(x.Any(), Options{Tile: tile, Format: BFP8}, closed0.Any()), tensor.ErrClosed, "pack.Pack: the padding: the storage is closed, its memory is given back; close it after its last use"},
		{pack(x.Any(), Options{Tile: tile, Format: BFP8}, packed0.Any()), tensor.ErrDType, "pack.Pack: the padding: pack.Tensor has no elements to view"},
		{func() error { _, err := FromBytes(spec, nil, 0); return err }, tensor.ErrClosed, "pack.FromBytes: the buffer is nil or closed"},
		{func() error { _, err := FromBytes(spec, gone, 0); return err }, tensor.ErrClosed, "pack.FromBytes: the buffer is nil or closed"},
		{func() error { _, err := Spec{}.MarshalText(); return err }, tensor.ErrDType, "pack.MarshalText: the description is the zero value; NewSpec makes one"},
		{func() error {
			_, err := ParseSpec([]byte(`{"format":"int8","shape":[3],"padded":[3],"tile":[0,0]}`))
			return err
		}, tensor.ErrSyntax, ""},
		{func() error { _, err := Text(tensor.Any{}, nil); return err }, tensor.ErrDType, "pack.Text: there is no tensor: it is the zero value"},
		{func() error { _, err := closed.Unpack(); return err }, tensor.ErrClosed, "pack.Unpack: the storage is closed, its memory is given back; close it after its last use"},
		{func() error { _, err := Tensor{}.Unpack(); return err }, tensor.ErrClosed, "pack.Unpack: the tensor is the zero value; Pack makes one"},
		{func() error { _, err := bfp.View(); return err }, tensor.ErrView, "pack.View: bfloat8_b are no elements that a tensor holds; Unpack copies them"},
		{func() error { _, err := bfp.At(14, 0); return err }, tensor.ErrIndex, "pack.At: index 14 is outside axis 0 of shape [14,28]"},
		{func() error { _, err := bfp.At(1); return err }, tensor.ErrIndex, "pack.At: 1 indices for rank 2 of shape [14,28]"},
		{func() error { _, err := FromBytes(spec, mem.Borrow(make([]byte, 4095), nil), 0); return err }, tensor.ErrShape,
			"pack.FromBytes: float32[14,28] in tiles of 32×32, padded to [32,32] has 4096 bytes; from byte 0 of 4095 there are 4095"},
		{func() error { _, err := FromBytes(Spec{}, mem.Borrow(nil, nil), 0); return err }, tensor.ErrDType, "pack.FromBytes: the spec is the zero value; NewSpec makes one"},
		{func() error { _, err := FormatNamed("bfp5"); return err }, tensor.ErrDType, `pack.FormatNamed: no format is called "bfp5"; there are bfloat8_b, bfloat4_b, mxfp8_e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, mxfp4, mxint8, nvfp4, float6_e2m3, float6_e3m2, and GGUF's as q4_0 and q4_k`},
		{func() error { _, err := Text(tensor.Scalar(1i).Any(), nil); return err }, tensor.ErrDType, "pack.Text: complex128[] can't be written as text"},
	} {
		if err := c.f(); !errors.Is(err, c.is) || c.want != "" && err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(`{"format":"bfloat8_b","shape":[14,28],"padded":[32,32],"tile":[32,32]}`))
	f.Add([]byte(`{"format":"int32","shape":[3],"padded":[16,16],"tile":[16,16],"transposed":true}`))
	f.Add([]byte(`{"format":"bfp4","shape":[9223372036854775807],"padded":null,"tile":[32,32]}`))
	f.Add([]byte(`{"format":"float32","shape":[],"padded":[]} x`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSpec(text)
		if err != nil {
			var own *tensor.Error
			if !errors.As(err, &own) || own.Err == nil {
				t.Fatalf("an error of another kind: %#v", err)
			}
			return
		}
		again, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if u, err := ParseSpec(again); err != nil || !u.Identical(s) {
			t.Fatalf("%s reads as %v, %v, not %v", again, u, err, s)
		}
		lay := s.Storage()
		if lay.Size() != s.StorageLen() || s.Bytes() < 0 {
			t.Fatalf("%v: %v has %d elements, %d bytes", s, lay, lay.Size(), s.Bytes())
		}
		if s.StorageLen() > 1<<16 {
			return
		}
		if _, err := FromBytes(s, mem.Borrow(ram.Make(s.Bytes()), nil), 0); err != nil {
			t.Fatal(err)
		}
	})
}

// Any bytes of the right number are a tensor, and what it unpacks to packs to a tensor
// of the same values.
func FuzzFromBytes(f *testing.F) {
	f.Add([]byte{0}, uint8(1), true)
	f.Add([]byte("\xff\x00\x80\x7f\x01"), uint8(2), false)
	f.Fuzz(func(t *testing.T, b []byte, tile uint8, wide bool) {
		o := Options{Tile: tiles[1+int(tile)%(len(tiles)-1)], Format: BFP4}
		if wide {
			o.Format = BFP8
		}
		s, err := NewSpec(dtype.Float32, []int{5, 19}, &o)
		if err != nil || len(b) == 0 {
			return
		}
		data := bytes.Repeat(b, s.Bytes()/len(b)+1)
		p, err := FromBytes(s, mem.Borrow(data, nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		q, err := Pack(x, &o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Unpack(); err != nil {
			t.Fatal(err)
		}
	})
}
