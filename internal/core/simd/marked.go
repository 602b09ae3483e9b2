//go:build (amd64 || arm64) && !purego

package simd

import (
	"math"
	"sync"
	"unsafe"
)

const (
	mark      = 0x7fc00001
	markedLen = 512
)

var marks = sync.Pool{New: func() any { return new([markedLen]float32) }}

// unmark2 is unmark for a row of two operands that marks with any NaN.
func unmark2[T float32 | float64](dst, a, b []T, row func(dst, a, b []T), f func(a, b T) T) {
	held := marks.Get().(*[markedLen]float32)
	room := unsafe.Slice((*T)(unsafe.Pointer(held)), int(unsafe.Sizeof(*held)/unsafe.Sizeof(*new(T))))
	for n := 0; len(dst) > 0; dst, a, b = dst[n:], a[n:], b[n:] {
		n = min(len(dst), len(room))
		x, y := a[:n], b[:n]
		row(room[:n], x, y)
		for i, v := range room[:n] {
			if v != v {
				v = f(x[i], y[i])
			}
			dst[i] = v
		}
	}
	marks.Put(held)
}

// unmark64 is unmark for a row of float64 that marks with any NaN.
func unmark64(dst, a []float64, row func(dst, a []float64), f func(float64) float64) {
	held := marks.Get().(*[markedLen]float32)
	room := unsafe.Slice((*float64)(unsafe.Pointer(held)), markedLen/2)
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), len(room))
		x := a[:n]
		row(room[:n], x)
		for i, v := range room[:n] {
			if v != v {
				v = f(x[i])
			}
			dst[i] = v
		}
	}
	marks.Put(held)
}

// unmark computes what row marks by f.
func unmark(dst, a []float32, row func(dst, a []float32), f func(float32) float32) {
	y := marks.Get().(*[markedLen]float32)
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		row(y[:n], a)
		computeMarked(dst[:n], a, y[:n], f)
	}
	marks.Put(y)
}

// computeMarked copies y to dst, which may be a, and computes what is marked.
func computeMarked(dst, a, y []float32, f func(float32) float32) {
	any, at := [1]float32{float32(math.NaN())}, [1]int64{}
	from := 0
	if TryFirstLines32(at[:], any[:], y, 0, len(y)) { // marks are NaNs, and there is hardly one
		from = int(at[0])
	}
	copy(dst[:from], y)
	for i := from; i < len(y); i++ {
		v := y[i]
		if math.Float32bits(v) == mark {
			v = f(a[i])
		}
		dst[i] = v
	}
}
