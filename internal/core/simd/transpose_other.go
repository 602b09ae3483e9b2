//go:build !(amd64 || arm64) || purego

package simd

var (
	Transpose8  Levels[*NarrowTransposition[uint8]]
	Transpose16 Levels[*NarrowTransposition[uint16]]
	Transpose32 Levels[*Transposition[uint32]]
	Transpose64 Levels[*Transposition[uint64]]
)

// Fence makes non-temporal stores visible to other threads before any later store.
func Fence() {}
