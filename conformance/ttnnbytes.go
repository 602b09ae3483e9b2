package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// numbers reads a case that is a list of n unsigned integers.
func numbers(raw json.RawMessage, n int) ([]uint32, error) {
	var v []uint32
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	if len(v) != n {
		return nil, fmt.Errorf("%d numbers, want %d", len(v), n)
	}
	return v, nil
}

func bf16Round(raw json.RawMessage) error {
	v, err := numbers(raw, 4)
	if err != nil {
		return err
	}
	f := math.Float32frombits(v[0])
	got := num.FromFloat64[num.BF16](float64(f))
	if cut := num.FromBits[num.BF16](uint16(v[0] >> 16)); uint32(got.Bits()) != v[1] || uint32(cut.Bits()) != v[2] || math.Float32bits(got.Float32()) != v[3] {
		return fmt.Errorf("%#x: got %#x, %#x and %#x, want %#x", v[0], got.Bits(), cut.Bits(), math.Float32bits(got.Float32()), v[1:])
	}
	return nil
}

func bf16Arith(raw json.RawMessage) error {
	v, err := numbers(raw, 6)
	if err != nil {
		return err
	}
	a, b := tensor.Scalar(num.FromBits[num.BF16](uint16(v[0]))), tensor.Scalar(num.FromBits[num.BF16](uint16(v[1])))
	for i, r := range []tensor.Tensor[num.BF16]{op.Add(a, b), op.Sub(a, b), op.Mul(a, b), op.Div(a, b)} {
		if got := uint32(r.Item().Bits()); got != v[2+i] {
			return fmt.Errorf("%#x %c %#x: got %#x, want %#x", v[0], "+-*/"[i], v[1], got, v[2+i])
		}
	}
	return nil
}

func bfpElement(raw json.RawMessage) error {
	v, err := numbers(raw, 6)
	if err != nil {
		return err
	}
	f, e := math.Float32frombits(v[0]), uint8(v[1])
	got := []uint32{uint32(pack.BFPCode(f, e, 7)), uint32(pack.BFPCode(f, e, 3)), uint32(pack.BFPTruncated(f, e, 7)), uint32(pack.BFPTruncated(f, e, 3))}
	if fmt.Sprint(got) != fmt.Sprint(v[2:]) {
		return fmt.Errorf("%#x by %d: got %v, want %v", v[0], v[1], got, v[2:])
	}
	return nil
}

// unhex reads hexadecimal bytes as elements of a type.
func unhex(d dtype.DType, text string, shape ...int) (tensor.Any, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return tensor.Any{}, err
	}
	t, err := tensor.Make(d, shape...)
	if err != nil {
		return tensor.Any{}, err
	}
	to, _ := tensor.Bytes(t)
	if len(to) != len(b) {
		return tensor.Any{}, fmt.Errorf("%d bytes for %s", len(b), tensor.Describe(t))
	}
	copy(to, b)
	if conv.BigEndian {
		conv.Reverse(to, conv.Unit(d))
	}
	return t, nil
}

// ofBits returns elements by their bits.
func ofBits(d dtype.DType, bits []uint32, shape []int) (tensor.Any, error) {
	var b []byte
	for _, v := range bits {
		b = append(b, binary.LittleEndian.AppendUint32(nil, v)[:d.Size()]...)
	}
	return unhex(d, hex.EncodeToString(b), shape...)
}

