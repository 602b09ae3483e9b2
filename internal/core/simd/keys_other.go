//go:build !amd64 || purego

package simd

// FewKeys is how many keys SortFew would take.
const FewKeys = 256

// Sorts returns false: there are no kernels.
func Sorts() bool { return false }

// Partition isn't called, as Sorts says.
func Partition(keys, spare []uint32, pivot uint32) int { panic("simd: no kernels") }

// SortFew isn't called, as Sorts says.
func SortFew(keys []uint32) { panic("simd: no kernels") }
