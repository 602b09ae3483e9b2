package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReverseSequence returns a with the first lengths[b] entries along axis, that of time, in
// reverse order for entry b of the batch; those behind them stay. The two axes are the first
// two; the batch is the one that axis isn't. It panics for another
// axis, when a has fewer than two, when there isn't a length for every entry and,
// before anything is written, when one is negative or exceeds the time axis.
// Elements keep their bits. ONNX ReverseSequence, with axis as time_axis.
func ReverseSequence[T num.Elem](a tensor.Tensor[T], lengths tensor.Tensor[int64], axis int, opts ...Option) (r tensor.Tensor[T]) {
	reversed(a.Any(), lengths.Any(), axis).Into(exec.Ref(&r), opts)
	return r
}

func reversed(a, lengths tensor.Any, time int) *move.Transfer {
	plan.Present("ReverseSequence", &a, &lengths)
	shape := a.Shape()
	if len(shape) < 2 {
		panic(plan.Fail("ReverseSequence", tensor.ErrShape, "%s; want at least two axes, time and batch", tensor.Describe(a)))
	}
	if time = plan.AxisOf("ReverseSequence", time, len(shape)); time > 1 {
		panic(plan.Fail("ReverseSequence", tensor.ErrAxis, "the time axis is %d; it is 0 or 1, and the other one that of the batch", time))
	}
	batch := 1 - time
	move.WantInt("ReverseSequence", 1, lengths)
	if lengths.Rank() != 1 || lengths.Dim(0) != shape[batch] {
		panic(plan.Fail("ReverseSequence", tensor.ErrShape, "the lengths are %s; want one for each of the %d entries of axis %d", tensor.Describe(lengths), shape[batch], batch))
	}
	return &move.Transfer{Name: "ReverseSequence", D: a.DType(), Shape: shape, In: []tensor.Any{a, lengths}, Picky: true, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		n := in[1].Int64s("ReverseSequence")
		for b, v := range n {
			if v < 0 || v > int64(shape[time]) {
				panic(plan.Fail("ReverseSequence", tensor.ErrIndex, "length %d of entry %d; axis %d has extent %d", v, b, time, shape[time]))
			}
		}
		if dst.Len() == 0 {
			return // however many rows of none there are
		}
		stride := move.Steps(shape)
		block := stride[1]
		exec.Split("ReverseSequence", ctx, shape[0]*shape[1], 1+block/4, func(from, to int) {
			for r := from; r < to; r++ {
				at := [2]int{r / shape[1], r % shape[1]}
				if length := int(n[at[batch]]); at[time] < length {
					at[time] = length - 1 - at[time]
				}
				dst.Copy(r*block, in[0], at[0]*stride[0]+at[1]*stride[1], block)
			}
		})
	}}
}

var reverseSequence = plan.Operator{About: plan.About{Name: "ReverseSequence", Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{10}, Attrs: []string{"batch_axis", "time_axis"}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		batch, time := c.Attrs.Int("batch_axis", 1), c.Attrs.Int("time_axis", 0)
		if batch+time != 1 || batch*time != 0 {
			panic(plan.Fail("ReverseSequence", tensor.ErrAxis, "batch axis %d and time axis %d; one is 0, the other 1", batch, time))
		}
		return reversed(c.In(0), c.In(1), int(time))
	}}
