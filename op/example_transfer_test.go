package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleArraySplit() {
	for _, part := range op.ArraySplit(tensor.Arange[int32](1, 8, 1), 3, 0) {
		fmt.Println(part)
	}
	// Output:
	// [1 2 3]
	// [4 5]
	// [6 7]
}

func ExampleCompress() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	fmt.Println(op.Compress(a, tensor.FromSlice([]bool{true, false, true}), 0))
	// Output:
	// [[1. 2.]
	//  [5. 6.]]
}

func ExampleDepthToSpace() {
	a := tensor.Arange[int32](0, 8, 1).Reshape(1, 4, 1, 2) // four channels of two pixels
	fmt.Println(op.DepthToSpace(a, 2, op.DepthToSpaceOptions{}))
	// Output:
	// [[[[0 2 1 3]
	//    [4 6 5 7]]]]
}

func ExampleGatherElements() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	pick := tensor.FromSlice([]int64{0, -1, 2, 0}, 2, 2)
	fmt.Println(op.GatherElements(a, pick, 1))
	// Output:
	// [[1. 3.]
	//  [6. 4.]]
}

func ExampleGatherND() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.GatherND(a, tensor.FromSlice([]int64{0, 2, 1, 0}, 2, 2), 0)) // elements
	fmt.Println(op.GatherND(a, tensor.FromSlice([]int64{1, 0}, 2, 1), 0))       // rows
	// Output:
	// [3. 4.]
	// [[4. 5. 6.]
	//  [1. 2. 3.]]
}

func ExampleNonZero() {
	a := tensor.FromSlice([]float32{3, 0, 0, 0, 4, 5}, 2, 3)
	fmt.Println(op.NonZero(a))
	// Output:
	// [[0 1 1]
	//  [0 1 2]]
}

func ExampleOneHot() {
	fmt.Println(op.OneHot(tensor.FromSlice([]int64{2, 0, -1}), 3, -1, float32(0), 1))
	// Output:
	// [[0. 0. 1.]
	//  [1. 0. 0.]
	//  [0. 0. 1.]]
}

func ExamplePad() {
	a := tensor.FromSlice([]int32{1, 2, 3})
	fmt.Println(op.Pad(a, []int{2}, []int{1}, op.PadConstant, 9))
	fmt.Println(op.Pad(a, []int{2}, []int{1}, op.PadReflect, 0))
	fmt.Println(op.Pad(a, []int{-1}, []int{2}, op.PadWrap, 0))
	// Output:
	// [9 9 1 2 3 9]
	// [3 2 1 2 3 2]
	// [2 3 2 3]
}

func ExampleRepeat() {
	a := tensor.FromSlice([]int32{1, 2, 3})
	fmt.Println(op.Repeat(a, []int{2}, 0))
	fmt.Println(op.Repeat(a, []int{0, 1, 3}, 0))
	// Output:
	// [1 1 2 2 3 3]
	// [2 3 3 3]
}

func ExampleReverseSequence() {
	a := tensor.Arange[int32](0, 8, 1).Reshape(2, 4)
	fmt.Println(op.ReverseSequence(a, tensor.FromSlice([]int64{3, 4}), 1))
	// Output:
	// [[2 1 0 3]
	//  [7 6 5 4]]
}

func ExampleRoll() {
	fmt.Println(op.Roll(tensor.FromSlice([]int32{1, 2, 3, 4}), 1, 0))
	// Output:
	// [4 1 2 3]
}

func ExampleSpaceToDepth() {
	a := tensor.Arange[int32](0, 8, 1).Reshape(1, 1, 2, 4)
	fmt.Println(op.SpaceToDepth(a, 2).Reshape(4, 2)) // four channels of two pixels
	// Output:
	// [[0 2]
	//  [1 3]
	//  [4 6]
	//  [5 7]]
}

func ExampleSplit() {
	parts := op.Split(tensor.Arange[int32](1, 8, 1), []int{5, 2}, 0)
	fmt.Println(parts[0], parts[1])
	// Output:
	// [1 2 3 4 5] [6 7]
}

func ExampleStack() {
	a, b := tensor.FromSlice([]int32{1, 2, 3}), tensor.FromSlice([]int32{4, 5, 6})
	fmt.Println(op.Stack([]tensor.Tensor[int32]{a, b}, 1))
	// Output:
	// [[1 4]
	//  [2 5]
	//  [3 6]]
}

func ExampleTake() {
	a := tensor.FromSlice([]int32{10, 20, 30})
	at := tensor.FromSlice([]int64{2, 3, -5})
	fmt.Println(op.Take(a, at, 0, op.TakeWrap))
	fmt.Println(op.Take(a, at, 0, op.TakeClip))
	// Output:
	// [30 10 20]
	// [30 30 10]
}

func ExampleTakeAlongAxis() {
	a := tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.TakeAlongAxis(a, tensor.FromSlice([]int64{2, 0}, 1, 2), 1)) // the same columns of each row
	// Output:
	// [[3 1]
	//  [6 4]]
}

func ExampleTile() {
	fmt.Println(op.Tile(tensor.FromSlice([]int32{1, 2}, 1, 2), []int{2, 2}))
	// Output:
	// [[1 2 1 2]
	//  [1 2 1 2]]
}

func ExampleTril() {
	fmt.Println(op.Tril(tensor.Full[int32](1, 3, 3), 0))
	// Output:
	// [[1 0 0]
	//  [1 1 0]
	//  [1 1 1]]
}

func ExampleTriu() {
	fmt.Println(op.Triu(tensor.Full[int32](1, 3, 3), 1))
	// Output:
	// [[0 1 1]
	//  [0 0 1]
	//  [0 0 0]]
}
