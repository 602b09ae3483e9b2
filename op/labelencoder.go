package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LabelEncoder returns for each element of x the value at the position of the key that it
// equals, and def where there is none. Of equal keys the last counts; NaN equals NaN,
// and −0 equals +0. It panics unless there is a value for each key. LabelEncoder of the
// domain ai.onnx.ml, without its strings.
func LabelEncoder[K num.Native | num.Fixed, V num.Elem](x tensor.Tensor[K], keys []K, values []V, def V) (r tensor.Tensor[V]) {
	labelled(x.Any(), tensor.FromSlice(keys).Any(), tensor.FromSlice(values).Any(), tensor.Scalar(def).Any()).into(exec.Ref(&r), nil)
	return r
}

func labelled(x, keys, values, def tensor.Any) *transfer {
	const name = "LabelEncoder"
	oneType(name, x, keys)
	oneType(name, values, def)
	if keys.Len() != values.Len() || def.Len() != 1 {
		panic(fail(name, tensor.ErrShape, "%d keys, %d values and %d defaults; give a value for each key and one default", keys.Len(), values.Len(), def.Len()))
	}
	return &transfer{name: name, d: values.DType(), shape: x.Shape(), in: []tensor.Any{x, keys, values, def}, fill: func(ctx context.Context, dst words, in []words) {
		src, keys := numericOf(in[0]), numericOf(in[1])
		table := make(map[[2]uint64]int, keys.len())
		for i := range keys.len() {
			table[keys.pair(i)] = i
		}
		exec.Split(name, ctx, dst.len(), 40, func(from, to int) {
			for i := from; i < to; i++ {
				if k, ok := table[src.pair(i)]; ok {
					dst.copy(i, in[2], k, 1)
				} else {
					dst.copy(i, in[3], 0, 1)
				}
			}
		})
	}}
}

var labelEncoder = opN{about: about{name: "LabelEncoder",
	attrs: []string{"default_float", "default_int64", "default_tensor", "keys_floats", "keys_int64s", "keys_tensor", "values_floats", "values_int64s", "values_tensor"}}, least: 1,
	takes: reals&^narrows | fixeds, move: func(c *Call) *transfer {
		values := labelList(c, "values")
		def, ok := c.Attrs.Tensor("default_tensor")
		switch {
		case ok:
		case values.DType() == dtype.Float32:
			def = tensor.Scalar(c.Attrs.Float("default_float", float32(math.Copysign(0, -1)))).Any()
		case values.DType() == dtype.Int64:
			def = tensor.Scalar(c.Attrs.Int("default_int64", -1)).Any()
		default:
			panic(fail("LabelEncoder", tensor.ErrValue, "values of %v have no default; give it by default_tensor", values.DType()))
		}
		return labelled(c.in(0), labelList(c, "keys"), values, def)
	}}

// labelList reads the keys or the values of a LabelEncoder; without any there are no int64.
func labelList(c *Call, what string) tensor.Any {
	if t, ok := c.Attrs.Tensor(what + "_tensor"); ok {
		return t
	}
	if v, ok := c.Attrs.Floats(what + "_floats"); ok {
		return tensor.FromSlice(v, len(v)).Any()
	}
	v, _ := c.Attrs.Ints(what + "_int64s")
	return tensor.FromSlice(v, len(v)).Any()
}
