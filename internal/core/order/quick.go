package order

import (
	"math/bits"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// vectors sorts keys of 4 bytes in vector registers, and reports whether there are kernels for it. spare is as long as keys.
// It is a quicksort, whose parts become ranges of the keys. Where pivots divide too badly, a part is sorted by its digits.
func vectors[K Key](keys, spare []K) bool {
	var k K
	if unsafe.Sizeof(k) != 4 || !simd.Sorts() {
		return false
	}
	quick(same32(keys), same32(spare), 2*bits.Len(uint(len(keys))))
	return true
}

func same32[K Key](keys []K) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
}

// quick is vectors, with at most depth nested partitions.
func quick(keys, spare []uint32, depth int) {
	for ; len(keys) > simd.FewKeys; depth-- {
		if depth <= 0 {
			if sorted, _ := radix(keys, spare, 0, 32); &sorted[0] != &keys[0] {
				copy(keys, sorted)
			}
			return
		}
		pivot := middle(keys)
		n := split(keys, spare, pivot)
		if n == 0 { // pivot is the smallest key
			if pivot == 1<<32-1 {
				return
			}
			keys = keys[split(keys, spare, pivot+1):]
			continue
		}
		if n <= len(keys)/2 {
			quick(keys[:n], spare, depth-1)
			keys = keys[n:]
		} else {
			quick(keys[n:], spare, depth-1)
			keys = keys[:n]
		}
	}
	simd.SortFew(keys)
}

// split puts the keys below pivot before the others and returns their number.
func split(keys, spare []uint32, pivot uint32) int {
	n := simd.Partition(keys, spare, pivot)
	copy(keys[n:], spare)
	return n
}

// middle returns the median of some keys.
func middle(keys []uint32) uint32 {
	var some [32]uint32
	step := uint(len(keys)) / uint(len(some))
	for i := range some {
		some[i] = keys[(uint(i)*step+step/2)%uint(len(keys))]
	}
	simd.SortFew(some[:])
	return some[len(some)/2]
}
