// Package tensor has the tensor: an element type, a layout and a storage.
//
// A Tensor[T] is to its storage as a slice is to its array: a small value that
// is copied freely while the elements are shared. Slice, Permute, Reshape and
// their like compute another layout over the same elements; a function that
// copies says so in its first sentence. Everything that enumerates a tensor goes
// in row-major order, the last axis fastest, whatever the memory looks like.
//
// The methods of a Tensor are the calls that programs write most: elements, shapes, and views by
// slice, axis and shape. The other operations on a tensor are functions that take it
// first: Tile(t, size, at...), Take(t, axis, at...), Flatten(t).
//
// An Any is a tensor whose element type is known at run time only. t.Any() makes one of
// a Tensor, and As goes back. Its methods need no element type: printing and
// encoding, and whose the memory is, who shares it and how long it stays.
//
// Mistakes of the program (shapes, axes, indices) panic with an *Error; Try
// turns that panic into an error. Functions that take an Any return errors, as Slice,
// Reshape and Copy; its methods that Tensor has too panic as there.
//
// Reads may run concurrently; a write needs that nobody else reads or writes the
// same elements.
package tensor

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Tensor is a multidimensional array of T. It is a value: b := a makes a second
// handle on the same elements, with a shape of its own. The zero value is empty:
// IsZero reports it, and any access panics with an *Error.
//
// A Tensor[T] is an Any and the promise that its elements are T. It has few methods, as
// each is compiled for each T that a program names.
type Tensor[T num.Elem] struct {
	_ [0]func(T) // == doesn't compile, and no conversion to a tensor of another type
	a Any
}

// Any is a tensor whose element type is known at run time only: an element type, a
// layout and a storage. It is one of
//
//   - the zero value, for a tensor that is absent: IsZero reports it;
//   - a Spec without its padding: an element type and a shape, and no storage;
//   - a tensor with elements, the one that a Tensor[T] is: As goes back;
//   - a lazy tensor, whose elements op.Fuse computes;
//   - a foreign tensor, whose elements are no []T of a Go type: packed, or in a
//     device's memory. Foreign says whose it is.
type Any struct {
	_  [0]func() // == on handles would compare neither elements nor identity
	st *storage
	where
}

// where says which elements of a storage a tensor has, and their order.
type where struct {
	off int // where element 0 is; ^off in a read-only handle. Without a storage the element type
	lay layout.Layout
}

// Any returns t as a tensor of a run-time element type, which shares its elements. It
// is the zero Any for the zero Tensor.
func (t Tensor[T]) Any() Any { return t.a }

