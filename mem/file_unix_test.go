//go:build unix && !aix && !solaris && !illumos

package mem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

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
		if at := int(address(b) % largePage); n >= largePage && at != 0 {
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

// Linux is asked for large pages: the mapping's flags say so.
func TestAsksForLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this system has no large pages to ask for:", err)
	}
	b, err := mapMemory(2 * largePage)
	if err != nil {
		t.Fatal(err)
	}
	defer unmapMemory(b)
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("mappings aren't listed:", err)
	}
	at, here := uint64(uintptr(unsafe.Pointer(&b[0]))), false
	for line := range strings.Lines(string(maps)) {
		var from, till uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &till); n == 2 {
			here = from <= at && at < till
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && here {
			if !slices.Contains(strings.Fields(flags), "hg") {
				t.Errorf("the mapping has the flags %s; want hg among them", strings.TrimSpace(flags))
			}
			return
		}
	}
	t.Error("the mapping isn't listed")
}
