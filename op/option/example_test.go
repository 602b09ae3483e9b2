package option_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/option"
	"github.com/ashlar-go/ashlar/tensor"
)

// A function of a program hands its options on.
func Example() {
	double := func(a tensor.Tensor[int32], opts ...option.Option) tensor.Tensor[int32] { return op.Add(a, a, opts...) }
	a := tensor.FromSlice([]int32{1, 2}, 2)
	fmt.Println(double(a))
	double(a, op.Into(a))
	fmt.Println(a)
	// Output:
	// [2 4]
	// [2 4]
}
