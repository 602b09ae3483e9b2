package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
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
	axis = axisOf("Sort", axis, a.Rank())
	return &transfer{name: "Sort", d: a.DType(), shape: a.Shape(), in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(a.Shape(), axis)
		f := formOf(a.DType())
		byLines("Sort", ctx, dst, in[0], before, n, after, n, func() func(to, line []byte) {
			if f.Size == 8 {
				return sorter[uint64](f, n)
			}
			return sorter[uint32](f, n)
		})
	}}
}

// sorter returns what sorts lines of n elements.
func sorter[K order.Key](f *order.Form, n int) func(to, line []byte) {
	keys := roomFor[K]("Sort", 2, n)
	return func(to, line []byte) { order.Sort(to, line, f, keys[:n], keys[n:]) }
}
