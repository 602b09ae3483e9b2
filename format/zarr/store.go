package zarr

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// A Store holds the values of a hierarchy by key, such as group/array/c/0/1. Its
// methods may be called concurrently. The error about an absent key wraps fs.ErrNotExist.
// If a store can't write or list, the error wraps errors.ErrUnsupported.
type Store interface {
	// Get returns a value of at most most bytes, which the caller owns. For a larger value the error wraps format.ErrLimit, and Get
	// takes no more memory than most bytes.
	Get(ctx context.Context, key string, most int64) ([]byte, error)
	// GetRange returns n bytes of a value from byte off on. If off is negative, it counts
	// from the value's end. A range outside the value is an error. The bytes are of one value: if the size is
	// asked for first, it must still hold.
	GetRange(ctx context.Context, key string, off, n int64) ([]byte, error)
	// Size returns the number of bytes of a value.
	Size(ctx context.Context, key string) (int64, error)
	// Set makes or replaces a value. It doesn't keep the slice. A concurrent reader sees
	// the old value or the new one.
	Set(ctx context.Context, key string, value []byte) error
	// Delete removes a value. To delete an absent value is no error.
	Delete(ctx context.Context, key string) error
	// List returns the keys that begin with a prefix, in order.
	List(ctx context.Context, prefix string) ([]string, error)
}

// An Opener is a Store whose values can be opened. A value is opened once for many reads into the caller's
// memory. The caller checks the size of the value before it reads. Values of other stores are read by Get, and by
// GetRange or the GetVersion of a Versioner.
type Opener interface {
	Store
	Open(ctx context.Context, key string) (*Value, error)
}

// A Value is an open value of a store.
type Value struct {
	r     io.ReaderAt
	size  int64
	close func() error           // nil: there is nothing to close
	all   func() ([]byte, error) // decompresses the whole value once; nil: it is read in place
}

// NewValue returns a value of size bytes that r reads. Close calls close, unless it is nil.
func NewValue(r io.ReaderAt, size int64, close func() error) *Value {
	return &Value{r: r, size: size, close: close}
}

// Close ends the use of the value.
func (v *Value) Close() error {
	if v.close == nil {
		return nil
	}
	return v.close()
}

// readAt reads n bytes from byte off on into buf, or into new memory if buf has no room.
func (v *Value) readAt(buf []byte, off, n int64) ([]byte, error) {
	start, err := span(off, n, v.size)
	if err != nil {
		return nil, err
	}
	if v.all != nil {
		b, err := v.all()
		switch {
		case err != nil:
			return nil, err
		case int64(len(b)) < v.size:
			return nil, io.ErrUnexpectedEOF
		case n == v.size: // the reader's, which needs no other part
			return b, nil
		}
		return append(buf[:0], b[start:start+n]...), nil
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	k, err := v.r.ReadAt(buf, start)
	switch {
	case int64(k) == n:
		return buf, nil
	case err == nil || err == io.EOF: // the file became shorter meanwhile
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// errRange returns the error about a range of bytes that the value doesn't have.
func errRange(off, n, size int64) error {
	return fmt.Errorf("%d bytes from %d on are outside a value of %d: %w", n, off, size, io.ErrUnexpectedEOF)
}

// unexpected is the error of an end that comes too soon.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// span makes off absolute and returns an error for a range outside size bytes.
func span(off, n, size int64) (int64, error) {
	start := off
	if off < 0 {
		start += size
	}
	if start < 0 || n < 0 || n > size || start > size-n {
		return 0, errRange(off, n, size)
	}
	return start, nil
}

func absent(key string) error { return &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist} }

// ValidKey returns an error for a key that no store has: no element of its path may be empty, . or .. The error wraps fs.ErrInvalid.
func ValidKey(key string) error {
	if key == "." || !fs.ValidPath(key) {
		return &fs.PathError{Op: "key", Path: key, Err: fs.ErrInvalid}
	}
	return nil
}

type memory struct {
	mu     sync.RWMutex
	values map[string][]byte
}

// Memory returns an empty store in memory.
func Memory() Store { return &memory{values: make(map[string][]byte)} }

// Open returns a value, whose bytes never change: Set replaces them.
func (m *memory) Open(ctx context.Context, key string) (*Value, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.values[key]
	if !ok {
		return nil, absent(key)
	}
	return NewValue(bytes.NewReader(v), int64(len(v)), nil), nil
}

func (m *memory) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	return get(ctx, m, key, most)
}

func (m *memory) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return getRange(ctx, m, key, off, n)
}

func (m *memory) Size(ctx context.Context, key string) (int64, error) { return size(ctx, m, key) }

// get, getRange and size are the methods of a store that opens its values.
func get(ctx context.Context, s Opener, key string, most int64) ([]byte, error) {
	v, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	if v.size > most {
		return nil, tooLarge(most)
	}
	return v.readAt(nil, 0, v.size)
}

