package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Roll returns a with the elements moved by shift along axis, those pushed over an
// end coming in again at the other: entry i goes to i+shift. Elements keep their
// bits. numpy.roll, which without an axis rolls the flattened tensor:
// Roll(a.Reshape(-1), shift, 0).Reshape(a.Shape()...) does.
func Roll[T num.Elem](a tensor.Tensor[T], shift, axis int, opts ...Option) (r tensor.Tensor[T]) {
	rolled(a.Any(), shift, axis).Into(exec.Ref(&r), opts)
	return r
}

func rolled(a tensor.Any, shift, axis int) *move.Transfer {
	plan.Present("Roll", &a)
	shape := a.Shape()
	axis = plan.AxisOf("Roll", axis, len(shape))
	return &move.Transfer{Name: "Roll", D: a.DType(), Shape: shape, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		n := shape[axis]
		if n == 0 {
			return
		}
		maps := make([]move.Mapping, len(shape))
		if by := (shift%n + n) % n; by > 0 {
			maps[axis] = move.Mapping{N: n, At: func(place int) move.Piece {
				if place < by {
					return move.Piece{From: n - by, N: by, Step: 1}
				}
				return move.Piece{N: n - by, Step: 1}
			}}
		}
		move.Remap("Roll", ctx, dst, in[0], shape, maps, nil)
	}}
}
