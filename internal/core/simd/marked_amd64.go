//go:build !purego

package simd

import (
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
)

// Erf and its like have rows that compute nearly all elements and mark the others, which package float computes then.
// (The literals capture nothing. So the tables are data, and a program links only the ones that it uses.)
var (
	Erf = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedAVX2, float.Erf32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedAVX512, float.Erf32) }},
	}
	Gelu = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedAVX2, float.Gelu32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedAVX512, float.Gelu32) }},
	}
	GeluTanh = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedAVX2, float.GeluTanh32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedAVX512, float.GeluTanh32) }},
	}
	Mish = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedAVX2, float.Mish32) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedAVX512, float.Mish32) }},
	}
	Sin = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedAVX2, float.Sin32) }, F64: func(dst, a []float64) { unmark64(dst, a, sin64MarkedAVX2, float.Sin64) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedAVX512, float.Sin32) }, F64: func(dst, a []float64) { unmark64(dst, a, sin64MarkedAVX512, float.Sin64) }},
	}
	Cos = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedAVX2, float.Cos32) }, F64: func(dst, a []float64) { unmark64(dst, a, cos64MarkedAVX2, float.Cos64) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedAVX512, float.Cos32) }, F64: func(dst, a []float64) { unmark64(dst, a, cos64MarkedAVX512, float.Cos64) }},
	}
	Tan = Levels[*Rows1]{
		cpu.AVX2:   {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedAVX2, float.Tan32) }, F64: func(dst, a []float64) { unmark64(dst, a, tan64MarkedAVX2, float.Tan64) }},
		cpu.AVX512: {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedAVX512, float.Tan32) }, F64: func(dst, a []float64) { unmark64(dst, a, tan64MarkedAVX512, float.Tan64) }},
	}
)

// Pow has such rows with two operands.
var Pow = Levels[*Rows2]{
	cpu.AVX2: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedAVX2, float.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedAVX2, float.Pow64) }},
	cpu.AVX512: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedAVX512, float.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedAVX512, float.Pow64) }},
}
