//go:build !purego

package simd

import (
	count "math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// Past returns dst, marked as the result of a row that is large and isn't read again soon. The row stores it by non-temporal
// stores: the lines of the cache that it overwrites needn't be read first. The mark is in the capacity, so dst[i:j] has it,
// too. Plain rows don't look at it. A marked slice is made in the arguments of a row's call. It isn't appended to, cut to a
// capacity, or returned.
//
// Other threads see non-temporal stores only after Fence. One Fence serves many rows. A goroutine may move to another core
// in between, as locked instructions wait for the stores, too.
//
// f names the streams that the row of a function prefetches while it computes. They begin at the row's first element, whatever
// part of dst it computes. Functions within 2 ulp prefetch the first stream alone. Where f is 0, a row prefetches along its
// operand.
func Past[T any](dst []T, f Fetch) []T {
	header := (*struct {
		data     unsafe.Pointer
		len, cap int
	})(unsafe.Pointer(&dst))
	header.cap |= 1<<62 | int(f)<<48
	return dst
}

// TryCopyLines copies src to dst by non-temporal stores and reports whether the level in use has a kernel for it. The caller
// calls Fence after. dst is whole lines of 64 bytes, one at least. src is as long, may begin anywhere, and doesn't overlap
// dst. The kernel prefetches ahead bytes after what it reads; that memory need not exist.
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

// A Fetch names four streams of memory to prefetch, by its number in the table that kernels read. 0 is none.
type Fetch uint8

var (
	fetches [64][4]uintptr // where the streams begin
	taken   atomic.Uint64  // a bit for each that is in use, besides 0
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

// After sets the streams: they begin where each span of memory ends, and are as many bytes as the row stores. That memory may
// be nobody's.
func (f Fetch) After(spans ...[]byte) {
	if f == 0 || len(spans) == 0 {
		return
	}
	for i := range fetches[f] {
		r := spans[min(i, len(spans)-1)]
		fetches[f][i] = uintptr(unsafe.Pointer(unsafe.SliceData(r))) + uintptr(len(r))
	}
}
