package mem

import (
	"errors"
	"fmt"
)

// An Error says which function of this package failed, and why. Err wraps one of the sentinels below or an error of the
// operating system; of Map, MapCopy, MapFile and Guard it is an *fs.PathError, which names the file, but of a nil file os.ErrInvalid.
type Error struct {
	Op  string // "Alloc", "AllocDirty", "Map", "MapCopy", "MapFile" or "Guard"
	N   int    // the number of bytes asked for; 0 when a file couldn't be asked
	Err error
}

var (
	ErrSize    = errors.New("a size must be from 0 to what one piece of memory can have")
	ErrMemory  = errors.New("out of memory")
	ErrNotFile = errors.New("not a regular file")
	ErrShrunk  = errors.New("a page of the mapped file is gone: the file became shorter, or its device failed")
)

func (e *Error) Error() string {
	switch {
	case e.Err == ErrSize:
		return fmt.Sprintf("mem.%s: %d bytes: a size must be from 0 to %d", e.Op, e.N, most)
	case e.Op == "Map", e.Op == "MapCopy", e.Op == "MapFile", e.Op == "Guard":
		return fmt.Sprintf("mem.%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("mem.%s: %d bytes: %v", e.Op, e.N, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
