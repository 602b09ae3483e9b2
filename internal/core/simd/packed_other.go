//go:build !(amd64 || arm64) || purego

package simd

// The block types have no kernels here.
var PackedQ4_0, PackedQ8_0, PackedQ4_K, PackedNibbles Levels[*Packed]
