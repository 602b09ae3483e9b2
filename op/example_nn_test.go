package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAveragePool() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	fmt.Println(op.AveragePool(x, op.Window{Kernel: []int{2, 2}}, op.AveragePoolOptions{}))
	// Output:
	// [[[[2. 3.]
	//    [5. 6.]]]]
}

func ExampleBatchNormalization() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 2, 2)
	scale := tensor.FromSlice([]float32{1, 10})
	bias := tensor.FromSlice([]float32{0, 1})
	mean := tensor.FromSlice([]float32{1.5, 3.5})
	variance := tensor.FromSlice([]float32{0.25, 0.25})
	fmt.Println(op.BatchNormalization(x, scale, bias, mean, variance, 0))
	// Output:
	// [[[-1.  1.]
	//   [-9. 11.]]]
}

func ExampleConv() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	w := tensor.Full[float32](1, 1, 1, 2, 2)
	fmt.Println(op.Conv(x, w, tensor.Tensor[float32]{}, op.Window{}, 1))
	// Output:
	// [[[[ 8. 12.]
	//    [20. 24.]]]]
}

func ExampleDropout() {
	a := tensor.FromSlice([]float32{1, 2})
	fmt.Println(op.Dropout(a))
	// Output:
	// [1. 2.] [ True  True]
}

func ExampleGemm() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b := tensor.FromSlice([]float32{1, 0, 0, 1, 1, 1}, 3, 2)
	c := tensor.FromSlice([]float32{100, 200})
	fmt.Println(op.Gemm(a, b, c, 1, 1, op.GemmOptions{}))
	// Output:
	// [[104. 205.]
	//  [110. 211.]]
}

func ExampleGlobalAveragePool() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	fmt.Println(op.GlobalAveragePool(x))
	// Output:
	// [[[[4.]]]]
}

func ExampleGlobalMaxPool() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	fmt.Println(op.GlobalMaxPool(x))
	// Output:
	// [[[[8.]]]]
}

func ExampleLRN() {
	x := tensor.FromSlice([]float32{1, 2, 3}, 1, 3, 1)
	fmt.Println(op.LRN(x, 3, 3, 1, 1))
	// Output:
	// [[[0.16666667]
	//   [0.13333334]
	//   [0.21428572]]]
}

func ExampleLogSoftmax() {
	a := tensor.FromSlice([]float32{1, 2, 3, 0, 0, 0}, 2, 3)
	fmt.Println(op.LogSoftmax(a, 1))
	// Output:
	// [[-2.407606   -1.4076059  -0.40760595]
	//  [-1.0986123  -1.0986123  -1.0986123 ]]
}

func ExampleMatMul() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b := tensor.FromSlice([]float32{1, 0, 0, 1, 1, 1}, 3, 2)
	fmt.Println(op.MatMul(a, b))
	// Output:
	// [[ 4.  5.]
	//  [10. 11.]]
}

func ExampleMaxPool() {
	x := tensor.Arange[float32](0, 9, 1).Reshape(1, 1, 3, 3)
	fmt.Println(op.MaxPool(x, op.Window{Kernel: []int{2, 2}}))
	// Output:
	// [[[[4. 5.]
	//    [7. 8.]]]]
}

func ExampleSoftmax() {
	a := tensor.FromSlice([]float32{1, 2, 3, 0, 0, 0}, 2, 3)
	fmt.Println(op.Softmax(a, 1))
	// Output:
	// [[0.09003057 0.24472848 0.66524094]
	//  [0.33333334 0.33333334 0.33333334]]
}

func ExampleRectify() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	b := tensor.FromSlice([]float32{1, -1, -1, 1}, 2, 2)
	fmt.Println(op.Gemm(a, b, tensor.Tensor[float32]{}, 1, 0, op.GemmOptions{}))
	fmt.Println(op.Gemm(a, b, tensor.Tensor[float32]{}, 1, 0, op.GemmOptions{}, op.Rectify()))
	// Output:
	// [[-1.  1.]
	//  [-1.  1.]]
	// [[0. 1.]
	//  [0. 1.]]
}

func ExampleLSTM() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 1, 2) // 2 steps of a sequence of 2 features
	w, r := tensor.Full[float32](0.25, 1, 12, 2), tensor.Full[float32](0.5, 1, 12, 3)
	y, h, c := op.LSTM(x, w, r, op.RecurrentOptions[float32]{})
	fmt.Println(y.Shape(), h.Shape(), c.Shape())
	fmt.Println(h)
	// Output:
	// [2 1 1 3] [1 1 3] [1 1 3]
	// [[[0.76352566 0.76352566 0.76352566]]]
}

func ExampleGRU() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 1, 2)
	w, r := tensor.Full[float32](0.25, 2, 9, 2), tensor.Full[float32](0.5, 2, 9, 3)
	y, h := op.GRU(x, w, r, op.RecurrentOptions[float32]{Direction: "bidirectional", LinearBeforeReset: true})
	fmt.Println(y.Shape(), h.Shape())
	fmt.Println(h)
	// Output:
	// [2 2 1 3] [2 1 3]
	// [[[0.29020992 0.29020992 0.29020992]]
	//
	//  [[0.29936922 0.29936922 0.29936922]]]
}

func ExampleRNN() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 1, 2)
	w, r := tensor.Full[float32](0.25, 1, 3, 2), tensor.Full[float32](0.5, 1, 3, 3)
	y, _ := op.RNN(x, w, r, op.RecurrentOptions[float32]{Activations: []string{"Relu"}})
	fmt.Println(y.Reshape(2, 3))
	// Output:
	// [[0.75  0.75  0.75 ]
	//  [2.875 2.875 2.875]]
}
