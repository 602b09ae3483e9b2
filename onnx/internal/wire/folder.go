package wire

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// Elements in other files. Source: docs/ExternalData.md of github.com/onnx/onnx.

// A Folder is where the files lie that a model names. It holds the files that were looked at, until Close.
type Folder struct {
	Dir    string // where FS is nil
	FS     fs.FS  // of others; nil: Dir
	Base   string // the model's folder in FS
	mu     sync.Mutex
	files  map[string]*opened
	closed bool
}

// An opened is a file of a folder.
type opened struct {
	buf *mem.Buffer
	sum string // its SHA-1, once something asked for it
}

// file returns the file at a location, mapped where it can be.
func (f *Folder) file(location string) (*opened, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	name := path.Clean(location)
	if o := f.files[name]; o != nil {
		return o, nil
	}
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return nil, fmt.Errorf("%w: the location is outside of the model's folder", tensor.ErrValue)
	}
	buf, err := f.read(name)
	if err != nil {
		return nil, fmt.Errorf("%w", plainFile(err))
	}
	if f.files == nil {
		f.files = make(map[string]*opened)
	}
	o := &opened{buf: buf}
	f.files[name] = o
	return o, nil
}

// plainFile cuts the path out of an error about a file that the place names.
func plainFile(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (f *Folder) read(name string) (*mem.Buffer, error) {
	if f.FS != nil {
		b, err := ReadFile(f.FS, path.Join(f.Base, name))
		if err != nil {
			return nil, err
		}
		return mem.Borrow(b, nil), nil
	}
	root, err := os.OpenRoot(f.Dir) // neither names nor links lead out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	info, err := root.Stat(name) // opening a pipe waits for its other end
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, mem.ErrNotFile
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return mem.MapFile(file)
}

// Pin keeps the files that were looked at in place until release is called.
func (f *Folder) Pin() (release func()) {
	if f == nil {
		return func() {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var pins []func()
	for _, o := range f.files {
		if o.buf.Hold() {
			pins = append(pins, o.buf.Release)
		}
	}
	return func() {
		for _, r := range pins {
			r()
		}
	}
}

// Size is how many bytes the files have that were looked at.
func (f *Folder) Size() (n int64) {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.files {
		n += int64(o.buf.Len())
	}
	return n
}

// Close closes the files. From then on the folder opens none.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	var errs []error
	for _, o := range f.files {
		errs = append(errs, o.buf.Close())
	}
	return errors.Join(errs...)
}

// checksum returns the SHA-1 of a file in hexadecimal.
func (f *Folder) checksum(o *opened) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.sum != "" {
		return o.sum, nil
	}
	release, err := Hold(o.buf)
	if err != nil {
		return "", err
	}
	defer release()
	err = ram.Guard(func() error {
		sum := sha1.Sum(o.buf.Bytes())
		o.sum = hex.EncodeToString(sum[:])
		return nil
	})
	return o.sum, err
}

// Find returns the file at a location, with the place of length bytes from offset on; a negative length goes to the end. It
// fails where the SHA-1 of the file isn't each of the sums.
func (f *Folder) Find(location string, offset, length int64, sums []string) (buf *mem.Buffer, at, n int, err error) {
	o, err := f.file(location)
	if err != nil {
		return nil, 0, 0, err
	}
	for _, want := range sums {
		sum, err := f.checksum(o)
		if err == nil && !strings.EqualFold(sum, want) {
			err = fmt.Errorf("its SHA-1 is %s, the model says %.100q", sum, want)
		}
		if err != nil {
			return nil, 0, 0, err
		}
	}
	size := int64(o.buf.Len())
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || offset > size || length > size-offset {
		return nil, 0, 0, fmt.Errorf("the elements are said to be %d bytes from byte %d on, but the file has %d", max(length, 0), offset, size)
	}
	return o.buf, int(offset), int(length), nil
}

// Hold keeps a buffer's bytes in place until release is called, whoever closes it meanwhile. It fails when somebody has
// closed it before. A nil buffer stands for a program's own bytes.
func Hold(b *mem.Buffer) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if !b.Hold() {
		return nil, ErrClosed
	}
	return b.Release, nil
}

// ErrClosed is the error of whoever comes after the close.
var ErrClosed = fmt.Errorf("%w: the model was closed; keep it open while it, its sessions or its tensors are in use", tensor.ErrClosed)

// ReadFile reads a file whose length is known only once it has been read: a size in a header is no reason to allocate.
func ReadFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, mem.ErrNotFile
	}
	b := make([]byte, 0, min(max(info.Size(), 0), 1<<20)+1)
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
