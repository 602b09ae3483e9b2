package safetensors

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestPacked(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 3, 14, 28)
	names := []string{"bfp8", "bfp4", "tiles", "rows", "plain"}
	ts := []tensor.Any{nil, nil, nil, nil, x}
	for i, o := range []pack.Options{
		{Tile: pack.TileOf(32, 32), Format: pack.BFP8}, {Tile: pack.TileOf(4, 16), Format: pack.BFP4},
		{Tile: pack.Tile{Height: 16, Width: 32, Transposed: true}}, {Align: []int{5, 10}},
	} {
		p, err := pack.Pack(x, o)
		if err != nil {
			t.Fatal(err)
		}
		ts[i] = p
	}
	const key = PackKey + "bfp8"
	text := written(t, names, ts, map[string]string{"note": "mine", PackKey + "gone": "stale"})
	again := func() {
		f := open(t, text)
		if m := f.Metadata(); m["note"] != "mine" || m[PackKey+"gone"] != "" ||
			m[key] != `{"format":"bfloat8_b","shape":[3,14,28],"padded":[3,32,32],"tile":[32,32]}` {
			t.Errorf("metadata %q", m)
		}
		for i, name := range names[:4] {
			a, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := a.(pack.Tensor).Equal(ts[i].(pack.Tensor)); !same || err != nil {
				t.Errorf("%s comes back as something else: %v", name, err)
			}
			if info, err := f.Info(name); err != nil || len(info.Shape) != 1 || !slices.Equal(info.Packed.Shape(), []int{3, 14, 28}) {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
		}
		if info, err := f.Info("plain"); err != nil || info.Packed != nil {
			t.Errorf("plain: %+v, %v", info, err)
		}
	}
	again()
	metadata := open(t, text).Metadata()
	if written(t, names, ts, metadata) != text || !maps.Equal(metadata, open(t, text).Metadata()) {
		t.Error("written and read again it differs")
	}
	conv.BigEndian = !conv.BigEndian
	text = written(t, names, ts, metadata)
	again()
	conv.BigEndian = !conv.BigEndian
}

func TestPackedErrors(t *testing.T) {
	for _, c := range []struct{ key, text, entry, want string }{
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 24 of bfloat4_b[3] in tiles of 1×16, padded to [1,16] that the metadata describes`},
		{"y", `{}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `the metadata "ashlar.pack:y" describes a tensor that the file doesn't have`},
		{"x", `{"format":"bfp4"`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its description in the metadata: pack.ParseSpec: `},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,32],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 48 of bfloat4_b[3] in tiles of 1×16, padded to [1,32] that the metadata describes`},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"I8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of I8 aren't the 24 of`},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"U8","shape":[4,8],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 24 of`},
		{"x", `{"format":"bfp4","shape":[4611686018427387904],"padded":[1,4611686018427387904],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its description in the metadata: pack.ParseSpec: 46`},
	} {
		text := `{"__metadata__":{"` + PackKey + c.key + `":"` + strings.ReplaceAll(c.text, `"`, `\"`) + `"},"x":` + c.entry + `}`
		_, err := New(memory(raw(text, strings.Repeat("x", 32))))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	p, err := pack.Pack(tensor.New[float32](2), pack.Options{Tile: pack.TileOf(1, 16)})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := Write(&strings.Builder{}, []string{"x"}, []tensor.Any{p}, nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("of a closed tensor: %v", err)
	}
}
