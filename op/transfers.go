package op

import (
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Checks and elements of operands.

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

// elemsOf returns the elements of a contiguous tensor, which holds T. Who uses them keeps
// it alive past the last use.
func elemsOf[T num.Elem](a *tensor.Any) []T { return tensor.Run[T](a, a.LayoutRef()) }

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

// stretches reports whether a layout stretches to a shape.
func stretches(lay *layout.Layout, shape []int) bool {
	_, err := lay.BroadcastTo(shape...)
	return err == nil
}
