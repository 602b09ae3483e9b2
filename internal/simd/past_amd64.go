//go:build !purego

package simd

import "unsafe"

// Past returns dst marked, as the result of a row that is large and isn't read again soon: the row stores it past the caches, which
// then needn't read first the lines of memory that are overwritten. The mark is a bit of the capacity, so dst[i:j] has it too;
// rows without an instruction set don't look at it. A marked slice must not be appended to.
func Past[T any](dst []T) []T {
	header := (*struct {
		data     unsafe.Pointer
		len, cap int
	})(unsafe.Pointer(&dst))
	header.cap |= 1 << 62
	return dst
}
