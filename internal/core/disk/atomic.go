// Package disk is about files on a disk: files that appear whole or not at all, the parts of arrays in them, and errors
// that name them.
package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// ErrProtected is the reason for which a write-protected file stays.
var ErrProtected = errors.New("it is write-protected")

// Bare returns an error of the file system without its path, for callers that name the path themselves.
func Bare(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// In adds the name of a file to an error. Bytes without a file have the name "".
func In(path string, err error) error {
	if err == nil || path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// An Atomic writes files that appear whole or not at all.
type Atomic struct {
	Force bool // replace a write-protected file
	// Begun, if it isn't nil, is called with the name of the temporary file or folder. A program that ends early has to remove
	// it. The function done is called when there is nothing left to remove.
	Begun func(temp string) (done func())
}

func (a Atomic) begun(temp string) (done func()) {
	if a.Begun == nil {
		return func() {}
	}
	return a.Begun(temp)
}

// beside names a temporary file beside another, so that the last step is a rename within one file system. os.CreateTemp won't
// do: only the owner can read its files. The name is short, since the file's own name may be as long as names can be.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf("ashlar-%016x.part", rand.Uint64()))
}

// Folder makes a folder, which fill fills. If the path exists, it stays as it is and Folder returns an error.
func (a Atomic) Folder(path string, fill func(dir string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return errors.New("it is there, and a folder is never replaced: remove it, or take another name")
	}
	temp := beside(filepath.Clean(path))
	if err := os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(temp) // gone after the rename
	done := a.begun(temp)
	defer done()
	if err := fill(temp); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// File makes a file of the bytes that put writes. The file appears, or replaces an earlier one, when all bytes are on the
// disk. A write-protected file stays, unless Force is set.
func (a Atomic) File(path string, put func(io.Writer) error) (err error) {
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe or a device
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fillFile(f, false, put)
	} else if err == nil {
		if mode = info.Mode().Perm(); !a.Force && Protected(path, mode) {
			return ErrProtected
		}
	}
	if path, err = linked(path); err != nil { // a link stays a link
		return err
	}
	temp := beside(path)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	done := a.begun(temp)
	defer done()
	whole := false
	defer func() {
		if !whole { // also when put panics, as it does where a mapped input became shorter
			f.Close()
			os.Remove(temp)
		}
	}()
	if err = fillFile(f, true, put); err != nil {
		return err
	}
	if err = os.Rename(temp, path); err != nil {
		return err
	}
	whole = true
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // Windows can't open folders
		dir.Sync() // the error is ignored: the file itself is on the disk, and some file systems can't sync a folder
		dir.Close()
	}
	return nil
}

// Files makes files in one folder, one after the other: put writes the bytes of file i. They appear when all are whole. If
// one is write-protected, all stay as they are, unless Force is set.
func (a Atomic) Files(paths []string, put func(i int, w io.Writer) error) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return fmt.Errorf("%s: it is no regular file", path)
		case err == nil && !a.Force && Protected(path, info.Mode()):
			return fmt.Errorf("%s: %w", path, ErrProtected)
		}
	}
	temp := beside(paths[0])
	if err := os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	done := a.begun(temp)
	defer done()
	inside := func(path string) string { return filepath.Join(temp, filepath.Base(path)) }
	for i, path := range paths {
		f, err := os.OpenFile(inside(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			err = fillFile(f, true, func(w io.Writer) error { return put(i, w) })
		}
		if err != nil {
			return err
		}
	}
	for _, path := range paths {
		if err := os.Rename(inside(path), path); err != nil {
			return err
		}
	}
	return nil
}

// Protected reports whether the file is write-protected. Root may write to any file, so the mode counts, too.
func Protected(path string, mode os.FileMode) bool {
	if mode&0o200 == 0 {
		return true
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}

// linked follows symbolic links to the file that path stands for. The file need not exist.
func linked(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	const most = 40 // links, the usual limit of operating systems
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("more than %d symbolic links", most)
}

// fillFile calls put with a buffered writer to f, flushes it, syncs f if sync is set, and closes f.
func fillFile(f *os.File, sync bool, put func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := put(Pieces(w))
	if err == nil {
		err = w.Flush()
	}
	if err == nil && sync {
		if err = f.Sync(); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
			err = nil // a file system that can't sync
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// Pieces returns a writer that copies all bytes to w's buffer. Written straight from a mapped file that became shorter, they
// would make the system call fail with an error about the file written. A copy fails with an error about the mapped file.
func Pieces(w *bufio.Writer) io.Writer { return pieces{w} }

type pieces struct{ w *bufio.Writer }

func (p pieces) Write(b []byte) (n int, err error) {
	const piece = 2 << 10 // less than any buffer: bufio writes larger pieces past an empty buffer
	for err == nil && n < len(b) {
		var m int
		m, err = p.w.Write(b[n:min(len(b), n+piece)])
		n += m
	}
	return n, err
}
