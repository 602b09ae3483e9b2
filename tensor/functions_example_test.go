package tensor_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleTensor_Permute() {
	t := tensor.New[float32](2, 3, 4)
	fmt.Println(t.Permute(2, 0, 1).Shape(), t.Permute(-1, 0, 1).Any().SameData(t.Any()))
	// Output: [4 2 3] true
}

func ExamplePermuteInPlace() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	same := t // another handle on the same elements
	tensor.PermuteInPlace(&t, 1, 0)
	fmt.Println(t.Shape(), same.Shape(), t.Any().SameData(same.Any()))
	// Output: [3 2] [2 3] true
}

func ExampleTensor_Transpose() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(t.Transpose())
	// Output:
	// [[0 3]
	//  [1 4]
	//  [2 5]]
}

func ExampleSwapAxes() {
	t := tensor.New[float32](2, 3, 4)
	fmt.Println(tensor.SwapAxes(t, 0, -1).Shape())
	// Output: [4 3 2]
}

func ExampleMoveAxis() {
	t := tensor.New[float32](2, 3, 4)
	fmt.Println(tensor.MoveAxis(t, 0, -1).Shape())
	// Output: [3 4 2]
}

func ExampleTensor_Squeeze() {
	t := tensor.New[float32](1, 3, 1)
	fmt.Println(t.Squeeze().Shape(), t.Squeeze(-1).Shape())
	// Output: [3] [1 3]
}

func ExampleTensor_Unsqueeze() {
	t := tensor.New[float32](3)
	fmt.Println(t.Unsqueeze(0).Shape(), t.Unsqueeze(0, -1).Shape())
	// Output: [1 3] [1 3 1]
}

func ExampleTensor_Flip() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(t.Flip(1))
	// Output:
	// [[2 1 0]
	//  [5 4 3]]
}

func ExampleTensor_Slice() {
	t := tensor.Arange[int32](0, 12, 1).View(3, 4)
	part := t.Slice(tensor.R(1, 3), tensor.R(tensor.None, tensor.None, 2)) // t[1:3, ::2], a view
	part.Fill(0)
	fmt.Println(t)
	// Output:
	// [[ 0  1  2  3]
	//  [ 0  5  0  7]
	//  [ 0  9  0 11]]
}

func ExampleDiagonal() {
	t := tensor.Arange[int32](0, 9, 1).View(3, 3)
	fmt.Println(tensor.Diagonal(t, 0, 0, 1), tensor.Diagonal(t, 1, 0, 1))
	// Output: [0 4 8] [1 5]
}

func ExampleTensor_Contiguous() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(t.Contiguous().Any().SameData(t.Any()), t.Transpose().Contiguous().Any().SameData(t.Any()))
	// Output: true false
}

func ExampleMakeContiguous() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	turned := t.Transpose()
	tensor.MakeContiguous(&turned)
	fmt.Println(turned.Elems(), turned.Any().SameData(t.Any()))
	// Output: [0 3 1 4 2 5] false
}

func ExampleTensor_Clone() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	c := t.Transpose().Clone() // the columns stay next to each other in memory
	c.Set(9, 0, 0)
	fmt.Println(t.At(0, 0), c.At(0, 0), c.Layout())
	// Output: 0 9 (3,2):(1,3)
}

func ExampleEmptyLike() {
	t := tensor.New[float32](2, 3).Transpose()
	fmt.Println(tensor.EmptyLike[int8](t).Layout())
	// Output: (3,2):(1,3)
}

func ExampleFlatten() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(tensor.Flatten(t), tensor.Flatten(t, tensor.OrderF), tensor.Flatten(t).Any().SameData(t.Any()))
	// Output: [0 1 2 3 4 5] [0 3 1 4 2 5] false
}

func ExampleTensor_Reshape() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(t.Reshape(3, 2).Any().SameData(t.Any()))          // a view
	fmt.Println(t.Transpose().Reshape(6).Any().SameData(t.Any())) // no strides say that: a copy
	fmt.Println(t.Transpose().Reshape(-1))
	// Output:
	// true
	// false
	// [0 3 1 4 2 5]
}

