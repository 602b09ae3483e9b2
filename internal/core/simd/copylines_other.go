//go:build !amd64 || purego

package simd

// TryCopyLines has nothing to copy with.
func TryCopyLines(dst, src []byte, ahead int) bool { return false }
