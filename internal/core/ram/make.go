// Package ram has pieces of the Go heap that are aligned and used again, faults of mapped files as errors, and a count of copies.
// Package mem and its users share it.
package ram

import (
	"os"
	"unsafe"
)

// Large is the size in bytes from which package mem takes memory from outside the Go heap.
const Large = 64 << 10

// Line is the smallest alignment: a cache line, and the widest vector register.
const Line = 64

// Make returns n zeroed bytes of the Go heap, with length and capacity n. They start at a multiple of 64, from one page
// up at a page boundary, and contain no pointers. Like make it panics when n is negative, and the program ends when the
// memory isn't there; Alloc has an error for both.
func Make(n int) []byte {
	if n <= 0 {
		return make([]byte, n)
	}
	return makeAt(n, AlignFor(n))
}

// AlignFor returns the alignment of a piece of n bytes.
func AlignFor(n int) int {
	if page := os.Getpagesize(); n >= page {
		return page
	}
	return Line
}

// makeAt returns n > 0 zeroed bytes that start at a multiple of align, a power of two.
func makeAt(n, align int) []byte {
	// The heap's size classes put nearly every multiple of align at a multiple of align: so the first try mostly holds.
	b := make([]byte, n, RoundUp(n, align))
	if misalignment(b, align) != 0 {
		b = make([]byte, n+align)
		b = b[(align-misalignment(b, align))%align:]
	}
	return b[:n:n]
}

func misalignment(b []byte, align int) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(align))
}

// RoundUp returns the smallest multiple of align from n up, or n itself where that doesn't fit an int. align is a power
// of two.
func RoundUp(n, align int) int {
	if r := (n + align - 1) &^ (align - 1); r > 0 {
		return r
	}
	return n
}

// AlignOf returns the largest power of two that divides an address, at most the page size.
func AlignOf(p unsafe.Pointer) int {
	addr := uintptr(p) | uintptr(os.Getpagesize())
	return int(addr & -addr)
}
