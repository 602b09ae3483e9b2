package pack

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// specText is a Spec in the form of files.
type specText struct {
	Format     string `json:"format"`
	Shape      []int  `json:"shape"`
	Padded     []int  `json:"padded"`
	Tile       []int  `json:"tile,omitempty"`
	Transposed bool   `json:"transposed,omitempty"`
	Scales     *[]int `json:"scales,omitempty"`
	Axis       int    `json:"axis,omitempty"`
	Block      int    `json:"block,omitempty"`
	Zeros      bool   `json:"zeros,omitempty"`
}

// MarshalText writes the description as JSON, for files:
//
//	{"format":"bfloat8_b","shape":[14,28],"padded":[32,32],"tile":[32,32]}
//	{"format":"uint4","shape":[64,64],"padded":[64,64],"scales":[64,2],"axis":1,"block":32,"zeros":true}
//
// format is TypeName. Rows have no tile. Transposed tiles have "transposed":true. Integers
// of NewIntegers have the shape of their scales, [] for a single one. They have axis and
// block unless these are 0, and "zeros":true if a zero point isn't 0. AppendScales writes
// the numbers themselves. MarshalText fails for a format of another package, which
// ParseSpec doesn't know.
func (s Spec) MarshalText() ([]byte, error) {
	if s.DType() == dtype.Invalid {
		return nil, fail("pack.MarshalText", tensor.ErrDType, "the description is the zero value; NewSpec makes one")
	}
	t := specText{Format: s.TypeName(), Shape: s.Shape(), Padded: s.paddedShape(), Transposed: s.tile.Transposed}
	if f, ok := s.format.(*integers); ok {
		t.Scales, t.Axis, t.Zeros = &f.scales, f.at, f.zeros
		if !f.list {
			t.Block = f.block
		}
	} else if s.format != nil && !slices.Contains(formats, s.format) {
		return nil, fail("pack.MarshalText", tensor.ErrDType, "%s is a format of another package, which nothing that reads the text could find", s.format.Name())
	}
	if s.tile != (Tile{}) {
		t.Tile = []int{s.tile.Height, s.tile.Width}
	}
	return json.Marshal(t)
}

// ParseSpec reads a description of MarshalText. It fails for any other text, for other
// keys, and as NewSpec and NewIntegers do. Integers have no scales yet; WithScales adds
// them.
func ParseSpec(text []byte) (Spec, error) {
	const op = "pack.ParseSpec"
	var t specText
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Spec{}, fail(op, tensor.ErrSyntax, "%.200q: %v", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, fail(op, tensor.ErrSyntax, "%.200q: something follows the description", text)
	}
	o := Options{Padded: append([]int{}, t.Padded...)}
	switch {
	case len(t.Tile) == 2 && t.Tile[0] != 0: // others are refused below: they are no tiles
		o.Tile = Tile{t.Tile[0], t.Tile[1], t.Transposed}
	case t.Tile != nil || t.Transposed:
		return Spec{}, fail(op, tensor.ErrSyntax, "%.200q: a tile has two sides", text)
	}
	if many := t.Scales != nil && len(*t.Scales) > 0; !many && (t.Axis != 0 || t.Block != 0) || t.Zeros && t.Scales == nil {
		return Spec{}, fail(op, tensor.ErrSyntax, "%.200q: an axis and a block are about several scales, zeros about any", text)
	}
	e, err := dtype.Parse(t.Format)
	if t.Scales != nil {
		e = dtype.Float32
		o.Format, err = t.integers()
	} else if err != nil {
		e = dtype.Float32
		o.Format, err = FormatNamed(t.Format)
	}
	if err != nil {
		return Spec{}, tensor.Wrap(op, err)
	}
	s, err := NewSpec(e, t.Shape, &o)
	if err != nil {
		return Spec{}, tensor.Wrap(op, err)
	}
	return s, nil
}
