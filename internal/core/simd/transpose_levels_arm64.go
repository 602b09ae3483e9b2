//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// Transpose8 to Transpose64 have the transposition of elements of that number of bits.
var (
	Transpose8  = Levels[*NarrowTransposition[uint8]]{cpu.NEON: {side: 16, rows: transpose8_NEON}}
	Transpose16 = Levels[*NarrowTransposition[uint16]]{cpu.NEON: {side: 8, rows: transpose16_NEON}}
	Transpose32 = Levels[*Transposition[uint32]]{cpu.NEON: {side: 8, plain: transpose32_NEON, stream: transpose32_NEON}}
	Transpose64 = Levels[*Transposition[uint64]]{cpu.NEON: {side: 4, plain: transpose64_NEON, stream: transpose64_NEON}}
)

// Fence has nothing to do: no kernel has non-temporal stores.
func Fence() {}
