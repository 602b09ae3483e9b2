//go:build !purego

package simd

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/cpu"
	"github.com/ashlar-go/ashlar/num"
)

// Erf and its like have rows that compute nearly all elements and mark the others, which
// package num does then.
var (
	Erf      = Levels[*Rows1]{cpu.AVX2: {F32: erfAVX2}, cpu.AVX512: {F32: erfAVX512}}
	Gelu     = Levels[*Rows1]{cpu.AVX2: {F32: geluAVX2}, cpu.AVX512: {F32: geluAVX512}}
	GeluTanh = Levels[*Rows1]{cpu.AVX2: {F32: geluTanhAVX2}, cpu.AVX512: {F32: geluTanhAVX512}}
	Mish     = Levels[*Rows1]{cpu.AVX2: {F32: mishAVX2}, cpu.AVX512: {F32: mishAVX512}}
)

const (
	mark      = 0x7fc00001
	markedLen = 512
)

func erfAVX2(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		erfMarkedAVX2(y[:n], a)
		settle(dst[:n], a, y[:n], num.Erf32)
	}
}

func erfAVX512(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		erfMarkedAVX512(y[:n], a)
		settle(dst[:n], a, y[:n], num.Erf32)
	}
}

func geluAVX2(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		geluMarkedAVX2(y[:n], a)
		settle(dst[:n], a, y[:n], num.Gelu32)
	}
}

func geluAVX512(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		geluMarkedAVX512(y[:n], a)
		settle(dst[:n], a, y[:n], num.Gelu32)
	}
}

func geluTanhAVX2(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		geluTanhMarkedAVX2(y[:n], a)
		settle(dst[:n], a, y[:n], num.GeluTanh32)
	}
}

func geluTanhAVX512(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		geluTanhMarkedAVX512(y[:n], a)
		settle(dst[:n], a, y[:n], num.GeluTanh32)
	}
}

func mishAVX2(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		mishMarkedAVX2(y[:n], a)
		settle(dst[:n], a, y[:n], num.Mish32)
	}
}

func mishAVX512(dst, a []float32) {
	var y [markedLen]float32
	for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
		n = min(len(dst), markedLen)
		mishMarkedAVX512(y[:n], a)
		settle(dst[:n], a, y[:n], num.Mish32)
	}
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
