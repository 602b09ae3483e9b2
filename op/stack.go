package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Stack returns the tensors ts, which have one shape, side by side on a new axis
// at position axis of the result. It panics when the shapes differ or there are no
// tensors. Elements keep their bits. numpy.stack.
func Stack[T num.Elem](ts []tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	all := make([]tensor.Any, len(ts))
	for i, t := range ts {
		all[i] = t.Any()
	}
	stacked(exec.Ref(&r), axis, all, opts)
	return r
}

// stacked is Stack for a run-time element type, which all of ts have. It changes ts.
func stacked(r *tensor.Any, axis int, ts []tensor.Any, opts []Option) {
	if len(ts) == 0 {
		panic(plan.Fail("Stack", tensor.ErrShape, "no tensors; give at least one"))
	}
	plan.PresentAll("Stack", ts)
	shape := ts[0].Shape()
	axis = plan.AxisOf("Stack", axis, len(shape)+1)
	idx := slices.Repeat([]tensor.Index{tensor.Colon}, len(shape)+1)
	idx[axis] = tensor.NewAxis
	for i, t := range ts {
		if !plan.SameShape(t.LayoutRef(), shape) {
			panic(plan.Fail("Stack", tensor.ErrShape, "tensor 0 has shape %s, tensor %d has %s", plan.ShapeText(shape), i, plan.ShapeText(t.Shape())))
		}
		ts[i] = t.Slice(idx...)
	}
	concatenated(r, axis, ts, opts)
}
