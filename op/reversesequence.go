package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReverseSequence returns a with the first lengths[b] entries along the time axis in
// reverse order for entry b of the batch axis; those behind them stay. The two axes
// are 0 and 1, either way round; batchFirst says that the batch is axis 0. It panics
// when a has fewer than two axes, when there isn't a length for every entry and,
// before anything is written, when one is negative or exceeds the time axis.
// Elements keep their bits. ONNX ReverseSequence.
func ReverseSequence[T num.Elem](a tensor.Tensor[T], lengths tensor.Tensor[int64], batchFirst bool, opts ...Option) (r tensor.Tensor[T]) {
	reversed(a.Any(), lengths.Any(), batchFirst).into(exec.Ref(&r), opts)
	return r
}

func reversed(a, lengths tensor.Any, batchFirst bool) *transfer {
	present("ReverseSequence", &a, &lengths)
	shape := a.Shape()
	if len(shape) < 2 {
		panic(fail("ReverseSequence", tensor.ErrShape, "%s; want at least two axes, time and batch", tensor.Describe(a)))
	}
	time, batch := 0, 1
	if batchFirst {
		time, batch = 1, 0
	}
	wantInt("ReverseSequence", 1, lengths)
	if lengths.Rank() != 1 || lengths.Dim(0) != shape[batch] {
		panic(fail("ReverseSequence", tensor.ErrShape, "the lengths are %s; want one for each of the %d entries of axis %d", tensor.Describe(lengths), shape[batch], batch))
	}
	return &transfer{name: "ReverseSequence", d: a.DType(), shape: shape, in: []tensor.Any{a, lengths}, picky: true, fill: func(ctx context.Context, dst words, in []words) {
		n := in[1].int64s("ReverseSequence")
		for b, v := range n {
			if v < 0 || v > int64(shape[time]) {
				panic(fail("ReverseSequence", tensor.ErrIndex, "length %d of entry %d; axis %d has extent %d", v, b, time, shape[time]))
			}
		}
		if dst.len() == 0 {
			return // however many rows of none there are
		}
		stride := steps(shape)
		block := stride[1]
		exec.Split("ReverseSequence", ctx, shape[0]*shape[1], 1+block/4, func(from, to int) {
			for r := from; r < to; r++ {
				at := [2]int{r / shape[1], r % shape[1]}
				if length := int(n[at[batch]]); at[time] < length {
					at[time] = length - 1 - at[time]
				}
				dst.copy(r*block, in[0], at[0]*stride[0]+at[1]*stride[1], block)
			}
		})
	}}
}

var reverseSequence = opN{about: about{name: "ReverseSequence", flops: flops{free: true}, onnx: []int{10}, attrs: []string{"batch_axis", "time_axis"}}, least: 2,
	move: func(c *Call) *transfer {
		batch, time := c.Attrs.Int("batch_axis", 1), c.Attrs.Int("time_axis", 0)
		if batch+time != 1 || batch*time != 0 {
			panic(fail("ReverseSequence", tensor.ErrAxis, "batch axis %d and time axis %d; one is 0, the other 1", batch, time))
		}
		return reversed(c.in(0), c.in(1), batch == 0)
	}}