func ExampleReshapeIn() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(tensor.ReshapeIn(t, tensor.OrderF, 3, 2))
	// Output:
	// [[0 4]
	//  [3 2]
	//  [1 5]]
}

func ExampleReshapeInPlace() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	tensor.ReshapeInPlace(&t, 3, 2)
	fmt.Println(t)
	// Output:
	// [[0 1]
	//  [2 3]
	//  [4 5]]
}

func ExampleAny_CanView() {
	t := tensor.New[int32](2, 3)
	fmt.Println(t.Any().CanView(6), t.Transpose().Any().CanView(6))
	// Output: true false
}

func ExampleNew() {
	fmt.Println(tensor.New[float32](2, 3))
	// Output:
	// [[0. 0. 0.]
	//  [0. 0. 0.]]
}

func ExampleFromSlice() {
	data := []int32{1, 2, 3, 4}
	t := tensor.FromSlice(data, 2, 2)
	t.Set(9, 0, 0) // data is the storage
	fmt.Println(t, data)
	// Output:
	// [[9 2]
	//  [3 4]] [9 2 3 4]
}

func ExampleFull() {
	fmt.Println(tensor.Full[int8](7, 2, 2))
	// Output:
	// [[7 7]
	//  [7 7]]
}

func ExampleScalar() {
	s := tensor.Scalar(2.5)
	fmt.Println(s.Rank(), s.Item())
	// Output: 0 2.5
}

func ExampleEye() {
	fmt.Println(tensor.Eye[float32](2))
	// Output:
	// [[1. 0.]
	//  [0. 1.]]
}

func ExampleArange() {
	fmt.Println(tensor.Arange[int32](10, 0, -3))
	// Output: [10  7  4  1]
}

func ExampleLinspace() {
	fmt.Println(tensor.Linspace(0.0, 1, 5))
	// Output: [0.   0.25 0.5  0.75 1.  ]
}

// Of fixed point each number is exact, or rounded once.
func ExampleLinspace_fixed() {
	a, _ := fixed.Parse[fixed.FP16x16]("-1")
	b, _ := fixed.Parse[fixed.FP16x16]("1")
	fmt.Println(tensor.Linspace(a, b, 5))
	fmt.Println(tensor.Arange(a, b, fixed.FP16x16FromBits(3<<14)))
	// Output:
	// [-1.  -0.5  0.   0.5  1. ]
	// [-1.   -0.25  0.5 ]
}

func ExampleFromNested() {
	t := tensor.FromNested[float32]([][]float32{{1, 2}, {3, 4}})
	fmt.Println(t.Shape())
	fmt.Println(tensor.Try(func() { tensor.FromNested[float32]([][]float32{{1, 2}, {3}}) }))
	// Output:
	// [2 2]
	// tensor.FromNested: entry [1] has 1 entries, others at its level have 2
}

func ExampleAny_Nested() {
	rows := tensor.Arange[int32](0, 4, 1).View(2, 2).Any().Nested().([][]int32)
	fmt.Println(rows)
	// Output: [[0 1] [2 3]]
}

func ExampleNewIn() {
	scratch := new(mem.Scratch)
	t := tensor.NewIn[float32](scratch, 2, 3)
	fmt.Println(t.Any().Storage().Kind)
	scratch.Close()
	fmt.Println(tensor.Try(func() { t.At(0, 0) }))
	// Output:
	// scratch
	// tensor.At: the storage is closed, its memory is given back; close it after its last use
}

func ExampleTensor_Values() {
	t := tensor.Arange[int32](0, 4, 1).View(2, 2)
	for v := range t.Transpose().Values() {
		fmt.Print(v, " ")
	}
	// Output: 0 2 1 3
}

func ExampleAny_Indices() {
	for i := range tensor.New[int32](2, 2).Any().Indices() {
		fmt.Print(i, " ")
	}
	// Output: [0 0] [0 1] [1 0] [1 1]
}

