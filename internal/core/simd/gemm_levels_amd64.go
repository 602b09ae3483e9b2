//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// Product32 has the kernels of float32 products.
var Product32 = Levels[*Product[float32]]{
	cpu.AVX2:   {lanes: 8, stream: [2]rowFunc[float32]{gemv8_32AVX2, gemv1_32AVX2}, windows: windows_32AVX2, dots: dots_32AVX2, panel: panel_32AVX2, chains: chains_32AVX2, deep: deep_32AVX2, pairs: pairs_32AVX2, probe: fmaPeak_32AVX2, gather: gather_32AVX2, wide: &tiles[float32]{4, gemm3_32AVX2}, tiles: []tiles[float32]{{6, gemm1_32AVX2}, {6, gemm2_32AVX2}}},
	cpu.AVX512: {lanes: 16, stream: [2]rowFunc[float32]{gemv8_32AVX512, gemv1_32AVX512}, windows: windows_32AVX512, dots: dots_32AVX512, panel: panel_32AVX512, chains: chains_32AVX512, deep: deep_32AVX512, pairs: pairs_32AVX512, probe: fmaPeak_32AVX512, gather: gather_32AVX512, masks: true, tiles: []tiles[float32]{{14, gemm1_32AVX512}, {14, gemm2_32AVX512}, {9, gemm3_32AVX512}}},
}

// Product64 has the kernels of float64 products.
var Product64 = Levels[*Product[float64]]{
	cpu.AVX2:   {lanes: 4, stream: [2]rowFunc[float64]{gemv8_64AVX2, gemv1_64AVX2}, windows: windows_64AVX2, dots: dots_64AVX2, panel: panel_64AVX2, chains: chains_64AVX2, deep: deep_64AVX2, pairs: pairs_64AVX2, probe: fmaPeak_64AVX2, gather: gather_64AVX2, wide: &tiles[float64]{4, gemm3_64AVX2}, tiles: []tiles[float64]{{6, gemm1_64AVX2}, {6, gemm2_64AVX2}}},
	cpu.AVX512: {lanes: 8, stream: [2]rowFunc[float64]{gemv8_64AVX512, gemv1_64AVX512}, windows: windows_64AVX512, dots: dots_64AVX512, panel: panel_64AVX512, chains: chains_64AVX512, deep: deep_64AVX512, pairs: pairs_64AVX512, probe: fmaPeak_64AVX512, gather: gather_64AVX512, masks: true, tiles: []tiles[float64]{{14, gemm1_64AVX512}, {14, gemm2_64AVX512}, {9, gemm3_64AVX512}}},
}

// ByteProducts has the kernels of products of bytes.
var ByteProducts = Levels[*Bytes[int16]]{cpu.AVX2: &bytesAVX2, cpu.AVX512: &bytesAVX2}

var bytesAVX2 = Bytes[int16]{group: 2, widen: widenBytesAVX2, join: pairBytesAVX2, deep: deepBytesAVX2, tiles: []byteTile[int16]{{6, tileBytes6AVX2}, {4, tileBytes4AVX2}, {2, tileBytes2AVX2}, {1, tileBytes1AVX2}}}

// DotProducts has the kernels with dot products of bytes: none.
var DotProducts [cpu.I8MM + 1]*Bytes[int8]

// ByteQuads has the kernels of products of bytes by quads. It is nil where the level or the processor has
// none.
var ByteQuads = quadsOf()

func quadsOf() *Quads {
	if cpu.Current() < cpu.AVX512 || !cpu.HasVNNI() {
		return nil
	}
	return &Quads{pack: quadBytesAVX512, mend: mendQuadsAVX512, sum: sumQuadsAVX512, tall: quadTile{tileQuads12x1AVX512, tileQuads12x2AVX512}, tiles: [quadShort]quadTile{
		{tileQuads1x1AVX512, tileQuads1x2AVX512}, {tileQuads2x1AVX512, tileQuads2x2AVX512}, {tileQuads3x1AVX512, tileQuads3x2AVX512}, {tileQuads4x1AVX512, tileQuads4x2AVX512},
		{tileQuads5x1AVX512, tileQuads5x2AVX512}, {tileQuads6x1AVX512, tileQuads6x2AVX512}, {tileQuads7x1AVX512, tileQuads7x2AVX512}, {tileQuads8x1AVX512, tileQuads8x2AVX512},
	}}
}

// Transpose8 to Transpose64 have the transposition of elements of that number of bits.
var (
	Transpose8  = Levels[*NarrowTransposition[uint8]]{cpu.AVX2: {side: 16, rows: transpose8_AVX2}, cpu.AVX512: {side: 16, rows: transpose8_AVX512}}
	Transpose16 = Levels[*NarrowTransposition[uint16]]{cpu.AVX2: {side: 8, rows: transpose16_AVX2}, cpu.AVX512: {side: 8, rows: transpose16_AVX512}}
	Transpose32 = Levels[*Transposition[uint32]]{cpu.AVX2: {side: 16, plain: transpose32_AVX2, stream: transposeStream32_AVX2}, cpu.AVX512: {side: 16, plain: transpose32_AVX512, stream: transposeStream32_AVX512}}
	Transpose64 = Levels[*Transposition[uint64]]{cpu.AVX2: {side: 8, plain: transpose64_AVX2, stream: transposeStream64_AVX2}, cpu.AVX512: {side: 8, plain: transpose64_AVX512, stream: transposeStream64_AVX512}}
)

// Fence makes non-temporal stores visible to other threads before any later store.
func Fence() { storeFence() }
