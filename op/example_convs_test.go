package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleConvTranspose() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	w := tensor.Full[float32](1, 1, 1, 2, 2)
	none := tensor.Tensor[float32]{}
	fmt.Println(op.ConvTranspose(x, w, none, op.ConvTransposeWindow{}, 1))
	doubled := op.ConvTransposeWindow{Window: op.Window{Strides: []int{2, 2}}}
	fmt.Println(op.ConvTranspose(x, w, none, doubled, 1).S("0, 0"))
	// Output:
	// [[[[ 1.  3.  2.]
	//    [ 4. 10.  6.]
	//    [ 3.  7.  4.]]]]
	// [[1. 1. 2. 2.]
	//  [1. 1. 2. 2.]
	//  [3. 3. 4. 4.]
	//  [3. 3. 4. 4.]]
}

func ExampleConvInteger() {
	x := tensor.FromSlice([]uint8{2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, 1, 3, 3)
	w := tensor.Full[uint8](1, 1, 1, 2, 2)
	fmt.Println(op.ConvInteger(x, w, tensor.Scalar[uint8](1), tensor.Tensor[uint8]{}, op.Window{}, 1))
	// Output:
	// [[[[12 16]
	//    [24 28]]]]
}

func ExampleMatMulInteger() {
	a := tensor.FromSlice([]uint8{11, 7, 3, 10, 6, 2}, 2, 3)
	b := tensor.FromSlice([]int8{1, 4, 2, 5, 3, 6}, 3, 2)
	fmt.Println(op.MatMulInteger(a, b, tensor.Scalar[uint8](12), tensor.Tensor[int8]{}))
	// Output:
	// [[-38 -83]
	//  [-44 -98]]
}

func ExampleDeformConv() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	w := tensor.Full[float32](1, 1, 1, 2, 2)
	offset := tensor.New[float32](1, 8, 2, 2)
	offset.Set(0.5, 0, 0, 0, 0) // the first kernel position of the first output, half a line down
	none := tensor.Tensor[float32]{}
	fmt.Println(op.DeformConv(x, w, offset, none, none, op.Window{}, 1, 1))
	// Output:
	// [[[[ 9.5 12. ]
	//    [20.  24. ]]]]
}
