package ml

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Imputer returns x with imputed in place of the elements that equal replaced. imputed has
// one number, or one for each index of the last axis. NaN equals NaN, and −0 equals +0;
// other elements keep their bits. It panics when imputed has another number of elements,
// or x has no axis. Imputer of the domain ai.onnx.ml.
func Imputer[T float32 | float64 | int32 | int64](x tensor.Tensor[T], replaced T, imputed []T, opts ...op.Option) (r tensor.Tensor[T]) {
	imputedOf(x.Any(), tensor.Scalar(replaced).Any(), tensor.FromSlice(imputed, len(imputed)).Any()).Into(exec.Ref(&r), opts)
	return r
}

func imputedOf(x, replaced, imputed tensor.Any) *move.Transfer {
	const name = "Imputer"
	plan.Present(name, &x, &imputed)
	n := columnsOf(name, x)
	perColumn(name, "what is imputed", imputed.Len(), n, x)
	return &move.Transfer{Name: name, D: x.DType(), Shape: x.Shape(), In: move.OperandsOf(x, replaced, imputed), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, old := move.NumericOf(in[0]), move.NumericOf(in[1]).Key(0)
		exec.Split(name, ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				if src.Key(i) == old {
					dst.SetBits(i, in[2].Bits(i%n%in[2].Len()))
				} else {
					dst.SetBits(i, src.Bits(i))
				}
			}
		})
	}}
}

var imputer = plan.Operator{About: plan.About{Name: "Imputer", Domain: mlDomain, Versions: []int{1},
	Attrs: []string{"imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"}, Why: mlWhy}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover {
		const name = "Imputer"
		x := c.In(0)
		var replaced, imputed tensor.Any
		if d := x.DType(); d.IsFloat() {
			v, ok := c.Attrs.Floats("imputed_value_floats")
			if !ok {
				panic(plan.Fail(name, tensor.ErrValue, "there is no imputed_value_floats; floats need it"))
			}
			replaced, imputed = tensor.Scalar(c.Attrs.Float("replaced_value_float", 0)).Any(), tensor.FromSlice(v, len(v)).Any()
		} else {
			v, ok := c.Attrs.Ints("imputed_value_int64s")
			if !ok {
				panic(plan.Fail(name, tensor.ErrValue, "there is no imputed_value_int64s; integers need it"))
			}
			old := c.Attrs.Int("replaced_value_int64", 0)
			if d == dtype.Int32 {
				fitsInt32(name, append(v, old))
			}
			replaced, imputed = tensor.Scalar(old).Any(), tensor.FromSlice(v, len(v)).Any()
		}
		return imputedOf(x, pointwise.InType(replaced, x.DType()), pointwise.InType(imputed, x.DType()))
	}}

// fitsInt32 panics unless all numbers are int32.
func fitsInt32(name string, v []int64) {
	for _, n := range v {
		if int64(int32(n)) != n {
			panic(plan.Fail(name, tensor.ErrOverflow, "attribute value %d doesn't fit an int32, which input 0 holds", n))
		}
	}
}
