package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Roll returns a with the elements moved by shift along axis, those pushed over an
// end coming in again at the other: entry i goes to i+shift. Elements keep their
// bits. numpy.roll, which without an axis rolls the flattened tensor:
// Roll(a.Reshape(-1), shift, 0).Reshape(a.Shape()...) does.
func Roll[T num.Elem](a tensor.Tensor[T], shift, axis int, opts ...Option) (r tensor.Tensor[T]) {
	rolled(a.Any(), shift, axis).into(exec.Ref(&r), opts)
	return r
}

func rolled(a tensor.Any, shift, axis int) *transfer {
	present("Roll", &a)
	shape := a.Shape()
	axis = axisOf("Roll", axis, len(shape))
	return &transfer{name: "Roll", d: a.DType(), shape: shape, in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		n := shape[axis]
		if n == 0 {
			return
		}
		maps := make([]mapping, len(shape))
		if by := (shift%n + n) % n; by > 0 {
			maps[axis] = mapping{n, func(place int) run {
				if place < by {
					return run{from: n - by, n: by, step: 1}
				}
				return run{n: n - by, step: 1}
			}}
		}
		remap("Roll", ctx, dst, in[0], shape, maps, nil)
	}}
}
