//go:build !amd64 || purego

package simd

// FewKeys is the most keys that SortFew would take.
const FewKeys = 256

// Sorts returns false: there are no kernels.
func Sorts() bool { return false }

// Partition panics: there are no kernels.
func Partition(keys, spare []uint32, pivot uint32) int { panic("simd: no kernels") }

// SortFew panics: there are no kernels.
func SortFew(keys []uint32) { panic("simd: no kernels") }

// TryWithin does nothing.
func TryWithin(at []int64, extent int) (all bool, done int) { return true, 0 }

// TryPlaces does nothing.
func TryPlaces(dst []int64, mask []byte, first int) (places, done int) { return 0, 0 }

// TryReplace32 does nothing.
func TryReplace32(dst, src []uint32, mask []byte, step int) (places, done int) { return 0, 0 }

// TryReplace64 does nothing.
func TryReplace64(dst, src []uint64, mask []byte, step int) (places, done int) { return 0, 0 }

// TryFilter32 does nothing.
func TryFilter32(dst, src []uint32, mask []byte) (places, done int) { return 0, 0 }

// TryFilter64 does nothing.
func TryFilter64(dst, src []uint64, mask []byte) (places, done int) { return 0, 0 }
