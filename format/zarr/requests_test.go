package zarr

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// counted counts the requests to a store that opens no values.
type counted struct {
	Store
	gets, ranges atomic.Int64
}

func (c *counted) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, key, most)
}

func (c *counted) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	c.ranges.Add(1)
	return c.Store.GetRange(ctx, key, off, n)
}

// versioned gives a store whose values don't change versions.
type versioned struct{ *counted }

func (v versioned) GetVersion(ctx context.Context, key string, off, n int64, _ string) ([]byte, string, error) {
	b, err := v.GetRange(ctx, key, off, n)
	return b, "1", err
}

// Inner chunks that lie together come by one request: of a shard, one for the index and one for the rest. A store without versions is asked
// for the index once more.
func TestRequests(t *testing.T) {
	s := Memory()
	a, err := Create(t.Context(), s, "", Metadata{DType: dtype.Uint16, Shape: []int{512, 300}, Chunks: []int{256, 160}, Inner: []int{32, 32}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := pattern(dtype.Uint16, []int{512, 300})
	if err := a.Write(t.Context(), []int{0, 0}, x); err != nil {
		t.Fatal(err)
	}
	for workers := range 10 {
		c := &counted{Store: s}
		store, shards := Store(versioned{c}), int64(0)
		if workers >= 5 {
			store, shards = c, 1
		}
		b, err := Open(t.Context(), store, "", &Options{Workers: workers%5 + 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct{ from, to, most []int }{{[]int{0, 0}, []int{512, 300}, []int{8}}, {[]int{10, 10}, []int{11, 150}, []int{2}}, {[]int{3, 4}, []int{3, 4}, []int{0}}, {[]int{250, 150}, []int{300, 170}, []int{8}}} {
			c.ranges.Store(0)
			got, err := b.Slice(t.Context(), part.from, part.to)
			if err != nil || !same(got, x.Slice(tensor.R(part.from[0], part.to[0]), tensor.R(part.from[1], part.to[1]))) {
				t.Fatalf("%v: other elements, %v", part, err)
			}
			if n, most := c.ranges.Load(), int64(part.most[0]); n > most+shards*most/2 {
				t.Errorf("%v: %d requests, want %d at most, and %d", part, n, most, shards*most/2)
			}
		}
	}
}

// read counts the bytes that are read of open values.
type reads struct {
	Opener
	bytes atomic.Int64
}

type readOf struct {
	io.ReaderAt
	s *reads
}

func (r readOf) ReadAt(b []byte, off int64) (int, error) {
	r.s.bytes.Add(int64(len(b)))
	return r.ReaderAt.ReadAt(b, off)
}

func (s *reads) Open(ctx context.Context, key string) (*Value, error) {
	v, err := s.Opener.Open(ctx, key)
	if err == nil {
		v.r = readOf{v.r, s}
	}
	return v, err
}

// Of a chunk whose bytes are its elements, the rows are read that have a part.
func TestPlainParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []dtype.DType{dtype.Uint16, dtype.Bool, dtype.Complex64} {
		for _, codecs := range [][]Codec{{Bytes(binary.LittleEndian)}, {Bytes(binary.BigEndian)}} {
			s := &reads{Opener: Memory().(Opener)}
			shape := []int{23, 31, 9}
			a, err := Create(t.Context(), s, "", Metadata{DType: d, Shape: shape, Chunks: []int{23, 31, 9}, Codecs: codecs}, nil)
			if err != nil {
				t.Fatal(err)
			}
			x := pattern(d, shape)
			if err := a.Write(t.Context(), []int{0, 0, 0}, x); err != nil {
				t.Fatal(err)
			}
			for range 200 {
				from, to := make([]int, 3), make([]int, 3)
				for i, n := range shape {
					from[i] = r.IntN(n)
					to[i] = from[i] + 1 + r.IntN(min(n-from[i], 1+r.IntN(n)))
				}
				s.bytes.Store(0)
				got, err := a.Slice(t.Context(), from, to)
				if err != nil || !same(got, x.Slice(tensor.R(from[0], to[0]), tensor.R(from[1], to[1]), tensor.R(from[2], to[2]))) {
					t.Fatalf("%v, %v to %v: other elements, %v", d, from, to, err)
				}
				most := (to[0] - from[0]) * 31 * 9
				if to[0]-from[0] == 1 {
					if most = (to[1] - from[1]) * 9; to[1]-from[1] == 1 {
						most = to[2] - from[2]
					}
				}
				if n := s.bytes.Load(); n != int64(most*d.Size()) {
					t.Fatalf("%v, %v to %v: %d bytes are read, want %d", d, from, to, n, most*d.Size())
				}
			}
		}
	}
}
