package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Trace returns the sum along a diagonal: of the elements whose index on axis2 is
// that on axis1 plus offset. Both axes go. The sum is ReduceSum's. It panics when the
// axes are the same or don't exist. numpy.trace, which adds small integers in int64:
// Cast first for that.
func Trace[T num.Number](a tensor.Tensor[T], offset, axis1, axis2 int, opts ...Option) tensor.Tensor[T] {
	plan.Present("Trace", exec.Ref(&a))
	if !walk.Ref(exec.Ref(&a).LayoutRef()).Flat() { // a nested axis may have no single stride
		a = a.Contiguous()
	}
	return ReduceSum(tensor.Diagonal(a, offset, axis1, axis2), []int{-1}, opts...)
}
