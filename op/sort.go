package op

import (
	"context"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sort returns a with each line along axis in ascending order. It is stable: equal
// elements, the two zeros among them, keep their order. NaNs are last. Elements
// keep their bits. numpy.sort; TopK has the descending order.
func Sort[T bool | num.Native | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
	axis = axisOf("Sort", axis, a.Rank())
	return moved[T](&transfer{name: "Sort", d: a.DType(), shape: a.Shape(), in: []tensor.Any{a.Any()}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(a.Shape(), axis)
		ordered("Sort", ctx, in[0], before, n, after, false, func(first int, line []keyed) {
			for i, e := range line {
				dst.copy(first+i*after, in[0], first+e.at*after, 1)
			}
		})
	}}, opts)
}
