package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAll() {
	a := tensor.FromSlice([]int32{1, 2, 0, 3}, 2, 2)
	fmt.Println(op.All(a, []int{1}))
	// Output:
	// [ True False]
}

func ExampleAny() {
	a := tensor.FromSlice([]int32{0, 0, 0, 3}, 2, 2)
	fmt.Println(op.Any(a, []int{1}))
	// Output:
	// [False  True]
}

func ExampleCenterCropPad() {
	a := tensor.FromSlice([]int32{1, 2, 3, 4})
	fmt.Println(op.CenterCropPad(a, []int{2}, nil))
	fmt.Println(op.CenterCropPad(a, []int{7}, nil))
	// Output:
	// [2 3]
	// [0 1 2 3 4 0 0]
}

func ExampleCol2Im() {
	blocks := tensor.Full[float32](1, 1, 4, 4) // four blocks of 2×2 ones
	fmt.Println(op.Col2Im(blocks, []int{3, 3}, []int{2, 2}, op.Col2ImOptions{}))
	// Output:
	// [[[[1. 2. 1.]
	//    [2. 4. 2.]
	//    [1. 2. 1.]]]]
}

func ExampleCountNonZero() {
	a := tensor.FromSlice([]int32{1, 2, 0, 3}, 2, 2)
	fmt.Println(op.CountNonZero(a, []int{1}))
	// Output:
	// [2 1]
}

func ExampleGridSample() {
	image := tensor.FromSlice([]float32{0, 10, 20, 30}, 1, 1, 2, 2)
	points := tensor.FromSlice([]float32{-0.5, -0.5, 0, 0, 0.5, 0}, 1, 1, 3, 2) // x and y of three
	fmt.Println(op.GridSample(image, points, op.GridSampleOptions{}))
	// Output:
	// [[[[ 0. 15. 20.]]]]
}

func ExampleHistogram() {
	counts, edges := op.Histogram(tensor.FromSlice([]float32{0.5, 1, 1.5, 3, 9}), 3, 0, 3)
	fmt.Println(counts, edges)
	// Output:
	// [1 2 1] [0. 1. 2. 3.]
}

func ExamplePtp() {
	fmt.Println(op.Ptp(tensor.FromSlice([]float32{3, -1, 4}), nil))
	// Output:
	// 5.0
}

func ExampleRavelIndex() {
	fmt.Println(op.RavelIndex([]int{1, 2}, []int{2, 3}))
	// Output:
	// 5
}

func ExampleResize() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(op.Resize(a, op.ResizeOptions{Sizes: []int{2, 4}}))
	fmt.Println(op.Resize(a, op.ResizeOptions{Sizes: []int{2, 3}, Mode: "linear", Coordinates: "align_corners"}))
	// Output:
	// [[1. 1. 2. 2.]
	//  [3. 3. 4. 4.]]
	// [[1.  1.5 2. ]
	//  [3.  3.5 4. ]]
}

func ExampleTrace() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(op.Trace(a, 0, 0, 1))
	// Output:
	// 5.0
}

func ExampleUnravelIndex() {
	fmt.Println(op.UnravelIndex(5, []int{2, 3}))
	// Output:
	// [1 2]
}
