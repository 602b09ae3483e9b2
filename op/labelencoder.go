package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LabelEncoder returns for each element of x the value at the position of the key that it
// equals, and def where there is none. Of equal keys the last counts; NaN equals NaN,
// and −0 equals +0. It panics unless there is a value for each key. LabelEncoder of the
// domain ai.onnx.ml, without its strings: the run-time form has keys, values and
// default of int64, as attributes.
func LabelEncoder[K num.Native | num.Fixed, V num.Elem](x tensor.Tensor[K], keys []K, values []V, def V) tensor.Tensor[V] {
	checkKeys(len(keys), len(values))
	table := make(map[K]V, len(keys))
	ofNaN := def
	for i, k := range keys {
		if k != k {
			ofNaN = values[i]
		} else {
			table[k] = values[i]
		}
	}
	out := tensor.Empty[V](x.Shape()...)
	i := 0
	for k := range x.Values() {
		v, ok := table[k]
		if !ok {
			if v = def; k != k {
				v = ofNaN
			}
		}
		out.Elems()[i] = v
		i++
	}
	return out
}

func checkKeys(keys, values int) {
	if keys != values {
		panic(fail("LabelEncoder", tensor.ErrShape, "%d keys and %d values; give one for each", keys, values))
	}
}

var labelEncoder = opN{about: about{name: "LabelEncoder", attrs: []string{"default_int64", "keys_int64s", "values_int64s"}, why: "the run-time form is of int64 alone: call LabelEncoder"}, least: 1,
	takes: only(dtype.Int64),
	infer: func(c *Call) []tensor.Any {
		keys, _ := c.Attrs.Ints("keys_int64s")
		values, _ := c.Attrs.Ints("values_int64s")
		checkKeys(len(keys), len(values))
		return one(spec("LabelEncoder", dtype.Int64, c.in(0).Shape()...))
	},
	run: func(c *Call) []tensor.Any {
		keys, _ := c.Attrs.Ints("keys_int64s")
		values, _ := c.Attrs.Ints("values_int64s")
		return one(LabelEncoder(as[int64]("LabelEncoder", c, 0), keys, values, c.Attrs.Int("default_int64", -1)).Any())
	}}
