package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sum returns ts[0] + ts[1] + …, element by element, added from the left as Add
// does. Shapes broadcast. Of a single tensor it returns a copy. It panics if the
// shapes don't broadcast or there are no tensors. For the sum of the elements of
// one tensor see ReduceSum. Sums of fixed point are exact and rounded once, so that only
// the last can be beyond the format. ONNX Sum.
func Sum[T num.Number](ts []tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if len(ts) == 0 {
		panic(fail("Sum", tensor.ErrShape, "no tensors; give at least one"))
	}
	if len(ts) == 1 {
		s := read(opts)
		dst := target[T]("Sum", &s, ts[0].Shape())
		dst.CopyFrom(ts[0])
		return dst
	}
	if len(ts) > 2 && dtype.Of[T]().IsFixed() {
		return sumFixed(ts, opts)
	}
	acc := ts[0]
	for i := 1; i < len(ts)-1; i++ {
		acc = apply2(&sum, &acc, &ts[i], nil)
	}
	return apply2(&sum, &acc, &ts[len(ts)-1], opts)
}

// sumFixed is Sum of fixed point: the line of each element's terms is reduced.
func sumFixed[T num.Elem](ts []tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	ls, args, lazy := make([]*layout.Layout, len(ts)), make([]arg, len(ts)), false
	for i := range ts {
		ls[i], args[i], lazy = ts[i].LayoutRef(), argOf("Sum", &ts[i]), lazy || isLazy(&ts[i])
	}
	if lazy {
		return noted[T](note{name: "Sum", cost: len(ts), alone: true, also: kept(opts), args: args, run: func(in []any, opts []Option) {
			terms := make([]tensor.Tensor[T], len(in))
			for i, a := range in {
				terms[i] = *a.(*tensor.Tensor[T])
			}
			sumFixed(terms, opts)
		}}, opts, ls...)
	}
	shape, terms := broadcastShape("Sum", nil, ls...), make([]tensor.Tensor[T], len(ts))
	for i, t := range ts {
		terms[i] = t.BroadcastTo(shape...)
	}
	opts = append([]Option(nil), opts...)
	for i := range opts {
		opts[i].flags &^= keepDims
	}
	return reduceFixed("Sum", Stack(len(shape), terms), []int{len(shape)}, opts, &fixedSum)
}

// sumFixedCall is the run-time form.
func sumFixedCall[T num.Fixed](c *Call) tensor.Any {
	ts := make([]tensor.Tensor[T], len(c.Inputs))
	for i := range ts {
		ts[i] = as[T]("Sum", c, i)
	}
	return sumFixed(ts, options(c))
}

var sum = op2{about: about{name: "Sum", onnx: []int{6, 8, 13}}, fold: true, terms: &terms{dtype.FP8x23: sumFixedCall[num.FP8x23], dtype.FP16x16: sumFixedCall[num.FP16x16],
	dtype.FP32x32: sumFixedCall[num.FP32x32], dtype.FP64x64: sumFixedCall[num.FP64x64]},
	fast: &simd.Add, canonical: true,
	rows: rows2{I8: addRow[int8], I16: addRow[int16], I32: addRow[int32], I64: addRow[int64],
		U8: addRow[uint8], U16: addRow[uint16], U32: addRow[uint32], U64: addRow[uint64],
		F32: addRow[float32], F64: addRow[float64],
		C64: addParts[complex64, float32], C128: addParts[complex128, float64]},
	fixed: &fixed2{FP8x23: num.AddFixed[num.FP8x23], FP16x16: num.AddFixed[num.FP16x16], FP32x32: num.AddFixed[num.FP32x32], FP64x64: num.AddFixed[num.FP64x64], W32: addWords32, W64: addWords64}}
