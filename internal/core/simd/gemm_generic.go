//go:build !amd64 || purego

package simd

var (
	Product32 Levels[*Product[float32]]
	Product64 Levels[*Product[float64]]

	Transpose8  Levels[*NarrowTransposition[uint8]]
	Transpose16 Levels[*NarrowTransposition[uint16]]
	Transpose32 Levels[*Transposition[uint32]]
	Transpose64 Levels[*Transposition[uint64]]
)

// Fence makes streamed stores visible to other threads before what follows.
func Fence() {}
