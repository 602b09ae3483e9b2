//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// The kernels of the block types. PackedNibbles has none: its codes are widened to elements.
var (
	PackedQ4_0    = Levels[*Packed]{cpu.NEON: {len: 32, size: 18, unpack: unpackQ4_0NEON, dot: dotQ4_0NEON}}
	PackedQ8_0    = Levels[*Packed]{cpu.NEON: {len: 32, size: 34, unpack: unpackQ8_0NEON, dot: dotQ8_0NEON}}
	PackedQ4_K    = Levels[*Packed]{cpu.NEON: {len: 256, size: 144, unpack: unpackQ4_KNEON, dot: dotQ4_KNEON}}
	PackedNibbles Levels[*Packed]
)
