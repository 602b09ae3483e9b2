package tensor

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
)

// Bitcast returns a view of the bits of t's elements as another type of the same
// size: element (i, j, …) has the bits of t's element (i, j, …). The two share their
// memory; closing one closes both. It panics when the sizes differ, where Recast
// is meant, when To is bool and From isn't, as most bits are no bool, or the elements
// aren't aligned for To.
func Bitcast[To, From num.Elem](t Tensor[From]) Tensor[To] {
	const op = "tensor.Bitcast"
	var a From
	var b To
	if unsafe.Sizeof(a) != unsafe.Sizeof(b) {
		panic(&Error{op, sprintf("%v has %d bytes, %v has %d; Recast changes the layout with the size", dtype.Of[From](), unsafe.Sizeof(a), dtype.Of[To](), unsafe.Sizeof(b)), ErrDType})
	}
	return Tensor[To]{st: recastStorage[To](op, &t), where: t.where}
}

// Recast returns a view of the memory of t's elements as elements of another size,
// in the machine's byte order, with the layout that layout.Recast gives: narrower
// ones multiply the extent of the last axis of stride 1, wider ones divide it. The
// view is of the same bytes, no other. The two share their memory; closing one closes
// both. It panics when there is no such layout (a wide element that t's don't fill or
// straddle, no axis of stride 1), when To is bool and From isn't, or the elements
// aren't aligned for To.
func Recast[To, From num.Elem](t Tensor[From]) Tensor[To] {
	const op = "tensor.Recast"
	var a From
	var b To
	from, to := int(unsafe.Sizeof(a)), int(unsafe.Sizeof(b))
	w := t.where
	recast(op, &w, from, to)
	return Tensor[To]{st: recastStorage[To](op, &t), where: w}
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
	return partOf[F]("tensor.Real", &t, 0)
}

// Imag returns a view of the imaginary parts, as Real does of the real ones: NumPy's
// z.imag. Negating it in place conjugates the numbers.
func Imag[F float32 | float64, C complex64 | complex128](t Tensor[C]) Tensor[F] {
	return partOf[F]("tensor.Imag", &t, 1)
}

// partOf returns a view of the first or the second half of every element.
func partOf[F, C num.Elem](op string, t *Tensor[C], which int) Tensor[F] {
	var f F
	var c C
	if 2*unsafe.Sizeof(f) != unsafe.Sizeof(c) {
		panic(&Error{op, sprintf("the parts of %v are no %v", dtype.Of[C](), dtype.Of[F]()), ErrDType})
	}
	lay, err := t.lay.Spread(2)
	if err != nil {
		panic(Wrap(op, err))
	}
	st, off := recastStorage[F](op, t), 2*t.origin()
	if lay.Size() > 0 { // else there may be no element for it
		off += which
	}
	if t.off < 0 {
		off = ^off
	}
	return Tensor[F]{st: st, where: where{off, lay}}
}

// recastStorage returns a storage of t's memory as elements of another type; what
// doesn't fill an element at its end is left out.
func recastStorage[To, From num.Elem](op string, t *Tensor[From]) *storage[To] {
	var a From
	var b To
	data := t.data(op)
	if _, isBool := any(b).(bool); isBool {
		if _, was := any(a).(bool); !was {
			panic(&Error{op, sprintf("%v as bool; compare with 0 instead", dtype.Of[From]()), ErrDType})
		}
	}
	start := unsafe.Pointer(unsafe.SliceData(data))
	if len(data) > 0 && uintptr(start)%unsafe.Alignof(b) != 0 {
		panic(&Error{op, sprintf("the storage isn't aligned for %v; Clone has one that is", dtype.Of[To]()), ErrAlign})
	}
	view := []To{}
	if n := len(data) * int(unsafe.Sizeof(a)) / int(unsafe.Sizeof(b)); n > 0 {
		view = unsafe.Slice((*To)(start), n)
	}
	st := newStorage(view)
	st.buf, st.readOnly, st.borrowed, st.root = t.st.buf, t.st.readOnly, t.st.borrowed, t.st.id()
	return st
}
