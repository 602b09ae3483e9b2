//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// TryCopyCacheLines copies src to dst by non-temporal stores and reports whether the level in use has a kernel for it. The caller
// calls Fence after it. dst is whole cache lines, one at least. src has the same length, may begin anywhere, and doesn't overlap
// dst. The kernel prefetches the memory ahead bytes after its loads; that memory need not exist.
func TryCopyCacheLines(dst, src []byte, ahead int) bool {
	lines := len(dst) / 64
	src = src[:len(dst)]
	switch cpu.Current() {
	case cpu.AVX2:
		copyLines_AVX2(&dst[0], &src[0], lines, ahead)
	case cpu.AVX512:
		copyLines_AVX512(&dst[0], &src[0], lines, ahead)
	default:
		return false
	}
	return true
}
