package zarr

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

func make3(t *testing.T, s Store, m Metadata, opts ...*Options) *Array {
	t.Helper()
	a, err := Create(t.Context(), s, "x", m, append(opts, nil)[0])
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// kinds are chunks of 4 by 6 in an array of 10 by 9: alone, as shards, in other orders.
func kinds() map[string]Metadata {
	plain := Metadata{DType: dtype.Int16, Shape: []int{10, 9}, Chunks: []int{4, 6}, Fill: tensor.Scalar[int16](-1).Any()}
	out := map[string]Metadata{"plain": plain}
	m := plain
	m.Inner = []int{2, 3}
	out["shards"] = m
	m.IndexAtStart, m.Codecs = true, []Codec{Transpose(1, 0), Bytes(binary.BigEndian), Gzip(1), CRC32C()}
	out["start"] = m
	m = plain
	m.V2Keys, m.Codecs = true, []Codec{Bytes(binary.LittleEndian)}
	out["keys"] = m
	m = plain
	m.Version, m.Codecs = 2, []Codec{Transpose(1, 0)}
	out["version 2"] = m
	return out
}

func TestChunks(t *testing.T) {
	ctx := t.Context()
	for name, m := range kinds() {
		t.Run(name, func(t *testing.T) {
			dir, err := Dir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []Store{Memory(), dir} {
				a := make3(t, s, m)
				if n, ok, err := a.ChunkSize(ctx, 1, 1); n != 0 || ok || err != nil {
					t.Errorf("an absent chunk: %d %v %v", n, ok, err)
				}
				if err := a.DeleteChunk(ctx, 1, 1); err != nil {
					t.Error(err)
				}
				want := pattern(m.DType, []int{4, 3})
				if err := a.WriteChunk(ctx, want, 1, 1); err != nil {
					t.Fatal(err)
				}
				fill := tensor.Full[int16](-1, 2, 6).Any()
				if err := a.WriteChunk(ctx, fill, 2, 0); err != nil { // there, though it says nothing
					t.Fatal(err)
				}
				if list, err := a.StoredChunks(ctx); err != nil || fmt.Sprint(list) != "[[1 1] [2 0]]" {
					t.Errorf("stored: %v, %v", list, err)
				}
				b, err := s.Get(ctx, a.ChunkKey(1, 1), 1<<20)
				if n, ok, err2 := a.ChunkSize(ctx, 1, 1); err != nil || err2 != nil || !ok || int(n) != len(b) {
					t.Errorf("a chunk of %d bytes: %d %v %v", len(b), n, ok, err2)
				}
				// into a view: every second column of a larger tensor
				big := tensor.EmptyOf(m.DType, 4, 6)
				part := big.Slice(tensor.R(0, 4), tensor.R(0, 6, 2))
				if err := a.ReadInto(ctx, []int{4, 6}, part); err != nil || !same(part, want) {
					t.Errorf("%v\n%v\nwant\n%v", err, part, want)
				}
				if err := a.DeleteChunk(ctx, 1, 1); err != nil {
					t.Error(err)
				}
				if got, err := a.ReadChunk(ctx, 1, 1); err != nil || got.At(0, 0) != int16(-1) {
					t.Errorf("%v, %v", got, err)
				}
				for _, err := range []error{
					a.DeleteChunk(ctx, 3, 0), a.ReadInto(ctx, []int{7, 0}, part), a.ReadInto(ctx, []int{0}, part), a.ReadInto(ctx, []int{math.MaxInt, 0}, part),
					a.ReadInto(ctx, []int{0, 0}, part.ReadOnly()), a.WriteChunk(ctx, part, 1, 0),
				} {
					if !errors.Is(err, ErrShape) {
						t.Errorf("out of shape: %v", err)
					}
				}
				if err := Remove(ctx, s, "x"); err != nil {
					t.Error(err)
				}
				if keys, err := s.List(ctx, ""); len(keys) != 1 || err != nil { // the group above
					t.Errorf("left: %v, %v", keys, err)
				}
				if _, err := OpenGroup(ctx, s, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The groups above an array are made; nothing is below an array.
func TestParents(t *testing.T) {
	ctx, s := t.Context(), Memory()
	m := kinds()["plain"]
	if _, err := CreateGroup(ctx, s, "a", map[string]any{"k": 1.0}); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(ctx, s, "a/b/c", m, nil); err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(ctx, "")
	if err != nil || fmt.Sprint(keys) != "[a/b/c/zarr.json a/b/zarr.json a/zarr.json zarr.json]" {
		t.Errorf("%v, %v", keys, err)
	}
	g, err := OpenGroup(ctx, s, "a")
	if err != nil || g.Attributes()["k"] != 1.0 {
		t.Errorf("%v, %v", g.Attributes(), err)
	}
	if err := g.Consolidate(ctx); err != nil {
		t.Fatal(err)
	}
	if names, err := g.Arrays(ctx); err != nil || fmt.Sprint(names) != "[b/c]" || len(g.members) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Create(ctx, s, "a/b/c/d", m, nil); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "a/b/c/zarr.json") {
		t.Errorf("below an array: %v", err)
	}
}

// A part of many chunks is read by as many workers as are asked for.
func TestWorkers(t *testing.T) {
	ctx := t.Context()
	for _, inner := range [][]int{nil, {1}} {
		a := make3(t, &counting{Store: Memory()}, Metadata{DType: dtype.Int8, Shape: []int{100000}, Chunks: []int{4}, Inner: inner}, &Options{Workers: 3})
		c := a.store.(*counting)
		c.gets.Store(0)
		c.most.Store(0)
		if got, err := a.Read(ctx); err != nil || got.Len() != 100000 {
			t.Error(err)
		}
		if c.most.Load() > 3 || c.gets.Load() < 25000 {
			t.Errorf("%d reads at a time, %d altogether", c.most.Load(), c.gets.Load())
		}
	}
}

// counting is a store that counts reads, and how many there are at a time.
type counting struct {
	Store
	gets, now, most atomic.Int64
}

func (c *counting) count() {
	c.gets.Add(1)
	for n := c.now.Add(1); ; {
		if m := c.most.Load(); n <= m || c.most.CompareAndSwap(m, n) {
			return
		}
	}
}

func (c *counting) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	c.count()
	defer c.now.Add(-1)
	return c.Store.Get(ctx, key, most)
}

func (c *counting) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	c.count()
	defer c.now.Add(-1)
	return c.Store.GetRange(ctx, key, off, n)
}

// A shard leaves out the inner chunks of the fill value.
func TestShardLeavesOut(t *testing.T) {
	ctx := t.Context()
	m := kinds()["shards"]
	m.Codecs = []Codec{Bytes(binary.LittleEndian)}
	a := make3(t, Memory(), m)
	if err := a.Write(ctx, []int{0, 0}, pattern(m.DType, []int{1, 1})); err != nil {
		t.Fatal(err)
	}
	if n, _, err := a.ChunkSize(ctx, 0, 0); err != nil || n != 12+4*16+4 { // one of four
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Parts of one shard may be written at once through one Array.
func TestWriteAtOnce(t *testing.T) {
	ctx := t.Context()
	for name, m := range kinds() {
		a := make3(t, Memory(), m)
		want := pattern(m.DType, m.Shape)
		var wg sync.WaitGroup
		for i := range m.Shape[0] {
			wg.Go(func() {
				row := want.Slice(tensor.R(i, i+1))
				if err := a.Write(ctx, []int{i, 0}, row); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got, err := a.Read(ctx); err != nil || !same(got, want) {
			t.Errorf("%s: %v\n%v\nwant\n%v", name, err, got, want)
		}
	}
}

// Reading into a tensor takes no memory for elements, once the scratch is there.
func TestReadIntoMemory(t *testing.T) {
	ctx := t.Context()
	for _, inner := range [][]int{nil, {1 << 14}} {
		a := make3(t, Memory(), Metadata{DType: dtype.Int32, Shape: []int{1 << 20}, Chunks: []int{1 << 18}, Inner: inner}, &Options{Workers: 1})
		want := pattern(dtype.Int32, a.Shape())
		if err := a.Write(ctx, []int{0}, want); err != nil {
			t.Fatal(err)
		}
		got := tensor.EmptyOf(dtype.Int32, a.Shape()...)
		var before, after runtime.MemStats
		for i := range 5 {
			if i == 1 {
				runtime.ReadMemStats(&before)
			}
			if err := a.ReadInto(ctx, []int{0}, got); err != nil || !same(got, want) {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 { // of 16 MiB read, less what same takes
			t.Errorf("inner chunks %v: %d bytes", inner, n)
		}
	}
}

// The result of Index keeps its memory.
func TestIndexKeeps(t *testing.T) {
	ctx := t.Context()
	a := make3(t, Memory(), Metadata{DType: dtype.Uint8, Shape: []int{1 << 18}, Chunks: []int{1 << 16}})
	want := pattern(dtype.Uint8, a.Shape())
	if err := a.Write(ctx, []int{0}, want); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got, err := a.Index(ctx, tensor.R(0, 1<<18, 3))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC()
		other, _, err := a.blank(a.Shape())
		if err != nil || tensor.Copy(other, tensor.Scalar[uint8](9).Any()) != nil {
			t.Fatal(err)
		}
		if !same(got, want.Slice(tensor.R(0, 1<<18, 3))) {
			t.Fatal("the memory went to another tensor")
		}
	}
}

// The last chunks of the largest extents.
func TestEdge(t *testing.T) {
	ctx := t.Context()
	n := math.MaxInt
	m := Metadata{DType: dtype.Int8, Shape: []int{n}, Chunks: []int{1 << 20}, Codecs: []Codec{Zstd(1)}}
	a := make3(t, Memory(), m)
	want := pattern(m.DType, []int{5})
	if err := a.Write(ctx, []int{n - 5}, want); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Slice(ctx, []int{n - 7}, []int{n}); err != nil || !same(got.Slice(tensor.R(2, 7)), want) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := a.Read(ctx); err == nil {
		t.Error("all was read")
	}
	for _, inner := range [][]int{nil, {}} { // rank 0
		s := Memory()
		a := make3(t, s, Metadata{DType: dtype.Int8, Shape: []int{}, Chunks: []int{}, Inner: inner})
		if err := a.WriteChunk(ctx, tensor.Scalar[int8](7).Any()); err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, s, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Read(ctx); err != nil || got.At() != int8(7) {
			t.Errorf("%v %v", got, err)
		}
		if list, err := a.StoredChunks(ctx); err != nil || len(list) != 1 || len(list[0]) != 0 {
			t.Errorf("%v %v", list, err)
		}
	}
	empty := make3(t, Memory(), Metadata{DType: dtype.Int8, Shape: []int{0, 3}, Chunks: []int{2, 2}})
	if got, err := empty.Read(ctx); err != nil || !slices.Equal(got.Shape(), []int{0, 3}) {
		t.Errorf("%v %v", got, err)
	}
	if err := empty.Write(ctx, []int{0, 0}, tensor.EmptyOf(dtype.Int8, 0, 3)); err != nil {
		t.Error(err)
	}
	huge := make3(t, Memory(), Metadata{DType: dtype.Int8, Shape: []int{1 << 60, 1 << 60, 0}, Chunks: []int{1, 1, 1}})
	if got, err := huge.Read(ctx); err == nil && got.Len() != 0 || err != nil && !strings.Contains(err.Error(), "shape") {
		t.Errorf("%v %v", got, err)
	}
	for _, p := range []string{"../x", "a/../../b", "a//b", "."} {
		_, err := Open(ctx, Memory(), p, nil)
		if want := fs.ErrInvalid; p == "." && !errors.Is(err, fs.ErrNotExist) || p != "." && !errors.Is(err, want) {
			t.Errorf("%s: %v", p, err)
		}
	}
}
