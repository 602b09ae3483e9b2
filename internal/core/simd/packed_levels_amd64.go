//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

var packedQ4_0, packedQ8_0, packedQ4_K = Packed{32, 18, unpackQ4_0AVX2, dotQ4_0AVX2}, Packed{32, 34, unpackQ8_0AVX2, dotQ8_0AVX2}, Packed{256, 144, unpackQ4_KAVX2, dotQ4_KAVX2}

// The kernels of the block types that have some. Those of AVX2 serve AVX-512.
var (
	PackedQ4_0 = Levels[*Packed]{cpu.AVX2: &packedQ4_0, cpu.AVX512: &packedQ4_0}
	PackedQ8_0 = Levels[*Packed]{cpu.AVX2: &packedQ8_0, cpu.AVX512: &packedQ8_0}
	PackedQ4_K = Levels[*Packed]{cpu.AVX2: &packedQ4_K, cpu.AVX512: &packedQ4_K}
)
