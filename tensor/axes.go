package tensor

import "github.com/ashlar-go/ashlar/layout"

// axis counts a negative axis from the end, and panics when there is none.
func (t *Tensor[T]) axis(op string, axis int) int { return axisOf(op, axis, t.lay.Rank()) }

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
	lay, err := t.lay.Permute(axes...)
	if err != nil {
		panic(wrap("tensor.Permute", err))
	}
	return t.like(lay, 0)
}

// PermuteInPlace makes t its own Permute. Other tensors on the same elements keep
// their axes.
func (t *Tensor[T]) PermuteInPlace(axes ...int) { *t = t.Permute(axes...) }

// Transpose returns a view with the axes in reverse order.
func (t Tensor[T]) Transpose() Tensor[T] {
	var few [layout.Inline]int
	axes := few[:0]
	for i := t.Rank() - 1; i >= 0; i-- {
		axes = append(axes, i)
	}
	return t.Permute(axes...)
}

// SwapAxes returns a view with two axes exchanged. Axes may be negative. It
// panics when there is no such axis.
func (t Tensor[T]) SwapAxes(a, b int) Tensor[T] {
	const op = "tensor.SwapAxes"
	i, j := t.axis(op, a), t.axis(op, b)
	var few [layout.Inline]int
	axes := few[:0]
	for k := range t.Rank() {
		axes = append(axes, k)
	}
	axes[i], axes[j] = j, i
	return t.Permute(axes...)
}

// MoveAxis returns a view with axis from at position to, the other axes in their
// order. Both may be negative. It panics when there is no such axis.
func (t Tensor[T]) MoveAxis(from, to int) Tensor[T] {
	const op = "tensor.MoveAxis"
	i, j := t.axis(op, from), t.axis(op, to)
	var few [layout.Inline]int
	axes := few[:0]
	for k := range t.Rank() {
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
	return t.Permute(axes...)
}

// Squeeze returns a view without the given axes, which must have extent 1, or
// without all axes of extent 1 when none is given. It panics when an axis has
// another extent, doesn't exist or is named twice.
func (t Tensor[T]) Squeeze(axes ...int) Tensor[T] {
	const op = "tensor.Squeeze"
	var few [layout.Inline]Index
	idx := few[:0]
	for i := range t.Rank() {
		idx = append(idx, Colon)
		if len(axes) == 0 && t.lay.Dim(i) == 1 {
			idx[i] = I(0)
		}
	}
	for _, a := range axes {
		i := t.axis(op, a)
		if n := t.lay.Dim(i); n != 1 {
			panic(&Error{op, sprintf("axis %d has extent %d, not 1", a, n), ErrShape})
		}
		mark(op, idx, i, a, I(0))
	}
	return t.Slice(idx...)
}

// Unsqueeze returns a view with new axes of extent 1 at the given positions of
// the result, which may be negative and must differ.
func (t Tensor[T]) Unsqueeze(axes ...int) Tensor[T] {
	const op = "tensor.Unsqueeze"
	rank := t.Rank() + len(axes)
	var few [layout.Inline]Index
	idx := few[:0]
	for range rank {
		idx = append(idx, Colon)
	}
	for _, a := range axes {
		mark(op, idx, axisOf(op, a, rank), a, NewAxis)
	}
	return t.Slice(idx...)
}

// Flip returns a view with the given axes reversed, or all when none is given.
// It panics when an axis doesn't exist or is named twice.
func (t Tensor[T]) Flip(axes ...int) Tensor[T] {
	const op = "tensor.Flip"
	back := R(None, None, -1)
	var few [layout.Inline]Index
	idx := few[:0]
	for range t.Rank() {
		idx = append(idx, Colon)
		if len(axes) == 0 {
			idx[len(idx)-1] = back
		}
	}
	for _, a := range axes {
		mark(op, idx, t.axis(op, a), a, back)
	}
	return t.Slice(idx...)
}

// mark sets the index of an axis, which the caller called by name.
func mark(op string, idx []Index, axis, name int, x Index) {
	if idx[axis] != Colon {
		panic(&Error{op, sprintf("axis %d is named twice", name), ErrAxis})
	}
	idx[axis] = x
}
