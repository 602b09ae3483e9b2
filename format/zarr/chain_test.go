package zarr

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// shardsOf is the codec sharding_indexed.
func shardsOf(chunk []int, location string, list, index []Codec) Codec {
	return Codec{"sharding_indexed", map[string]any{"chunk_shape": chunk, "codecs": list, "index_codecs": index, "index_location": location}}
}

// chains are lists of codecs for chunks of 4 by 6.
func chains() [][]Codec {
	little, index := Bytes(binary.LittleEndian), []Codec{Bytes(binary.LittleEndian), CRC32C()}
	return [][]Codec{
		{little}, {Bytes(binary.BigEndian), Zstd(1)}, {Bytes(nil), Gzip(1)}, {little, Gzip(1), CRC32C()}, {Transpose(1, 0), little},
		{shardsOf([]int{2, 3}, "end", []Codec{little, CRC32C()}, []Codec{Bytes(binary.BigEndian)})},
		{Transpose(1, 0), shardsOf([]int{3, 2}, "start", []Codec{Transpose(1, 0), Bytes(binary.BigEndian)}, index), Gzip(1), CRC32C()},
		{shardsOf([]int{4, 3}, "end", []Codec{shardsOf([]int{2, 1}, "start", []Codec{little, Zstd(1)}, []Codec{Transpose(2, 0, 1), Bytes(binary.BigEndian), CRC32C(), CRC32C()})}, index)},
		{little, {Name: numcodecs + "zlib"}, {Name: numcodecs + "crc32", Configuration: map[string]any{"location": "end"}}, {Name: numcodecs + "adler32"}},
	}
}

// encodeAs makes the bytes of a chunk of uint16 by definition, element by element. Inner chunks of which all elements are 7 are absent. gap
// returns the number of unused bytes that stand before and behind the inner chunks of a shard.
func encodeAs(list []Codec, shape []int, gap func() int, at func(index []int) uint16) []byte {
	var b []byte
	for _, c := range list {
		switch c.Name {
		case "transpose":
			order, inner := c.Configuration["order"].([]int), at
			old := shape
			shape = make([]int, len(old))
			for i, k := range order {
				shape[i] = old[k]
			}
			at = func(index []int) uint16 {
				from := make([]int, len(index))
				for i, k := range order {
					from[k] = index[i]
				}
				return inner(from)
			}
		case "bytes":
			var put binary.AppendByteOrder = binary.LittleEndian
			if c.Configuration["endian"] == "big" {
				put = binary.BigEndian
			}
			each(shape, func(index []int) { b = put.AppendUint16(b, at(index)) })
		case "sharding_indexed":
			chunk := c.Configuration["chunk_shape"].([]int)
			grid := make([]int, len(shape))
			for i := range grid {
				grid[i] = shape[i] / chunk[i]
			}
			var places []uint64
			var data []byte
			index := c.Configuration["index_codecs"].([]Codec)
			size := 16*each(grid, func([]int) {}) + 4*(len(index)-1)
			if index[0].Name == "transpose" {
				size -= 4
			}
			start := 0
			if c.Configuration["index_location"] == "start" {
				start = size
			}
			each(grid, func(k []int) {
				empty := true
				part := func(index []int) uint16 {
					from := make([]int, len(index))
					for i := range index {
						from[i] = k[i]*chunk[i] + index[i]
					}
					return at(from)
				}
				each(chunk, func(index []int) { empty = empty && part(index) == 7 })
				if empty {
					places = append(places, math.MaxUint64, math.MaxUint64)
					return
				}
				data = append(data, bytes.Repeat([]byte{0xa5}, gap())...)
				one := encodeAs(c.Configuration["codecs"].([]Codec), chunk, gap, part)
				places = append(places, uint64(start+len(data)), uint64(len(one)))
				data = append(data, one...)
			})
			data = append(data, bytes.Repeat([]byte{0xa5}, gap())...)
			if index[0].Name == "transpose" { // the axis of places and sizes first
				var first, second []uint64
				for i := 0; i < len(places); i += 2 {
					first, second = append(first, places[i]), append(second, places[i+1])
				}
				places, index = append(first, second...), index[1:]
			}
			var put binary.AppendByteOrder = binary.LittleEndian
			if index[0].Configuration["endian"] == "big" {
				put = binary.BigEndian
			}
			var table []byte
			for _, p := range places {
				table = put.AppendUint64(table, p)
			}
			for range index[1:] {
				table = binary.LittleEndian.AppendUint32(table, crc32.Checksum(table, castagnoli))
			}
			if b = append(data, table...); start > 0 {
				b = append(table, data...)
			}
		case "crc32c":
			b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		case "gzip":
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, err := w.Write(b)
			if err = errors.Join(err, w.Close()); err != nil {
				panic(err)
			}
			b = out.Bytes()
		}
	}
	return b
}

// each calls f for the places of a shape, the last axis fastest, and returns how many there are.
func each(shape []int, f func([]int)) (n int) {
	index := make([]int, len(shape))
	for {
		f(index)
		n++
		axis := len(shape) - 1
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
		if axis < 0 {
			return n
		}
	}
}

