//go:build !amd64 || purego

package simd

// Erf and Gelu are as those of amd64.
var Erf, Gelu Levels[*Rows1]
