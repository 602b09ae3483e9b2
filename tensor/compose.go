package tensor

import (
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Stride returns the distance in elements between neighbours along an axis. Negative
// axes count from the end. It panics when there is no such axis, or it is nested and
// has no single stride.
func (a Any) Stride(axis int) int {
	const op = "tensor.Stride"
	return strideOf(op, &a.lay, axisOf(op, axis, walk.Ref(&a.lay).Rank()))
}

// Coalesce returns the view with the fewest axes that has the elements of t in the same
// colexicographic order, the first axis fastest:
//
//	(4,4):(1,4) → 16:1
//	(4,4):(4,1) → (4,4):(4,1)
func Coalesce[T num.Elem](t Tensor[T]) Tensor[T] {
	t.a.lay = t.a.lay.Coalesce()
	return t
}

// Compose returns the view whose element at c is element rhs(c) of t, counted in
// colexicographic order, the first axis fastest: layout.Compose of t's layout and
// rhs. It panics when an offset of rhs is negative or not below Len, or the
// composition is no layout.
func Compose[T num.Elem](t Tensor[T], rhs layout.Layout) Tensor[T] {
	compose("tensor.Compose", &t.a.lay, &rhs)
	return t
}

func compose(op string, lay, rhs *layout.Layout) {
	if lo, hi := rhs.Span(); lo < 0 || hi >= walk.Ref(lay).Size() {
		panic(&Error{op, sprintf("%v has the offsets %d to %d, the tensor %d elements", *rhs, lo, hi, walk.Ref(lay).Size()), ErrIndex})
	}
	out, err := layout.Compose(*lay, *rhs)
	if err != nil {
		panic(Wrap(op, err))
	}
	*lay = out
}

// ReshapeLayout returns the view whose element at c is element lay(c) of t, counted in
// row-major order, the last axis fastest. lay is compact, so that each element is there
// once. For a tensor of shape (2,6):
//
//	(3,4):(4,1)   is View(3, 4)
//	(3,4):(1,3)   gives the same elements column by column
//
// Compose counts from the first axis, and takes any layout. It panics when lay isn't
// compact or has another size, or the view is no layout; a copy can then be reshaped.
func ReshapeLayout[T num.Elem](t Tensor[T], lay layout.Layout) Tensor[T] {
	reshapeLayout("tensor.ReshapeLayout", &t.a.lay, &lay)
	return t
}

func reshapeLayout(op string, lay, to *layout.Layout) {
	if walk.Ref(to).Size() != walk.Ref(lay).Size() {
		panic(&Error{op, sprintf("%s has %d elements, %v has %d", lay.ShapeString(), walk.Ref(lay).Size(), *to, walk.Ref(to).Size()), ErrShape})
	}
	if !to.IsCompact() {
		panic(&Error{op, sprintf("%v is not compact, so elements would be lost or repeated; Compose takes it", *to), ErrShape})
	}
	transpose(lay) // then its colexicographic order is its former row-major order
	compose(op, lay, to)
}

// Distance returns how many elements of the storage element 0 of t is behind
// element 0 of u; it is negative when it is before it. It panics when they don't
// share a storage.
func Distance[T num.Elem](t Tensor[T], u Tensor[T]) int {
	const op = "tensor.Distance"
	t.a.pointer(op)
	u.a.pointer(op)
	if !t.a.SameData(u.a) {
		panic(&Error{op, "the tensors have different storages; there is no distance between those", ErrValue})
	}
	return t.a.origin() - u.a.origin()
}
