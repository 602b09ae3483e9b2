package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleArgMax() {
	a := tensor.FromSlice([]float32{1, 7, 3, 4, 0, 4}, 2, 3)
	fmt.Println(op.ArgMax(a, 1, op.ArgOptions{}))
	// Output:
	// [1 0]
}

func ExampleArgMin() {
	a := tensor.FromSlice([]float32{1, 7, 3, 4, 0, 4}, 2, 3)
	fmt.Println(op.ArgMin(a, 1, op.ArgOptions{}))
	// Output:
	// [0 1]
}

func ExampleReduceL1() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceL1(a, []int{1}))
	// Output:
	// [ 6. 15.]
}

func ExampleReduceL2() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceL2(a, []int{1}))
	// Output:
	// [3.7416575 8.774964 ]
}

func ExampleReduceLogSum() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceLogSum(a, []int{1}))
	// Output:
	// [1.7917595 2.7080503]
}

func ExampleReduceMax() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceMax(a, []int{1}))
	// Output:
	// [3. 6.]
}

func ExampleReduceMean() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceMean(a, []int{1}))
	// Output:
	// [2. 5.]
}

func ExampleReduceMin() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceMin(a, []int{1}))
	// Output:
	// [1. 4.]
}

func ExampleReduceProd() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceProd(a, []int{1}))
	// Output:
	// [  6. 120.]
}

func ExampleReduceSum() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceSum(a, []int{0}, op.KeepDims()))
	// Output:
	// [[5. 7. 9.]]
}

func ExampleSumAs() {
	a := tensor.FromSlice([]int8{100, 100, 100}, 3)
	fmt.Println(op.ReduceSum(a, nil), op.SumAs[int64](a, nil))
	// Output: 44 300
}

func ExampleReduceSumSquare() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(op.ReduceSumSquare(a, []int{1}))
	// Output:
	// [14. 77.]
}
