package mem

import (
	"io"
	"io/fs"
	"os"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

// Map returns the contents of a file as they are on disk, read-only: mapped, or read where the platform or the file
// system can't map. Pages are loaded as they are touched. The file should keep its length while the Buffer is open: an
// access beyond a new end faults. That is an error inside tensor.Try and ends the program outside it. Windows refuses to
// shorten a mapped file. Later writes to the file may show in the Buffer. A file of length 0 gives an empty Buffer.
//
// The error is an *Error around an *fs.PathError; with ErrNotFile for a directory, a device or a pipe.
func Map(path string) (*Buffer, error) { return mapAs("Map", path, true) }

// MapCopy is Map for bytes that may be written to: pages are copied as they are first written, the file stays as it is,
// and nobody else sees the writes.
func MapCopy(path string) (*Buffer, error) { return mapAs("MapCopy", path, false) }

// MapFile is Map for an open file, such as one that os.Root.Open gave. The Buffer stays when f is closed.
func MapFile(f *os.File) (*Buffer, error) {
	if f == nil {
		return nil, &Error{Op: "MapFile", Err: os.ErrInvalid}
	}
	b, err := mapFileAs(f, f.Name(), true)
	if err != nil {
		return nil, &Error{Op: "MapFile", Err: err}
	}
	return b, nil
}

func mapAs(op, path string, readOnly bool) (*Buffer, error) {
	b, err := mapPath(path, readOnly)
	if err != nil {
		return nil, &Error{Op: op, Err: err}
	}
	return b, nil
}

func mapPath(path string, readOnly bool) (*Buffer, error) {
	// Opening a pipe waits for its other end, so look first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "map", Path: path, Err: ErrNotFile}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapFileAs(f, path, readOnly)
}

func mapFileAs(f *os.File, path string, readOnly bool) (b *Buffer, err error) {
	defer func() {
		if err == nil {
			b.readOnly = readOnly
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "map", Path: path, Err: ErrNotFile}
	}
	size := info.Size()
	if size == 0 {
		return newBuffer(nil, Mapped, nil), nil
	}
	n := int(size)
	if n <= 0 || int64(n) != size {
		return nil, &fs.PathError{Op: "map", Path: path, Err: ErrSize}
	}
	data, err := mapFile(f, n, readOnly)
	if err == nil {
		forget := ram.Remember(path, data)
		return newBuffer(data, Mapped, &hold{give: func() error { forget(); return unmapFile(data) }}), nil
	}
	if b, err = readFile(f, n); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, nil
}

// readFile stands in for mapFile.
func readFile(f io.Reader, n int) (*Buffer, error) {
	b, err := AllocDirty(n)
	if err != nil {
		return nil, err
	}
	if _, err = io.ReadFull(f, b.Bytes()); err != nil {
		b.Close()
		return nil, err
	}
	b.kind = Mapped
	return b, nil
}
