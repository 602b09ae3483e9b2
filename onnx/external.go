package onnx

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// Elements in other files. Source: docs/ExternalData.md of github.com/onnx/onnx.

// A folder is where the files lie that a model names. It holds those that were looked at, until Close.
type folder struct {
	dir    string // of a model that Open opened
	fsys   fs.FS  // of others
	base   string // the model's folder in fsys
	mu     sync.Mutex
	files  map[string]*outside
	closed bool
}

// An outside is a file of a folder.
type outside struct {
	buf *mem.Buffer
	sum string // its SHA-1, once something asked for it
}

// file returns the file at a location, mapped where it can be.
func (f *folder) file(location string) (*outside, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, failf("%w: the model was closed; keep it open while it, its sessions or its tensors are in use", tensor.ErrClosed)
	}
	name := path.Clean(location)
	if o := f.files[name]; o != nil {
		return o, nil
	}
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return nil, failf("%w: the location is outside of the model's folder", tensor.ErrValue)
	}
	buf, err := f.read(name)
	if err != nil {
		return nil, failf("%w", plainFile(err))
	}
	if f.files == nil {
		f.files = make(map[string]*outside)
	}
	o := &outside{buf: buf}
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

func (f *folder) read(name string) (*mem.Buffer, error) {
	if f.fsys != nil {
		b, err := readFile(f.fsys, path.Join(f.base, name))
		if err != nil {
			return nil, err
		}
		return mem.Borrow(b, nil), nil
	}
	root, err := os.OpenRoot(f.dir) // neither names nor links lead out of it
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

// pin keeps the files that were looked at in place until release is called.
func (f *folder) pin() (release func()) {
	if f == nil {
		return func() {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var pins []func()
	for _, o := range f.files {
		pins = append(pins, o.buf.Pin())
	}
	return func() {
		for _, r := range pins {
			r()
		}
	}
}

// size is how many bytes the files have that were looked at.
func (f *folder) size() (n int64) {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.files {
		n = add(n, int64(o.buf.Len()))
	}
	return n
}

func (f *folder) close() error {
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
func (f *folder) checksum(o *outside) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.sum != "" {
		return o.sum, nil
	}
	release, err := held(o.buf)
	if err != nil {
		return "", err
	}
	defer release()
	err = mem.Guard(func() error {
		sum := sha1.Sum(o.buf.Bytes())
		o.sum = hex.EncodeToString(sum[:])
		return nil
	})
	return o.sum, err
}

// noFolder says why the elements can't be read; "" if they can be looked for.
func (x *External) noFolder() string {
	if x.from == nil {
		return fmt.Sprintf("elements in another file (%.200q), of an unknown folder; Open, OpenFS and DecodeIn know it", x.Location)
	}
	return ""
}

// find returns the file that holds the elements, with the place and the number of their bytes there.
func (x *External) find() (buf *mem.Buffer, at, n int, err error) {
	if why := x.noFolder(); why != "" {
		return nil, 0, 0, failf("%w: %s", ErrUnsupported, why)
	}
	place := fmt.Sprintf("file %.200q", x.Location)
	o, err := x.from.file(x.Location)
	if err != nil {
		return nil, 0, 0, in(place, err)
	}
	for _, e := range x.Entries {
		if e.Key != "checksum" || e.Value == "" {
			continue
		}
		sum, err := x.from.checksum(o)
		if err == nil && !strings.EqualFold(sum, e.Value) {
			err = failf("its SHA-1 is %s, the model says %.100q", sum, e.Value)
		}
		if err != nil {
			return nil, 0, 0, in(place, err)
		}
	}
	size := int64(o.buf.Len())
	length := x.Length
	if length < 0 {
		length = size - x.Offset
	}
	if x.Offset < 0 || x.Offset > size || length > size-x.Offset {
		return nil, 0, 0, in(place, failf("the elements are said to be %d bytes from byte %d on, but the file has %d", max(length, 0), x.Offset, size))
	}
	return o.buf, int(x.Offset), int(length), nil
}

// A copying counts bytes that are copied out of other files. Tensors may share bytes there, so the files don't bound them.
type copying int64

// add counts t unless it is used in place.
func (c *copying) add(m *Model, t *TensorProto) error {
	if t.External == nil || t.Type == ElemString {
		return nil
	}
	n, size, err := t.check()
	if err != nil {
		return err
	}
	if _, _, ok := m.place(t); ok {
		return nil
	}
	if *c += copying(n) * copying(size); int64(*c) > copiedBase+copiedFactor*m.folder.size() {
		return failf("%w: the copies of elements from other files would take more than %d MiB + %d × the size of the files", tensor.ErrMemory, copiedBase>>20, copiedFactor)
	}
	return nil
}

// What may be copied out of other files: a model that isn't made to do harm needs at most their size.
const (
	copiedBase   = 16 << 20
	copiedFactor = 2
)
