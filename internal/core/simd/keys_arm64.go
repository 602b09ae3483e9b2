//go:build !purego

package simd

import "github.com/ashlar-go/ashlar/internal/core/cpu"

// TryKeys32 sets dst to the keys that package order gives the float32 in src, each turned by turn, and reports whether there are NaNs
// or negative zeros. It does so for the first done elements.
func TryKeys32(dst, src []uint32, turn uint32) (blurred bool, done int) {
	n := len(src) / 4
	if n == 0 || cpu.Current() < cpu.NEON {
		return false, 0
	}
	var some uint32
	keys32_NEON(&dst[:len(src)][0], &src[0], n, int(turn), &some)
	return some != 0, 4 * n
}

// TryElements32 sets dst to the float32 with these keys, for the first done keys.
func TryElements32(dst, keys []uint32) (done int) {
	n := len(keys) / 4
	if n == 0 || cpu.Current() < cpu.NEON {
		return 0
	}
	elements32_NEON(&dst[:len(keys)][0], &keys[0], n)
	return 4 * n
}

// TryReverse32 copies the last done elements of src to dst, the last one first. dst is as long as src.
func TryReverse32(dst, src []uint32) (done int) {
	n := len(src) / 4
	if n == 0 || cpu.Current() < cpu.NEON {
		return 0
	}
	reverse32_NEON(&dst[:len(src)][0], &src[len(src)-4*n], n)
	return 4 * n
}

// TryReverse64 is TryReverse32 for elements of 8 bytes.
func TryReverse64(dst, src []uint64) (done int) {
	n := len(src) / 2
	if n == 0 || cpu.Current() < cpu.NEON {
		return 0
	}
	reverse64_NEON(&dst[:len(src)][0], &src[len(src)-2*n], n)
	return 2 * n
}
