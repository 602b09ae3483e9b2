// Package reach gives the engine more of a tensor than package tensor does: its elements as a slice of any type of
// their size, and tensors whose elements are elsewhere, or not computed yet.
package reach

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/handed"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Foreign returns a tensor whose elements are no []T of a Go type, but by's: packed, or
// in a device's memory. Its values are of type d where they are numbers, and its shape
// is lay's. No function of package tensor reads them; functions that know by do.
var Foreign = handed.Foreign.(func(by any, d dtype.DType, lay layout.Layout) tensor.Any)

// Lazy returns a tensor of a row-major shape that has no elements: whoever asks for
// one gets a *tensor.Error with ErrLazy. by says how to compute them, to code that can:
// see op.Lazy, the function to call instead.
var Lazy = handed.Lazy.(func(by any, d dtype.DType, shape ...int) tensor.Any)

// LazyBy returns the way in which op.Lazy said that a lazy tensor is computed, nil for every other tensor,
// and whether a is that tensor itself, no view of it.
var LazyBy = handed.LazyBy.(func(a tensor.Any) (by any, whole bool))

// EmptyLike is tensor.EmptyLike of a tensor with the layout lay, for a run-time element type.
var EmptyLike = handed.EmptyLike.(func(d dtype.DType, lay layout.Layout) tensor.Any)

// DataOf returns the storage of a and the offset of element 0 in it, as Tensor.Data
// does. T is the element type, or a type of the same size for code that moves or compares
// bits. It panics when T has another size, is bool and the elements aren't, or wants an
// alignment that the storage doesn't have. As with Tensor.Data, a must be kept alive past
// the last use.
func DataOf[T num.Elem](a *tensor.Any) (data []T, offset int) {
	b, offset := a.Memory()
	return elements[T]("tensor.DataOf", a.DType(), b), offset
}

// MutableOf is DataOf for writing: it panics also when a is read-only.
func MutableOf[T num.Elem](a *tensor.Any) (data []T, offset int) {
	b, offset := a.Memory()
	if a.IsReadOnly() {
		panic(&tensor.Error{Op: "tensor.MutableOf", Text: "the tensor is read-only; write to a Clone", Err: tensor.ErrReadOnly})
	}
	return elements[T]("tensor.MutableOf", a.DType(), b), offset
}

// Run is Any.Run with the memory as elements. T is as for DataOf, and it panics as that
// does.
func Run[T num.Elem](a *tensor.Any, lay *layout.Layout) []T {
	b := a.Run(lay)
	if b == nil {
		return nil
	}
	return elements[T]("tensor.Run", a.DType(), b)
}

// elements views memory of type from as elements of T. op is the caller's name in errors.
func elements[T num.Elem](op string, from dtype.DType, b []byte) []T {
	var z T
	p, n := unsafe.Pointer(unsafe.SliceData(b)), len(b)/int(unsafe.Sizeof(z))
	if to := dtype.Of[T](); to != from {
		handed.CheckWord(op, from, to, p, n)
	}
	return unsafe.Slice((*T)(p), n)
}
