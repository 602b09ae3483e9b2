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
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedNEON, float.Erf32) }},
	}
	Gelu = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedNEON, float.Gelu32) }},
	}
	GeluTanh = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedNEON, float.GeluTanh32) }},
	}
	Mish = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedNEON, float.Mish32) }},
	}
	Sin = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedNEON, float.Sin32) }, F64: func(dst, a []float64) { unmark64(dst, a, sin64MarkedNEON, float.Sin64) }},
	}
	Cos = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedNEON, float.Cos32) }, F64: func(dst, a []float64) { unmark64(dst, a, cos64MarkedNEON, float.Cos64) }},
	}
	Tan = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedNEON, float.Tan32) }, F64: func(dst, a []float64) { unmark64(dst, a, tan64MarkedNEON, float.Tan64) }},
	}
)

// Pow has such rows with two operands.
var Pow = Levels[*Rows2]{
	cpu.NEON: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedNEON, float.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedNEON, float.Pow64) }},
}
