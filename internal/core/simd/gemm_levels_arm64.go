//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// Product32 has the kernels of float32 products.
var Product32 = Levels[*Product[float32]]{
	cpu.NEON: {lanes: 4, stream: [2]rowFunc[float32]{gemv8_32NEON, gemv1_32NEON}, windows: windows_32NEON, dots: dots_32NEON, panel: panel_32NEON, chains: chains_32NEON, deep: deep_32NEON, probe: fmaPeak_32NEON, gather: gather_32NEON, tiles: [][]tileFunc[float32]{
		{gemm1x1_32NEON, gemm2x1_32NEON, gemm3x1_32NEON, gemm4x1_32NEON, gemm5x1_32NEON, gemm6x1_32NEON, gemm7x1_32NEON, gemm8x1_32NEON, gemm9x1_32NEON, gemm10x1_32NEON, gemm11x1_32NEON, gemm12x1_32NEON},
		{gemm1x2_32NEON, gemm2x2_32NEON, gemm3x2_32NEON, gemm4x2_32NEON, gemm5x2_32NEON, gemm6x2_32NEON, gemm7x2_32NEON, gemm8x2_32NEON, gemm9x2_32NEON, gemm10x2_32NEON, gemm11x2_32NEON, gemm12x2_32NEON},
		{gemm1x3_32NEON, gemm2x3_32NEON, gemm3x3_32NEON, gemm4x3_32NEON, gemm5x3_32NEON, gemm6x3_32NEON, gemm7x3_32NEON, gemm8x3_32NEON},
	}},
}

// Product64 has the kernels of float64 products.
var Product64 = Levels[*Product[float64]]{
	cpu.NEON: {lanes: 2, stream: [2]rowFunc[float64]{gemv8_64NEON, gemv1_64NEON}, windows: windows_64NEON, dots: dots_64NEON, panel: panel_64NEON, chains: chains_64NEON, deep: deep_64NEON, probe: fmaPeak_64NEON, gather: gather_64NEON, tiles: [][]tileFunc[float64]{
		{gemm1x1_64NEON, gemm2x1_64NEON, gemm3x1_64NEON, gemm4x1_64NEON, gemm5x1_64NEON, gemm6x1_64NEON, gemm7x1_64NEON, gemm8x1_64NEON, gemm9x1_64NEON, gemm10x1_64NEON, gemm11x1_64NEON, gemm12x1_64NEON},
		{gemm1x2_64NEON, gemm2x2_64NEON, gemm3x2_64NEON, gemm4x2_64NEON, gemm5x2_64NEON, gemm6x2_64NEON, gemm7x2_64NEON, gemm8x2_64NEON, gemm9x2_64NEON, gemm10x2_64NEON, gemm11x2_64NEON, gemm12x2_64NEON},
		{gemm1x3_64NEON, gemm2x3_64NEON, gemm3x3_64NEON, gemm4x3_64NEON, gemm5x3_64NEON, gemm6x3_64NEON, gemm7x3_64NEON, gemm8x3_64NEON},
	}},
}

// ByteProducts has the kernels of products of bytes.
var ByteProducts = Levels[*Bytes[int16]]{cpu.NEON: {group: 2, widen: widenBytesNEON, join: pairBytesNEON, tiles: []byteTile[int16]{{3, tileBytes3NEON}, {1, tileBytes1NEON}}}}

// DotProducts has the kernels with dot products of bytes, by level.
var DotProducts = [cpu.I8MM + 1]*Bytes[int8]{
	cpu.Dot:  {group: 4, widen: widenBytes8NEON, join: fourBytesNEON, tiles: []byteTile[int8]{{6, tileBytes6Dot}, {2, tileBytes2Dot}, {1, tileBytes1Dot}}},
	cpu.I8MM: {group: 8, widen: widenBytes8NEON, join: eightBytesNEON, tiles: []byteTile[int8]{{6, tileBytes6I8MM}, {2, tileBytes2I8MM}, {1, tileBytes1I8MM}}},
}

// ByteQuads would have the kernels of products of bytes by quads.
var ByteQuads *Quads
