package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ShiftDirection is where BitShift moves bits to, as ONNX spells it.
type ShiftDirection string

// The directions of a shift: ShiftLeft multiplies by powers of 2, ShiftRight divides.
const (
	ShiftLeft  ShiftDirection = "LEFT"
	ShiftRight ShiftDirection = "RIGHT"
)

// BitShift returns a with its bits moved by b places, element by element. Bits that
// leave are lost, and zeros come in, from the left of a negative number ones. A
// negative b counts as more than all bits. Shapes broadcast. It panics if they
// don't, and for another direction. ONNX BitShift, which has unsigned integers alone; NumPy left_shift and
// right_shift.
func BitShift[T num.Integer](a, b tensor.Tensor[T], to ShiftDirection, opts ...Option) (r tensor.Tensor[T]) {
	plan.Present("BitShift", exec.Ref(&a), exec.Ref(&b)) // an error about the direction would hide it
	to.shift().Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

func (to ShiftDirection) shift() *pointwise.Operator {
	switch to {
	case ShiftLeft:
		return &shiftLeft
	case ShiftRight:
		return &shiftRight
	}
	panic(plan.Fail("BitShift", tensor.ErrValue, "the direction is %.40q; it must be LEFT or RIGHT", to))
}

var shiftLeft = pointwise.Operator{About: plan.About{Name: "BitShift"},
	Rows: exec.Two(nil, &rows2{I8: shiftLeftRow[int8], I16: shiftLeftRow[int16], I32: shiftLeftRow[int32], I64: shiftLeftRow[int64],
		U8: shiftLeftRow[uint8], U16: shiftLeftRow[uint16], U32: shiftLeftRow[uint32], U64: shiftLeftRow[uint64]})}

var shiftRight = pointwise.Operator{About: plan.About{Name: "BitShift"},
	Rows: exec.Two(nil, &rows2{I8: shiftRightRow[int8], I16: shiftRightRow[int16], I32: shiftRightRow[int32], I64: shiftRightRow[int64],
		U8: shiftRightRow[uint8], U16: shiftRightRow[uint16], U32: shiftRightRow[uint32], U64: shiftRightRow[uint64]})}

// shiftLeftRow and shiftRightRow define BitShift.
func shiftLeftRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] << uint64(b[i])
	}
}

func shiftRightRow[T num.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] >> uint64(b[i])
	}
}

var bitShift = plan.Operator{About: plan.About{Name: "BitShift", FLOPs: plan.FLOPs{Each: 1}, Versions: []int{11}, Attrs: []string{"direction"}}, Least: 2, Takes: plan.Integers,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("BitShift", c.Inputs[:2]...)
		a, b, by := c.With("BitShift", 0), c.With("BitShift", 1), ShiftDirection(c.Attrs.Str("direction", "")).shift()
		p.Stretched(a.DType(), c, 2)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { by.Call(r, opts, a, b) })
	}}
