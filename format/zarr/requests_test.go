package zarr

import (
	"context"
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

// Inner chunks that lie together come by one request: of a shard, one for the index and one for the rest.
func TestRequests(t *testing.T) {
	s := Memory()
	a, err := Create(t.Context(), s, "", Metadata{DType: dtype.Uint16, Shape: []int{512, 300}, Chunks: []int{256, 160}, Inner: []int{32, 32}})
	if err != nil {
		t.Fatal(err)
	}
	x := pattern(dtype.Uint16, []int{512, 300})
	if err := a.Write(t.Context(), []int{0, 0}, x); err != nil {
		t.Fatal(err)
	}
	for workers := range 5 {
		c := &counted{Store: s}
		b, err := Open(t.Context(), c, "", Workers(workers+1))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct{ from, to, most []int }{{[]int{0, 0}, []int{512, 300}, []int{8}}, {[]int{10, 10}, []int{11, 150}, []int{2}}, {[]int{3, 4}, []int{3, 4}, []int{0}}, {[]int{250, 150}, []int{300, 170}, []int{8}}} {
			c.ranges.Store(0)
			got, err := b.Slice(t.Context(), part.from, part.to)
			if err != nil || !same(got, x.Slice(tensor.R(part.from[0], part.to[0]), tensor.R(part.from[1], part.to[1]))) {
				t.Fatalf("%v: other elements, %v", part, err)
			}
			if n := c.ranges.Load(); n > int64(part.most[0]) {
				t.Errorf("%v: %d requests, want %d at most", part, n, part.most[0])
			}
		}
	}
}
