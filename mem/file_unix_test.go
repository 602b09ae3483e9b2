//go:build unix && !aix && !solaris && !illumos

package mem

import (
	"errors"
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
