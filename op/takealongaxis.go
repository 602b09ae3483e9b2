package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TakeAlongAxis is GatherElements for operands that broadcast to each other on
// every axis but the one named, as numpy.take_along_axis has it: with the result
// of ArgSort it sorts. It panics when they don't, or as GatherElements does.
func TakeAlongAxis[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, opts ...Option) (r tensor.Tensor[T]) {
	takenAlong(a.Any(), indices.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func takenAlong(a, indices tensor.Any, axis int) *move.Transfer {
	const name = "TakeAlongAxis"
	plan.Present(name, &a, &indices)
	axis = plan.AxisOf(name, axis, a.Rank())
	if indices.Rank() != a.Rank() {
		panic(plan.Fail(name, tensor.ErrShape, "indices have rank %d, the data %d", indices.Rank(), a.Rank()))
	}
	own, by := a.Shape(), indices.Shape()
	n, m := own[axis], by[axis]
	own[axis], by[axis] = 1, 1
	x, y := plan.Spec(name, a.DType(), own...).Layout(), plan.Spec(name, indices.DType(), by...).Layout()
	shape := plan.BroadcastShape(name, nil, &x, &y)
	whole := slices.Clone(shape)
	whole[axis], shape[axis] = n, m
	return elementsAt(name, a.BroadcastTo(whole...), indices.BroadcastTo(shape...), axis)
}
