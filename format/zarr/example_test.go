package zarr_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	ctx, store := context.Background(), zarr.Memory() // zarr.Dir(path) for a folder
	a, err := zarr.Create(ctx, store, "x", zarr.Metadata{DType: dtype.Int32, Shape: []int{4, 6}, Chunks: []int{4, 4}, Inner: []int{2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Write(ctx, []int{1, 1}, tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3).Any()); err != nil {
		log.Fatal(err)
	}
	b, err := zarr.Open(ctx, store, "x")
	if err != nil {
		log.Fatal(err)
	}
	part, err := b.Slice(ctx, []int{1, 0}, []int{3, 6}) // reads four inner chunks of the first shard
	fmt.Println(b.Shape(), b.Chunks(), b.Inner(), err)
	fmt.Println(part)
	// Output:
	// [4 6] [4 4] [2 2] <nil>
	// [[0 1 2 3 0 0]
	//  [0 4 5 6 0 0]]
}

func ExampleGroup() {
	ctx, store := context.Background(), zarr.Memory()
	g, err := zarr.CreateGroup(ctx, store, "", map[string]any{"source": "a camera"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := zarr.Create(ctx, store, "day/red", zarr.Metadata{DType: dtype.Uint8, Shape: []int{48, 64}, Chunks: []int{16, 16}, DimensionNames: []string{"y", "x"}}); err != nil {
		log.Fatal(err)
	}
	if err := g.Consolidate(ctx); err != nil {
		log.Fatal(err)
	}

	again, err := zarr.OpenGroup(ctx, store, "")
	if err != nil {
		log.Fatal(err)
	}
	names, err := again.Arrays(ctx)
	if err != nil {
		log.Fatal(err)
	}
	red, err := again.Open(ctx, names[0])
	fmt.Println(names, red.DimensionNames(), red.Grid(), again.Attributes()["source"], err)
	// Output: [day/red] [y x] [3 4] a camera <nil>
}
