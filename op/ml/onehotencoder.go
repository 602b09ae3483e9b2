package ml

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// OneHotEncoder returns a list [..., categories] of float32 for each element of x, with 1 at the category that it equals
// and 0 elsewhere. Floats are cut to integers first. An element of no category, as NaN is, gives zeros, or panics with
// o.NoZeros. Of equal categories the last counts. OneHotEncoder of the domain ai.onnx.ml.
func OneHotEncoder[T float32 | float64 | int32 | int64](x tensor.Tensor[T], categories []int64, o OneHotEncoderOptions, opts ...op.Option) (r tensor.Tensor[float32]) {
	hotOf(x.Any(), categories, !o.NoZeros).Into(exec.Ref(&r), opts)
	return r
}

// OneHotEncoderOptions says how OneHotEncoder takes an element of no category.
type OneHotEncoderOptions struct {
	NoZeros bool // it panics: 0 of ONNX's attribute zeros
}

func hotOf(x tensor.Any, categories []int64, zeros bool) *move.Transfer {
	const name = "OneHotEncoder"
	plan.Present(name, &x)
	n := len(categories)
	if n == 0 {
		panic(plan.Fail(name, tensor.ErrValue, "it has no categories; give one or more"))
	}
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: append(x.Shape(), n), In: []tensor.Any{x}, Picky: !zeros, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		at := make(map[int64]int, n)
		for i, v := range categories {
			at[v] = i
		}
		place := func(i int) (int, bool) {
			if !src.D.IsFloat() {
				k, ok := at[src.Whole(i)]
				return k, ok
			}
			v := src.Real(i)
			if !(v > -1<<63-1 && v < 1<<63) {
				return 0, false
			}
			k, ok := at[int64(v)]
			return k, ok
		}
		if !zeros {
			for i := range src.Len() {
				if _, ok := place(i); !ok {
					panic(plan.Fail(name, tensor.ErrValue, "element %d, %v, is none of the categories %v, and zeros are refused", i, src.Real(i), slices.Clone(categories[:min(n, 8)])))
				}
			}
		}
		exec.Split(name, ctx, src.Len(), 4*n+20, func(from, till int) {
			zero := make([]byte, 4)
			dst.Fill(from*n, (till-from)*n, zero)
			for i := from; i < till; i++ {
				if k, ok := place(i); ok {
					to.SetReal(i*n+k, 1)
				}
			}
		})
	}}
}

var oneHotEncoder = plan.Operator{About: plan.About{Name: "OneHotEncoder", Domain: mlDomain, Versions: []int{1}, Attrs: []string{"cats_int64s", "cats_strings", "zeros"}, Why: mlWhy},
	Least: 1, Takes: plan.Tabular, Move: func(c *plan.Use) plan.Mover {
		return hotOf(c.In(0), plan.Labels("OneHotEncoder", c, "cats_int64s", "cats_strings"), c.Attrs.Int("zeros", 1) != 0)
	}}
