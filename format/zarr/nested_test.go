package zarr_test

import (
	"context"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// A nested layout, of which the part in a chunk is no view, is written and read into as any other.
func TestNestedTensor(t *testing.T) {
	ctx := context.Background()
	lay := layout.MustParse("((2,2),2):((1,4),2)")
	x := tensor.FromLayout([]int16{0, 1, 2, 3, 4, 5, 6, 7}, lay)
	for _, inner := range [][]int{nil, {3, 1}} {
		a, err := zarr.Create(ctx, zarr.Memory(), "a", zarr.Metadata{DType: dtype.Int16, Shape: []int{6, 2}, Chunks: []int{3, 2}, Inner: inner}, nil)
		if err == nil {
			err = a.Write(ctx, []int{1, 0}, x.Any())
		}
		if err != nil {
			t.Fatal(err)
		}
		y := tensor.FromLayout(make([]int16, 8), lay)
		if err := a.ReadInto(ctx, []int{1, 0}, y.Any()); err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, y.Any(), x.Any())
	}
	a, err := zarr.Create(ctx, zarr.Memory(), "a", zarr.Metadata{DType: dtype.Int16, Shape: []int{4, 2}, Chunks: []int{4, 2}, Inner: []int{1, 2}}, nil)
	if err == nil {
		err = a.WriteChunk(ctx, x.Any(), 0, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := a.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Equal(t, all, x.Any())
}
