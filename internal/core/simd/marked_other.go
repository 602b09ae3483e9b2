//go:build !(amd64 || arm64) || purego

package simd

// Erf and its like have no kernels here.
var Erf, Gelu, GeluTanh, Mish, Sin, Cos, Tan Levels[*Rows1]

// Pow has no kernels here.
var Pow Levels[*Rows2]