func ExampleAxis() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	for i, row := range tensor.Axis(t, 0) {
		fmt.Println(i, row)
	}
	// Output:
	// 0 [0 1 2]
	// 1 [3 4 5]
}

func ExampleWindows() {
	t := tensor.Arange[int32](0, 4, 1)
	for at, w := range tensor.Windows(t, 2) {
		fmt.Println(at, w)
	}
	// Output:
	// [0] [0 1]
	// [1] [1 2]
	// [2] [2 3]
}

func ExampleTake() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(tensor.Take(t, 1, 0, -1)) // a copy
	// Output:
	// [[0 2]
	//  [3 5]]
}

func ExampleSetTake() {
	t := tensor.New[int32](2, 3)
	tensor.SetTake(t, tensor.Scalar[int32](7), 1, 0, -1)
	fmt.Println(t)
	// Output:
	// [[7 0 7]
	//  [7 0 7]]
}

func ExampleIndexBy() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(tensor.IndexBy(t, tensor.FromSlice([]int64{0, 1}), tensor.FromSlice([]int64{2, 0})))
	// Output: [2 3]
}

func ExampleSetIndexBy() {
	t := tensor.New[int32](2, 3)
	tensor.SetIndexBy(t, tensor.Scalar[int32](7), tensor.FromSlice([]int64{0, 1}), tensor.FromSlice([]int64{2, 0}))
	fmt.Println(t)
	// Output:
	// [[0 0 7]
	//  [7 0 0]]
}

func ExampleMask() {
	t := tensor.FromSlice([]int32{5, 6, 7})
	fmt.Println(tensor.Mask(t, tensor.FromSlice([]bool{true, false, true})))
	// Output: [5 7]
}

func ExampleSetMask() {
	t := tensor.FromSlice([]int32{5, 6, 7})
	tensor.SetMask(t, tensor.Scalar[int32](0), tensor.FromSlice([]bool{true, false, true}))
	fmt.Println(t)
	// Output: [0 6 0]
}

func ExampleAny_Overlaps() {
	t := tensor.New[int32](6)
	even, odd := t.S("::2"), t.S("1::2")
	fmt.Println(even.Any().SameData(odd.Any()), even.Any().Overlaps(odd.Any()), even.Any().Overlaps(t.Any()))
	// Output: true false true
}

func ExampleAny_Storage() {
	s := tensor.New[float32](2, 3).Any().Storage()
	fmt.Println(s.Kind, s.Bytes, s.ReadOnly)
	// Output: owned 24 false
}

func ExampleDetach() {
	big := tensor.New[float32](1000)
	part := big.S(":2")
	fmt.Println(part.Any().RetainedBytes(), tensor.Detach(part).Any().RetainedBytes())
	// Output: 4000 8
}

func ExampleTensor_Close() {
	t := tensor.New[float32](2)
	view := t.S(":1")
	t.Close()
	fmt.Println(tensor.Try(func() { view.At(0) }))
	// Output: tensor.At: the storage is closed, its memory is given back; close it after its last use
}

func ExampleAny_Pin() {
	t := tensor.Arange[int32](0, 3, 1)
	release := t.Any().Pin()
	defer release()
	elems := t.Elems()
	t.Close() // the slice stays until release
	fmt.Println(elems)
	// Output: [0 1 2]
}

func ExampleAny_Export() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	e := t.Transpose().Any().Export()
	defer e.Release()
	fmt.Println(e.DType, e.Shape, e.Strides, e.ReadOnly)
	// Output: int32 [3 2] [1 3] false
}

func ExampleTensor_Elems() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	row := t.S("1").Elems() // shares memory
	row[0] = 9
	fmt.Println(len(row), cap(row), t.At(1, 0))
	// Output: 3 3 9
}

func ExampleTensor_At() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(t.At(1, 2))
	fmt.Println(tensor.Try(func() { t.At(1, 3) }))
	// Output:
	// 5
	// tensor.At: index 3 is outside axis 1 of extent 3
}

