//go:build unix

package mem

import (
	"errors"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canMap = true

// largePage is the size of the pages that the arena asks for.
const largePage = 2 << 20

// mapMemory returns n zeroed bytes outside the Go heap, at a page boundary. n is a multiple of the page size.
//
// From 2 MiB on they start at a multiple of 2 MiB, and Linux is asked for pages of that size; it may give them only on
// request (transparent_hugepage: madvise). In small pages a tensor has more pages than a processor's TLB holds, and the
// first access to each is a page fault.
func mapMemory(n int) ([]byte, error) {
	if n >= largePage && n+largePage > 0 {
		if p, err := mapPages(n + largePage); err == nil {
			before := int(-uintptr(p) % largePage)
			start := unsafe.Add(p, before)
			for _, end := range []struct {
				at unsafe.Pointer
				n  int
			}{{p, before}, {unsafe.Add(start, n), largePage - before}} {
				if end.n > 0 {
					err = errors.Join(err, unix.MunmapPtr(end.at, uintptr(end.n)))
				}
			}
			b := unsafe.Slice((*byte)(start), n)
			if runtime.GOOS == "linux" {
				const hugePage = 14           // MADV_HUGEPAGE of Linux
				_ = unix.Madvise(b, hugePage) // where there are none, small ones do
			}
			return b, err
		}
	}
	p, err := mapPages(n)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

func mapPages(n int) (unsafe.Pointer, error) {
	return unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func unmapMemory(b []byte) error {
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)))
}

// mapFile maps the first n bytes of a file, read-only or copy-on-write.
func mapFile(f *os.File, n int, readOnly bool) ([]byte, error) {
	if readOnly {
		return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	}
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
}

func unmapFile(b []byte) error { return unix.Munmap(b) }
