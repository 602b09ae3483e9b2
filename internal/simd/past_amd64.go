//go:build !purego

package simd

import (
	count "math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/cpu"
)

// Past returns dst marked, as the result of a row that is large and isn't read again soon: the row stores it past the caches, which
// then needn't read first the lines of memory that are overwritten. The mark is a bit of the capacity, so dst[i:j] has it too;
// rows without an instruction set don't look at it. Other threads see such stores only after Fence, which is called once after many
// rows; a goroutine that moves to another core in between is no matter, as locked instructions wait for the stores, too. A marked slice
// must not be appended to.
func Past[T any](dst []T) []T { return marked(dst, 1<<62) }

// Ahead returns dst, which is marked by Past, marked with what a row of a function fetches into the caches while it computes.
// Functions within 2 ulp fetch the first stream alone. The streams begin at the row's first element, whatever part of dst it computes.
// No Fetch is no mark.
func Ahead[T any](dst []T, f Fetch) []T { return marked(dst, int(f)<<48) }

// IsPast reports whether dst is marked by Past.
func IsPast[T any](dst []T) bool { return cap(dst)&(1<<62) != 0 }

// TryCopyLines copies src to dst past the caches and reports whether the level in use has something for it: call Fence after. dst is
// lines of 64 bytes, one at least, and doesn't overlap src, which is as long and may begin anywhere. What lies ahead bytes behind what
// is read is fetched from memory; it need not exist.
func TryCopyLines(dst, src []byte, ahead int) bool {
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

func marked[T any](dst []T, mark int) []T {
	header := (*struct {
		data     unsafe.Pointer
		len, cap int
	})(unsafe.Pointer(&dst))
	header.cap |= mark
	return dst
}

// A Fetch names four streams of memory, by its number in the table that kernels read. 0 is none.
type Fetch uint8

var (
	fetches [64][4]uintptr // where the streams begin
	taken   atomic.Uint64  // which are in use, besides 0
)

// NewFetch returns a Fetch that nobody uses, or 0.
func NewFetch() Fetch {
	for {
		old := taken.Load()
		i := count.TrailingZeros64(^(old | 1))
		if i == 64 {
			return 0
		}
		if taken.CompareAndSwap(old, old|1<<i) {
			return Fetch(i)
		}
	}
}

// Free gives f back.
func (f Fetch) Free() {
	for {
		old := taken.Load()
		if taken.CompareAndSwap(old, old&^(1<<f)) {
			return
		}
	}
}

// After says what is fetched: as many bytes as the row stores, of what follows each run in memory. It may be nobody's.
func (f Fetch) After(runs ...[]byte) {
	if f == 0 || len(runs) == 0 {
		return
	}
	for i := range fetches[f] {
		r := runs[min(i, len(runs)-1)]
		fetches[f][i] = uintptr(unsafe.Pointer(unsafe.SliceData(r))) + uintptr(len(r))
	}
}
