package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// numbers is the array 0, 1, 2, … of a shape, in a Zarr array.
func numbers(chunks []int, shape ...int) chunk.Array {
	n := 1
	for _, e := range shape {
		n *= e
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	ctx := context.Background()
	t := tensor.FromSlice(x, shape...).Any()
	a, err := zarr.Create(ctx, zarr.Memory(), "", zarr.Metadata{DType: t.DType(), Shape: shape, Chunks: chunks}, nil)
	if err == nil {
		err = a.Write(ctx, make([]int, len(shape)), t)
	}
	if err != nil {
		log.Fatal(err)
	}
	return chunk.From("numbers", a)
}

// result runs a plan and reads the array it has written.
func result(a chunk.Array) tensor.Any {
	ctx := context.Background()
	store := zarr.Memory()
	plan, err := chunk.NewPlan(nil, chunk.Target{Array: a, Store: store})
	if err != nil {
		log.Fatal(err)
	}
	if err := plan.Run(ctx, nil); err != nil {
		log.Fatal(err)
	}
	z, err := zarr.Open(ctx, store, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := z.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return t
}

func Example() {
	ctx := context.Background()
	x := numbers([]int{2, 3}, 4, 6)
	centred := chunk.Map("Sub", nil, x, chunk.Reduce("ReduceMean", x, chunk.Reducing{Axes: []int{0}}))
	store := zarr.Memory()
	plan, err := chunk.NewPlan(&chunk.Options{Memory: 64 << 20}, chunk.Target{Array: centred, Store: store, Path: "centred"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range plan.Stages() {
		fmt.Println(s.Name, s.Tasks, "tasks", s.Shape, s.Chunks)
	}
	if err := plan.Run(ctx, &chunk.RunOptions{Workers: 2}); err != nil {
		log.Fatal(err)
	}
	a, err := zarr.Open(ctx, store, "centred", nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := a.Slice(ctx, []int{1, 0}, []int{3, 3})
	fmt.Println(t, err)
	// Output:
	// ReduceMean 2 tasks [6] [3]
	// centred 4 tasks [4 6] [2 3]
	// [[-3. -3. -3.]
	//  [ 3.  3.  3.]] <nil>
}

func ExampleMap() {
	x := numbers([]int{2}, 3)
	fmt.Println(result(chunk.Map("Sqrt", nil, chunk.Map("Add", nil, x, x))))
	fmt.Println(result(chunk.Map("Cast", op.AttrMap{"to": int64(6)}, x))) // ONNX's number of int32
	// Output:
	// [0.        1.4142135 2.       ]
	// [0 1 2]
}

func ExampleReduce() {
	x := numbers([]int{2, 2}, 3, 4)
	fmt.Println(result(chunk.Reduce("ReduceSum", x, chunk.Reducing{Axes: []int{1}})))
	fmt.Println(result(chunk.Reduce("Std", x, chunk.Reducing{KeepDims: true, DDoF: 1})))
	// Output:
	// [ 6. 22. 38.]
	// [[3.6055512]]
}

func ExampleMatMul() {
	x := numbers([]int{2, 2}, 2, 3)
	fmt.Println(result(chunk.MatMul(x, chunk.Transpose(x))))
	// Output:
	// [[ 5. 14.]
	//  [14. 50.]]
}

func ExampleTensorDot() {
	x := numbers([]int{2, 2}, 2, 3)
	fmt.Println(result(chunk.TensorDot(x, x, []int{0, 1}, []int{0, 1})))
	// Output:
	// 55.0
}

func ExampleSlice() {
	x := numbers([]int{2, 2}, 3, 4)
	fmt.Println(result(chunk.Slice(x, tensor.I(1), tensor.R(0, 4, 2))))
	// Output:
	// [4. 6.]
}

func ExampleTranspose() {
	fmt.Println(chunk.Transpose(numbers([]int{1, 2}, 3, 4)))
	// Output:
	// float32[4 3] in chunks of [2 1]
}

func ExampleConcat() {
	x := numbers([]int{2}, 3)
	fmt.Println(result(chunk.Concat(0, x, x)))
	// Output:
	// [0. 1. 2. 0. 1. 2.]
}

func ExampleStack() {
	x := numbers([]int{2}, 3)
	fmt.Println(result(chunk.Stack(0, x, x)))
	// Output:
	// [[0. 1. 2.]
	//  [0. 1. 2.]]
}

func ExampleRechunk() {
	a, err := zarr.Create(context.Background(), zarr.Memory(), "", zarr.Metadata{DType: dtype.Float32, Shape: []int{8192, 8192}, Chunks: []int{8, 8192}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	columns := chunk.Rechunk(chunk.From("rows", a), 8192, 8)
	plan, err := chunk.NewPlan(&chunk.Options{Memory: 32 << 20}, chunk.Target{Array: columns, Store: zarr.Memory()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range plan.Stages() {
		fmt.Println(s.Name, "of", s.Region, "in chunks of", s.Chunks, s.Tasks, "tasks")
	}
	// Output:
	// Rechunk of [512 8192] in chunks of [512 512] 16 tasks
	// result of [8192 512] in chunks of [8192 8] 16 tasks
}

func ExampleMapBlocks() {
	x := numbers([]int{2}, 5)
	reversed := func(_ context.Context, at chunk.Block, in []tensor.Any) (tensor.Any, error) {
		return tensor.Slice(in[0], tensor.R(at.Shape[0]-1, -at.Shape[0]-1, -1))
	}
	fmt.Println(result(chunk.MapBlocks(reversed, chunk.Blocks{Name: "reversed"}, x)))
	// Output:
	// [1. 0. 3. 2. 4.]
}

func ExampleHistogram() {
	x := numbers([]int{3}, 10)
	h := chunk.Histogram(x, 5, 0, 10)
	fmt.Println(result(h), result(chunk.Percentile(h, 0, 10, 25, 50)))
	// Output:
	// [2 2 2 2 2] [2.5 5. ]
}

func ExampleNewPlan_memory() {
	x := numbers([]int{1000, 1000}, 1000, 1000)
	_, err := chunk.NewPlan(&chunk.Options{Memory: 16 << 20}, chunk.Target{Array: chunk.Map("Exp", nil, x), Store: zarr.Memory()})
	fmt.Println(errors.Is(err, chunk.ErrMemory))
	// Output:
	// true
}
