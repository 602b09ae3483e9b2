package op

import (
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Stack returns the tensors ts, which have one shape, side by side on a new axis
// at position axis of the result. It panics when the shapes differ or there are no
// tensors. Elements keep their bits. numpy.stack.
func Stack[T num.Elem](axis int, ts []tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if len(ts) == 0 {
		panic(fail("Stack", tensor.ErrShape, "no tensors; give at least one"))
	}
	axis = axisOf("Stack", axis, ts[0].Rank()+1)
	thick := make([]tensor.Tensor[T], len(ts))
	for i, t := range ts {
		if !sameShape(exec.Ref(&t).LayoutRef(), ts[0].Shape()) {
			panic(fail("Stack", tensor.ErrShape, "tensor 0 has shape %s, tensor %d has %s", shapeText(ts[0].Shape()), i, shapeText(t.Shape())))
		}
		thick[i] = t.Unsqueeze(axis)
	}
	return Concat(axis, thick, opts...)
}
