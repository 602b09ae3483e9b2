package tensor

import (
	"errors"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// View returns a view of another shape with as many elements, in row-major order.
// One extent may be -1 and is computed. It never copies: it panics with ErrView
// when the strides don't allow it, naming the axes; Reshape copies then.
func (t Tensor[T]) View(shape ...int) Tensor[T] {
	viewAs("tensor.View", &t.a.lay, shape)
	return t
}

// viewAs gives lay another shape; layout/view.go says which strides allow it.
func viewAs(op string, lay *layout.Layout, shape []int) {
	to, err := viewLayout(lay, shape)
	if err != nil {
		panic(Wrap(op, err))
	}
	*lay = to
}

// CanView reports whether View of that shape would succeed.
func (a Any) CanView(shape ...int) bool {
	_, err := viewLayout(&a.lay, shape)
	return err == nil
}

// Reshape returns the elements, in row-major order, in another shape: a view
// where the strides allow it, else a copy. One extent may be -1 and is computed.
// It panics when the number of elements differs. View never copies, and
// Flatten(t).View(shape...) always does.
func (t Tensor[T]) Reshape(shape ...int) Tensor[T] {
	reshape("tensor.Reshape", &t.a, shape)
	return t
}

func reshape(op string, a *Any, shape []int) {
	if !tryView(op, &a.lay, shape) {
		compact(a, op)
		viewAs(op, &a.lay, shape)
	}
}

// tryView gives lay the shape if the strides allow that, and panics when a copy
// wouldn't help.
func tryView(op string, lay *layout.Layout, shape []int) bool {
	to, err := viewLayout(lay, shape)
	switch {
	case err == nil:
		*lay = to
		return true
	case !errors.Is(err, ErrView):
		panic(Wrap(op, err))
	}
	return false
}

// ReshapeInPlace makes t its own Reshape: where that copies, t gets a storage of
// its own. Other tensors on the same elements keep their shape and elements.
func ReshapeInPlace[T num.Elem](t *Tensor[T], shape ...int) { reshape("tensor.Reshape", &t.a, shape) }

// viewLayout resolves a -1 and asks the layout.
func viewLayout(lay *layout.Layout, shape []int) (layout.Layout, error) {
	for i, e := range shape {
		if e < 0 {
			var few [modes.Inline]int
			full := append(few[:0], shape...)
			if err := inferDim(walk.Ref(lay).Size(), full, i); err != nil {
				return layout.Layout{}, err
			}
			return lay.View(full...)
		}
	}
	return lay.View(shape...)
}

// inferDim replaces the -1 at an axis of shape by the extent that size leaves.
func inferDim(size int, shape []int, axis int) error {
	rest := 1
	for i, e := range shape {
		switch {
		case i == axis && e == -1:
		case e < 0:
			return &Error{Text: sprintf("extent %d of axis %d; only one may be -1, the others are at least 0", e, i), Err: ErrShape}
		case e > 0 && rest > maxInt/e:
			return &Error{Text: sprintf("the size of shape %s doesn't fit an int", shapeText(shape)), Err: ErrOverflow}
		default:
			rest *= e
		}
	}
	if rest == 0 || size%rest != 0 {
		return &Error{Text: sprintf("%d elements don't fill shape %s evenly", size, shapeText(shape)), Err: ErrShape}
	}
	shape[axis] = size / rest
	return nil
}

// shapeText writes a shape as layouts do. (A shape given to %v would move the
// caller's variadic slice to the heap.)
func shapeText(shape []int) string {
	text := "("
	for i, e := range shape {
		if i > 0 {
			text += ","
		}
		text += sprintf("%d", e)
	}
	return text + ")"
}
