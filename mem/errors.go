package mem

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

// An Error says which function of this package failed, and why. Err wraps one of the sentinels below or an error of the
// operating system; of Map, MapCopy and MapFile it is an *fs.PathError, which names the file, but of a nil file os.ErrInvalid.
type Error struct {
	Op  string // "Alloc", "AllocDirty", "Map", "MapCopy" or "MapFile"
	N   int    // the number of bytes asked for; 0 when a file couldn't be asked
	Err error
}

var (
	ErrSize    = errors.New("a size must be from 0 to what one piece of memory can have")
	ErrMemory  = errors.New("out of memory")
	ErrNotFile = errors.New("not a regular file")
	ErrShrunk  = ram.ErrShrunk // a page of a mapped file is gone; of tensor.Try and of functions that read mapped files
)

func (e *Error) Error() string {
	switch {
	case e.Err == ErrSize:
		return fmt.Sprintf("mem.%s: %d bytes: a size must be from 0 to %d", e.Op, e.N, most)
	case e.Op == "Map", e.Op == "MapCopy", e.Op == "MapFile":
		return fmt.Sprintf("mem.%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("mem.%s: %d bytes: %v", e.Op, e.N, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
