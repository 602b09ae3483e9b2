package tensor_test

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	t := tensor.Arange[int32](0, 12, 1).View(3, 4)
	column := t.Slice(tensor.Colon, tensor.I(1)) // t[:, 1], a view
	column.Set(-1, 2)
	fmt.Println(t)
	fmt.Println(column, t.Transpose().Shape())
	// Output:
	// [[ 0  1  2  3]
	//  [ 4  5  6  7]
	//  [ 8 -1 10 11]]
	// [ 1  5 -1] [4 3]
}

func ExampleTensor_S() {
	t := tensor.Arange[int32](0, 12, 1).View(3, 4)
	fmt.Println(t.S("1:, ::-1"))
	fmt.Println(t.S("..., -1"))
	// Output:
	// [[ 7  6  5  4]
	//  [11 10  9  8]]
	// [ 3  7 11]
}

func ExampleTensor_View() {
	t := tensor.Arange[float32](0, 6, 1).View(2, -1)
	turned := t.Transpose()
	fmt.Println(turned.Any().CanView(6), turned.Reshape(6).Any().SameData(t.Any()))
	fmt.Println(tensor.Try(func() { turned.View(6) }))
	// Output:
	// false false
	// tensor.View: (3,2):(1,3) has no view of shape (6): axes 0 and 1 don't follow each other in memory; Reshape copies
}

func ExampleTensor_CopyFrom() {
	t := tensor.Arange[int8](0, 5, 1)
	t.S("1:").CopyFrom(t.S(":-1")) // as if the right side had been read first
	fmt.Println(t)
	// Output: [0 0 1 2 3]
}

func ExampleTensor_BroadcastTo() {
	row := tensor.FromSlice([]int8{1, 2, 3})
	m := row.BroadcastTo(2, 3) // no element is copied
	err := tensor.Try(func() { m.Set(9, 0, 0) })
	fmt.Println(m, errors.Is(err, tensor.ErrReadOnly))
	// Output:
	// [[1 2 3]
	//  [1 2 3]] true
}

func ExampleSlidingWindow() {
	days := tensor.FromSlice([]float64{1, 2, 3, 4, 5})
	fmt.Println(tensor.SlidingWindow(days, 0, 3))
	// Output:
	// [[1. 2. 3.]
	//  [2. 3. 4.]
	//  [3. 4. 5.]]
}

func ExampleTensor_All() {
	t := tensor.FromSlice([]int8{3, 5}, 1, 2)
	for i, v := range t.All() {
		fmt.Println(i, v)
	}
	// Output:
	// [0 0] 3
	// [0 1] 5
}

// A layout may nest: here the rows of a 4×4 matrix count through pairs.
func ExampleFromLayout() {
	data := make([]uint8, 16)
	for i := range data {
		data[i] = uint8(i)
	}
	t := tensor.FromLayout(data, layout.MustParse("((2,2),4):((1,8),2)"))
	fmt.Println(t)
	// Output:
	// [[ 0  2  4  6]
	//  [ 1  3  5  7]
	//  [ 8 10 12 14]
	//  [ 9 11 13 15]]
}

func ExampleTensor_Format() {
	t := tensor.FromSlice([]float64{1.0 / 3, -20}, 1, 2)
	fmt.Println(t)
	fmt.Printf("%.2f\n%#v\n", t, t)
	// Output:
	// [[  0.33333333 -20.        ]]
	// [[  0.33 -20.00]]
	// tensor.FromSlice([]float64{0.3333333333333333, -20}, 1, 2)
}

func ExampleSprint() {
	t := tensor.Linspace(0.0, 1, 4)
	fmt.Println(tensor.Sprint(t.Any(), &tensor.PrintOptions{Precision: 2, Separator: ", "}))
	// Output: [0.  , 0.33, 0.67, 1.  ]
}

func ExampleTry() {
	t := tensor.New[float32](2, 3)
	err := tensor.Try(func() { t.At(0, 3) })
	fmt.Println(err, errors.Is(err, tensor.ErrIndex))
	// Output: tensor.At: index 3 is outside axis 1 of extent 3 true
}

func ExampleTensor_Scalar() {
	t := tensor.FromSlice([]float32{1, 2, 3})
	fmt.Println(op.Mul(t, t.Scalar(2)))
	// Output: [2. 4. 6.]
}
