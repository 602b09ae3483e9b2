//go:build !amd64 || purego

package simd

// PackedQ4_0, PackedQ8_0 and PackedQ4_K have no kernels here.
var PackedQ4_0, PackedQ8_0, PackedQ4_K Levels[*Packed]
