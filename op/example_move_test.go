package op_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleCast() {
	a := tensor.FromSlice([]float32{1.7, -3.2, 300, float32(math.NaN())})
	fmt.Println(op.Cast[int16](a))
	// Output:
	// [  1  -3 300   0]
}

func ExampleCastAs() {
	var read tensor.Any = tensor.FromSlice([]uint8{0, 128, 255}).Any() // as from a file
	fmt.Println(op.CastAs[float32](read))
	// Output:
	// [  0. 128. 255.]
}

func ExampleCastLike() {
	a := tensor.FromSlice([]float32{1.7, -3.2})
	like := tensor.New[int64](1)
	fmt.Println(op.CastLike(a, like))
	// Output:
	// [ 1 -3]
}

func ExampleConcat() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b := tensor.FromSlice([]float32{7, 8}, 2, 1)
	fmt.Println(op.Concat([]tensor.Tensor[float32]{a, b}, 1))
	// Output:
	// [[1. 2. 3. 7.]
	//  [4. 5. 6. 8.]]
}

func ExampleFlatten() {
	a := tensor.Arange[float32](0, 8, 1).Reshape(2, 2, 2)
	fmt.Println(op.Flatten(a, 1))
	// Output:
	// [[0. 1. 2. 3.]
	//  [4. 5. 6. 7.]]
}

func ExampleGather() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	rows := tensor.FromSlice([]int64{2, 0, -1})
	fmt.Println(op.Gather(a, rows, 0))
	// Output:
	// [[5. 6.]
	//  [1. 2.]
	//  [5. 6.]]
}

func ExampleIdentity() {
	a := tensor.FromSlice([]float32{1, 2})
	fmt.Println(op.Identity(a))
	// Output:
	// [1. 2.]
}

func ExampleScalar() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	fmt.Println(op.Mul(a, tensor.Scalar[float32](10)))
	// Output:
	// [10. 20. 30.]
}

func ExampleWhere() {
	cond := tensor.FromSlice([]bool{true, false, true})
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Where(cond, a, b))
	// Output:
	// [ 1. 20.  3.]
}