func ExampleAtOr() {
	t := tensor.Arange[int32](0, 6, 1).View(2, 3)
	fmt.Println(tensor.AtOr(t, -1, 1, 2), tensor.AtOr(t, -1, 1, 3))
	// Output: 5 -1
}

func ExampleTensor_Set() {
	t := tensor.New[int32](2, 2)
	t.Set(7, 1, 0)
	fmt.Println(t)
	// Output:
	// [[0 0]
	//  [7 0]]
}

func ExampleTensor_Item() {
	fmt.Println(tensor.Full[int32](7, 1, 1).Item())
	// Output: 7
}

func ExampleRandomUniform() {
	a, b := tensor.RandomUniform[float32](7, 0, 1, 2), tensor.RandomUniform[float32](7, 0, 1, 1000)
	fmt.Println(a.At(1) == b.At(1)) // by seed and place
	// Output: true
}

func ExampleRandomNormal() {
	t := tensor.RandomNormal[float64](7, 10, 2, 3)
	fmt.Printf("%.3f\n", t)
	// Output: [ 9.589  7.517 12.031]
}

func ExampleRandomIntegers() {
	fmt.Println(tensor.RandomIntegers[int32](7, 0, 10, 5))
	// Output: [7 4 6 5 2]
}

func ExampleRandomPermutation() {
	fmt.Println(tensor.RandomPermutation(7, 5))
	// Output: [0 3 1 4 2]
}

func ExampleMake() {
	a, err := tensor.Make(dtype.Int16, 2, 2)
	fmt.Println(a, err)
	// Output:
	// [[0 0]
	//  [0 0]] <nil>
}

// The result of a function whose element type is known at run time, which writes every element.
func ExampleEmptyOf() {
	double := func(a tensor.Any) tensor.Any {
		r := tensor.EmptyOf(a.DType(), a.Shape()...)
		switch a.DType() {
		case dtype.Int32:
			x, _ := tensor.As[int32](a)
			y, _ := tensor.As[int32](r)
			for i, v := range x.Contiguous().Elems() {
				y.Elems()[i] = 2 * v
			}
		}
		return r
	}
	fmt.Println(double(tensor.Arange[int32](0, 3, 1).Any()))
	// Output: [0 2 4]
}

func ExampleFromBytes() {
	buf := mem.Borrow([]byte{1, 2, 3, 4, 5, 6}, nil)
	a, err := tensor.FromBytes(dtype.Uint8, buf, 0, layout.MustParse("(2,3):(1,2)")) // by columns, nothing is copied
	fmt.Println(a, err)
	// Output:
	// [[1 3 5]
	//  [2 4 6]] <nil>
}

func ExampleTensor_MarshalJSON() {
	b, err := tensor.Arange[int32](0, 4, 1).View(2, 2).MarshalJSON()
	fmt.Println(string(b), err)
	// Output: [[0,1],[2,3]] <nil>
}

func ExampleTensor_UnmarshalJSON() {
	var t tensor.Tensor[float32]
	err := t.UnmarshalJSON([]byte("[[1,2],[3,\"NaN\"]]"))
	fmt.Println(t.Shape(), t.At(1, 1), err)
	// Output: [2 2] NaN <nil>
}

func ExampleTensor_MarshalBinary() {
	b, err := tensor.Arange[int32](0, 4, 1).View(2, 2).MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var t tensor.Tensor[int32]
	fmt.Println(t.UnmarshalBinary(b), t.Shape())
	// Output: <nil> [2 2]
}

func ExampleEncode() {
	var b bytes.Buffer
	err := tensor.Encode(&b, tensor.FromSlice([]int16{1, 2}).Any())
	fmt.Println(b.Bytes(), err)
	// Output: [1 0 2 0] <nil>
}

func ExampleDescribe() {
	fmt.Println(tensor.Describe(tensor.New[float32](2, 3).Any()))
	// Output: float32[2,3]
}
