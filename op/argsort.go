package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArgSort returns the positions on axis of the elements of a in ascending order,
// line by line: TakeAlongAxis with them sorts. It is stable: equal elements, the
// two zeros among them, keep their order. NaNs are last. A line of n elements takes
// O(n) steps, whatever their order. numpy.argsort with kind="stable".
func ArgSort[T bool | num.Native | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[int64]) {
	sortedAt(a.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func sortedAt(a tensor.Any, axis int) *move.Transfer {
	plan.Present("ArgSort", &a)
	axis = plan.AxisOf("ArgSort", axis, a.Rank())
	return &move.Transfer{Name: "ArgSort", D: dtype.Int64, Shape: a.Shape(), In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		before, n, after := move.Around(a.Shape(), axis)
		f := move.FormOf(a.DType())
		move.ByLines("ArgSort", ctx, dst, in[0], before, n, after, n, 3, 8, func(room []byte) func(to, line []byte) {
			if f.Size == 8 {
				return arranger[uint64](f, n, room)
			}
			return arranger[uint32](f, n, room)
		})
	}}
}

// arranger returns a function that stores the positions of lines of n elements, in order.
func arranger[K order.Key](f *order.Form, n int, scratch []byte) func(to, line []byte) {
	keys, room := conv.Carve[K](&scratch, n), conv.Carve[uint64](&scratch, 2*n)
	return func(to, line []byte) {
		at := order.Positions(to)
		if order.Rises(line, f, keys) {
			order.Ascend(at)
			return
		}
		order.Keys(keys, line, f, false)
		order.Arrange(at, keys, 8*f.Size, &room)
	}
}
