package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TakeMode is what Take does with an index outside the axis.
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
	taken(a.Any(), indices.Any(), axis, mode).into(exec.Ref(&r), opts)
	return r
}

func taken(a, indices tensor.Any, axis int, mode TakeMode) *transfer {
	const name = "Take"
	present(name, &a, &indices)
	shape := a.Shape()
	axis = axisOf(name, axis, len(shape))
	wantInt(name, 1, indices)
	n := shape[axis]
	return &transfer{name: name, d: a.DType(), shape: gatherShape(a, indices, axis), in: []tensor.Any{a, indices}, picky: true, fill: func(ctx context.Context, dst words, in []words) {
		v := in[1].int64s(name)
		if n == 0 && len(v) > 0 {
			panic(fail(name, tensor.ErrIndex, "axis %d is empty; it has no entries to take", axis))
		}
		for i, x := range v {
			switch mode {
			case TakeWrap:
				v[i] = (x%int64(n) + int64(n)) % int64(n)
			case TakeClip:
				v[i] = max(0, min(x, int64(n-1)))
			}
		}
		maps := make([][]int, len(shape))
		maps[axis] = resolved(name, v, indices.Shape(), n, axis)
		remap(name, ctx, dst, in[0], shape, maps, nil)
	}}
}
