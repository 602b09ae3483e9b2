package op_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleSquare() {
	fmt.Println(op.Square(tensor.FromSlice([]int32{1, -2, 3})))
	// Output: [1 4 9]
}

func ExampleTrunc() {
	fmt.Println(op.Trunc(tensor.FromSlice([]float32{1.7, -1.7, 0.5})))
	// Output: [ 1. -1.  0.]
}

func ExampleIsFinite() {
	fmt.Println(op.IsFinite(tensor.FromSlice([]float64{1, math.Inf(1), math.NaN()})))
	// Output: [ True False False]
}

func ExampleSignBit() {
	fmt.Println(op.SignBit(tensor.FromSlice([]float64{1, -1, math.Copysign(0, -1)})))
	// Output: [False  True  True]
}

func ExampleNotEqual() {
	fmt.Println(op.NotEqual(tensor.FromSlice([]int8{1, 2, 3}), tensor.Scalar[int8](2)))
	// Output: [ True False  True]
}

func ExampleFloorDiv() {
	fmt.Println(op.FloorDiv(tensor.FromSlice([]int32{7, -7, 8}), tensor.Scalar[int32](2)))
	// Output: [ 3 -4  4]
}

func ExampleGcd() {
	fmt.Println(op.Gcd(tensor.FromSlice([]int32{12, -18, 0}), tensor.Scalar[int32](8)))
	// Output: [4 2 8]
}

func ExampleLcm() {
	fmt.Println(op.Lcm(tensor.FromSlice([]int32{12, -18, 0}), tensor.Scalar[int32](8)))
	// Output: [24 72  0]
}

func ExampleFMax() {
	fmt.Println(op.FMax(tensor.FromSlice([]float64{1, math.NaN(), 3}), tensor.Scalar(2.0)))
	// Output: [2. 2. 3.]
}

func ExampleFMin() {
	fmt.Println(op.FMin(tensor.FromSlice([]float64{1, math.NaN(), 3}), tensor.Scalar(2.0)))
	// Output: [1. 2. 2.]
}

func ExampleCopySign() {
	fmt.Println(op.CopySign(tensor.FromSlice([]float64{1, -2, 3}), tensor.Scalar(-1.0)))
	// Output: [-1. -2. -3.]
}

func ExampleNextAfter() {
	fmt.Println(op.NextAfter(tensor.Scalar[float32](0), tensor.Scalar[float32](1)))
	// Output: 1e-45
}

func ExampleVar() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 6, 8}, 2, 3)
	fmt.Println(op.Var(a, []int{1}, 1))
	// Output: [1. 4.]
}

func ExampleStd() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 6, 8}, 2, 3)
	fmt.Println(op.Std(a, []int{1}, 1))
	// Output: [1. 2.]
}

func ExampleMedian() {
	a := tensor.FromSlice([]float32{3, 1, 2, 8, 4, 6}, 2, 3)
	fmt.Println(op.Median(a, []int{1}), op.Median(a, nil))
	// Output: [2. 6.] 3.5
}

func ExampleQuantile() {
	a := tensor.FromSlice([]float32{0, 10, 20, 30})
	fmt.Println(op.Quantile(a, 0.25, nil))
	// Output: 7.5
}

func ExampleNanSum() {
	fmt.Println(op.NanSum(tensor.FromSlice([]float64{1, math.NaN(), 3}), nil))
	// Output: 4.0
}

func ExampleNanMean() {
	fmt.Println(op.NanMean(tensor.FromSlice([]float64{1, math.NaN(), 3}), nil))
	// Output: 2.0
}

func ExampleNanMax() {
	fmt.Println(op.NanMax(tensor.FromSlice([]float64{1, math.NaN(), 3}), nil))
	// Output: 3.0
}

func ExampleNanMin() {
	fmt.Println(op.NanMin(tensor.FromSlice([]float64{1, math.NaN(), 3}), nil))
	// Output: 1.0
}

func ExampleNanArgMax() {
	fmt.Println(op.NanArgMax(tensor.FromSlice([]float64{math.NaN(), 1, 3}), 0))
	// Output: 2
}

func ExampleNanArgMin() {
	fmt.Println(op.NanArgMin(tensor.FromSlice([]float64{math.NaN(), 1, 3}), 0))
	// Output: 1
}

func ExampleEinsum() {
	a := tensor.Arange[int64](0, 6, 1).Reshape(2, 3)
	b := tensor.Arange[int64](0, 6, 1).Reshape(3, 2)
	fmt.Println(op.Einsum("ij,jk->ik", []tensor.Tensor[int64]{a, b}))
	fmt.Println(op.Einsum("ij->j", []tensor.Tensor[int64]{a}))
	// Output:
	// [[10 13]
	//  [28 40]]
	// [3 5 7]
}

func ExampleTensorDot() {
	a := tensor.Arange[int64](0, 6, 1).Reshape(2, 3)
	fmt.Println(op.TensorDot(a, a, []int{1}, []int{1}))
	// Output:
	// [[ 5 14]
	//  [14 50]]
}

func ExampleInner() {
	fmt.Println(op.Inner(tensor.FromSlice([]float32{1, 2, 3}), tensor.FromSlice([]float32{4, 5, 6})))
	// Output: 32.0
}
