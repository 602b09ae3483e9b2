package tensor

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Load copies to dst the len(dst) elements that follow each other along the last
// axis from idx on, whatever its strides; the tensor's edge leaves 0 for the lanes
// beyond it. dst may share memory with t. It returns how many elements were there. It
// panics as At does.
func Load[T num.Elem](t Tensor[T], dst []T, idx ...int) int {
	const op = "tensor.Load"
	data := read[T](&t.a, op)
	from, n := lanesFrom(op, &t.a.where, idx, len(dst))
	if conv.Overlap(dst, data) {
		lanes := make([]T, len(dst))
		Load(t, lanes, idx...)
		copy(dst, lanes)
		return n
	}
	clear(dst[n:])
	along(&t.a.lay, idx, n, func(lane, off int) { dst[lane] = data[from+off] })
	runtime.KeepAlive(t.a.st)
	return n
}

// Store sets the elements along the last axis from idx on to the elements of src; lanes
// beyond the tensor's edge are passed over. Where the two overlap it is as if src had been
// read in full first. It returns how many elements were set. It panics as Set does.
func Store[T num.Elem](t Tensor[T], src []T, idx ...int) int {
	const op = "tensor.Store"
	data := writable[T](&t.a, op)
	from, n := lanesFrom(op, &t.a.where, idx, len(src))
	if conv.Overlap(src, data) {
		src = slices.Clone(src)
	}
	along(&t.a.lay, idx, n, func(lane, off int) { data[from+off] = src[lane] })
	runtime.KeepAlive(t.a.st)
	return n
}

// LoadRow is Load where the elements stand next to each other in memory: it panics
// also when the last axis has another stride than 1.
func LoadRow[T num.Elem](t Tensor[T], dst []T, idx ...int) int {
	return loadRow(t, "tensor.LoadRow", dst, idx, false)
}

// LoadRowAligned is LoadRow of len(dst) elements whose address is a multiple of
// their size in bytes, as vector registers want it: it panics also when that isn't
// so, or len(dst) isn't a power of two.
func LoadRowAligned[T num.Elem](t Tensor[T], dst []T, idx ...int) int {
	return loadRow(t, "tensor.LoadRowAligned", dst, idx, true)
}

func loadRow[T num.Elem](t Tensor[T], op string, dst []T, idx []int, aligned bool) int {
	data := read[T](&t.a, op)
	from, n := lanesFrom(op, &t.a.where, idx, len(dst))
	checkRow(op, &t.a.lay, unsafe.Pointer(&data[from]), int(unsafe.Sizeof(data[0])), len(dst), aligned)
	copy(dst, data[from:from+n])
	clear(dst[n:])
	runtime.KeepAlive(t.a.st)
	return n
}

// StoreRow is Store where the elements stand next to each other in memory: it
// panics also when the last axis has another stride than 1.
func StoreRow[T num.Elem](t Tensor[T], src []T, idx ...int) int {
	return storeRow(t, "tensor.StoreRow", src, idx, false)
}

// StoreRowAligned is StoreRow with the conditions of LoadRowAligned.
func StoreRowAligned[T num.Elem](t Tensor[T], src []T, idx ...int) int {
	return storeRow(t, "tensor.StoreRowAligned", src, idx, true)
}

func storeRow[T num.Elem](t Tensor[T], op string, src []T, idx []int, aligned bool) int {
	data := writable[T](&t.a, op)
	from, n := lanesFrom(op, &t.a.where, idx, len(src))
	checkRow(op, &t.a.lay, unsafe.Pointer(&data[from]), int(unsafe.Sizeof(data[0])), len(src), aligned)
	copy(data[from:from+n], src)
	runtime.KeepAlive(t.a.st)
	return n
}

// lanesFrom returns where the element at idx is, and how many of width there are from
// it on along the last axis.
func lanesFrom(op string, w *where, idx []int, width int) (from, n int) {
	from, n = offsetAt(op, w, idx), 1
	if last := walk.Ref(&w.lay).Rank() - 1; last >= 0 {
		n = walk.Ref(&w.lay).Dim(last) - idx[last]
	}
	return from, min(width, n)
}

// along calls f for n lanes along the last axis with their offsets from the one at
// idx.
func along(lay *layout.Layout, idx []int, n int, f func(lane, off int)) {
	last := walk.Ref(lay).Rank() - 1
	if last < 0 {
		if n > 0 {
			f(0, 0)
		}
		return
	}
	if s, ok := walk.Ref(lay).Stride(last); ok {
		for lane := range n {
			f(lane, lane*s)
		}
		return
	}
	mode := lay.Mode(last) // of rank > 1
	at := idx[last]
	from, _ := mode.Offset(at)
	for lane := range n {
		off, _ := mode.Offset(at + lane)
		f(lane, off-from)
	}
}

// checkRow checks the row of width elements of that size from first on.
func checkRow(op string, lay *layout.Layout, first unsafe.Pointer, size, width int, aligned bool) {
	if last := walk.Ref(lay).Rank() - 1; last >= 0 && walk.Ref(lay).Dim(last) > 1 {
		if s, ok := walk.Ref(lay).Stride(last); !ok || s != 1 {
			panic(&Error{op, sprintf("the last axis of %v doesn't have stride 1; Load follows any stride", *lay), ErrView})
		}
	}
	if !aligned {
		return
	}
	if width <= 0 || width&(width-1) != 0 {
		panic(&Error{op, sprintf("%d elements; a power of two can be aligned", width), ErrShape})
	}
	bytes := width * size
	if r := int(uintptr(first) % uintptr(bytes)); r != 0 {
		panic(&Error{op, sprintf("the address is %d bytes past a multiple of %d; LoadRow and StoreRow take any", r, bytes), ErrAlign})
	}
}

// Prefetch says that the element at idx will be read soon. It checks idx as At does;
// beyond that it is a hint, and this implementation leaves fetching to the processor,
// because Go programs have no instruction for it.
func (a Any) Prefetch(idx ...int) {
	offsetAt("tensor.Prefetch", &a.where, idx)
	a.pointer("tensor.Prefetch")
}

// AtCoord is At with a coordinate that may nest as the layout does. An integer in place of
// a list counts through it in colexicographic order, the first entry fastest. So an element
// has several coordinates:
//
//	((2,2),4):((1,8),2) at (3,1) or ((1,1),1)
//
// It panics when the coordinate doesn't fit the layout.
func AtCoord[T num.Elem](t Tensor[T], coord layout.Tuple) T {
	const op = "tensor.AtCoord"
	off := offsetOf(op, &t.a.where, coord)
	v := read[T](&t.a, op)[off]
	runtime.KeepAlive(t.a.st)
	return v
}

// SetCoord is Set with a coordinate as AtCoord takes it.
func SetCoord[T num.Elem](t Tensor[T], v T, coord layout.Tuple) {
	const op = "tensor.SetCoord"
	off := offsetOf(op, &t.a.where, coord)
	writable[T](&t.a, op)[off] = v
	runtime.KeepAlive(t.a.st)
}

func offsetOf(op string, w *where, coord layout.Tuple) int {
	off, err := w.lay.OffsetAt(coord)
	if err != nil {
		panic(Wrap(op, err))
	}
	return w.origin() + off
}
