//go:build (amd64 || arm64) && !purego

package simd

import (
	"math"
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/num"
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
		y, u, v := room[:n], a[:n], b[:n]
		row(y, u, v)
		from := beforeNaN(y)
		for i := from; i < n; i++ {
			if y[i] != y[i] {
				y[i] = f(u[i], v[i])
			}
		}
		copy(dst, y)
	}
	marks.Put(held)
}

// unmark64 is unmark for a row of float64 that marks with any NaN.
func unmark64(dst, a []float64, row func(dst, a []float64), f func(float64) float64) {
	unmark2(dst, a, a, func(dst, a, _ []float64) { row(dst, a) }, func(a, _ float64) float64 { return f(a) })
}

// beforeNaN returns the number of elements before the first NaN, or 0. NaNs are rare.
func beforeNaN[T float32 | float64](y []T) int {
	at, ok := [1]int64{}, false
	switch y := any(y).(type) {
	case []float32:
		nan := [1]float32{num.NaN32()}
		ok = TryFirstLines32(at[:], nan[:], y, 0, len(y))
	case []float64:
		nan := [1]float64{num.NaN64()}
		ok = TryFirstLines64(at[:], nan[:], y, 0, len(y))
	}
	if !ok {
		return 0
	}
	return int(at[0])
}

// unmark computes the elements that row marks by f.
func unmark(dst, a []float32, row func(dst, a []float32), f func(float32) float32) {
	y := marks.Get().(*[markedLen]float32)
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		row(y[:n], a)
		computeMarked(dst[:n], a, y[:n], f)
	}
	marks.Put(y)
}

// computeMarked copies y to dst, which may be a, and computes the marked elements by f.
func computeMarked(dst, a, y []float32, f func(float32) float32) {
	from := beforeNaN(y) // marks are NaNs
	copy(dst[:from], y)
	for i := from; i < len(y); i++ {
		v := y[i]
		if math.Float32bits(v) == mark {
			v = f(a[i])
		}
		dst[i] = v
	}
}
