//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// The kernels of the block types. The kernels for AVX2 serve AVX-512 where there are fewer than PackedMany rows or PackedStep elements.
var (
	PackedQ4_0 = packedLevels(Packed{len: 32, size: 18, unpack: unpackQ4_0AVX2, dot: dotQ4_0AVX2}, dotsQ4_0AVX512)
	PackedQ8_0 = packedLevels(Packed{len: 32, size: 34, unpack: unpackQ8_0AVX2, dot: dotQ8_0AVX2}, dotsQ8_0AVX512)
	PackedQ4_K = packedLevels(Packed{len: 256, size: 144, unpack: unpackQ4_KAVX2, dot: dotQ4_KAVX2}, dotsQ4_KAVX512)
	// PackedNibbles has only Turn and Dots.
	PackedNibbles = Levels[*Packed]{cpu.AVX512: {len: 32, size: 16, turn: turnPackedAVX512, dots: dotsNibblesAVX512}}
)

func packedLevels(p Packed, dots func(sums, x, room *float32, next uintptr, stride int)) Levels[*Packed] {
	wide := p
	wide.turn, wide.dots = turnPackedAVX512, dots
	return Levels[*Packed]{cpu.AVX2: &p, cpu.AVX512: &wide}
}
