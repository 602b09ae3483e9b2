package tensor

import (
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// An Order is the order in which a reshape takes the elements.
type Order uint8

const (
	OrderC Order = iota // row-major, the last axis fastest
	OrderF              // column-major, the first axis fastest
)

// ReshapeIn is Reshape with the elements taken, and placed, in that order: with
// OrderF element k of both, counted with the first axis fastest, is the same. It
// shares under the same conditions, and panics as Reshape does.
func ReshapeIn[T num.Elem](t Tensor[T], order Order, shape ...int) Tensor[T] {
	const op = "tensor.ReshapeIn"
	back := shapeIn(op, &t.a.lay, order, shape)
	reshape(op, &t.a, back)
	if order == OrderF {
		transpose(&t.a.lay)
	}
	return t
}

// shapeIn turns a layout, and shape, so that their row-major order is the order given.
func shapeIn(op string, lay *layout.Layout, order Order, shape []int) []int {
	switch order {
	case OrderC:
		return shape
	case OrderF:
		if _, err := viewLayout(lay, shape); err != nil && !errors.Is(err, ErrView) {
			panic(Wrap(op, err)) // with the caller's shape in the text
		}
		back := slices.Clone(shape)
		slices.Reverse(back)
		transpose(lay)
		return back
	}
	panic(&Error{op, sprintf("no order %d; there are OrderC and OrderF", order), ErrValue})
}
