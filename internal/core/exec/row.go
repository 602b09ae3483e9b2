// Package exec runs operators over tensors: it finds the rows of elements that a loop of
// package op or simd goes through, packs elements that aren't a row, and splits large work over
// threads. It knows element types as numbers of bytes. elementwise.go goes over elements,
// lines.go and reduce.go over lines along an axis; threads.go splits work.
//
// A row is a function over runs of elements, as func(dst, a, b []float32). A Run is such
// an argument with its element type forgotten: drivers are compiled once, and a table of
// rows is indexed by the element type.
package exec

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Run is a slice of elements of any type: its length counts elements. Only rows look
// at them. It is a slice so that it is passed as a row's own arguments are: a row of
// Runs and the row of typed slices it was made of are called alike.
type Run = simd.Run

// The forms of rows, by their operands.
type (
	Row0 func(dst Run)
	Row1 func(dst, a Run)
	Row2 func(dst, a, b Run)
	Row3 func(dst, a, b, c Run)

	// A LineRow stores in dst the results of the lines of a, of n elements each and one after
	// the other. It may use w, which has room for as many of them as fit RunLen elements, for
	// one at least. dst may be a. With stream, dst is too large for the caches, is written once, and isn't a.
	LineRow func(dst, w, a Run, n int, stream bool)
)

// Forget returns a row as one of Runs. F is the type of a function that takes a slice for
// each Run that R takes, and is alike otherwise.
func Forget[R Row0 | Row1 | Row2 | Row3 | LineRow, F any](row F) R {
	return *(*R)(unsafe.Pointer(&row))
}

// Recall is the inverse of Forget.
func Recall[F any, R Row0 | Row1 | Row2 | Row3](row R) F {
	return *(*F)(unsafe.Pointer(&row))
}

// A Word holds an element of any type.
type Word [2]uint64

// WordOf returns an element as a Word.
func WordOf[T any](v T) (w Word) {
	*(*T)(unsafe.Pointer(&w)) = v
	return w
}

// Number returns the element in a Word.
func Number[T any](w *Word) T { return *(*T)(unsafe.Pointer(w)) }

// Run returns the Word as a Run of one element.
func (w *Word) Run() Run { return unsafe.Slice((*struct{})(unsafe.Pointer(w)), 1) }

// Move copies elements of a type from src, which is no shorter, to dst.
func Move(dst, src Run, d dtype.DType) {
	copy(Bytes(dst, d), Bytes(src, d)[:len(dst)<<shifts[d]])
}

// run returns bytes as a Run of elements of 1<<shift bytes each.
func run(b []byte, shift uint8) Run {
	return unsafe.Slice((*struct{})(unsafe.Pointer(unsafe.SliceData(b))), len(b)>>shift)
}

// Part returns n elements of a Run of a type, from first on.
func Part(r Run, d dtype.DType, first, n int) Run {
	s := shifts[d]
	return run(Bytes(r, d)[first<<s:(first+n)<<s], s)
}

// Bytes returns the memory of a Run of a type.
func Bytes(r Run, d dtype.DType) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(r))), len(r)<<shifts[d])
}

// RunOf returns elements as a Run.
func RunOf[T any](s []T) Run { return *(*Run)(unsafe.Pointer(&s)) }

// Of returns the elements of a Run in their own type.
func Of[T any](r Run) []T { return *(*[]T)(unsafe.Pointer(&r)) }

// shifts has the logarithm of the size in bytes of an element.
var shifts = [dtype.Count]uint8{dtype.Int16: 1, dtype.Uint16: 1, dtype.Float16: 1, dtype.BFloat16: 1,
	dtype.Int32: 2, dtype.Uint32: 2, dtype.Float32: 2, dtype.FP8x23: 2, dtype.FP16x16: 2,
	dtype.Int64: 3, dtype.Uint64: 3, dtype.Float64: 3, dtype.Complex64: 3, dtype.FP32x32: 3,
	dtype.Complex128: 4, dtype.FP64x64: 4}

// Ref returns the tensor that a *Tensor[T] points to. A Tensor[T] is an Any and nothing
// else, so that nothing is copied, and nothing moves to the heap.
func Ref[T num.Elem](t *tensor.Tensor[T]) *tensor.Any { return (*tensor.Any)(unsafe.Pointer(t)) }

// Typed is the inverse of Ref. The caller knows that a holds T.
func Typed[T num.Elem](a *tensor.Any) *tensor.Tensor[T] {
	return (*tensor.Tensor[T])(unsafe.Pointer(a))
}

// Refs is Ref for many tensors.
func Refs[T num.Elem](ts []tensor.Tensor[T]) []*tensor.Any {
	all := make([]*tensor.Any, len(ts))
	for i := range ts {
		all[i] = Ref(&ts[i])
	}
	return all
}

// TypedAll is Typed for many tensors.
func TypedAll[T num.Elem](as []tensor.Any) []tensor.Tensor[T] {
	all := make([]tensor.Tensor[T], len(as))
	for i := range as {
		all[i] = *Typed[T](&as[i])
	}
	return all
}

// words returns bytes as words, of which they hold a whole number.
func words[W any](b []byte) []W {
	var w W
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(w)))
}

// Storage returns all that a tensor is part of, which must be kept alive past the last use, and the place of its first element there.
func Storage(a *tensor.Any) (all Run, first int) {
	data, first := a.Memory()
	return run(data, shifts[a.DType()]), first
}

// RunIn returns the elements of a contiguous tensor, which must be kept alive past the last
// use.
func RunIn(a *tensor.Any) Run { return run(a.Run(a.LayoutRef()), shifts[a.DType()]) }
