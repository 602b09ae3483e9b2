package tensor

import "errors"

// An Order is the order in which a reshape takes the elements.
type Order uint8

const (
	OrderC Order = iota // row-major, the last axis fastest
	OrderF              // column-major, the first axis fastest
)

// ReshapeIn is Reshape with the elements taken, and placed, in that order: with
// OrderF element k of both, counted with the first axis fastest, is the same. It
// shares under the same conditions, and panics as Reshape does.
func (t Tensor[T]) ReshapeIn(order Order, shape ...int) Tensor[T] {
	const op = "tensor.ReshapeIn"
	switch order {
	case OrderC:
		return t.reshape(op, shape)
	case OrderF:
		if _, err := t.viewLayout(shape); err != nil && !errors.Is(err, ErrView) {
			panic(wrap(op, err)) // with the caller's shape in the text
		}
		back := make([]int, len(shape))
		for i, e := range shape {
			back[len(shape)-1-i] = e
		}
		turned := t.Transpose()
		return turned.reshape(op, back).Transpose()
	}
	panic(&Error{op, sprintf("no order %d; there are OrderC and OrderF", order), ErrValue})
}
