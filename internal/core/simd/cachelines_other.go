//go:build !amd64 || purego

package simd

// TryCopyCacheLines has nothing to copy with.
func TryCopyCacheLines(dst, src []byte, ahead int) bool { return false }
