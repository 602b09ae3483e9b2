package ram

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Blocks are pieces of the Go heap that their owner can give back before the collector finds them. A program that
// closes its Buffers reuses the same memory, and the heap doesn't grow towards the collector's next run. Sizes are
// rounded up to an eighth of a power of two; the collector empties the pools.
const (
	blockBits = 12 // log2 of the smallest size that is kept, 4 KiB: a page
	blockEnd  = 16 // log2 of Large
)

var blocks [(blockEnd - blockBits) * 8]sync.Pool // of *byte, the start of a block of the class's size

// blockClass returns the class of n bytes, 1<<blockBits ≤ n < Large, and its size.
func blockClass(n int) (class, size int) {
	if n <= 1<<blockBits {
		return 0, 1 << blockBits
	}
	p := bits.Len(uint(n-1)) - 1 // 2^p < n ≤ 2^(p+1)
	step := 1 << (p - 3)
	k := (n - 1<<p + step - 1) / step // 1 to 8
	return (p-blockBits)*8 + k, 1<<p + k*step
}

// Block returns n bytes of the Go heap as Make does, 0 ≤ n < Large, zeroed unless dirty. The capacity may be larger than
// n, for Return.
func Block(n int, dirty bool) []byte {
	if n < 1<<blockBits || n >= Large {
		return Make(n)
	}
	class, size := blockClass(n)
	if class < len(blocks) {
		if p, ok := blocks[class].Get().(*byte); ok {
			b := unsafe.Slice(p, size)[:n]
			if !dirty {
				clear(b)
			}
			return b
		}
	}
	return Make(size)[:n]
}

// Return gives a slice from Block back for reuse. Nothing may use its bytes afterwards.
func Return(b []byte) {
	size := cap(b)
	if size < 1<<blockBits || size >= Large {
		return
	}
	if class, want := blockClass(size); want == size && class < len(blocks) {
		blocks[class].Put(unsafe.SliceData(b))
	}
}