func getRange(ctx context.Context, s Opener, key string, off, n int64) ([]byte, error) {
	v, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	return v.readAt(nil, off, n)
}

func size(ctx context.Context, s Opener, key string) (int64, error) {
	v, err := s.Open(ctx, key)
	if err != nil {
		return 0, err
	}
	return v.size, v.Close()
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	if err := cmp.Or(ended(ctx), ValidKey(key)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = slices.Clone(value)
	return nil
}

func (m *memory) Delete(ctx context.Context, key string) error {
	if err := ended(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

func (m *memory) List(ctx context.Context, prefix string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	keys := slices.Sorted(maps.Keys(m.values))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }), ended(ctx)
}

// own begins the last part of keys that no other program needs; temporary begins the name
// of a file that is being written.
const (
	own       = ".ashlar-"
	temporary = own + "part-"
)

type dir struct{ root *os.Root }

// Dir returns the store of a folder, which must exist. A value is a file. No key and no
// symbolic link leads out of the folder. Set writes a file beside the old one, waits
// until the disk has it, and renames it. A crash can leave such a file behind. Its name
// begins with .ashlar-part-; List omits it, and Lock removes it.
func Dir(path string) (Store, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, at(path, err)
	}
	return &dir{root}, nil
}

// stat returns the FileInfo of a key, and an error if it is no regular file.
func (d *dir) stat(ctx context.Context, key string) (fs.FileInfo, error) {
	if err := cmp.Or(ended(ctx), ValidKey(key)); err != nil {
		return nil, err
	}
	info, err := d.root.Stat(key)
	switch {
	case errors.Is(err, errNotDir): // a/b where a is a file
		return nil, absent(key)
	case errors.Is(err, fs.ErrNotExist):
		if root, err := d.root.Stat("."); err == nil && unlinked(root) {
			return nil, &fs.PathError{Op: "get", Path: key, Err: errors.New("the folder of the store was removed")}
		}
		return nil, err
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, absent(key)
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "get", Path: key, Err: errors.New("it is no regular file")}
	}
	return info, nil
}

func (d *dir) Open(ctx context.Context, key string) (*Value, error) {
	if _, err := d.stat(ctx, key); err != nil {
		return nil, err
	}
	f, err := d.root.Open(key)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // of the open file: the key may have another one by now
	if err != nil {
		f.Close()
		return nil, err
	}
	return NewValue(f, info.Size(), f.Close), nil
}

func (d *dir) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	return get(ctx, d, key, most)
}

func (d *dir) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return getRange(ctx, d, key, off, n)
}

func (d *dir) Size(ctx context.Context, key string) (int64, error) {
	info, err := d.stat(ctx, key)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d *dir) Set(ctx context.Context, key string, value []byte) (err error) {
	if err := cmp.Or(ended(ctx), ValidKey(key)); err != nil {
		return err
	}
	folder := path.Dir(key)
	if err := d.root.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	temp := path.Join(folder, fmt.Sprintf("%s%016x", temporary, rand.Uint64()))
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(value)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = d.root.Rename(temp, key)
	}
	if err != nil {
		d.root.Remove(temp)
	}
	return err
}

func (d *dir) Delete(ctx context.Context, key string) error {
	if err := cmp.Or(ended(ctx), ValidKey(key)); err != nil {
		return err
	}
	err := d.root.Remove(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d *dir) removeAll(ctx context.Context, p string) error {
	if err := ended(ctx); err != nil {
		return err
	}
	if p != "" {
		return d.root.RemoveAll(p)
	}
	list, err := fs.ReadDir(d.root.FS(), ".")
	for _, e := range list {
		err = cmp.Or(err, d.root.RemoveAll(e.Name()))
	}
	return err
}

func (d *dir) List(ctx context.Context, prefix string) (keys []string, err error) {
	top := path.Dir(prefix)
	if strings.HasSuffix(prefix, "/") {
		top = strings.TrimSuffix(prefix, "/")
	}
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	err = d.walk(ctx, top, func(name string, e fs.DirEntry) error {
		if !e.IsDir() && strings.HasPrefix(name, prefix) && !strings.HasPrefix(e.Name(), temporary) {
			keys = append(keys, name)
		}
		return nil
	})
	slices.Sort(keys)
	return keys, err
}

// walk calls f for every file and folder below a path, in any order. It holds only a few names at once.
func (d *dir) walk(ctx context.Context, top string, f func(name string, e fs.DirEntry) error) error {
	folder, err := d.root.Open(cmp.Or(top, "."))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
			return nil
		}
		return err
	}
	defer folder.Close()
	for {
		list, err := folder.ReadDir(256)
		for _, e := range list {
			name := path.Join(top, e.Name())
			err := cmp.Or(ended(ctx), f(name, e))
			if err == nil && e.IsDir() {
				err = d.walk(ctx, name, f)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF, errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDir):
			return nil
		case err != nil:
			return err
		}
	}
}
