package zarr_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	ctx, store := context.Background(), zarr.Memory() // zarr.Dir(path) for a folder
	a, err := zarr.Create(ctx, store, "x", zarr.Metadata{DType: dtype.Int32, Shape: []int{4, 6}, Chunks: []int{4, 4}, Inner: []int{2, 2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Write(ctx, []int{1, 1}, tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3).Any()); err != nil {
		log.Fatal(err)
	}
	b, err := zarr.Open(ctx, store, "x", nil)
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
	if _, err := zarr.Create(ctx, store, "day/red", zarr.Metadata{DType: dtype.Uint8, Shape: []int{48, 64}, Chunks: []int{16, 16}, DimensionNames: []string{"y", "x"}}, nil); err != nil {
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
	red, err := again.Open(ctx, names[0], nil)
	fmt.Println(names, red.Metadata().DimensionNames, red.Grid(), again.Attributes()["source"], err)
	// Output: [day/red] [y x] [3 4] a camera <nil>
}

// Chunks are asked for, read into memory that is there, and deleted one by one.
func ExampleArray_ReadInto() {
	ctx, store := context.Background(), zarr.Memory()
	a, err := zarr.Create(ctx, store, "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{4, 1 << 40}, Chunks: []int{2, 3}, Fill: tensor.Scalar[float32](-1).Any()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.WriteChunk(ctx, tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Any(), 0, 1); err != nil {
		log.Fatal(err)
	}
	stored, err := a.StoredChunks(ctx)
	fmt.Println(stored, err)
	_, there, err := a.ChunkSize(ctx, 1, 1)
	fmt.Println(there, err)

	t := tensor.Empty[float32](2, 4) // used again for every part
	if err := a.ReadInto(ctx, []int{0, 2}, t.Any()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	fmt.Println(a.DeleteChunk(ctx, 0, 1), zarr.Remove(ctx, store, "x"))
	// Output:
	// [[0 1]] <nil>
	// false <nil>
	// [[-1.  1.  2.  3.]
	//  [-1.  4.  5.  6.]]
	// <nil> <nil>
}

func ExampleLock() {
	ctx, store := context.Background(), zarr.Memory() // zarr.Dir(path) for a folder
	release, err := zarr.Lock(ctx, store, "x", "the nightly run")
	if err != nil {
		log.Fatal(err)
	}
	_, err = zarr.Lock(ctx, store, "x", "somebody else")
	fmt.Println(errors.Is(err, zarr.ErrLocked), strings.Contains(err.Error(), `"the nightly run" holds the lock`))
	fmt.Println(release())
	// Output:
	// true true
	// <nil>
}

func ExampleOptions() {
	ctx := context.Background()
	s := zarr.Memory()
	a, err := zarr.Create(ctx, s, "t2m", zarr.Metadata{DType: dtype.Int16, Shape: []int{3}, Chunks: []int{3},
		Attributes: map[string]any{"scale_factor": 0.5, "add_offset": 273, "_FillValue": -1}}, nil)
	if err == nil {
		err = a.Write(ctx, []int{0}, tensor.FromSlice([]int16{2, -1, 40}, 3).Any())
	}
	if err != nil {
		log.Fatal(err)
	}
	kelvin, err := zarr.Open(ctx, s, "t2m", &zarr.Options{CF: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kelvin.Read(ctx))
	// Output: [274.  nan 293.] <nil>
}

func ExampleArray_Text() {
	ctx := context.Background()
	a, err := zarr.Create(ctx, zarr.Memory(), "", zarr.Metadata{DType: dtype.Int64, Type: "datetime64[D]", Shape: []int{2}, Chunks: []int{2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Write(ctx, []int{0}, tensor.FromSlice([]int64{0, 11016}, 2).Any()); err != nil {
		log.Fatal(err)
	}
	t, err := a.Read(ctx)
	text, _ := a.Text(t)
	fmt.Println(text, err)
	// Output: [1970-01-01 2000-02-29] <nil>
}
