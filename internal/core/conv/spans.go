package conv

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// Large is the size in bytes of a result from which on its stores are non-temporal: half of the last-level cache of a
// common processor.
const Large = 16 << 20

// Streams reports whether the stores to a result of n elements should be non-temporal. Copy, Pick and Copy2 take it as
// stream. Then they store whole cache lines so, and the caller calls simd.Fence after them.
func Streams[T any](n int) bool { return n >= Large/size[T]() }

// Copy copies src to dst. dst is as long as src and doesn't overlap it.
func Copy[T any](dst, src []T, stream bool) {
	if stream && worthwhile(dst, 0, len(dst)) {
		copyStream(dst, src[:len(dst)], prefetchAlong)
	} else {
		copy(dst, src)
	}
}

// copySpans is Copy2 for rows that are contiguous spans on both sides.
func copySpans[T any](dst, src []T, d, s Block, stream bool) {
	if !stream || !worthwhile(dst[d.Off:], d.Row, d.Cols) {
		for i := range d.Rows {
			copy(dst[d.Off+i*d.Row:][:d.Cols], src[s.Off+i*s.Row:][:d.Cols])
		}
		return
	}
	ahead := prefetchAlong
	if next := prefetchSpans / (d.Cols * size[T]()); next > 0 && d.Rows >= 4*next {
		ahead = next * s.Row * size[T]()
	}
	for i := range d.Rows {
		copyStream(dst[d.Off+i*d.Row:][:d.Cols], src[s.Off+i*s.Row:][:d.Cols], ahead)
	}
}

// Pick copies n elements for each i: from at[i]·step on in src, to i·n on in dst.
func Pick[T any](dst, src []T, n, step int, at []int, stream bool) {
	if !stream || !worthwhile(dst, n, n) {
		for i, from := range at {
			copy(dst[i*n:(i+1)*n], src[from*step:])
		}
		return
	}
	const next = 4 // spans
	for i, from := range at {
		ahead := (at[min(i+next, len(at)-1)] - from) * step * size[T]()
		copyStream(dst[i*n:(i+1)*n], src[from*step:from*step+n], ahead)
	}
}

// worthwhile reports whether non-temporal stores to spans of n elements of dst, step apart, gain anything. They do where
// the spans are whole cache lines. They also do where the spans are long. The parts of lines at the ends of a span are
// read before they are written, and in long spans that matters little.
func worthwhile[T any](dst []T, step, n int) bool {
	run := n * size[T]()
	return run >= 1024 || run >= 128 && run%64 == 0 && step*size[T]()%64 == 0 && LineAligned(dst)
}

// A copy with non-temporal stores prefetches these numbers of bytes ahead: along a span and beyond its end, and in the
// next spans.
const (
	prefetchAlong = 512
	prefetchSpans = 2048
)

// copyStream copies a span of at least two cache lines by non-temporal stores. It prefetches the bytes ahead of its loads
// by ahead.
func copyStream[T any](dst, src []T, ahead int) {
	d, s := Memory(dst), Memory(src)
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(d))) % 64)
	tail := head + (len(d)-head)&^63
	if !simd.TryCopyCacheLines(d[head:tail], s[head:], ahead) {
		head, tail = 0, 0
	}
	copy(d[:head], s)
	copy(d[tail:], s[tail:])
}

func size[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}
