package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TakeMode is how Take treats an index outside the axis.
type TakeMode int

// The modes of Take, as NumPy has them.
const (
	TakeRaise TakeMode = iota // panic; negative ones down to -n count from the end
	TakeWrap                  // count on from the other end, over and over
	TakeClip                  // take the first or the last entry
)

// Take returns the entries of a along axis that indices name, in the shape of
// indices, which takes the place of that axis. It panics, before anything is
// written, on an index outside the axis with mode TakeRaise, and with the other modes
// when there are indices on an empty axis. Elements keep their bits. numpy.take,
// which without an axis takes from the flattened tensor: a.Reshape(-1) is that.
func Take[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, mode TakeMode, opts ...Option) (r tensor.Tensor[T]) {
	taken("Take", a.Any(), indices.Any(), axis, mode).Into(exec.Ref(&r), opts)
	return r
}

func taken(name string, a, indices tensor.Any, axis int, mode TakeMode) *move.Transfer {
	plan.Present(name, &a, &indices)
	shape := a.Shape()
	axis = plan.AxisOf(name, axis, len(shape))
	move.WantInt(name, 1, indices)
	n := shape[axis]
	return &move.Transfer{Name: name, D: a.DType(), Shape: gatherShape(a, indices, axis), In: []tensor.Any{a, indices}, Picky: true, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		v := in[1].Places(name)
		if n == 0 && len(v) > 0 && mode != TakeRaise {
			panic(plan.Fail(name, tensor.ErrIndex, "axis %d is empty; it has no entries to take", axis))
		}
		switch mode {
		case TakeWrap:
			v = slices.Clone(v)
			for i, x := range v {
				v[i] = (x%int64(n) + int64(n)) % int64(n)
			}
		case TakeClip:
			v = slices.Clone(v)
			for i, x := range v {
				v[i] = max(0, min(x, int64(n-1)))
			}
		}
		move.TakeEntries(name, ctx, dst, in, shape, axis, v)
	}}
}
