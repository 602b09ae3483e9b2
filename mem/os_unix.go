//go:build unix

package mem

import (
	"os"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapMemory returns n zeroed bytes outside the Go heap, at a page boundary. n is a multiple of the page size.
func mapMemory(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func unmapMemory(b []byte) error { return unix.Munmap(b) }

// mapFile maps the first n bytes of a file, read-only or copy-on-write.
func mapFile(f *os.File, n int, readOnly bool) ([]byte, error) {
	if readOnly {
		return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	}
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
}

func unmapFile(b []byte) error { return unix.Munmap(b) }
