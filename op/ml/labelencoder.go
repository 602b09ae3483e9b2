package ml

import (
	"context"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// LabelEncoder returns for each element of x the value at the position of the key that it
// equals, and def where there is none. Of equal keys the last counts; NaN equals NaN,
// and −0 equals +0. It panics unless there is a value for each key. LabelEncoder of the
// domain ai.onnx.ml. Package onnx runs it with strings, too.
func LabelEncoder[K num.Native | num.Fixed, V num.Elem](x tensor.Tensor[K], keys []K, values []V, def V, opts ...op.Option) (r tensor.Tensor[V]) {
	labelled(x.Any(), tensor.FromSlice(keys).Any(), tensor.FromSlice(values).Any(), tensor.Scalar(def).Any()).Into(exec.Ref(&r), opts)
	return r
}

func labelled(x, keys, values, def tensor.Any) *move.Transfer {
	const name = "LabelEncoder"
	plan.Present(name, &x)
	plan.OneType(name, x, keys)
	plan.OneType(name, values, def)
	if keys.Len() != values.Len() {
		panic(plan.Fail(name, tensor.ErrShape, "%d keys and %d values; give one for each", keys.Len(), values.Len()))
	}
	if def.Len() != 1 {
		panic(plan.Fail(name, tensor.ErrShape, "the default is %s; want one element", tensor.Describe(def)))
	}
	return &move.Transfer{Name: name, D: values.DType(), Shape: x.Shape(), In: []tensor.Any{x, keys, values, def}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		if in[0].Size > 8 {
			encodeLabels(ctx, dst, in, move.Numeric.Pair)
		} else {
			encodeLabels(ctx, dst, in, move.Numeric.Key)
		}
	}}
}

// encodeLabels sets dst to values by the keys that key finds equal. in is the operands of labelled.
func encodeLabels[K comparable](ctx context.Context, dst move.Words, in []move.Words, key func(w move.Numeric, i int) K) {
	src, keys := move.NumericOf(in[0]), move.NumericOf(in[1])
	table := make(map[K]int, keys.Len())
	for i := range keys.Len() {
		table[key(keys, i)] = i
	}
	choice := move.Words{Mem: slices.Concat(in[2].Mem, in[3].Mem), Size: dst.Size} // the values, and the default
	exec.Split("LabelEncoder", ctx, dst.Len(), 40, func(from, to int) {
		var at [128]int64
		for ; from < to; from += len(at) {
			n := min(to-from, len(at))
			for i := range n {
				k, ok := table[key(src, from+i)]
				if !ok {
					k = keys.Len()
				}
				at[i] = int64(k)
			}
			conv.Take(dst.Mem[from*dst.Size:], choice.Mem, dst.Size, at[:n], conv.Axis{Stride: 1})
		}
	})
}

var labelEncoder = plan.Operator{About: plan.About{Name: "LabelEncoder", Domain: "ai.onnx.ml", Versions: []int{2, 4},
	Attrs: []string{"default_float", "default_int64", "default_tensor", "keys_floats", "keys_int64s", "keys_tensor", "values_floats", "values_int64s", "values_tensor"},
	Why:   "keys of fewer bits are compared in wider types: Cast first"}, Least: 1,
	Takes: plan.Reals&^plan.Narrows | plan.Fixeds, Move: func(c *plan.Use) plan.Mover {
		values := labelList(c, "values")
		def, ok := c.Attrs.Tensor("default_tensor")
		switch {
		case ok:
		case values.DType() == dtype.Float32:
			def = tensor.Scalar(c.Attrs.Float("default_float", float32(math.Copysign(0, -1)))).Any()
		case values.DType() == dtype.Int64:
			def = tensor.Scalar(c.Attrs.Int("default_int64", -1)).Any()
		case values.DType().IsFloat():
			def = pointwise.InType(tensor.Scalar(math.Copysign(0, -1)).Any(), values.DType())
		case values.DType() == dtype.Int32, values.DType() == dtype.Int16:
			def = pointwise.InType(tensor.Scalar(int64(-1)).Any(), values.DType())
		default:
			panic(plan.Fail("LabelEncoder", tensor.ErrValue, "values of %v have no default; give it by default_tensor", values.DType()))
		}
		return labelled(c.In(0), labelList(c, "keys"), values, def)
	}}

// labelList reads the keys or the values of a LabelEncoder; without any there are no int64.
func labelList(c *plan.Use, what string) tensor.Any {
	if t, ok := c.Attrs.Tensor(what + "_tensor"); ok {
		return t
	}
	if v, ok := c.Attrs.Floats(what + "_floats"); ok {
		return tensor.FromSlice(v, len(v)).Any()
	}
	v, _ := c.Attrs.Ints(what + "_int64s")
	return tensor.FromSlice(v, len(v)).Any()
}
