package mem

import (
	"fmt"
	"os"
	"unsafe"
)

// lineAlign is the smallest alignment: a cache line, and the widest vector register.
const lineAlign = 64

// most is the largest size that is tried: beyond it, the Go heap's bookkeeping alone can end the program.
var most = func() int {
	n := 1 << (30 + 10*(^uint(0)>>63))
	if !canMap {
		n = min(n, 1<<31-1)
	}
	return n
}()

// Make returns n zeroed bytes of the Go heap, with length and capacity n. They start at a multiple of 64, from one page
// up at a page boundary, and contain no pointers. Like make it panics when n is negative, and the program ends when the
// memory isn't there; Alloc has an error for both.
func Make(n int) []byte {
	if n <= 0 {
		return make([]byte, n)
	}
	return makeAt(n, alignFor(n))
}

// alignFor returns the alignment of a piece of n bytes.
func alignFor(n int) int {
	if page := os.Getpagesize(); n >= page {
		return page
	}
	return lineAlign
}

// makeAt returns n > 0 zeroed bytes that start at a multiple of align, a power of two.
func makeAt(n, align int) []byte {
	// The heap's size classes put nearly every multiple of align at a multiple of align: so the first try mostly holds.
	b := make([]byte, n, roundUp(n, align))
	if misalignment(b, align) != 0 {
		b = make([]byte, n+align)
		b = b[(align-misalignment(b, align))%align:]
	}
	return b[:n:n]
}

func misalignment(b []byte, align int) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(align))
}

// roundUp returns the smallest multiple of align from n up, or n itself where that doesn't fit an int. align is a power
// of two.
func roundUp(n, align int) int {
	if r := (n + align - 1) &^ (align - 1); r > 0 {
		return r
	}
	return n
}

// makeTried is Make for any n up to most. The Go heap ends the program when the system refuses memory, so it is asked
// for a mapping of that size first.
func makeTried(n int) ([]byte, error) {
	if canMap {
		b, err := mapMemory(roundUp(n, os.Getpagesize()))
		if err == nil {
			err = unmapMemory(b)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMemory, err)
		}
	}
	return Make(n), nil
}
