package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Flatten returns a as a matrix: the axes before axis make up its rows, the others
// its columns. axis may be the rank, and negative. A view where the strides allow
// it, else a copy. ONNX Flatten; the method Tensor.Flatten
// gives a copy of rank 1, Tensor.Reshape(-1) a view where it can.
func Flatten[T num.Elem](a tensor.Tensor[T], axis int) (r tensor.Tensor[T]) {
	*exec.Ref(&r) = flattened(exec.Ref(&a), axis)
	return r
}

func flattened(a *tensor.Any, axis int) tensor.Any {
	present("Flatten", a)
	return a.Reshape(flatShape(*a, axis)...)
}

func flatShape(a tensor.Any, axis int) []int {
	rank := a.Rank()
	if axis != rank {
		axis = axisOf("Flatten", axis, max(rank, 1))
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

var flatten = opN{about: about{name: "Flatten", flops: flops{free: true}, onnx: []int{1, 9, 11, 13, 21, 23, 24, 25}, attrs: []string{"axis"}}, least: 1,
	planned: func(c *Call, p *Plan) {
		axis := attrInt(c, "axis", 1)
		p.gives(c.in(0).DType(), flatShape(c.in(0), axis)...)
		p.view(func() tensor.Any { return flattened(c.with("Flatten", 0), axis) })
	}}
