package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleLayerNormalization() {
	x := tensor.FromSlice([]float32{1, 3, 10, 50}, 2, 2)
	fmt.Println(op.LayerNormalization(x, tensor.Scalar[float32](1), tensor.Scalar[float32](100), -1, 0))
	// Output:
	// [[ 99. 101.]
	//  [ 99. 101.]]
}

func ExampleRMSNormalization() {
	x := tensor.FromSlice([]float32{1, 7, -5, 5}, 2, 2)
	fmt.Println(op.RMSNormalization(x, tensor.Scalar[float32](5), -1, 0))
	// Output:
	// [[ 1.  7.]
	//  [-5.  5.]]
}

func ExampleGroupNormalization() {
	x := tensor.FromSlice([]float32{1, 3, 10, 50}, 1, 4)
	ones := tensor.Full[float32](1, 4)
	fmt.Println(op.GroupNormalization(x, ones, ones, 2, 0))
	// Output:
	// [[0. 2. 0. 2.]]
}

func ExampleInstanceNormalization() {
	x := tensor.FromSlice([]float32{1, 3, 10, 50}, 1, 2, 2)
	fmt.Println(op.InstanceNormalization(x, tensor.FromSlice([]float32{1, 10}), tensor.New[float32](2), 0))
	// Output:
	// [[[ -1.   1.]
	//   [-10.  10.]]]
}

func ExampleLpNormalization() {
	x := tensor.FromSlice([]float32{3, 4, 0, 0}, 2, 2)
	fmt.Println(op.LpNormalization(x, -1, 2))
	// Output:
	// [[0.6 0.8]
	//  [0.  0. ]]
}

func ExampleMeanVarianceNormalization() {
	x := tensor.FromSlice([]float32{1, 3, 10, 50}, 2, 2)
	fmt.Println(op.MeanVarianceNormalization(x, []int{1}))
	// Output:
	// [[-1.  1.]
	//  [-1.  1.]]
}

func ExampleLpPool() {
	x := tensor.FromSlice([]float32{3, 4, 0, 5, 12}, 1, 1, 5)
	fmt.Println(op.LpPool(x, op.Window{Kernel: []int{2}}, 2))
	// Output:
	// [[[ 5.  4.  5. 13.]]]
}

func ExampleMaxUnpool() {
	x := tensor.FromSlice([]float32{5, 7}, 1, 1, 2)
	at := tensor.FromSlice([]int64{1, 2}, 1, 1, 2)
	fmt.Println(op.MaxUnpool(x, at, op.Window{Kernel: []int{2}, Strides: []int{2}}, nil))
	// Output:
	// [[[0. 5. 7. 0.]]]
}

func ExampleRoiAlign() {
	x := tensor.Arange[float32](0, 16, 1).Reshape(1, 1, 4, 4)
	roi := tensor.FromSlice([]float32{0, 0, 4, 4}, 1, 4)
	fmt.Println(op.RoiAlign(x, roi, tensor.FromSlice([]int64{0}), op.RoiAlignOptions{Height: 2, Width: 2, Scale: 1, HalfPixel: true}))
	// Output:
	// [[[[ 2.5  4.5]
	//    [10.5 12.5]]]]
}

func ExampleNegativeLogLikelihoodLoss() {
	x := tensor.FromSlice([]float32{-1, -2, -3, -4, -5, -6}, 2, 3)
	target := tensor.FromSlice([]int64{2, 0})
	none := tensor.Tensor[float32]{}
	fmt.Println(op.NegativeLogLikelihoodLoss(x, target, none, op.LossOptions{Reduction: "none"}), op.NegativeLogLikelihoodLoss(x, target, none, op.LossOptions{}))
	// Output:
	// [3. 4.] 3.5
}

func ExampleSoftmaxCrossEntropyLoss() {
	loss, logProb := op.SoftmaxCrossEntropyLoss(tensor.New[float64](1, 2), tensor.FromSlice([]int64{1}), tensor.Tensor[float64]{}, op.LossOptions{})
	fmt.Printf("%.4f %.4f\n", loss.Item(), logProb.At(0, 0))
	// Output:
	// 0.6931 -0.6931
}

func ExampleHannWindow() {
	fmt.Println(op.HannWindow[float32](5, op.WindowFunctionOptions{Symmetric: true}))
	// Output:
	// [0.  0.5 1.  0.5 0. ]
}

func ExampleHammingWindow() {
	fmt.Printf("%.4f\n", op.HammingWindow[float64](3, op.WindowFunctionOptions{Symmetric: true}).Elems())
	// Output:
	// [0.0870 1.0000 0.0870]
}

func ExampleBlackmanWindow() {
	fmt.Printf("%.4f\n", op.BlackmanWindow[float64](4, op.WindowFunctionOptions{}).Elems())
	// Output:
	// [-0.0000 0.3400 1.0000 0.3400]
}

func ExampleShrink() {
	fmt.Println(op.Shrink(tensor.FromSlice([]float32{-2, -0.25, 0.25, 2}), 0.5, 0.5))
	// Output:
	// [-1.5  0.   0.   1.5]
}

func ExampleDet() {
	fmt.Println(op.Det(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)))
	// Output:
	// -2.0
}

func ExampleNonMaxSuppression() {
	boxes := tensor.FromSlice([]float32{0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}, 1, 3, 4)
	scores := tensor.FromSlice([]float32{0.5, 0.9, 0.8}, 1, 1, 3)
	fmt.Println(op.NonMaxSuppression(boxes, scores, op.NonMaxSuppressionOptions{Most: 3, Overlap: 0.5}))
	// Output:
	// [[0 0 1]
	//  [0 0 2]]
}

func ExampleBitCast() {
	fmt.Printf("%x\n", op.BitCast[uint32](tensor.FromSlice([]float32{1, -2})).Elems())
	// Output:
	// [3f800000 c0000000]
}

func ExampleReduceLogSumExp() {
	a := tensor.FromSlice([]float32{1000, 1000, -1000, -1000}, 2, 2)
	fmt.Println(op.ReduceLogSumExp(a, []int{1}))
	// Output:
	// [1000.6932 -999.3068]
}

func ExampleGlobalLpPool() {
	x := tensor.FromSlice([]float32{3, 4, 0, 5, 12, 0}, 1, 2, 3)
	fmt.Println(op.GlobalLpPool(x, 2))
	// Output:
	// [[[ 5.]
	//   [13.]]]
}

// The region is the right half of the image, in two bins, one above the other.
func ExampleMaxRoiPool() {
	x := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 1, 1, 4, 4)
	fmt.Println(op.MaxRoiPool(x, tensor.FromSlice([]float32{0, 2, 0, 3, 3}, 1, 5), 2, 1, 1))
	// Output:
	// [[[[ 7.]
	//    [15.]]]]
}

func ExampleTfIdfVectorizer() {
	x := tensor.FromSlice([]int64{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, 2, 6)
	grams := op.TfIdfVectorizerOptions{Pool: []int64{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}, Starts: []int{0, 4}, Outputs: []int{0, 1, 2, 3, 4, 5, 6}, Mode: "TF", Least: 2, Most: 2}
	fmt.Println(op.TfIdfVectorizer(x, grams))
	// Output:
	// [[0. 0. 0. 0. 0. 0. 0.]
	//  [0. 0. 0. 0. 1. 0. 1.]]
}
