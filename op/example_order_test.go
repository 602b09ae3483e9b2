package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleArgSort() {
	a := tensor.FromSlice([]float32{3, 1, 2})
	fmt.Println(op.ArgSort(a, 0))
	// Output:
	// [1 2 0]
}

func ExampleCumProd() {
	fmt.Println(op.CumProd(tensor.FromSlice([]int32{1, 2, 3, 4}), 0, op.CumOptions{}))
	// Output:
	// [ 1  2  6 24]
}

func ExampleCumSum() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4})
	fmt.Println(op.CumSum(a, 0, op.CumOptions{}))
	fmt.Println(op.CumSum(a, 0, op.CumOptions{Exclusive: true, Reverse: true}))
	// Output:
	// [ 1.  3.  6. 10.]
	// [9. 7. 4. 0.]
}

func ExampleHardmax() {
	a := tensor.FromSlice([]float32{1, 5, 2, 7, 7, 0}, 2, 3)
	fmt.Println(op.Hardmax(a, 1))
	// Output:
	// [[0. 1. 0.]
	//  [1. 0. 0.]]
}

func ExampleScatterElements() {
	a := tensor.New[float32](2, 3)
	at := tensor.FromSlice([]int64{1, 1, 2, 0}, 2, 2)
	v := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(op.ScatterElements(a, at, v, 1, op.ScatterAdd))
	// Output:
	// [[0. 3. 0.]
	//  [4. 0. 3.]]
}

func ExampleScatterND() {
	a := tensor.New[int32](3, 2)
	rows := tensor.FromSlice([]int64{2, 0}, 2, 1)
	fmt.Println(op.ScatterND(a, rows, tensor.FromSlice([]int32{1, 2, 3, 4}, 2, 2), op.ScatterReplace))
	// Output:
	// [[3 4]
	//  [0 0]
	//  [1 2]]
}

func ExampleSort() {
	a := tensor.FromSlice([]float32{3, 1, 2, 9, 7, 8}, 2, 3)
	fmt.Println(op.Sort(a, 1))
	// Output:
	// [[1. 2. 3.]
	//  [7. 8. 9.]]
}

func ExampleTopK() {
	a := tensor.FromSlice([]float32{3, 1, 4, 1, 5, 9})
	values, at := op.TopK(a, 3, 0, op.TopKOptions{})
	fmt.Println(values, at)
	// Output:
	// [9. 5. 4.] [5 4 2]
}

func ExampleUnique() {
	a := tensor.FromSlice([]int32{5, 3, 5, 5, 4})
	values, first, inverse, counts := op.Unique(a, 0, op.UniqueOptions{})
	fmt.Println(values, first, inverse, counts)
	// Output:
	// [3 4 5] [1 4 0] [2 0 2 2 1] [1 1 3]
}
