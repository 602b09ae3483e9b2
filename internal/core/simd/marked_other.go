//go:build !(amd64 || arm64) || purego

package simd

// As those of amd64.
var Erf, Gelu, GeluTanh, Mish, Sin, Cos, Tan Levels[*Rows1]

// Pow is as that of amd64.
var Pow Levels[*Rows2]
