package move

import (
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Checks and elements of operands.

// OperandsOf returns operands for a transfer. Absent operands become empty tensors.
func OperandsOf(ins ...tensor.Any) []tensor.Any {
	for i, a := range ins {
		if a.IsZero() {
			ins[i] = tensor.New[bool](0).Any()
		}
	}
	return ins
}

// Holding returns input i, which must have elements of a type.
func Holding(c *plan.Use, name string, i int, d dtype.DType) *tensor.Any {
	a := c.With(name, i)
	if a.DType() != d {
		panic(plan.NotHeld(name, a, i, d))
	}
	return a
}

// Absent reports whether an operand was absent.
func (w Words) Absent() bool { return w.Of.DType() == dtype.Bool && len(w.Mem) == 0 }

// Whole returns element i of an integer type.
func (w Numeric) Whole(i int) int64 {
	v := w.Bits(i)
	if up := 64 - 8*w.Size; w.D.IsSigned() {
		return int64(v<<up) >> up
	}
	return int64(v)
}

// ElemsOf returns the elements of a contiguous tensor, which holds T. The caller keeps the tensor alive past the
// last use.
func ElemsOf[T num.Elem](a *tensor.Any) []T { return reach.Run[T](a, a.LayoutRef()) }

// CheckZero panics unless a zero point, which may be absent, has a's type and is one number or has one for each
// index along axis. A negative axis admits one number alone.
func CheckZero(name string, i int, zero, a tensor.Any, axis int) {
	switch {
	case zero.IsZero():
	case zero.DType() != a.DType():
		panic(plan.Fail(name, tensor.ErrDType, "the zero point, input %d, holds %v, what it belongs to %v", i, zero.DType(), a.DType()))
	case zero.Len() == 1:
	case axis < 0 || zero.Rank() != 1 || zero.Dim(0) != a.Dim(axis):
		panic(plan.Fail(name, tensor.ErrShape, "the zero point, input %d, is %s; want one number%s", i, tensor.Describe(zero), PerIndex(a, axis)))
	}
}

// PerIndex says in an error that a parameter may have one number for each index of an axis. Without an axis it says
// nothing.
func PerIndex(a tensor.Any, axis int) string {
	if axis < 0 {
		return ""
	}
	return " or as many as axis " + strconv.Itoa(axis) + " of " + tensor.Describe(a) + " has"
}

// Stretches reports whether a layout stretches to a shape.
func Stretches(lay *layout.Layout, shape []int) bool {
	_, err := lay.BroadcastTo(shape...)
	return err == nil
}

// Stretched returns the elements of w's tensor stretched to a shape.
func (w Words) Stretched(shape []int) Words {
	a, err := tensor.BroadcastTo(*w.Of, shape...)
	if err != nil {
		panic(err)
	}
	return WordsOf(a)
}
