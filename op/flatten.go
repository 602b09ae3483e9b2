package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Flatten returns a as a matrix: the axes before axis make up its rows, the others
// its columns. axis may be the rank, and negative. A view where the strides allow
// it and there is no Into target, else a copy. ONNX Flatten; the function tensor.Flatten
// gives a copy of rank 1, Tensor.Reshape(-1) a view where it can.
func Flatten[T num.Elem](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	s := plan.Read("Flatten", opts)
	plan.Deliver(exec.Ref(&r), "Flatten", &s, flattened(exec.Ref(&a), axis))
	return r
}

func flattened(a *tensor.Any, axis int) tensor.Any {
	plan.Present("Flatten", a)
	return a.Reshape(flatShape(*a, axis)...)
}

func flatShape(a tensor.Any, axis int) []int {
	rank := a.Rank()
	if axis != rank {
		axis = plan.AxisOf("Flatten", axis, max(rank, 1))
	}
	rows, cols := 1, 1
	for i := range rank {
		if i < axis {
			rows *= a.Dim(i)
		} else {
			cols *= a.Dim(i)
		}
	}
	return []int{rows, cols}
}

var flatten = plan.Operator{About: plan.About{Name: "Flatten", Shapes: true, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 9, 11, 13, 21, 23, 24, 25}, Attrs: []string{"axis"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		axis := plan.AttrInt(c, "axis", 1)
		p.Gives(c.In(0).DType(), flatShape(c.In(0), axis)...)
		p.View(func() tensor.Any { return flattened(c.With("Flatten", 0), axis) })
		p.Lay = plan.Reshaped(flatShape(c.In(0), axis))
	}}
