package tensor

import (
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// axisOf counts a negative axis from the end, and panics when there is none.
func axisOf(op string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	switch {
	case rank == 0:
		panic(&Error{op, sprintf("axis %d of a tensor of rank 0, which has none", axis), ErrAxis})
	case uint(a) >= uint(rank):
		panic(&Error{op, sprintf("axis %d of a tensor of rank %d; axes are %d to %d", axis, rank, -rank, rank-1), ErrAxis})
	}
	return a
}

// Permute returns a view whose axis i is axis axes[i] of t. Axes may be negative.
// It panics unless axes names each axis once.
func (t Tensor[T]) Permute(axes ...int) Tensor[T] {
	permute(&t.a.lay, axes)
	return t
}

func permute(lay *layout.Layout, axes []int) {
	to, err := lay.Permute(axes...)
	if err != nil {
		panic(Wrap("tensor.Permute", err))
	}
	*lay = to
}

// PermuteInPlace makes t its own Permute. Other tensors on the same elements keep
// their axes.
func PermuteInPlace[T num.Elem](t *Tensor[T], axes ...int) { permute(&t.a.lay, axes) }

// Transpose returns a view with the axes in reverse order.
func (t Tensor[T]) Transpose() Tensor[T] {
	transpose(&t.a.lay)
	return t
}

func transpose(lay *layout.Layout) {
	var few [modes.Inline]int
	axes := few[:0]
	for i := walk.Ref(lay).Rank() - 1; i >= 0; i-- {
		axes = append(axes, i)
	}
	permute(lay, axes)
}

// SwapAxes returns a view with two axes exchanged. Axes may be negative. It
// panics when there is no such axis.
func SwapAxes[T num.Elem](t Tensor[T], a, b int) Tensor[T] {
	swapAxes("tensor.SwapAxes", &t.a.lay, a, b)
	return t
}

func swapAxes(op string, lay *layout.Layout, a, b int) {
	rank := walk.Ref(lay).Rank()
	i, j := axisOf(op, a, rank), axisOf(op, b, rank)
	var few [modes.Inline]int
	axes := few[:0]
	for k := range rank {
		axes = append(axes, k)
	}
	axes[i], axes[j] = j, i
	permute(lay, axes)
}

// MoveAxis returns a view with axis from at position to, the other axes in their
// order. Both may be negative. It panics when there is no such axis.
func MoveAxis[T num.Elem](t Tensor[T], from, to int) Tensor[T] {
	moveAxis("tensor.MoveAxis", &t.a.lay, from, to)
	return t
}

func moveAxis(op string, lay *layout.Layout, from, to int) {
	rank := walk.Ref(lay).Rank()
	i, j := axisOf(op, from, rank), axisOf(op, to, rank)
	var few [modes.Inline]int
	axes := few[:0]
	for k := range rank {
		switch {
		case k == j:
			axes = append(axes, i)
		case k < j && k < i, k > j && k > i:
			axes = append(axes, k)
		case i < j:
			axes = append(axes, k+1)
		default:
			axes = append(axes, k-1)
		}
	}
	permute(lay, axes)
}

// Squeeze returns a view without the given axes, which must have extent 1, or
// without all axes of extent 1 when none is given. It panics when an axis has
// another extent, doesn't exist or is named twice.
func (t Tensor[T]) Squeeze(axes ...int) Tensor[T] {
	squeeze("tensor.Squeeze", &t.a.where, axes)
	return t
}

func squeeze(op string, w *where, axes []int) {
	rank := walk.Ref(&w.lay).Rank()
	var few [modes.Inline]Index
	idx := few[:0]
	for i := range rank {
		idx = append(idx, Colon)
		if len(axes) == 0 && walk.Ref(&w.lay).Dim(i) == 1 {
			idx[i] = I(0)
		}
	}
	for _, a := range axes {
		i := axisOf(op, a, rank)
		if n := walk.Ref(&w.lay).Dim(i); n != 1 {
			panic(&Error{op, sprintf("axis %d has extent %d, not 1", a, n), ErrShape})
		}
		mark(op, idx, i, a, I(0))
	}
	slice("tensor.Slice", w, idx)
}

// Unsqueeze returns a view with new axes of extent 1 at the given positions of
// the result, which may be negative and must differ.
func (t Tensor[T]) Unsqueeze(axes ...int) Tensor[T] {
	unsqueeze("tensor.Unsqueeze", &t.a.where, axes)
	return t
}

func unsqueeze(op string, w *where, axes []int) {
	rank := walk.Ref(&w.lay).Rank() + len(axes)
	var few [modes.Inline]Index
	idx := few[:0]
	for range rank {
		idx = append(idx, Colon)
	}
	for _, a := range axes {
		mark(op, idx, axisOf(op, a, rank), a, NewAxis)
	}
	slice("tensor.Slice", w, idx)
}

// Flip returns a view with the given axes reversed, or all when none is given.
// It panics when an axis doesn't exist or is named twice.
func (t Tensor[T]) Flip(axes ...int) Tensor[T] {
	flip("tensor.Flip", &t.a.where, axes)
	return t
}

func flip(op string, w *where, axes []int) {
	back := R(None, None, -1)
	var few [modes.Inline]Index
	idx := few[:0]
	for range walk.Ref(&w.lay).Rank() {
		idx = append(idx, Colon)
		if len(axes) == 0 {
			idx[len(idx)-1] = back
		}
	}
	for _, a := range axes {
		mark(op, idx, axisOf(op, a, len(idx)), a, back)
	}
	slice("tensor.Slice", w, idx)
}

// mark sets the index of an axis, which the caller called by name.
func mark(op string, idx []Index, axis, name int, x Index) {
	if idx[axis] != Colon {
		panic(&Error{op, sprintf("axis %d is named twice", name), ErrAxis})
	}
	idx[axis] = x
}
