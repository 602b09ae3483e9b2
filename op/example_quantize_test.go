package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// halves says that a uint8 q stands for (q − 128)/2.
var halves = op.Quantization[float32, uint8]{Scale: tensor.Scalar[float32](0.5), Zero: tensor.Scalar[uint8](128)}

func ExampleQuantizeLinear() {
	x := tensor.FromSlice([]float32{-1, 0, 0.25, 0.75, 1000})
	fmt.Println(op.QuantizeLinear(x, halves))
	// Output:
	// [126 128 128 130 255]
}

func ExampleDequantizeLinear() {
	q := tensor.FromSlice([]int8{1, 2, 3, 4}, 2, 2)
	rows := op.Quantization[float32, int8]{Scale: tensor.FromSlice([]float32{0.5, 10}), Axis: 0}
	fmt.Println(op.DequantizeLinear(q, rows))
	// Output:
	// [[ 0.5  1. ]
	//  [30.  40. ]]
}

func ExampleQuantizeLinear_fourBits() {
	x := tensor.FromSlice([]float32{-9, -0.6, 0.25, 3})
	q := op.QuantizeLinear(x, op.Quantization[float32, num.Int4]{Scale: tensor.Scalar[float32](0.5)})
	fmt.Println(q, q.DType())
	// Output:
	// [-8 -1  0  6] int4
}

func ExampleRoundScales() {
	x := tensor.FromSlice([]float32{1.25, 1.5, 0.375, 0})
	fmt.Println(op.Cast[num.F8E8M0](x))
	fmt.Println(op.Cast[num.F8E8M0](x, op.RoundScales(num.Down)))
	fmt.Println(op.Cast[num.F8E8M0](x, op.RoundScales(num.Nearest)))
	// Output:
	// [2.  2.  0.5 nan]
	// [1.   1.   0.25  nan]
	// [1.  2.  0.5 nan]
}

func ExampleDynamicQuantizeLinear() {
	fmt.Println(op.DynamicQuantizeLinear(tensor.FromSlice([]float32{0, 51, -51, 204})))
	// Output:
	// [ 51 102   0 255] 1.0 51
}

func ExampleQLinearMatMul() {
	a := tensor.FromSlice([]uint8{130, 132}, 1, 2) // 1 and 2
	b := tensor.FromSlice([]uint8{134, 136}, 2, 1) // 3 and 4
	fmt.Println(op.QLinearMatMul(a, halves, b, halves, halves))
	// Output:
	// [[150]]
}

func ExampleQLinearConv() {
	x := tensor.FromSlice([]uint8{130, 132, 134}, 1, 1, 3) // 1, 2 and 3
	w := tensor.FromSlice([]uint8{130, 130}, 1, 1, 2)      // 1 and 1
	fmt.Println(op.QLinearConv(x, w, tensor.Tensor[int32]{}, op.QLinearConvOptions[float32, uint8, uint8, uint8]{X: halves, W: halves, Y: halves}))
	// Output:
	// [[[134 138]]]
}

func ExampleQLinearAdd() {
	a := tensor.FromSlice([]uint8{130, 132})
	fmt.Println(op.QLinearAdd(a, halves, a, halves, halves))
	// Output:
	// [132 136]
}

func ExampleQLinearMul() {
	a := tensor.FromSlice([]uint8{130, 132})
	fmt.Println(op.QLinearMul(a, halves, a, halves, halves))
	// Output:
	// [130 136]
}

func ExampleQLinearLeakyRelu() {
	x := tensor.FromSlice([]int8{-10, 10})
	twos := op.Quantization[float32, int8]{Scale: tensor.Scalar[float32](2), Zero: tensor.Scalar[int8](2)}
	fmt.Println(op.QLinearLeakyRelu(x, twos, twos, 10))
	// Output:
	// [-118   10]
}

func ExampleQLinearConcat() {
	a, b := tensor.FromSlice([]int8{1, 2}), tensor.FromSlice([]int8{1, 2})
	ones := op.Quantization[float32, int8]{Scale: tensor.Scalar[float32](1)}
	tens := op.Quantization[float32, int8]{Scale: tensor.Scalar[float32](10)}
	fmt.Println(op.QLinearConcat([]tensor.Tensor[int8]{a, b}, []op.Quantization[float32, int8]{ones, tens}, ones, 0))
	// Output:
	// [ 1  2 10 20]
}
