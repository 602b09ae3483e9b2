package op

import (
	"runtime"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that compute as transfers: their bodies are compiled once, or once for
// float32 and once for float64, and not for every element type.

// operandsOf returns operands for a transfer, with nothing for those that are absent.
func operandsOf(ins ...tensor.Any) []tensor.Any {
	for i, a := range ins {
		if a.IsZero() {
			ins[i] = tensor.New[bool](0).Any()
		}
	}
	return ins
}

// holding returns input i, which must have elements of a type.
func (c *Call) holding(name string, i int, d dtype.DType) *tensor.Any {
	a := c.with(name, i)
	if a.DType() != d {
		panic(notHeld(name, a, i, d))
	}
	return a
}

// absent reports whether an operand was absent.
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
	if d, ok := tensor.As[float64](*dst.of); ok {
		ts := make([]tensor.Tensor[float64], len(in))
		for i := range in {
			ts[i], _ = tensor.As[float64](*in[i].of)
		}
		f64(d, ts)
		return
	}
	ts := make([]tensor.Tensor[float32], len(in))
	for i := range in {
		ts[i] = inFloat32s(in[i].of)
	}
	if d, ok := tensor.As[float32](*dst.of); ok {
		f32(d, ts)
		return
	}
	wide := tensor.Empty[float32](dst.of.Shape()...)
	f32(wide, ts)
	switch v := elemsOf[float32](exec.Ref(&wide)); dst.of.DType() {
	case dtype.Float16:
		conv.NarrowF16(elemsOf[num.F16](dst.of), v)
	case dtype.BFloat16:
		conv.NarrowBF16(elemsOf[num.BF16](dst.of), v)
	case dtype.Float8E4M3:
		num.NarrowF8E4M3(elemsOf[num.F8E4M3](dst.of), v)
	case dtype.Float8E5M2:
		num.NarrowF8E5M2(elemsOf[num.F8E5M2](dst.of), v)
	}
	runtime.KeepAlive(wide)
}

// inFloat32s returns a, which is contiguous, as float32s: itself, or a copy of narrow
// floats. Of another type it is the zero Tensor.
func inFloat32s(a *tensor.Any) tensor.Tensor[float32] {
	if t, ok := tensor.As[float32](*a); ok || !a.DType().IsNarrow() {
		return t
	}
	wide := tensor.Empty[float32](a.Shape()...)
	switch v := elemsOf[float32](exec.Ref(&wide)); a.DType() {
	case dtype.Float16:
		conv.WidenF16(v, elemsOf[num.F16](a))
	case dtype.BFloat16:
		conv.WidenBF16(v, elemsOf[num.BF16](a))
	case dtype.Float8E4M3:
		num.WidenF8E4M3(v, elemsOf[num.F8E4M3](a))
	case dtype.Float8E5M2:
		num.WidenF8E5M2(v, elemsOf[num.F8E5M2](a))
	}
	return wide
}

// elemsOf returns the elements of a contiguous tensor, which holds T. Who uses them keeps
// it alive past the last use.
func elemsOf[T num.Elem](a *tensor.Any) []T { return tensor.Run[T](a, a.LayoutRef()) }

// lessZero returns the elements of an integer tensor less their zero point: none,
// one number, or one for each index along axis.
func lessZero(a, zero words, axis int) tensor.Tensor[int64] {
	shape := a.of.Shape()
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

// checkZero panics unless a zero point, which may be absent, has a's type and is one
// number or has one for each index along axis; a negative axis admits one number alone.
func checkZero(name string, i int, zero, a tensor.Any, axis int) {
	switch {
	case zero.IsZero():
	case zero.DType() != a.DType():
		panic(fail(name, tensor.ErrDType, "the zero point, input %d, holds %v, what it belongs to %v", i, zero.DType(), a.DType()))
	case zero.Len() == 1:
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
