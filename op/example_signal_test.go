package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Two waves a turn and their spectrum, of which a half says all.
func ExampleDFT() {
	x := tensor.FromSlice([]float32{1, 0, -1, 0, 1, 0, -1, 0}, 8, 1)
	y := op.DFT(x, 0, op.Fourier{Onesided: true})
	fmt.Println(y)
	fmt.Println(op.DFT(y, 0, op.Fourier{Onesided: true, Inverse: true}).Reshape(8))
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
	fmt.Println(op.STFT(x, 4, tensor.Full[float32](0.5, 4), 0, true))
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
}

func ExampleAffineGrid() {
	turned := tensor.FromSlice([]float32{0, 1, 0, -1, 0, 0}, 1, 2, 3) // by a right angle
	grid := op.AffineGrid(turned, []int{1, 1, 2, 2}, false)
	image := tensor.FromSlice([]float32{0, 10, 20, 30}, 1, 1, 2, 2)
	fmt.Println(op.GridSample(image, grid, op.Sampling{}))
	// Output:
	// [[[[10. 30.]
	//    [ 0. 20.]]]]
}
