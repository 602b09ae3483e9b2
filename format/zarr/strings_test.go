package zarr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// vlen is a chunk of strings of variable length.
func vlen(list ...string) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	for _, s := range list {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return string(b)
}

// Strings of variable length are read by their index from chunks in either order, in both versions, with fill values for absent chunks.
func TestStrings(t *testing.T) {
	const (
		v2 = `{"zarr_format":2,"shape":[3,4],"chunks":[2,3],"dtype":"|O","compressor":null,"fill_value":FILL,"order":"ORDER","filters":[{"id":"vlen-utf8"},{"id":"crc32","location":"end"}]}`
		v3 = `{"zarr_format":3,"node_type":"array","shape":[3,4],"data_type":"string","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},"chunk_key_encoding":{"name":"v2"},
"fill_value":"-","codecs":[CODECS"vlen-utf8",{"name":"gzip","configuration":{"level":1}}]}`
	)
	for name, meta := range map[string]string{
		"C":          strings.NewReplacer("FILL", `"-"`, "ORDER", "C").Replace(v2),
		"F":          strings.NewReplacer("FILL", `"-"`, "ORDER", "F").Replace(v2),
		"3":          strings.Replace(v3, "CODECS", "", 1),
		"transposed": strings.Replace(v3, "CODECS", `{"name":"transpose","configuration":{"order":[1,0]}},`, 1),
	} {
		s, key := Memory(), ".zarray"
		if strings.Contains(meta, "node_type") {
			key = "zarr.json"
		}
		if err := s.Set(t.Context(), key, []byte(meta)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), s, "", nil)
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range 2 {
			for j := range 2 {
				if i == 1 && j == 1 {
					continue // absent
				}
				var list []string
				for k := range 6 {
					row, column := k/3, k%3
					if name == "F" || name == "transposed" {
						row, column = k%2, k/2
					}
					list = append(list, strings.Repeat("é", 2*i+row)+fmt.Sprint(3*j+column))
				}
				b := []byte(vlen(list...))
				for _, stage := range a.pipe.stages {
					if b, err = stage.encode(nil, b); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Set(t.Context(), a.ChunkKey(i, j), b); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, c := range []struct {
			idx  []tensor.Index
			want string
		}{
			{nil, "[3 4] 0|1|2|3|é0|é1|é2|é3|éé0|éé1|éé2|-"},
			{[]tensor.Index{tensor.I(1)}, "[4] é0|é1|é2|é3"},
			{[]tensor.Index{tensor.I(2), tensor.I(3)}, "[] -"},
			{[]tensor.Index{tensor.Ellipsis, tensor.R(3, 0, -2)}, "[3 2] 3|1|é3|é1|-|éé1"},
			{[]tensor.Index{tensor.R(1, 1)}, "[0 4] "},
		} {
			list, shape, err := a.Strings(t.Context(), c.idx...)
			if got := fmt.Sprint(shape, " ", strings.Join(list, "|")); err != nil || list == nil || got != c.want {
				t.Errorf("%s %v: %s, %v; want %s", name, c.idx, got, err, c.want)
			}
		}
		_, read := a.Read(t.Context())
		_, chunk := a.ReadChunk(t.Context(), 1, 1)
		_, out := func() (int, error) { _, _, err := a.Strings(t.Context(), tensor.I(9)); return 0, err }()
		if !errors.Is(read, format.ErrType) || !errors.Is(chunk, format.ErrType) || !errors.Is(out, tensor.ErrIndex) {
			t.Errorf("%s: %v, %v, %v", name, read, chunk, out)
		}
		if err := a.Write(t.Context(), []int{0, 0}, tensor.New[uint8](1, 1).Any()); err == nil {
			t.Errorf("%s is written", name)
		}
		if _, err := Create(t.Context(), Memory(), "", a.Metadata(), nil); !errors.Is(err, format.ErrType) {
			t.Errorf("%s is created: %v", name, err)
		}
	}
}

// MaxBytes bounds the strings of a part, not only those of a chunk.
func TestStringsLimit(t *testing.T) {
	s := Memory()
	meta := `{"zarr_format":2,"shape":[4],"chunks":[1],"dtype":"|O","compressor":null,"fill_value":null,"order":"C","filters":[{"id":"vlen-utf8"}]}`
	if err := s.Set(t.Context(), ".zarray", []byte(meta)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // the last one is absent
		if err := s.Set(t.Context(), fmt.Sprint(i), []byte(vlen(strings.Repeat("é", 500)))); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(t.Context(), s, "", &Options{MaxBytes: 2048})
	if err != nil {
		t.Fatal(err)
	}
	if list, _, err := a.Strings(t.Context(), tensor.R(1, 4)); err != nil || len(list[0]) != 1000 || len(list[1]) != 1000 || list[2] != "" {
		t.Errorf("2000 bytes: %q, %v", list, err)
	}
	if list, _, err := a.Strings(t.Context()); !errors.Is(err, format.ErrLimit) {
		t.Errorf("3000 bytes: %q, %v", list, err)
	}
}

// Damaged chunks, and objects that aren't texts, are refused with a reason.
func TestStringsRefused(t *testing.T) {
	for _, c := range []struct{ filters, fill, chunk, text string }{
		{`[{"id":"vlen-utf8"}]`, "null", vlen("a"), "has 2 strings"},
		{`[{"id":"vlen-utf8"}]`, "null", vlen("a", "b", "c"), "has 2 strings"},
		{`[{"id":"vlen-utf8"}]`, "null", vlen("a", "b")[:13], "ends beyond"},
		{`[{"id":"vlen-utf8"}]`, "null", vlen("a", "b") + "c", "1 bytes follow"},
		{`[{"id":"vlen-utf8"}]`, "null", vlen("a", "\xff"), "isn't UTF-8"},
		{`[{"id":"vlen-utf8"}]`, "null", "", "has 2 strings"},
		{`[{"id":"vlen-utf8"}]`, "7", "", "fill_value 7 is no string"},
		{`[{"id":"vlen-bytes"}]`, "null", "", `filter "vlen-bytes"; texts`},
		{`[{"id":"vlen-array","dtype":"<i4"}]`, "null", "", `filter "vlen-array"`},
		{`[{"id":"pickle"}]`, "null", "", `filter "pickle"`},
		{`[{"id":5}]`, "null", "", `filter 5`},
		{`null`, "null", "", "no filter"},
		{`[{"id":"vlen-utf8"},{"id":"delta","dtype":"<i4"}]`, "null", "", "delta"},
	} {
		s := Memory()
		meta := fmt.Sprintf(`{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|O","compressor":null,"fill_value":%s,"order":"C","filters":%s}`, c.fill, c.filters)
		if err := errors.Join(s.Set(t.Context(), ".zarray", []byte(meta)), s.Set(t.Context(), "0", []byte(c.chunk))); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), s, "", nil)
		if err == nil {
			_, _, err = a.Strings(t.Context())
		}
		if typed(t, err); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %q: %v; want %s", c.filters, c.chunk, err, c.text)
		}
	}
	for _, codec := range []string{`"bytes"`, `{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":["vlen-utf8"],"index_codecs":["bytes"]}}`} {
		if _, err := stored(t, `"string"`, `""`, codec, nil); !errors.Is(err, ErrCodec) || !strings.Contains(err.Error(), "vlen-utf8") {
			t.Errorf("%s: %v", codec, err)
		}
	}
	if _, err := stored(t, `"int16"`, `0`, `"vlen-utf8"`, nil); !errors.Is(err, ErrCodec) {
		t.Error(err)
	}
	if _, err := Create(t.Context(), Memory(), "", Metadata{DType: dtype.Uint8, Type: "string", Shape: []int{1}, Chunks: []int{1}}, nil); !errors.Is(err, format.ErrType) {
		t.Error(err)
	}
	s := Memory()
	if err := s.Set(t.Context(), ".zarray", []byte(`{"zarr_format":2,"shape":[1000000000,1000000000],"chunks":[1,1],"dtype":"|O","compressor":null,"fill_value":null,"order":"C","filters":[{"id":"vlen-utf8"}]}`)); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Strings(t.Context()); !errors.Is(err, format.ErrLimit) {
		t.Error(err)
	}
}
