package safetensors

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestPacked(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 3, 14, 28)
	names := []string{"bfp8", "bfp4", "tiles", "rows", "plain"}
	ts := []tensor.Any{{}, {}, {}, {}, x.Any()}
	for i, o := range []pack.Options{
		{Tile: pack.TileOf(32, 32), Format: pack.BFP8}, {Tile: pack.TileOf(4, 16), Format: pack.BFP4},
		{Tile: pack.Tile{Height: 16, Width: 32, Transposed: true}}, {Align: []int{5, 10}},
	} {
		p, err := pack.Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		ts[i] = p.Any()
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
			if same, err := a.Foreign().(pack.Tensor).Equal(ts[i].Foreign().(pack.Tensor)); !same || err != nil {
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

// Integers come back with their scales and zero points, whatever the order of bytes.
func TestPackedIntegers(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 6, 5, 8)
	zero := tensor.FromSlice([]int32{3, 0, 255, 7, 8, 9}, 6)
	names := []string{"one", "axis", "block", "empty"}
	var ts []tensor.Any
	for i, o := range []pack.Integers{
		{Bits: 8, Scale: tensor.Scalar(float32(0.25))},
		{Bits: 8, Unsigned: true, Shape: x.Shape(), Axis: 0, Scale: tensor.Full(float32(0.125), 6), Zero: zero},
		{Bits: 4, Shape: x.Shape(), Axis: -1, Block: 4, Scale: tensor.RandomUniform[float32](2, 0.1, 1, 6, 5, 2)},
		{Bits: 4, Shape: []int{0, 3}, Axis: 0, Scale: tensor.New[float32](0)},
	} {
		f, err := pack.NewIntegers(o)
		if err != nil {
			t.Fatal(err)
		}
		y := x
		if i == 3 {
			y = tensor.New[float32](0, 3)
		}
		p, err := pack.Pack(y.Any(), &pack.Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		ts = append(ts, p.Any())
	}
	defer func(v bool) { conv.BigEndian = v }(conv.BigEndian)
	for range 2 {
		text := written(t, names, ts, nil)
		f := open(t, text)
		if got, want := f.Metadata()[PackKey+"block"], `{"format":"int4","shape":[6,5,8],"padded":[6,5,8],"scales":[6,5,2],"axis":2,"block":4}`; got != want {
			t.Errorf("metadata %s", got)
		}
		for i, name := range names {
			a, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			p, want := a.Foreign().(pack.Tensor), ts[i].Foreign().(pack.Tensor)
			if same, err := p.Equal(want); !same || err != nil || !p.Identical(want.Spec) {
				t.Errorf("%s comes back as %v: %v", name, p.Spec, err)
			}
			if info, err := f.Info(name); err != nil || info.Packed.String() != want.Spec.String() || info.Bytes != want.Bytes()+want.ScaleBytes() {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
			if s, err := f.Tensor(name, tensor.Ellipsis); err != nil || !slices.Equal(s.Shape(), want.Shape()) {
				t.Errorf("%s: %v, %v", name, s, err)
			}
		}
		conv.BigEndian = !conv.BigEndian
	}

	// Numbers that are no scales are found when the tensor is read.
	for _, bad := range []string{"\x00\x00\x00\x00", "\x00\x00\xc0\x7f", "\x00\x00\x80\x7f", "\x00\x00\x80\xbf"} {
		f := open(t, raw(`{"__metadata__":{"`+PackKey+`x":"{\"format\":\"int8\",\"shape\":[2],\"padded\":[2],\"scales\":[]}"},"x":{"dtype":"U8","shape":[6],"data_offsets":[0,6]}}`, "ab"+bad))
		if _, err := f.Tensor("x"); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), `"x": pack.WithScales: scale 0 is `) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

// A file with any few bytes changed is refused with an error, or is a file.
func TestPackedMutations(t *testing.T) {
	x := tensor.RandomNormal[float32](1, 0, 1, 3, 8)
	f, err := pack.Calibrate(x, pack.Integers{Bits: 4, Unsigned: true, Shape: x.Shape(), Axis: 1, Block: 4})
	if err != nil {
		t.Fatal(err)
	}
	var ts []tensor.Any
	for _, o := range []pack.Options{{Tile: pack.TileOf(4, 16), Format: pack.BFP8}, {Tile: pack.TileOf(2, 16)}, {Format: f}} {
		p, err := pack.Pack(x.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		ts = append(ts, p.Any())
	}
	text := written(t, []string{"a", "b", "c"}, ts, nil)
	end := 8 + int(binary.LittleEndian.Uint64([]byte(text)))
	rng := rand.New(rand.NewPCG(1, 2))
	kept := 0
	for range 20000 {
		b := []byte(text)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(min(end, len(b)))
			if rng.IntN(8) == 0 {
				at = rng.IntN(len(b))
			}
			switch rng.IntN(4) {
			case 0:
				b[at] ^= 1 << rng.IntN(8)
			case 1:
				b[at] = "0123456789[]{},:\"\\-"[rng.IntN(19)]
			case 2:
				b = slices.Delete(b, at, min(len(b), at+rng.IntN(8)))
			case 3:
				from := rng.IntN(end)
				copy(b[at:min(len(b), at+rng.IntN(12))], b[from:])
			}
		}
		if rng.IntN(10) == 0 {
			b = b[:rng.IntN(len(b))]
		}
		file, err := New(memory(string(b)))
		if err == nil {
			for _, name := range file.Names() {
				var a tensor.Any
				if a, err = file.Tensor(name); err != nil {
					break
				}
				if p, ok := a.Foreign().(pack.Tensor); ok {
					if a, err = p.Unpack(); err != nil {
						t.Fatalf("%q: %v isn't unpacked: %v", b[:end], p.Spec, err)
					}
				}
				_ = tensor.Sprint(a, nil)
			}
		}
		var own *format.Error
		switch {
		case err == nil:
			kept++
		case !errors.As(err, &own):
			t.Fatalf("%q: an error of another kind: %#v", b, err)
		}
	}
	if kept == 0 || kept == 20000 {
		t.Errorf("%d of 20000 are files", kept)
	}
}

func TestPackedErrors(t *testing.T) {
	for _, c := range []struct{ key, text, entry, want string }{
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 24 of bfloat4_b[3] in tiles of 1×16, padded to [1,16] that the metadata describes`},
		{"y", `{}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `the metadata "ashlar.pack:y" describes a tensor that the file doesn't have`},
		{"x", `{"format":"bfp4"`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its description in the metadata: pack.ParseSpec: `},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,32],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 48 of bfloat4_b[3] in tiles of 1×16, padded to [1,32] that the metadata describes`},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"I8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of I8 aren't the 24 of`},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16]}`, `{"dtype":"U8","shape":[4,8],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 24 of`},
		{"x", `{"format":"bfp4","shape":[1073741824],"padded":[1073741824,1073741824],"tile":[1,16]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its description in the metadata: pack.ParseSpec: `},
		{"x", `{"format":"int4","shape":[4,10],"padded":[4,10],"scales":[4]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `its 32 bytes of U8 aren't the 36 of int4[4,10], scales along axis 0 that the metadata describes`},
		{"x", `{"format":"int4","shape":[4,10],"padded":[4,10],"scales":[10]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `pack.ParseSpec: scales of shape [10]; of shape [4,10] along axis 0 they have [4]`},
		{"x", `{"format":"bfp4","shape":[3],"padded":[1,16],"tile":[1,16],"scales":[]}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, `pack.ParseSpec: "bfp4" has no scales; int4, uint4, int8 and uint8 have`},
		{"x", `{"format":"int8","shape":[32],"padded":[32],"axis":1}`, `{"dtype":"I8","shape":[32],"data_offsets":[0,32]}`, `: an axis and a block are about several scales, zeros about any`},
		{"x", `{"format":"int8","shape":[1073741824,0,1073741824],"padded":[1073741824,0,1073741824],"scales":[1073741824],"axis":2}`, `{"dtype":"U8","shape":[32],"data_offsets":[0,32]}`, ``},
	} {
		text := `{"__metadata__":{"` + PackKey + c.key + `":"` + strings.ReplaceAll(c.text, `"`, `\"`) + `"},"x":` + c.entry + `}`
		_, err := New(memory(raw(text, strings.Repeat("x", 32))))
		if !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	p, err := pack.Pack(tensor.New[float32](2).Any(), &pack.Options{Tile: pack.TileOf(1, 16)})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := Write(&strings.Builder{}, []string{"x"}, []tensor.Any{p.Any()}, nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("of a closed tensor: %v", err)
	}
}
