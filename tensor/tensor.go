// Package tensor is what a tensor is: an element type, a layout and a storage.
//
// A Tensor[T] is to its storage what a slice is to its array: a small value that
// is copied freely while the elements are shared. Slice, Permute, Reshape and
// their like compute another layout over the same elements; a function that
// copies says so in its first sentence. Everything that enumerates a tensor goes
// in row-major order, the last axis fastest, whatever the memory looks like.
//
// Mistakes of the program (shapes, axes, indices) panic with an *Error; Try
// turns that panic into an error. Functions on Any, whose types are known only
// at run time, return errors.
//
// Reads may run concurrently; a write needs that nobody else reads or writes the
// same elements.
package tensor

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Tensor is a multidimensional array of T. It is a value: b := a makes a second
// handle on the same elements, with a shape of its own. The zero value is empty:
// IsZero reports it, and any access panics with an *Error.
type Tensor[T num.Elem] struct {
	_ [0]func() // == on handles would compare neither elements nor identity
	Base
	st *storage[T]
	where
}

// where is which elements of a storage a tensor has, and in what order. What doesn't
// depend on their type is done by plain functions on it: the methods of Tensor are
// compiled for each type, and again in each package that has tensors of it.
type where struct {
	off int // where element 0 is; ^off in a read-only handle
	lay layout.Layout
}

// Base marks a type as a tensor. Types outside this package that satisfy Any
// embed it.
type Base struct{}

func (Base) isTensor() {}

// Any is a tensor whose element type is known at run time only. Tensor[T] and
// Spec satisfy it, and so does every tensor type of this module.
type Any interface {
	DType() dtype.DType
	Rank() int
	Dim(axis int) int
	Layout() layout.Layout
	isTensor()
}

// origin returns the storage offset of element 0.
func (w *where) origin() int {
	return w.off ^ w.off>>(bits.UintSize-1)
}

// move gives w another layout, delta further on.
func move(w *where, lay *layout.Layout, delta int) {
	if w.off < 0 {
		delta = -delta // ^(off+delta) is ^off-delta
	}
	w.off += delta
	w.lay = *lay
}

// freeze makes w that of a read-only handle.
func freeze(w *where) {
	if w.off >= 0 {
		w.off = ^w.off
	}
}

// data returns the elements of the storage, and panics when there are none to
// be had any more. Large ones are invisible to the collector: who reads or writes
// them says runtime.KeepAlive(t.st) afterwards.
func (t *Tensor[T]) data(op string) []T {
	if st := t.st; st != nil {
		p := st.open()
		if p == nil && !st.closed() {
			p = unsafe.Pointer(st.first.Load())
		}
		if p != nil {
			return unsafe.Slice((*T)(p), st.n)
		}
		panic(noData(op, false, st.lazy))
	}
	panic(noData(op, true, nil))
}

func noData(op string, zero bool, lazy *lazy) *Error {
	if zero {
		return &Error{op, "the tensor is the zero value; make one with New or FromSlice", ErrClosed}
	}
	if lazy != nil {
		return &Error{op, "the tensor is lazy, it has no elements yet; compute it with op.Fuse", ErrLazy}
	}
	return &Error{op, "the storage is closed", ErrClosed}
}

// writable is data for a function that writes.
func (t *Tensor[T]) writable(op string) []T {
	d := t.data(op)
	if t.off < 0 || t.st.readOnly {
		panic(noWrite(op, t.off < 0, t.st.kind()))
	}
	return d
}

func noWrite(op string, view bool, kind string) *Error {
	if view {
		return &Error{op, "the tensor is a read-only view, as BroadcastTo, Diagonal, SlidingWindow and ReadOnly make; write to a Clone", ErrReadOnly}
	}
	return &Error{op, "the storage is read-only memory (" + kind + "); write to a Clone", ErrReadOnly}
}

// IsZero reports whether t is the zero value, which has no storage.
func (t Tensor[T]) IsZero() bool { return t.st == nil }

// DType returns the run-time name of T.
func (t Tensor[T]) DType() dtype.DType { return dtype.Of[T]() }

// Rank returns the number of axes; 0 for a scalar.
func (t Tensor[T]) Rank() int { return t.lay.Rank() }

// Dim returns the extent of an axis. Negative axes count from the end. It panics
// when there is no such axis.
func (t Tensor[T]) Dim(axis int) int {
	return t.lay.Dim(axisOf("tensor.Dim", axis, t.lay.Rank()))
}

// Shape returns the extents of the axes in a new slice.
func (t Tensor[T]) Shape() []int { return t.lay.Shape() }

// Layout returns how coordinates map to storage offsets, counted from element 0.
func (t Tensor[T]) Layout() layout.Layout { return t.lay }

// LayoutRef is Layout without the copy, for the callers to whom that matters. The
// layout must not be changed through it.
func (t *Tensor[T]) LayoutRef() *layout.Layout { return &t.lay }

// Run returns the elements in row-major order as a slice that shares them, if t
// has exactly the layout lay, which is row-major; otherwise nil. As with Data, t
// must be kept alive past the last use.
func (t *Tensor[T]) Run(lay *layout.Layout) []T {
	if &t.lay != lay && !t.lay.Same(lay) {
		return nil
	}
	d, o := t.data("tensor.Run"), t.origin()
	n := lay.Size()
	if n > len(d)-o {
		return nil // lay isn't row-major
	}
	return d[o : o+n]
}

// Len returns the number of elements.
func (t Tensor[T]) Len() int { return t.lay.Size() }

