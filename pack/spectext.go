package pack

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// specText is a Spec as files hold it.
type specText struct {
	Format     string `json:"format"`
	Shape      []int  `json:"shape"`
	Padded     []int  `json:"padded"`
	Tile       []int  `json:"tile,omitempty"`
	Transposed bool   `json:"transposed,omitempty"`
}

// MarshalText writes the description as JSON, for files:
//
//	{"format":"bfloat8_b","shape":[14,28],"padded":[32,32],"tile":[32,32]}
//
// format is TypeName; rows have no tile; transposed tiles have "transposed":true. It
// fails for a format that FormatNamed doesn't know, whose scales would be lost.
func (s Spec) MarshalText() ([]byte, error) {
	if s.format != nil {
		if _, err := FormatNamed(s.format.Name()); err != nil {
			return nil, fail("pack.MarshalText", tensor.ErrDType, "%s needs more than its name to be read again; unpack the tensor, and write it and the scales", s.format.Name())
		}
	}
	t := specText{Format: s.TypeName(), Shape: s.Shape(), Padded: s.paddedShape(), Transposed: s.tile.Transposed}
	if s.tile != (Tile{}) {
		t.Tile = []int{s.tile.Height, s.tile.Width}
	}
	return json.Marshal(t)
}

// ParseSpec reads what MarshalText writes. It fails for anything else, and as NewSpec
// does.
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
	case len(t.Tile) == 2:
		o.Tile = Tile{t.Tile[0], t.Tile[1], t.Transposed}
	case t.Tile != nil || t.Transposed:
		return Spec{}, fail(op, tensor.ErrSyntax, "%.200q: a tile has two sides", text)
	}
	e, err := dtype.Parse(t.Format)
	if err != nil {
		e = dtype.Float32
		if o.Format, err = FormatNamed(t.Format); err != nil {
			return Spec{}, in(op, err)
		}
	}
	s, err := NewSpec(e, t.Shape, o)
	if err != nil {
		return Spec{}, in(op, err)
	}
	return s, nil
}
