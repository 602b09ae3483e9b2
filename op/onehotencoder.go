package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// OneHotEncoder returns a list [..., categories] of float32 for each element of x, with 1 at the category that it equals
// and 0 elsewhere. Floats are cut to integers first. An element of no category, as NaN is, gives zeros, or panics if
// zeros is false. Of equal categories the last counts. OneHotEncoder of the domain ai.onnx.ml.
func OneHotEncoder[T float32 | float64 | int32 | int64](x tensor.Tensor[T], categories []int64, zeros bool, opts ...Option) (r tensor.Tensor[float32]) {
	hotOf(x.Any(), categories, zeros).into(exec.Ref(&r), opts)
	return r
}

func hotOf(x tensor.Any, categories []int64, zeros bool) *transfer {
	const name = "OneHotEncoder"
	present(name, &x)
	n := len(categories)
	if n == 0 {
		panic(fail(name, tensor.ErrValue, "it has no categories; give one or more"))
	}
	return &transfer{name: name, d: dtype.Float32, shape: append(x.Shape(), n), in: []tensor.Any{x}, picky: !zeros, fill: func(ctx context.Context, dst words, in []words) {
		src, to := numericOf(in[0]), numericOf(dst)
		at := make(map[int64]int, n)
		for i, v := range categories {
			at[v] = i
		}
		place := func(i int) (int, bool) {
			if !src.d.IsFloat() {
				k, ok := at[src.whole(i)]
				return k, ok
			}
			v := src.real(i)
			if !(v > -1<<63-1 && v < 1<<63) {
				return 0, false
			}
			k, ok := at[int64(v)]
			return k, ok
		}
		if !zeros {
			for i := range src.len() {
				if _, ok := place(i); !ok {
					panic(fail(name, tensor.ErrValue, "element %d, %v, is none of the categories %v; ask for zeros", i, src.real(i), slices.Clone(categories[:min(n, 8)])))
				}
			}
		}
		exec.Split(name, ctx, src.len(), 4*n+20, func(from, till int) {
			zero := make([]byte, 4)
			dst.fill(from*n, (till-from)*n, zero)
			for i := from; i < till; i++ {
				if k, ok := place(i); ok {
					to.setReal(i*n+k, 1)
				}
			}
		})
	}}
}

var oneHotEncoder = opN{about: about{name: "OneHotEncoder", domain: mlDomain, onnx: []int{1}, attrs: []string{"cats_int64s", "cats_strings", "zeros"}, why: mlWhy},
	least: 1, takes: tabular, move: func(c *Call) *transfer {
		return hotOf(c.in(0), labelsOf("OneHotEncoder", c, "cats_int64s", "cats_strings"), c.Attrs.Int("zeros", 1) != 0)
	}}
