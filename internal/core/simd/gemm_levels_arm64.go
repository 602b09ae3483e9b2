//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// Product32 has the kernels of float32 products.
var Product32 = Levels[*Product[float32]]{
	cpu.NEON: {lanes: 4, stream: [2]rowFunc[float32]{gemv8_32NEON, gemv1_32NEON}, windows: windows_32NEON, dots: dots_32NEON, panel: panel_32NEON, chains: chains_32NEON, deep: deep_32NEON, probe: fmaPeak_32NEON, gather: gather_32NEON, tiles: []tiles[float32]{{12, gemm1_32NEON}, {12, gemm2_32NEON}, {8, gemm3_32NEON}}},
}

// Product64 has the kernels of float64 products.
var Product64 = Levels[*Product[float64]]{
	cpu.NEON: {lanes: 2, stream: [2]rowFunc[float64]{gemv8_64NEON, gemv1_64NEON}, windows: windows_64NEON, dots: dots_64NEON, panel: panel_64NEON, chains: chains_64NEON, deep: deep_64NEON, probe: fmaPeak_64NEON, gather: gather_64NEON, tiles: []tiles[float64]{{12, gemm1_64NEON}, {12, gemm2_64NEON}, {8, gemm3_64NEON}}},
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
