//go:build !purego

package simd

import (
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/num"
)

// Erf and its like have rows that compute nearly all elements and mark the others, which
// package num does then. (The literals capture nothing: so the tables are data, and a program has those that it uses.)
var (
	Erf = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, erfMarkedNEON, num.Erf32) }},
	}
	Gelu = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, geluMarkedNEON, num.Gelu32) }},
	}
	GeluTanh = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, geluTanhMarkedNEON, num.GeluTanh32) }},
	}
	Mish = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, mishMarkedNEON, num.Mish32) }},
	}
	Sin = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, sinMarkedNEON, num.Sin32) }, F64: func(dst, a []float64) { unmark64(dst, a, sin64MarkedNEON, num.Sin64) }},
	}
	Cos = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, cosMarkedNEON, num.Cos32) }, F64: func(dst, a []float64) { unmark64(dst, a, cos64MarkedNEON, num.Cos64) }},
	}
	Tan = Levels[*Rows1]{
		cpu.NEON: {F32: func(dst, a []float32) { unmark(dst, a, tanMarkedNEON, num.Tan32) }, F64: func(dst, a []float64) { unmark64(dst, a, tan64MarkedNEON, num.Tan64) }},
	}
)

// Pow is as they are, with two operands.
var Pow = Levels[*Rows2]{
	cpu.NEON: {F32: func(dst, a, b []float32) { unmark2(dst, a, b, pow32MarkedNEON, num.Pow32) },
		F64: func(dst, a, b []float64) { unmark2(dst, a, b, pow64MarkedNEON, num.Pow64) }},
}
