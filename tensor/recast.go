package tensor

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
)

// BitCast returns a view of the bits of t's elements as another type of the same size:
// element (i, j, …) has the bits of t's element (i, j, …). The two share their memory;
// closing one closes both. It panics when the sizes differ, where Recast is meant, or the
// elements aren't aligned for To. It also panics when To isn't From and is bool or has 2 or
// 4 bits, as most bytes are no element then.
func BitCast[To, From num.Elem](t Tensor[From]) Tensor[To] {
	bitcast("tensor.BitCast", &t.a, dtype.Of[To]())
	return Tensor[To]{a: t.a}
}

func bitcast(op string, a *Any, to dtype.DType) {
	a.pointer(op)
	from := a.st.dtype
	if from.Size() != to.Size() {
		panic(&Error{op, sprintf("%v has %d bytes, %v has %d; Recast changes the layout with the size", from, from.Size(), to, to.Size()), ErrDType})
	}
	a.st = recastStorage(op, a.st, to)
}

// Recast returns a view of the memory of t's elements as elements of another size, in the
// machine's byte order, with the layout that layout.Recast gives: narrower ones multiply
// the extent of the last axis of stride 1, wider ones divide it. The view is of the same
// bytes, no other. The two share their memory; closing one closes both. It panics when
// there is no such layout: no axis has stride 1, or t's elements don't fill a wide element
// or straddle one. It also panics when the elements aren't aligned for To, or To isn't From
// and is bool or has 2 or 4 bits.
func Recast[To, From num.Elem](t Tensor[From]) Tensor[To] {
	recastTo("tensor.Recast", &t.a, dtype.Of[To]())
	return Tensor[To]{a: t.a}
}

func recastTo(op string, a *Any, to dtype.DType) {
	a.pointer(op)
	w := a.where
	recast(op, &w, a.st.dtype.Size(), to.Size())
	*a = Any{st: recastStorage(op, a.st, to), where: w}
}

// recast makes w, of elements of one size in bytes, that of elements of another.
func recast(op string, w *where, from, to int) {
	lay, err := w.lay.Recast(from, to)
	if err != nil {
		panic(Wrap(op, err))
	}
	off := w.origin()
	if lay.Size() == 0 {
		off = 0 // it means nothing, and need not divide
	}
	if to > from && off%(to/from) != 0 {
		panic(&Error{op, sprintf("element 0 is at offset %d of the storage, which is no multiple of %d", off, to/from), ErrAlign})
	}
	if to > from {
		off /= to / from
	} else {
		off *= from / to // below the number of bytes
	}
	if w.off < 0 {
		off = ^off
	}
	*w = where{off, lay}
}

// Real returns a view of the real parts of complex numbers, which shares their memory:
// tensor.Real[float32](z) for complex64, float64 for complex128, else it panics. NumPy's
// z.real. Closing one closes both.
func Real[F float32 | float64, C complex64 | complex128](t Tensor[C]) Tensor[F] {
	partOf("tensor.Real", &t.a, dtype.Of[F](), 0)
	return Tensor[F]{a: t.a}
}

// Imag returns a view of the imaginary parts, as Real does of the real ones: NumPy's
// z.imag. Negating it in place conjugates the numbers.
func Imag[F float32 | float64, C complex64 | complex128](t Tensor[C]) Tensor[F] {
	partOf("tensor.Imag", &t.a, dtype.Of[F](), 1)
	return Tensor[F]{a: t.a}
}

// Real returns a view of the real parts of complex numbers, as the function Real does. It
// panics when a holds no complex numbers.
func (a Any) Real() Any { return a.half("tensor.Real", 0) }

// Imag returns a view of the imaginary parts, as Real does of the real ones.
func (a Any) Imag() Any { return a.half("tensor.Imag", 1) }

func (a Any) half(op string, which int) Any {
	to := dtype.Float32
	switch d := a.DType(); d {
	case dtype.Complex64:
	case dtype.Complex128:
		to = dtype.Float64
	default:
		panic(&Error{op, sprintf("%v has no parts; complex64 and complex128 do", d), ErrDType})
	}
	partOf(op, &a, to, which)
	return a
}

// partOf makes a a view of the first or the second half of every element, of type to.
func partOf(op string, a *Any, to dtype.DType, which int) {
	a.pointer(op)
	if from := a.st.dtype; 2*to.Size() != from.Size() {
		panic(&Error{op, sprintf("the parts of %v are no %v", from, to), ErrDType})
	}
	lay, err := a.lay.Spread(2)
	if err != nil {
		panic(Wrap(op, err))
	}
	st, off := recastStorage(op, a.st, to), 2*a.origin()
	if lay.Size() > 0 { // else there may be no element for it
		off += which
	}
	if a.off < 0 {
		off = ^off
	}
	*a = Any{st: st, where: where{off, lay}}
}

// recastStorage returns a storage of the memory of one that is open as elements of
// another type; bytes that don't fill an element at its end are left out.
func recastStorage(op string, from *storage, to dtype.DType) *storage {
	b := from.bytes()
	checkRecast(op, from.dtype, to, unsafe.Pointer(unsafe.SliceData(b)), len(b))
	st := &storage{dtype: to, buf: from.buf, readOnly: from.readOnly, borrowed: from.borrowed, root: from.id()}
	st.set(b[:len(b)/to.Size()*to.Size()])
	return st
}

// checkRecast panics unless memory of n > 0 or no elements that begins at p may be seen
// as another type.
func checkRecast(op string, from, to dtype.DType, p unsafe.Pointer, n int) {
	if to.IsPartial() && from != to {
		way := "op.Cast converts numbers, op.BitCast those of as many bits"
		if to == dtype.Bool {
			way = "compare with 0 instead"
		}
		panic(&Error{op, sprintf("%v as %v; %s", from, to, way), ErrDType})
	}
	if n > 0 && uintptr(p)%uintptr(alignOf(to)) != 0 {
		panic(&Error{op, sprintf("the storage isn't aligned for %v; Clone has one that is", to), ErrAlign})
	}
}
