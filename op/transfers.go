package op

import (
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that compute as transfers: their bodies are compiled once, or once for
// float32 and once for float64, and not for every element type.

// operandsOf returns operands for a transfer, with nothing for those that are nil.
func operandsOf(ins ...tensor.Any) []tensor.Any {
	for i, a := range ins {
		if a == nil {
			ins[i] = tensor.New[bool](0)
		}
	}
	return ins
}

// absent reports whether an operand was nil.
func (w words) absent() bool { return w.of.DType() == dtype.Bool && len(w.mem) == 0 }

// whole returns element i of an integer type.
func (w numeric) whole(i int) int64 {
	v := w.bits(i)
	if up := 64 - 8*w.size; w.d.IsSigned() {
		return int64(v<<up) >> up
	}
	return int64(v)
}

// inFloats has a transfer of a float type computed in float64 for float64, and else
// in float32 and rounded once. An absent operand is the zero Tensor.
func inFloats(dst words, in []words, f32 func(dst tensor.Tensor[float32], in []tensor.Tensor[float32]), f64 func(dst tensor.Tensor[float64], in []tensor.Tensor[float64])) {
	if d, ok := dst.of.(tensor.Tensor[float64]); ok {
		ts := make([]tensor.Tensor[float64], len(in))
		for i := range in {
			ts[i], _ = in[i].of.(tensor.Tensor[float64])
		}
		f64(d, ts)
		return
	}
	ts := make([]tensor.Tensor[float32], len(in))
	for i := range in {
		switch t := in[i].of.(type) {
		case tensor.Tensor[float32]:
			ts[i] = t
		case tensor.Tensor[num.F16]:
			ts[i] = widened(t)
		case tensor.Tensor[num.BF16]:
			ts[i] = widened(t)
		case tensor.Tensor[num.F8E4M3]:
			ts[i] = widened(t)
		case tensor.Tensor[num.F8E5M2]:
			ts[i] = widened(t)
		}
	}
	if d, ok := dst.of.(tensor.Tensor[float32]); ok {
		f32(d, ts)
		return
	}
	wide := tensor.Empty[float32](tensor.Shape(dst.of)...)
	f32(wide, ts)
	switch d := dst.of.(type) {
	case tensor.Tensor[num.F16]:
		convertTo(d, wide, conv.NarrowF16)
	case tensor.Tensor[num.BF16]:
		convertTo(d, wide, conv.NarrowBF16)
	case tensor.Tensor[num.F8E4M3]:
		convertTo(d, wide, num.NarrowF8E4M3)
	case tensor.Tensor[num.F8E5M2]:
		convertTo(d, wide, num.NarrowF8E5M2)
	}
}

// floatsOnly says which types are floats.
func floatsOnly(d dtype.DType) bool { return d.IsFloat() }

// bytes8 says which types are integers of 8 bits.
func bytes8(d dtype.DType) bool { return d == dtype.Int8 || d == dtype.Uint8 }

// lessZero returns the elements of an integer tensor less their zero point: none,
// one number, or one for each index along axis.
func lessZero(a, zero words, axis int) tensor.Tensor[int64] {
	shape := tensor.Shape(a.of)
	out := tensor.Empty[int64](shape...)
	dst, src := out.Elems(), numericOf(a)
	if zero.absent() {
		for i := range dst {
			dst[i] = src.whole(i)
		}
		return out
	}
	z := numericOf(zero)
	n, per := z.len(), 1
	if n > 1 {
		_, _, per = around(shape, axis)
	}
	for i := range dst {
		dst[i] = src.whole(i) - z.whole(i/per%n)
	}
	return out
}

// checkZero panics unless a zero point, which may be nil, has a's type and is one
// number or has one for each index along axis; a negative axis admits one number alone.
func checkZero(name string, i int, zero, a tensor.Any, axis int) {
	switch {
	case zero == nil:
	case zero.DType() != a.DType():
		panic(fail(name, tensor.ErrDType, "the zero point, input %d, holds %v, what it belongs to %v", i, zero.DType(), a.DType()))
	case tensor.Len(zero) == 1:
	case axis < 0 || zero.Rank() != 1 || zero.Dim(0) != a.Dim(axis):
		panic(fail(name, tensor.ErrShape, "the zero point, input %d, is %s; want one number%s", i, tensor.Describe(zero), perIndex(a, axis)))
	}
}

func perIndex(a tensor.Any, axis int) string {
	if axis < 0 {
		return ""
	}
	return " or as many as axis " + strconv.Itoa(axis) + " of " + tensor.Describe(a) + " has"
}

// wrap writes whole numbers to int32s.
func (w words) wrap(sums tensor.Tensor[int64]) {
	for i, v := range sums.Elems() {
		w.setBits(i, uint64(v))
	}
}

// stretches reports whether a layout stretches to a shape.
func stretches(lay *layout.Layout, shape []int) bool {
	_, err := lay.BroadcastTo(shape...)
	return err == nil
}
