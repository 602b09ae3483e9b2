//go:build unix && !aix && !solaris && !illumos

package mem

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Opening a pipe that nobody writes to would wait for ever.
func TestMapPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Map(path); !errors.Is(err, ErrNotFile) {
		t.Errorf("got %v", err)
	}
}

// From the size of a large page on memory starts where one can, and is given back whole.
func TestLargePages(t *testing.T) {
	page := os.Getpagesize()
	for _, n := range []int{largePage - page, largePage, largePage + page, 3*largePage + 5*page} {
		b, err := mapMemory(n)
		if err != nil || len(b) != n {
			t.Fatalf("%d bytes: got %d, %v", n, len(b), err)
		}
		if at := misalignment(b, largePage); n >= largePage && at != 0 {
			t.Errorf("%d bytes start %d after a multiple of %d", n, at, largePage)
		}
		b[0], b[n-1] = 1, b[n-1]+b[n/2]
		if b[n-1] != 0 {
			t.Errorf("%d bytes aren't zeros", n)
		}
		if err := unmapMemory(b); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