// randomChain draws a list of codecs for chunks of a shape.
func randomChain(t *rapid.T, shape []int, depth int) (list []Codec) {
	order := make([]int, len(shape))
	for i := range order {
		order[i] = i
	}
	if rapid.Bool().Draw(t, "transpose") {
		order = rapid.Permutation(order).Draw(t, "order")
		list = append(list, Transpose(order...))
	}
	stored := make([]int, len(shape))
	for i, k := range order {
		stored[i] = shape[k]
	}
	if depth < maxDepth && rapid.IntRange(0, depth).Draw(t, "plain") == 0 {
		chunk := make([]int, len(stored))
		for i, n := range stored {
			chunk[i] = n / rapid.SampledFrom(slices.DeleteFunc([]int{1, 2, 3}, func(k int) bool { return n%k != 0 })).Draw(t, "parts")
		}
		index := []Codec{Bytes(endian(rapid.Bool().Draw(t, "big index")))}
		if rapid.Bool().Draw(t, "index transposed") {
			axes := []int{len(shape)}
			for i := range shape {
				axes = append(axes, i)
			}
			index = append([]Codec{Transpose(axes...)}, index...)
		}
		for range rapid.IntRange(0, 2).Draw(t, "checksums") {
			index = append(index, CRC32C())
		}
		list = append(list, shardsOf(chunk, rapid.SampledFrom([]string{"start", "end"}).Draw(t, "location"), randomChain(t, chunk, depth+1), index))
	} else {
		list = append(list, Bytes(endian(rapid.Bool().Draw(t, "big"))))
	}
	for range rapid.IntRange(0, 2).Draw(t, "behind") {
		list = append(list, rapid.SampledFrom([]Codec{Gzip(1), CRC32C()}).Draw(t, "codec"))
	}
	return list
}

// A chunk is read, and but for gzip written, as the definition of its codecs has it.
func TestChains(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 3).Draw(t, "rank")
		shape := make([]int, rank)
		for i := range shape {
			shape[i] = rapid.SampledFrom([]int{1, 2, 3, 4, 6}).Draw(t, "extent")
		}
		list := randomChain(t, shape, 0)
		want := tensor.EmptyOf(dtype.Uint16, shape...)
		values, _ := tensor.As[uint16](want)
		number := uint16(rapid.IntRange(1, 9).Draw(t, "values"))
		k := uint16(0)
		each(shape, func(index []int) { values.Set(7+k/number%3, index...); k++ })
		gap := func() int {
			return rapid.SampledFrom([]int{0, 0, 1, 7, 500, 4096, 30000}).Draw(t, "unused bytes")
		}
		b := encodeAs(list, shape, gap, func(index []int) uint16 { return values.At(index...) })
		tight := encodeAs(list, shape, func() int { return 0 }, func(index []int) uint16 { return values.At(index...) })
		s := Memory()
		a, err := Create(ctx, s, "", Metadata{DType: dtype.Uint16, Shape: shape, Chunks: shape, Codecs: list, Fill: tensor.Scalar[uint16](7).Any()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		key := a.ChunkKey(make([]int, rank)...)
		for range 2 { // as the definition has it, then as it is written
			if err := s.Set(ctx, key, b); err != nil {
				t.Fatal(err)
			}
			opened := s
			if kind := rapid.IntRange(0, 2).Draw(t, "store"); kind == 1 {
				opened = plainStore{s}
			} else if kind == 2 {
				opened, _ = deflated(t, map[string][]byte{"zarr.json": mustRead(t, s), key: b})
			}
			a, err := Open(ctx, opened, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Read(ctx)
			if err != nil || !same(got, want) {
				t.Fatalf("%v: %v\n%v\nwant\n%v", list, err, got, want)
			}
			if a, err = Open(ctx, s, "", nil); err == nil {
				err = a.Write(ctx, make([]int, rank), want)
			}
			if err != nil {
				t.Fatal(err)
			}
			written, err := s.Get(ctx, key, 1<<20)
			if text := strings.Contains(string(mustRead(t, s)), "gzip"); err != nil || !text && !bytes.Equal(written, tight) {
				t.Fatalf("%v: written %x, %v; want %x", list, written, err, tight)
			}
			b = written
		}
	})
}

