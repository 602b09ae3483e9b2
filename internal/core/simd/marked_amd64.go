//go:build !purego

package simd

import (
	"math"
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/num"
)

// Erf and its like have rows that compute nearly all elements and mark the others, which
// package num does then. (The literals capture nothing: so the tables are data, and a program has those that it uses.)
var (
	Erf = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedAVX2, num.Erf32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedAVX512, num.Erf32) }},
	}
	Gelu = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedAVX2, num.Gelu32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedAVX512, num.Gelu32) }},
	}
	GeluTanh = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedAVX2, num.GeluTanh32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedAVX512, num.GeluTanh32) }},
	}
	Mish = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedAVX2, num.Mish32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedAVX512, num.Mish32) }},
	}
	Sin = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedAVX2, num.Sin32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedAVX512, num.Sin32) }},
	}
	Cos = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedAVX2, num.Cos32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedAVX512, num.Cos32) }},
	}
	Tan = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedAVX2, num.Tan32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedAVX512, num.Tan32) }},
	}
)

const (
	mark      = 0x7fc00001
	markedLen = 512
)

var marks = sync.Pool{New: func() any { return new([markedLen]float32) }}

// Pow is as they are, with two operands.
var Pow = Levels[*Rows2]{
	cpu.AVX2: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedAVX2, num.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedAVX2, num.Pow64) }},
	cpu.AVX512: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedAVX512, num.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedAVX512, num.Pow64) }},
}

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

// unmark computes what row marks by f.
func unmark(dst, a []float32, row func(dst, a []float32), f func(float32) float32) {
	y := marks.Get().(*[markedLen]float32)
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		row(y[:n], a)
		settle(dst[:n], a, y[:n], f)
	}
	marks.Put(y)
}

// settle copies y to dst, which may be a, and computes what is marked.
func settle(dst, a, y []float32, f func(float32) float32) {
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
