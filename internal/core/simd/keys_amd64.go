//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// FewKeys is the most keys that SortFew takes.
const FewKeys = 256

// Sorts reports whether the level in use has kernels for Partition and SortFew.
func Sorts() bool { return cpu.Current() == cpu.AVX512 }

// Partition moves the keys below pivot to the front and copies the others to spare, which is as long as keys. Both keep their order.
// It returns the number of keys below pivot. The keys after those are undefined.
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

// TryWithin reports whether the first done indices are all from -extent to extent-1. extent is below 2^62.
func TryWithin(at []int64, extent int) (all bool, done int) {
	n := len(at) / 32
	if n == 0 || cpu.Current() != cpu.AVX512 {
		return true, 0
	}
	return within_AVX512(&at[0], n, extent), 32 * n
}

// TryPlaces stores the places of the bytes of mask that aren't 0, counted from first on, and returns the number of places. It looks
// at the first done bytes. dst has room for the places.
func TryPlaces(dst []int64, mask []byte, first int) (places, done int) {
	n := len(mask) / 64
	if n == 0 || len(dst) == 0 || cpu.Current() != cpu.AVX512 {
		return 0, 0
	}
	return places_AVX512(&dst[0], &mask[0], n, first), 64 * n
}

// TryReplace32 stores elements of src where the bytes of mask aren't 0, and returns their number. It looks at the first done bytes.
// step, 0 or 1, is the distance from one element of src to the next. src has as many elements as it stores, and dst one for each byte
// of mask.
func TryReplace32(dst, src []uint32, mask []byte, step int) (places, done int) {
	n := len(mask) / 16
	if n == 0 || len(src) == 0 || cpu.Current() != cpu.AVX512 {
		return 0, 0
	}
	return replace32_AVX512(&dst[:len(mask)][0], &src[0], &mask[0], n, step), 16 * n
}

// TryReplace64 is TryReplace32 for elements of 8 bytes.
func TryReplace64(dst, src []uint64, mask []byte, step int) (places, done int) {
	n := len(mask) / 8
	if n == 0 || len(src) == 0 || cpu.Current() != cpu.AVX512 {
		return 0, 0
	}
	return replace64_AVX512(&dst[:len(mask)][0], &src[0], &mask[0], n, step), 8 * n
}

// TryFilter32 copies the elements of src where the bytes of mask aren't 0 to dst, one after the other, and returns their number. It
// looks at the first done bytes. dst has room for the copies. The elements of dst after them are undefined.
func TryFilter32(dst, src []uint32, mask []byte) (places, done int) {
	n := len(mask) / 16
	if n == 0 || len(dst) == 0 || cpu.Current() != cpu.AVX512 {
		return 0, 0
	}
	return filter32_AVX512(&dst[0], &src[:len(mask)][0], &mask[0], n, len(dst)), 16 * n
}

// TryFilter64 is TryFilter32 for elements of 8 bytes.
func TryFilter64(dst, src []uint64, mask []byte) (places, done int) {
	n := len(mask) / 8
	if n == 0 || len(dst) == 0 || cpu.Current() != cpu.AVX512 {
		return 0, 0
	}
	return filter64_AVX512(&dst[0], &src[:len(mask)][0], &mask[0], n, len(dst)), 8 * n
}

// vectors returns the number of whole vectors of the level in use in n elements of size bytes, and the number of their elements.
func vectors(n, size int) (whole, elements int) {
	lanes := [...]int{cpu.Generic: n + 1, cpu.AVX2: 32 / size, cpu.AVX512: 64 / size}[cpu.Current()]
	return n / lanes, n / lanes * lanes
}

// TryKeys32 sets dst to the keys that package order gives the float32 in src, each turned by turn, and reports whether there are NaNs
// or negative zeros. It does so for the first done elements.
func TryKeys32(dst, src []uint32, turn uint32) (blurred bool, done int) {
	n, done := vectors(len(src), 4)
	switch {
	case n == 0:
	case cpu.Current() == cpu.AVX2:
		blurred = keys32_AVX2(&dst[:len(src)][0], &src[0], n, turn)
	default:
		blurred = keys32_AVX512(&dst[:len(src)][0], &src[0], n, turn)
	}
	return blurred, done
}

// TryElements32 sets dst to the float32 with these keys, for the first done keys.
func TryElements32(dst, keys []uint32) (done int) {
	n, done := vectors(len(keys), 4)
	switch {
	case n == 0:
	case cpu.Current() == cpu.AVX2:
		elements32_AVX2(&dst[:len(keys)][0], &keys[0], n)
	default:
		elements32_AVX512(&dst[:len(keys)][0], &keys[0], n)
	}
	return done
}

// TryReverse32 copies the last done elements of src to dst, the last one first. dst is as long as src.
func TryReverse32(dst, src []uint32) (done int) {
	n, done := vectors(len(src), 4)
	switch {
	case n == 0:
	case cpu.Current() == cpu.AVX2:
		reverse32_AVX2(&dst[:len(src)][0], &src[len(src)-done], n)
	default:
		reverse32_AVX512(&dst[:len(src)][0], &src[len(src)-done], n)
	}
	return done
}

// TryReverse64 is TryReverse32 for elements of 8 bytes.
func TryReverse64(dst, src []uint64) (done int) {
	n, done := vectors(len(src), 8)
	switch {
	case n == 0:
	case cpu.Current() == cpu.AVX2:
		reverse64_AVX2(&dst[:len(src)][0], &src[len(src)-done], n)
	default:
		reverse64_AVX512(&dst[:len(src)][0], &src[len(src)-done], n)
	}
	return done
}