func mustRead(t *rapid.T, s Store) []byte {
	b, err := s.Get(t.Context(), "zarr.json", maxMetadata)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Filters of version 3 stand before the codec bytes, whose byte order is that of what they store.
func TestFilters3(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		list string
		b    []byte
		want []float64
		text string // of the error
	}{
		{`{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":1000,"scale":10,"dtype":"<f8","astype":"<i2"}},{"name":"bytes","configuration":{"endian":"big"}}`, []byte{0, 1, 0xff, 0xff}, []float64{1000.1, 999.9}, ""},
		{`{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":1000,"scale":10,"dtype":"float64","astype":"u1"}},"bytes",{"name":"gzip","configuration":{"level":1}}`, nil, nil, "gzip"},
		{`{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":2,"astype":"|u1"}},"bytes"`, []byte{1, 3}, []float64{0.5, 1.5}, ""},
		{`{"name":"numcodecs.delta","configuration":{"dtype":"<f8"}},{"name":"bytes","configuration":{"endian":"little"}}`, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, []float64{1, 2}, ""},
		{`{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":2,"astype":">i2"}},{"name":"bytes","configuration":{"endian":"big"}}`, nil, nil, "byte order"},
		{`{"name":"bytes","configuration":{"endian":"big"}},{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":2,"dtype":">f8"}}`, nil, nil, "stands behind"},
		{`{"name":"transpose","configuration":{"order":[0]}},{"name":"numcodecs.delta"},{"name":"bytes","configuration":{"endian":"big"}}`, nil, nil, "transpose"},
		{`{"name":"numcodecs.bitround","configuration":{"keepbits":3}},{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":["bytes"],"index_codecs":["bytes"]}}`, nil, nil, "bitround"},
	} {
		s := Memory()
		meta := strings.NewReplacer("[5,4]", "[2]", "[2,4]", "[2]", "int16", "float64", "CODECS", c.list).Replace(some3)
		if err := errors.Join(s.Set(ctx, "zarr.json", []byte(meta)), s.Set(ctx, "c/0", c.b)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, s, "", nil)
		var got tensor.Any
		if err == nil {
			got, err = a.Read(ctx)
		}
		if c.text != "" {
			if typed(t, err); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v, %v; want %s", c.list, got, err, c.text)
			}
		} else if err != nil || !same(got, tensor.FromSlice(c.want, 2).Any()) {
			t.Errorf("%s: %v, %v; want %v", c.list, got, err, c.want)
		}
	}
}

// A key of a codec that isn't known is refused by name, and so is a value that a key can't have.
func TestKeys(t *testing.T) {
	ctx := t.Context()
	for name := range codecs {
		id := strings.TrimPrefix(name, numcodecs)
		docs := map[string]string{"zarr.json": strings.Replace(some3, "CODECS", `{"name":"`+name+`","configuration":{"speed":1}}`, 1)}
		if c := (Codec{Name: name}); c.kind() == ofBytes {
			docs["zarr.json"] = strings.Replace(some3, "CODECS", `{"name":"bytes","configuration":{"endian":"little"}},{"name":"`+name+`","configuration":{"speed":1}}`, 1)
		} else if c.kind() == ofElements {
			docs["zarr.json"] = strings.Replace(some3, "CODECS", `{"name":"`+name+`","configuration":{"speed":1}},"bytes"`, 1)
		}
		if id != name {
			docs[".zarray"] = strings.Replace(some2, "COMPRESSOR", `{"id":"`+id+`","speed":1}`, 1)
		}
		for key, doc := range docs {
			s := Memory()
			if err := s.Set(ctx, key, []byte(doc)); err != nil {
				t.Fatal(err)
			}
			_, err := Open(ctx, s, "", nil)
			if name == "zlib" && err != nil {
				continue // of version 2
			}
			if err == nil || !strings.Contains(err.Error(), `"speed"`) {
				t.Errorf("%s %s: %v", name, key, err)
			}
		}
	}
	for _, c := range []string{`{"id":"crc32","location":"middle"}`, `{"id":"shuffle","elementsize":1.5}`, `{"id":"shuffle","elementsize":null}`, `{"id":"gzip","level":"best"}`, `{"id":"delta","dtype":7}`} {
		s := Memory()
		if err := s.Set(ctx, ".zarray", []byte(strings.Replace(some2, "COMPRESSOR", c, 1))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, s, "", nil); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// Checksums of numcodecs stand where their location says.
func TestLocation(t *testing.T) {
	ctx := t.Context()
	data := []byte("0123456789abcdef")
	for id, sum := range map[string]func([]byte) uint32{"crc32": crc32.ChecksumIEEE, "adler32": adler32.Checksum,
		"crc32c": func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }} {
		for where, before := range map[string]bool{`"start"`: true, `"end"`: false, "": id != "crc32c"} {
			filter := `{"id":"` + id + `"}`
			if where != "" {
				filter = `{"id":"` + id + `","location":` + where + `}`
			}
			value := binary.LittleEndian.AppendUint32(nil, sum(data))
			b := slices.Concat(data, value)
			if before {
				b = slices.Concat(value, data)
			}
			s := Memory()
			if err := errors.Join(s.Set(ctx, ".zarray", []byte(strings.Replace(some2, "COMPRESSOR", filter, 1))), s.Set(ctx, "0.0", b)); err != nil {
				t.Fatal(err)
			}
			a, err := Open(ctx, s, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.ReadChunk(ctx, 0, 0)
			if raw, ok := tensor.Bytes(got); err != nil || !ok || !bytes.Equal(raw, data) {
				t.Errorf("%s: %v, %v", filter, got, err)
			}
		}
	}
}
