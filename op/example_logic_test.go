package op_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAnd() {
	a := tensor.FromSlice([]bool{true, true, false})
	b := tensor.FromSlice([]bool{true, false, false})
	fmt.Println(op.And(a, b))
	// Output:
	// [ True False False]
}

func ExampleBitShift() {
	a := tensor.FromSlice([]uint8{1, 3, 200})
	b := tensor.FromSlice([]uint8{3, 1, 1})
	fmt.Println(op.BitShift(a, b, op.ShiftLeft))
	// Output:
	// [  8   6 144]
}

func ExampleBitwiseAnd() {
	a := tensor.FromSlice([]uint8{12, 10})
	b := tensor.FromSlice([]uint8{10, 6})
	fmt.Println(op.BitwiseAnd(a, b))
	// Output:
	// [8 2]
}

func ExampleBitwiseNot() {
	a := tensor.FromSlice([]uint8{0, 1, 255})
	fmt.Println(op.BitwiseNot(a))
	// Output:
	// [255 254   0]
}

func ExampleBitwiseOr() {
	a := tensor.FromSlice([]uint8{12, 10})
	b := tensor.FromSlice([]uint8{10, 6})
	fmt.Println(op.BitwiseOr(a, b))
	// Output:
	// [14 14]
}

func ExampleBitwiseXor() {
	a := tensor.FromSlice([]uint8{12, 10})
	b := tensor.FromSlice([]uint8{10, 6})
	fmt.Println(op.BitwiseXor(a, b))
	// Output:
	// [ 6 12]
}

func ExampleEqual() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.Equal(a, b))
	// Output:
	// [False False  True]
}

func ExampleGreater() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.Greater(a, b))
	// Output:
	// [False  True False]
}

func ExampleGreaterOrEqual() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.GreaterOrEqual(a, b))
	// Output:
	// [False  True  True]
}

func ExampleIsInf() {
	a := tensor.FromSlice([]float32{1, float32(math.Inf(1))})
	fmt.Println(op.IsInf(a, 0))
	// Output:
	// [False  True]
}

func ExampleIsNaN() {
	a := tensor.FromSlice([]float32{1, float32(math.NaN())})
	fmt.Println(op.IsNaN(a))
	// Output:
	// [False  True]
}

func ExampleLess() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.Less(a, b))
	// Output:
	// [ True False False]
}

func ExampleLessOrEqual() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.LessOrEqual(a, b))
	// Output:
	// [ True False  True]
}

func ExampleNot() {
	a := tensor.FromSlice([]bool{true, false})
	fmt.Println(op.Not(a))
	// Output:
	// [False  True]
}

func ExampleOr() {
	a := tensor.FromSlice([]bool{true, true, false})
	b := tensor.FromSlice([]bool{true, false, false})
	fmt.Println(op.Or(a, b))
	// Output:
	// [ True  True False]
}

func ExampleXor() {
	a := tensor.FromSlice([]bool{true, true, false})
	b := tensor.FromSlice([]bool{true, false, false})
	fmt.Println(op.Xor(a, b))
	// Output:
	// [False  True False]
}