// sameBits compares the elements of a with hexadecimal bytes.
func sameBits(what string, a tensor.Any, text string) error {
	want, err := unhex(a.DType(), text, a.Shape()...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	g, ok := tensor.Bytes(a)
	if !ok {
		return fmt.Errorf("%s: %s isn't row-major", what, tensor.Describe(a))
	}
	w, _ := tensor.Bytes(want)
	for i := range w {
		if g[i] != w[i] {
			n := a.DType().Size()
			return fmt.Errorf("%s: element %d of %s is %x, want %x", what, i/n, tensor.Describe(a), g[i/n*n:][:n], w[i/n*n:][:n])
		}
	}
	return nil
}

// storage compares the storage of p with hexadecimal bytes.
func storage(p pack.Tensor, text string) error {
	data, err := p.Data()
	if err != nil {
		return err
	}
	return sameBits("storage", data, text)
}

// bfpTiles are tiles of block floats: values, bytes, and the values of the bytes.
type bfpTiles struct {
	Name, DType string
	Tile, Face  []int
	Tiles       int    `json:"num_tiles"`
	TileBytes   int    `json:"tile_bytes"`
	In          string `json:"input_f32_hex"`
	Packed      string `json:"packed_hex"`
	Out         string `json:"unpacked_f32_hex"`
}

func (c *bfpTiles) run() error {
	if fmt.Sprint(c.Face) != fmt.Sprint([]int{min(c.Tile[0], 16), 16}) {
		return fmt.Errorf("face %v of tile %v", c.Face, c.Tile)
	}
	// Tiles one after the other: as many matrices of one.
	shape := []int{c.Tiles, c.Tile[0], c.Tile[1]}
	k := stored{DType: c.DType, Tile: c.Tile, Shape: shape}
	_, o, err := k.options()
	if err != nil {
		return err
	}
	x, err := unhex(dtype.Float32, c.In, shape...)
	if err != nil {
		return err
	}
	p, err := pack.Pack(x, &o)
	if err != nil {
		return err
	}
	if p.PageBytes() != c.TileBytes {
		return fmt.Errorf("a tile has %d bytes, want %d", p.PageBytes(), c.TileBytes)
	}
	if err := storage(p, c.Packed); err != nil {
		return err
	}
	return unpacked(p, c.Out)
}

// unpacked compares the values of p.
func unpacked(p pack.Tensor, text string) error {
	out, err := p.Unpack()
	if err != nil {
		return err
	}
	return sameBits("values", out, text)
}

// bfpDecode is bytes of a tile, and its values in the order of the storage.
type bfpDecode struct {
	DType     string
	Exponents []int
	Packed    string `json:"packed_hex"`
	Out       string `json:"unpacked_tile_order_f32_hex"`
}

func (c *bfpDecode) run() error {
	k := stored{DType: c.DType, Shape: []int{32, 32}}
	s, err := k.spec()
	if err != nil {
		return err
	}
	b, err := hex.DecodeString(c.Packed)
	if err != nil {
		return err
	}
	for i := range 64 {
		if want := c.Exponents[i*len(c.Exponents)/64]; int(b[i]) != want {
			return fmt.Errorf("exponent %d is %d, want %d", i, b[i], want)
		}
	}
	p, err := pack.FromBytes(s, mem.Borrow(b, nil), 0)
	if err != nil {
		return err
	}
	out, err := p.Unpack()
	if err != nil {
		return err
	}
	// In the order of the storage: put the values into tiles that no format encodes.
	plain, err := pack.Pack(out, &pack.Options{Tile: s.Tile()})
	if err != nil {
		return err
	}
	return storage(plain, c.Out)
}

// tensorBytes is a tensor, its storage, and the values read back.
type tensorBytes struct {
	stored
	In      string  `json:"input_f32_hex"`
	InTyped string  `json:"input_hex"`
	Out     string  `json:"output_f32_hex"`
	Storage string  `json:"storage_hex"`
	Pad     float64 `json:"pad_value"`
}

func (c *tensorBytes) run() error {
	d, o, err := c.options()
	if err != nil {
		return err
	}
	text, from := c.InTyped, d
	if text == "" {
		text, from = c.In, dtype.Float32
	}
	x, err := unhex(from, text, c.Shape...)
	if err != nil {
		return err
	}
	padding := tensor.Scalar(float32(c.Pad)).Any()
	switch d {
	case dtype.BFloat16:
		x, padding = op.Cast[num.BF16](typed[float32](x)).Any(), op.Cast[num.BF16](tensor.Scalar(c.Pad)).Any()
	case dtype.Uint16:
		padding = tensor.Scalar(uint16(c.Pad)).Any()
	case dtype.Uint32:
		padding = tensor.Scalar(uint32(c.Pad)).Any()
	case dtype.Int32:
		padding = tensor.Scalar(int32(c.Pad)).Any()
	}
	o.Padding = padding
	p, err := pack.Pack(x, &o)
	if err != nil {
		return err
	}
	if err := storage(p, c.Storage); err != nil {
		return err
	}
	if c.Out == "" {
		return unpacked(p, c.InTyped)
	}
	out, err := p.Unpack()
	if err != nil {
		return err
	}
	if b, ok := tensor.As[num.BF16](out); ok {
		out = op.Cast[float32](b).Any()
	}
	return sameBits("values", out, c.Out)
}

// tilizeMap is the place in storage of each element.
type tilizeMap struct {
	stored
	Padded     []int `json:"padded_shape"`
	Physical   []int `json:"physical_shape"`
	Map        []int `json:"physical_to_logical"`
	RoundTrips bool  `json:"upstream_round_trips"`
}

func (c *tilizeMap) run() error {
	c.DType = "int32"
	d, o, err := c.options()
	if err != nil {
		return err
	}
	s, err := pack.NewSpec(d, c.Shape, &o)
	if err != nil {
		return err
	}
	h, w := s.PhysicalShape()
	if fmt.Sprint(s.Padded().Shape(), h, w) != fmt.Sprint(c.Padded, c.Physical[0], c.Physical[1]) || !c.RoundTrips {
		return fmt.Errorf("padded %v, physical %d, %d; want %v, %v", s.Padded().Shape(), h, w, c.Padded, c.Physical)
	}
	n := s.Len()
	ids := tensor.Arange(int32(0), int32(n), 1).Reshape(c.Shape...)
	o.Padding = tensor.Scalar(int32(-1)).Any()
	p, err := pack.Pack(ids.Any(), &o)
	if err != nil {
		return err
	}
	var want bytes.Buffer
	for _, id := range c.Map {
		want.WriteString(hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, uint32(int32(id)))))
	}
	if err := storage(p, want.String()); err != nil {
		return err
	}
	out, err := p.Unpack()
	if err != nil {
		return err
	}
	return compare(out, ids.Any(), exactly)
}
