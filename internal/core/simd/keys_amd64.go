//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// FewKeys is how many keys SortFew takes at most.
const FewKeys = 256

// Sorts reports whether the level in use has kernels for Partition and SortFew.
func Sorts() bool { return cpu.Current() == cpu.AVX512 }

// Partition moves the keys below pivot to the front and copies the others to spare, which is as long as keys. Both keep
// their order. It returns how many are below pivot; the keys after those are undefined.
func Partition(keys, spare []uint32, pivot uint32) int {
	if len(keys) == 0 {
		return 0
	}
	return partition32_AVX512(&keys[0], &spare[:len(keys)][0], len(keys), pivot)
}

// SortFew sorts at most FewKeys keys.
func SortFew(keys []uint32) {
	switch n := len(keys); {
	case n < 2:
	case n <= 16:
		network32x1_AVX512(&keys[0], n)
	case n <= 32:
		network32x2_AVX512(&keys[0], n)
	case n <= 64:
		network32x4_AVX512(&keys[0], n)
	case n <= 128:
		network32x8_AVX512(&keys[0], n)
	case n <= FewKeys:
		network32x16_AVX512(&keys[0], n)
	default:
		panic("simd.SortFew: too many keys")
	}
}
