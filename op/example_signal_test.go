package op_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Two waves a turn and their spectrum, of which a half says all.
func ExampleDFT() {
	x := tensor.FromSlice([]float32{1, 0, -1, 0, 1, 0, -1, 0}, 8, 1)
	y := op.DFT(x, 0, op.DFTOptions{OneSided: true})
	fmt.Println(y)
	fmt.Println(op.DFT(y, 0, op.DFTOptions{OneSided: true, Inverse: true}).Reshape(8))
	// Output:
	// [[0. 0.]
	//  [0. 0.]
	//  [4. 0.]
	//  [0. 0.]
	//  [0. 0.]]
	// [ 1.  0. -1.  0.  1.  0. -1.  0.]
}

func ExampleSTFT() {
	x := tensor.FromSlice([]float32{1, 1, 1, 1, 1, -1, 1, -1}, 1, 8)
	fmt.Println(op.STFT(x, tensor.Full[float32](0.5, 4), 4, op.STFTOptions{}))
	// Output:
	// [[[[2. 0.]
	//    [0. 0.]
	//    [0. 0.]]
	//
	//   [[0. 0.]
	//    [0. 0.]
	//    [2. 0.]]]]
}

func ExampleMelWeightMatrix() {
	fmt.Println(op.MelWeightMatrix[float32](3, 8, 8000, 0, 4000))
	// Output:
	// [[1. 1. 0.]
	//  [0. 0. 1.]
	//  [0. 0. 0.]
	//  [0. 0. 0.]
	//  [0. 0. 0.]]
}

func ExampleAffineGrid() {
	turned := tensor.FromSlice([]float32{0, 1, 0, -1, 0, 0}, 1, 2, 3) // by a right angle
	grid := op.AffineGrid(turned, []int{1, 1, 2, 2}, op.AffineGridOptions{})
	image := tensor.FromSlice([]float32{0, 10, 20, 30}, 1, 1, 2, 2)
	fmt.Println(op.GridSample(image, grid, op.GridSampleOptions{}))
	// Output:
	// [[[[20.  0.]
	//    [30. 10.]]]]
}

func ExampleBernoulli() {
	p := tensor.FromSlice([]float32{0, 0.5, 0.5, 0.5, 0.5, 1})
	fmt.Println(op.Bernoulli[int32](p, 4))
	// Output:
	// [0 0 0 1 0 1]
}

func ExampleMultinomial() {
	x := tensor.FromSlice([]float64{0, math.Log(8), math.Inf(-1)}, 1, 3) // weights 1, 8 and 0
	fmt.Println(op.Multinomial[int32](x, 10, 1))
	// Output:
	// [[1 1 1 1 1 1 0 0 1 1]]
}

func ExampleTrainingDropout() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6})
	y, kept := op.TrainingDropout(x, 0.5, 3)
	fmt.Println(y)
	fmt.Println(kept)
	// Output:
	// [ 0.  4.  6.  8. 10.  0.]
	// [False  True  True  True  True False]
}

func ExampleTrainingBatchNormalization() {
	x := tensor.FromSlice([]float32{1, 3, 5, 7}, 4, 1) // of mean 4 and variance 5
	one, zero := tensor.Full[float32](1, 1), tensor.New[float32](1)
	y, mean, variance := op.TrainingBatchNormalization(x, one, zero, zero, one, 0, 0.9)
	fmt.Println(y.Reshape(4))
	fmt.Println(mean, variance)
	// Output:
	// [-1.3416408 -0.4472136  0.4472136  1.3416408]
	// [0.4] [1.4]
}

// Two columns of 16 weights of 4 bits, 0 to 15 and 8 throughout, with zero points 0 and 7.
func ExampleMatMulNBits() {
	b := tensor.FromSlice([]uint8{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88}, 2, 1, 8)
	scales := tensor.FromSlice([]float32{1, 0.5}, 2, 1)
	zero := tensor.FromSlice([]uint8{0, 7}, 2, 1)
	a := tensor.Full[float32](1, 1, 16)
	fmt.Println(op.MatMulNBits(a, b, scales, zero, tensor.Tensor[float32]{}, op.MatMulNBitsOptions{Columns: 2, Bits: 4, Block: 16}))
	// Output:
	// [[120.   8.]]
}