// As returns a as a Tensor[T], which shares its elements, and whether a has elements
// of that type. It has none when it is a Spec, or foreign.
func As[T num.Elem](a Any) (t Tensor[T], ok bool) {
	if a.st == nil || a.st.dtype != dtype.Of[T]() || a.st.foreign != nil {
		return t, false
	}
	return Tensor[T]{a: a}, true
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

// freeze makes a a read-only handle, if it has a storage.
func freeze(a *Any) {
	if a.st != nil && a.off >= 0 {
		a.off = ^a.off
	}
}

// pointer returns the first element of the storage, and panics when there are no
// elements to be had. Large ones are invisible to the collector: who reads or writes
// them says runtime.KeepAlive(a.st) afterwards.
func (a *Any) pointer(op string) unsafe.Pointer {
	st := a.st
	if st == nil {
		panic(noStorage(op, a.off != 0))
	}
	p := st.open()
	if p == nil && !st.closed() {
		p = unsafe.Pointer(st.first.Load())
	}
	if p == nil {
		panic(noData(op, st))
	}
	return p
}

// read returns the elements of the storage of a, which holds T, as pointer does.
func read[T num.Elem](a *Any, op string) []T {
	p := a.pointer(op)
	return unsafe.Slice((*T)(p), a.st.n)
}

func noStorage(op string, spec bool) *Error {
	if spec {
		return &Error{op, "the tensor is a tensor.Spec, which has no elements; Make gives some", ErrDType}
	}
	return &Error{op, "the tensor is the zero value; make one with New or FromSlice", ErrClosed}
}

func noData(op string, st *storage) *Error {
	switch {
	case st.foreign != nil:
		return &Error{op, sprintf("%T has no elements of a Go type; unpack it, or copy it from its device", st.foreign), ErrDType}
	case st.lazy != nil:
		return &Error{op, "the tensor is lazy, it has no elements yet; compute it with op.Fuse", ErrLazy}
	}
	return &Error{op, "the storage is closed, its memory is given back; close it after its last use", ErrClosed}
}

// check is pointer for a function that writes: it panics also when a is read-only.
func (a *Any) check(op string) unsafe.Pointer {
	p := a.pointer(op)
	if a.off < 0 || a.st.readOnly {
		panic(noWrite(op, a.off < 0, a.st.kind()))
	}
	return p
}

// writable is read for a function that writes.
func writable[T num.Elem](a *Any, op string) []T {
	p := a.check(op)
	return unsafe.Slice((*T)(p), a.st.n)
}

func noWrite(op string, view bool, kind string) *Error {
	if view {
		return &Error{op, "the tensor is a read-only view, as BroadcastTo, Diagonal, SlidingWindow and ReadOnly make; write to a Clone", ErrReadOnly}
	}
	return &Error{op, "the storage is read-only memory (" + kind + "); write to a Clone", ErrReadOnly}
}

// open reports whether a has elements.
func (a *Any) open() bool { return a.st != nil && !a.st.closed() }

// IsZero reports whether t is the zero value, which has no storage.
func (t Tensor[T]) IsZero() bool { return t.a.st == nil }

// IsZero reports whether a is the zero value, which stands for no tensor.
func (a Any) IsZero() bool { return a.st == nil && a.off == 0 }

// IsSpec reports whether a describes a tensor only, and has no elements.
func (a Any) IsSpec() bool { return a.st == nil && a.off != 0 }

// DType returns the element type; Invalid for the zero value.
func (a Any) DType() dtype.DType {
	if a.st == nil {
		return dtype.DType(a.off)
	}
	return a.st.dtype
}

// Rank returns the number of axes; 0 for a scalar.
func (a Any) Rank() int { return walk.Ref(&a.lay).Rank() }

// Dim returns the extent of an axis. Negative axes count from the end. It panics
// when there is no such axis.
func (a Any) Dim(axis int) int {
	return walk.Ref(&a.lay).Dim(axisOf("tensor.Dim", axis, walk.Ref(&a.lay).Rank()))
}

// Shape returns the extents of the axes in a new slice.
func (a Any) Shape() []int { return a.lay.Shape() }

// Layout returns how coordinates map to storage offsets, counted from element 0.
func (a Any) Layout() layout.Layout { return a.lay }

// At returns the element at idx, of the Go type of its element type. It panics as
// Tensor.At does.
func (a Any) At(idx ...int) any {
	off := position(&a, "tensor.At", idx)
	a.pointer("tensor.At")
	v := a.st.boxed().at(off)
	runtime.KeepAlive(a.st)
	return v
}

// Len returns the number of elements.
func (a Any) Len() int { return walk.Ref(&a.lay).Size() }

// IsContiguous reports whether the elements stand in memory one after the other in
// row-major order, as Tensor.IsContiguous does.
func (a Any) IsContiguous() bool { return walk.Ref(&a.lay).IsRowMajor() }

// IsReadOnly reports whether writes panic, as Tensor.IsReadOnly does.
func (a Any) IsReadOnly() bool { return a.off < 0 || a.st != nil && a.st.readOnly }

// ReadOnly returns a view that can't be written through, as Tensor.ReadOnly does; a tensor that
// has no storage is returned as it is.
func (a Any) ReadOnly() Any {
	freeze(&a)
	return a
}

// DType returns the run-time name of T.
func (t Tensor[T]) DType() dtype.DType { return dtype.Of[T]() }

// Rank returns the number of axes; 0 for a scalar.
func (t Tensor[T]) Rank() int { return walk.Ref(&t.a.lay).Rank() }

// Dim returns the extent of an axis. Negative axes count from the end. It panics
// when there is no such axis.
func (t Tensor[T]) Dim(axis int) int {
	return walk.Ref(&t.a.lay).Dim(axisOf("tensor.Dim", axis, walk.Ref(&t.a.lay).Rank()))
}

// Shape returns the extents of the axes in a new slice.
func (t Tensor[T]) Shape() []int { return t.a.lay.Shape() }

// Layout returns how coordinates map to storage offsets, counted from element 0.
func (t Tensor[T]) Layout() layout.Layout { return t.a.lay }

// LayoutRef is Layout without the copy, for the callers to whom that matters. The
// layout must not be changed through it.
func (a *Any) LayoutRef() *layout.Layout { return &a.lay }

// checkWord panics unless n elements of type from, which begin at p, may be seen as of type to.
func checkWord(op string, from, to dtype.DType, p unsafe.Pointer, n int) {
	switch {
	case from == to:
	case from.Size() != to.Size():
		panic(&Error{op, sprintf("%v has %d bytes, %v has %d", from, from.Size(), to, to.Size()), ErrDType})
	default:
		checkRecast(op, from, to, p, n)
	}
}

// Memory returns the storage of a as bytes, and the offset of element 0 in it, counted in
// elements. As with Tensor.Data, a must be kept alive past the last use.
func (a *Any) Memory() (storage []byte, offset int) {
	p := a.pointer("tensor.Memory")
	return unsafe.Slice((*byte)(p), a.st.n*a.st.dtype.Size()), a.origin()
}

// Run returns the memory of the elements in row-major order, if a has exactly the layout
// lay, which is row-major; otherwise nil. As with Tensor.Data, a must be kept alive past
// the last use.
func (a *Any) Run(lay *layout.Layout) []byte {
	if &a.lay != lay && !walk.Ref(&a.lay).Equal(walk.Ref(lay)) {
		return nil
	}
	p, o, n := a.pointer("tensor.Run"), a.origin(), walk.Ref(lay).Size()
	if n > a.st.n-o {
		return nil // lay isn't row-major
	}
	size := a.st.dtype.Size()
	return unsafe.Slice((*byte)(p), a.st.n*size)[o*size : (o+n)*size]
}

// Len returns the number of elements.
func (t Tensor[T]) Len() int { return walk.Ref(&t.a.lay).Size() }

// IsContiguous reports whether the elements stand in memory one after the other
// in row-major order. Extents of 1 don't matter; empty tensors are.
func (t Tensor[T]) IsContiguous() bool { return walk.Ref(&t.a.lay).IsRowMajor() }

// IsReadOnly reports whether writes panic: the handle is a broadcast view or
// came from ReadOnly, or the storage is read-only memory.
func (t Tensor[T]) IsReadOnly() bool {
	return t.a.IsReadOnly()
}

// ReadOnly returns a view that can't be written through; nothing makes it
// writable again.
func (t Tensor[T]) ReadOnly() Tensor[T] {
	freeze(&t.a)
	return t
}

// Data returns the storage and the offset of element 0 in it: element
// (i, j, …) is data[offset + the layout's offset of (i, j, …)]. The slice is in
// memory order and may hold more than this tensor. It stays valid while the
// tensor is reachable and open: keep it alive with runtime.KeepAlive(t) past the
// last use, or use Elems.
func (t Tensor[T]) Data() (data []T, offset int) { return read[T](&t.a, "tensor.Data"), t.a.origin() }

// Mutable is [Tensor.Data] for writing: it panics when the tensor is read-only.
func Mutable[T num.Elem](t Tensor[T]) (data []T, offset int) {
	return writable[T](&t.a, "tensor.Mutable"), t.a.origin()
}

// Elems returns the elements themselves as a slice of exactly Len, in row-major
// order, sharing memory with the tensor. It panics when the tensor is not
// contiguous; Contiguous makes it so. The slice stays valid until Close. Writing
// to the slice of a read-only tensor is the caller's mistake and may fault.
func (t Tensor[T]) Elems() []T {
	d := read[T](&t.a, "tensor.Elems")
	if !walk.Ref(&t.a.lay).IsRowMajor() {
		panic(notContiguous("tensor.Elems", &t.a.lay))
	}
	t.a.st.lend()
	o, n := t.a.origin(), walk.Ref(&t.a.lay).Size()
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
		i, j, st := idx[0], idx[1], t.a.st
		ext, str, rank := walk.Ref(&t.a.lay).Plain()
		if rank == 2 && uint(i) < uint(ext[0]) && uint(j) < uint(ext[1]) && st != nil {
			if p := st.open(); p != nil {
				if off := t.a.origin() + i*str[0] + j*str[1]; uint(off) < uint(st.n) {
					v := *element[T](p, off)
					runtime.KeepAlive(st)
					return v
				}
			}
		}
	}
	off := position(&t.a, "tensor.At", idx)
	v := read[T](&t.a, "tensor.At")[off]
	runtime.KeepAlive(t.a.st)
	return v
}

