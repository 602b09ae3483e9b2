package conv

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/simd"
)

// Large is the size in bytes of a result from which it is stored past the caches: half of the last level of a common
// processor.
const Large = 16 << 20

// Result returns dst, to n elements of which a result goes, marked by simd.Past if they are large. Copy, Pick and Copy2
// store whole lines of what is marked past the caches: call simd.Fence after.
func Result[T any](dst []T, n int) []T {
	if n >= Large/size[T]() {
		return simd.Past(dst)
	}
	return dst
}

// Copy copies src to dst, which is as long and doesn't overlap it.
func Copy[T any](dst, src []T) {
	if streams(dst, 0, len(dst)) {
		copyPast(dst, src[:len(dst)], fetchAlong)
	} else {
		copy(dst, src)
	}
}

// copyRuns is Copy2 for rows that are runs of elements on both sides.
func copyRuns[T any](dst, src []T, d, s Block) {
	if !streams(dst[d.Off:], d.Row, d.Cols) {
		for i := range d.Rows {
			copy(dst[d.Off+i*d.Row:][:d.Cols], src[s.Off+i*s.Row:][:d.Cols])
		}
		return
	}
	ahead := fetchAlong
	if next := fetchRuns / (d.Cols * size[T]()); next > 0 && d.Rows >= 4*next {
		ahead = next * s.Row * size[T]()
	}
	for i := range d.Rows {
		copyPast(dst[d.Off+i*d.Row:][:d.Cols], src[s.Off+i*s.Row:][:d.Cols], ahead)
	}
}

// Pick copies n elements of src, from at[i]·step on, to those of dst from i·n on, for each i.
func Pick[T any](dst, src []T, n, step int, at []int) {
	if !streams(dst, n, n) {
		for i, from := range at {
			copy(dst[i*n:(i+1)*n], src[from*step:])
		}
		return
	}
	const next = 4 // runs
	for i, from := range at {
		ahead := (at[min(i+next, len(at)-1)] - from) * step * size[T]()
		copyPast(dst[i*n:(i+1)*n], src[from*step:from*step+n], ahead)
	}
}

// streams reports whether runs of n elements of dst, which are step apart, are stored past the caches: those of a marked
// slice that are whole lines, or so long that the parts of lines at their ends, which are read before they are
// written, matter little.
func streams[T any](dst []T, step, n int) bool {
	if !simd.IsPast(dst) {
		return false
	}
	run := n * size[T]()
	return run >= 1024 || run >= 128 && run%64 == 0 && step*size[T]()%64 == 0 && LineAligned(dst)
}

// What a copy past the caches reads next is fetched, so many bytes ahead: along a run and what follows it, and in the runs that come.
const (
	fetchAlong = 512
	fetchRuns  = 2048
)

// copyPast copies a run of two lines at least. What lies ahead bytes behind what it reads is fetched.
func copyPast[T any](dst, src []T, ahead int) {
	d, s := Memory(dst), Memory(src)
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(d))) % 64)
	tail := head + (len(d)-head)&^63
	if !simd.TryCopyLines(d[head:tail], s[head:], ahead) {
		head, tail = 0, 0
	}
	copy(d[:head], s)
	copy(d[tail:], s[tail:])
}

func size[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}
