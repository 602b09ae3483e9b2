package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sort returns a with each line along axis in ascending order. It is stable: equal
// elements, the two zeros among them, keep their order. NaNs are last. Elements
// keep their bits. A line of n elements takes at most O(n log n) steps, whatever
// their order. numpy.sort; TopK has the descending order.
func Sort[T bool | num.Native | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	sorted(a.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func sorted(a tensor.Any, axis int) *move.Transfer {
	plan.Present("Sort", &a)
	axis = plan.AxisOf("Sort", axis, a.Rank())
	return &move.Transfer{Name: "Sort", D: a.DType(), Shape: a.Shape(), In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		before, n, after := move.Around(a.Shape(), axis)
		f := move.FormOf(a.DType())
		move.ByLines("Sort", ctx, dst, in[0], before, n, after, n, 2, max(4, f.Size), func(room []byte) func(to, line []byte) {
			if f.Size == 8 {
				return sorter[uint64](f, n, room)
			}
			return sorter[uint32](f, n, room)
		})
	}}
}

// sorter returns a function that sorts lines of n elements.
func sorter[K order.Key](f *order.Form, n int, room []byte) func(to, line []byte) {
	keys, spare := conv.Carve[K](&room, n), conv.Carve[K](&room, n)
	return func(to, line []byte) { order.Sort(to, line, f, keys, spare) }
}