// IsContiguous reports whether the elements stand in memory one after the other
// in row-major order. Extents of 1 don't matter; empty tensors are.
func (t Tensor[T]) IsContiguous() bool { return t.lay.IsRowMajor() }

// IsReadOnly reports whether writes panic: the handle is a broadcast view or
// came from ReadOnly, or the storage is read-only memory.
func (t Tensor[T]) IsReadOnly() bool {
	return t.off < 0 || t.st != nil && t.st.readOnly
}

// ReadOnly returns a view that can't be written through; nothing makes it
// writable again.
func (t Tensor[T]) ReadOnly() Tensor[T] {
	freeze(&t.where)
	return t
}

// Data returns the storage and the offset of element 0 in it: element
// (i, j, …) is data[offset + the layout's offset of (i, j, …)]. The slice is in
// memory order and may hold more than this tensor. It stays valid while the
// tensor is reachable and open: keep it alive with runtime.KeepAlive(t) past the
// last use, or use Elems.
func (t Tensor[T]) Data() (data []T, offset int) { return t.data("tensor.Data"), t.origin() }

// Mutable is Data for writing: it panics when the tensor is read-only.
func (t Tensor[T]) Mutable() (data []T, offset int) {
	return t.writable("tensor.Mutable"), t.origin()
}

// Elems returns the elements themselves as a slice of exactly Len, in row-major
// order, sharing memory with the tensor. It panics when the tensor is not
// contiguous; Contiguous makes it so. The slice stays valid until Close. Writing
// to the slice of a read-only tensor is the caller's mistake and may fault.
func (t Tensor[T]) Elems() []T {
	d := t.data("tensor.Elems")
	if !t.lay.IsRowMajor() {
		panic(notContiguous("tensor.Elems", &t.lay))
	}
	t.st.lend()
	o, n := t.origin(), t.lay.Size()
	return d[o : o+n : o+n]
}

func notContiguous(op string, lay *layout.Layout) *Error {
	return &Error{op, lay.String() + " is not contiguous; use Contiguous().Elems()", ErrView}
}

// At returns the element at idx, one index per axis. It panics when the number
// of indices isn't the rank or an index is outside [0, extent).
func (t Tensor[T]) At(idx ...int) T {
	// A matrix is looked up here, without another call; at does the rest, and the errors.
	if len(idx) == 2 {
		i, j, st := idx[0], idx[1], t.st
		ext, str, rank := t.lay.Plain()
		if rank == 2 && uint(i) < uint(ext[0]) && uint(j) < uint(ext[1]) && st != nil {
			if p := st.open(); p != nil {
				if off := t.origin() + i*str[0] + j*str[1]; uint(off) < uint(st.n) {
					v := *element[T](p, off)
					runtime.KeepAlive(st)
					return v
				}
			}
		}
	}
	return t.at(idx)
}

//go:noinline
func (t *Tensor[T]) at(idx []int) T {
	off, axis := t.lay.At(idx)
	if axis >= 0 {
		panic(badIndex("tensor.At", &t.lay, idx, axis))
	}
	v := t.data("tensor.At")[t.origin()+off]
	runtime.KeepAlive(t.st)
	return v
}

// AtOr returns the element at idx, or otherwise where an index is outside
// [0, extent), as at the border of a padded picture. It panics when the number of
// indices isn't the rank.
func (t Tensor[T]) AtOr(otherwise T, idx ...int) T {
	off, axis := t.lay.At(idx)
	d := t.data("tensor.AtOr")
	switch {
	case axis < 0:
		otherwise = d[t.origin()+off]
	case axis == t.lay.Rank():
		panic(badIndex("tensor.AtOr", &t.lay, idx, axis))
	}
	runtime.KeepAlive(t.st)
	return otherwise
}

// Set sets the element at idx. It panics as At does, and when t is read-only.
func (t Tensor[T]) Set(v T, idx ...int) {
	if len(idx) == 2 {
		i, j, st := idx[0], idx[1], t.st
		ext, str, rank := t.lay.Plain()
		if rank == 2 && uint(i) < uint(ext[0]) && uint(j) < uint(ext[1]) && t.off >= 0 && st != nil && !st.readOnly {
			if p := st.open(); p != nil {
				if off := t.off + i*str[0] + j*str[1]; uint(off) < uint(st.n) {
					*element[T](p, off) = v
					runtime.KeepAlive(st)
					return
				}
			}
		}
	}
	t.set(v, idx)
}

//go:noinline
func (t *Tensor[T]) set(v T, idx []int) {
	off, axis := t.lay.At(idx)
	if axis >= 0 {
		panic(badIndex("tensor.Set", &t.lay, idx, axis))
	}
	t.writable("tensor.Set")[t.off+off] = v
	runtime.KeepAlive(t.st)
}

func badIndex(op string, lay *layout.Layout, idx []int, axis int) *Error {
	if axis == lay.Rank() {
		return &Error{op, sprintf("%d indices for the %d axes of %s", len(idx), axis, lay.ShapeString()), ErrIndex}
	}
	return &Error{op, sprintf("index %d is outside axis %d of extent %d", idx[axis], axis, lay.Dim(axis)), ErrIndex}
}

// Item returns the only element of a tensor of any rank. It panics when there
// isn't exactly one.
func (t Tensor[T]) Item() T {
	checkOne("tensor.Item", &t.lay)
	v := t.data("tensor.Item")[t.origin()]
	runtime.KeepAlive(t.st)
	return v
}

func checkOne(op string, lay *layout.Layout) {
	if n := lay.Size(); n != 1 {
		panic(&Error{op, sprintf("%s has %d elements, not one", lay.ShapeString(), n), ErrShape})
	}
}
