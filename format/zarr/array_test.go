package zarr

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func same(a, b tensor.Any) bool {
	x, ok := tensor.Bytes(a.Contiguous())
	y, ok2 := tensor.Bytes(b.Contiguous())
	return ok && ok2 && a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) && slices.Equal(x, y)
}

func pattern(d dtype.DType, shape []int) tensor.Any {
	t, err := tensor.Make(d, shape...)
	if err != nil {
		panic(err)
	}
	b, _ := tensor.Bytes(t)
	for i := range b {
		if b[i] = byte(i*i + i/7); d == dtype.Bool {
			b[i] &= 1
		}
	}
	return t
}

// What is written is read again, for random shapes, chunks, codecs and parts.
func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	folder, err := Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		count++
		m := Metadata{DType: rapid.SampledFrom([]dtype.DType{dtype.Bool, dtype.Int16, dtype.Float32, dtype.Complex128, dtype.BFloat16, dtype.Uint64}).Draw(t, "type")}
		rank := rapid.IntRange(0, 3).Draw(t, "rank")
		order := []int{}
		for i := range rank {
			m.Shape = append(m.Shape, rapid.IntRange(0, 7).Draw(t, "extent"))
			inner, n := rapid.IntRange(1, 3).Draw(t, "inner"), rapid.IntRange(1, 2).Draw(t, "inner chunks")
			m.Chunks, m.Inner = append(m.Chunks, inner*n), append(m.Inner, inner)
			order = append(order, rank-1-i)
		}
		if rank == 0 || rapid.Bool().Draw(t, "plain") {
			m.Inner = nil
		}
		m.Version = 3
		m.Codecs = []Codec{}
		if rapid.Bool().Draw(t, "transposed") {
			m.Codecs = append(m.Codecs, Transpose(order...))
		}
		m.Codecs = append(m.Codecs, Bytes(endian(rapid.Bool().Draw(t, "big"))))
		if conv.NumPy[m.DType] != "" && m.Inner == nil && rapid.Bool().Draw(t, "version 2") {
			m.Version = 2
			m.Codecs = append(m.Codecs, rapid.SampledFrom([]Codec{Gzip(3), Zstd(1), {Name: "zlib"}}).Draw(t, "codec"))
		} else {
			m.Codecs = append(m.Codecs, rapid.SampledFrom([]Codec{Gzip(3), Zstd(1), CRC32C()}).Draw(t, "codec"))
			m.V2Keys, m.IndexAtStart, m.IndexWithoutCRC = rapid.Bool().Draw(t, "keys"), rapid.Bool().Draw(t, "start"), rapid.Bool().Draw(t, "crc")
		}
		m.Separator = rapid.SampledFrom([]string{"", "/", "."}).Draw(t, "separator")
		m.Fill = pattern(m.DType, []int{1})
		store, name := Memory(), "a/b"
		if rapid.Bool().Draw(t, "folder") {
			store, name = folder, rapid.StringMatching("[a-z]{12}").Draw(t, "name")+string(rune('a'+count%26))
		}
		if _, err := store.Get(ctx, name+"/zarr.json", 1<<30); err == nil {
			return
		}
		made, err := Create(ctx, store, name, m, nil)
		if errors.Is(err, fs.ErrExist) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		from, to := make([]int, rank), make([]int, rank)
		for i, n := range m.Shape {
			from[i] = rapid.IntRange(0, n).Draw(t, "from")
			to[i] = rapid.IntRange(from[i], n).Draw(t, "to")
		}
		want := tensor.EmptyOf(m.DType, m.Shape...)
		fill, _ := tensor.BroadcastTo(m.Fill.Reshape(), m.Shape...)
		want.CopyFrom(fill)
		values := pattern(m.DType, less(to, from))
		part, err := window(want, from, less(to, from))
		if err != nil {
			t.Fatal(err)
		}
		part.CopyFrom(values)
		if err := made.Write(ctx, from, values); err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, store, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Read(ctx)
		if err != nil || !same(got, want) {
			t.Fatalf("%v\n%v\nwant\n%v", err, got, want)
		}
		if got, err = a.Slice(ctx, from, to); err != nil || !same(got, values) {
			t.Fatalf("a part: %v\n%v\nwant\n%v", err, got, values)
		}
		if !same(a.FillValue(), m.Fill.Reshape()) || !slices.Equal(a.Chunks(), m.Chunks) {
			t.Fatalf("fill %v, chunks %v; want %v, %v", a.FillValue(), a.Chunks(), m.Fill, m.Chunks)
		}
		for i := range from { // an index with steps
			if m.Shape[i] == 0 {
				return
			}
		}
		idx := make([]tensor.Index, rank)
		for i := range idx {
			if idx[i] = tensor.R(from[i], to[i], 2); rapid.Bool().Draw(t, "backwards") {
				idx[i] = tensor.R(m.Shape[i]-1, from[i]-1-m.Shape[i]-1, -1)
			}
		}
		got, err = a.Index(ctx, idx...)
		if want, wantErr := tensor.Slice(want, idx...); err != nil || wantErr != nil || !same(got, want) {
			t.Fatalf("%v: %v, %v\n%v\nwant\n%v", idx, err, wantErr, got, want)
		}
	})
}

// A chunk that nobody wrote takes the memory of one element.
func TestAbsent(t *testing.T) {
	ctx := context.Background()
	a, err := Create(ctx, Memory(), "", Metadata{DType: dtype.Float64, Shape: []int{1 << 60, 1}, Chunks: []int{1 << 20, 1}, Fill: tensor.Scalar(1.5).Any()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.ReadChunk(ctx, 1<<39, 0)
	if err != nil || c.At(7, 0) != 1.5 || c.RetainedBytes() > 64 {
		t.Errorf("%v: %s", err, tensor.Describe(c))
	}
	if _, err := a.ReadChunk(ctx, 1<<40, 0); !errors.Is(err, ErrShape) {
		t.Errorf("a chunk outside: %v", err)
	}
	if _, err := Create(ctx, a.store, "", a.Metadata(), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
}