// position returns where in the storage the element at idx is.
//
//go:noinline
func position(a *Any, op string, idx []int) int {
	off, axis := a.lay.At(idx)
	if axis >= 0 {
		panic(badIndex(op, &a.lay, idx, axis))
	}
	return a.origin() + off
}

// AtOr returns the element at idx, or otherwise where an index is outside
// [0, extent), as at the border of a padded picture. It panics when the number of
// indices isn't the rank.
func AtOr[T num.Elem](t Tensor[T], otherwise T, idx ...int) T {
	off, axis := t.a.lay.At(idx)
	d := read[T](&t.a, "tensor.AtOr")
	switch {
	case axis < 0:
		otherwise = d[t.a.origin()+off]
	case axis == walk.Ref(&t.a.lay).Rank():
		panic(badIndex("tensor.AtOr", &t.a.lay, idx, axis))
	}
	runtime.KeepAlive(t.a.st)
	return otherwise
}

// Set sets the element at idx. It panics as At does, and when t is read-only.
func (t Tensor[T]) Set(v T, idx ...int) {
	if len(idx) == 2 {
		i, j, st := idx[0], idx[1], t.a.st
		ext, str, rank := walk.Ref(&t.a.lay).Plain()
		if rank == 2 && uint(i) < uint(ext[0]) && uint(j) < uint(ext[1]) && t.a.off >= 0 && st != nil && !st.readOnly {
			if p := st.open(); p != nil {
				if off := t.a.off + i*str[0] + j*str[1]; uint(off) < uint(st.n) {
					*element[T](p, off) = v
					runtime.KeepAlive(st)
					return
				}
			}
		}
	}
	off := position(&t.a, "tensor.Set", idx)
	writable[T](&t.a, "tensor.Set")[off] = v
	runtime.KeepAlive(t.a.st)
}

func badIndex(op string, lay *layout.Layout, idx []int, axis int) *Error {
	if axis == walk.Ref(lay).Rank() {
		return &Error{op, sprintf("%d indices for the %d axes of %s", len(idx), axis, lay.ShapeString()), ErrIndex}
	}
	from := ""
	if idx[axis] < 0 {
		from = "; it isn't negative, Slice counts from the end"
	}
	return &Error{op, sprintf("index %d is outside axis %d of extent %d%s", idx[axis], axis, walk.Ref(lay).Dim(axis), from), ErrIndex}
}

// Item returns the only element of a tensor of any rank. It panics when there
// isn't exactly one.
func (t Tensor[T]) Item() T {
	checkOne("tensor.Item", &t.a.lay)
	v := read[T](&t.a, "tensor.Item")[t.a.origin()]
	runtime.KeepAlive(t.a.st)
	return v
}

func checkOne(op string, lay *layout.Layout) {
	if n := walk.Ref(lay).Size(); n != 1 {
		panic(&Error{op, sprintf("%s has %d elements, not one", lay.ShapeString(), n), ErrShape})
	}
}
