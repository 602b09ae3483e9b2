//go:build !amd64 || purego

package simd

// TryCopyCacheLines returns false: there is no kernel.
func TryCopyCacheLines(dst, src []byte, ahead int) bool { return false }
