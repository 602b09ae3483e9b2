package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sort returns a with each line along axis in ascending order. It is stable: equal
// elements, the two zeros among them, keep their order. NaNs are last. Elements
// keep their bits. numpy.sort; TopK has the descending order.
func Sort[T bool | num.Native | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	sorted(a.Any(), axis).into(exec.Ref(&r), opts)
	return r
}

func sorted(a tensor.Any, axis int) *transfer {
	present("Sort", &a)
	axis = axisOf("Sort", axis, a.Rank())
	return &transfer{name: "Sort", d: a.DType(), shape: a.Shape(), in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(a.Shape(), axis)
		ordered("Sort", ctx, in[0], before, n, after, false, func(first int, line []keyed) {
			for i, e := range line {
				dst.copy(first+i*after, in[0], first+e.at*after, 1)
			}
		})
	}}
}
