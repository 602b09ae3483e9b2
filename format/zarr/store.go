package zarr

import (
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
// methods may be called concurrently. The error about an absent key wraps fs.ErrNotExist;
// a store that can't write or list gives one that wraps errors.ErrUnsupported.
type Store interface {
	// Get returns a value.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetRange returns n bytes of a value from byte off on; with off below 0 from
	// byte size + off on. A range outside the value is an error.
	GetRange(ctx context.Context, key string, off, n int64) ([]byte, error)
	// Set makes or replaces a value. Who reads it meanwhile sees the old one or the new one.
	Set(ctx context.Context, key string, value []byte) error
	// Delete removes a value; that it isn't there is no error.
	Delete(ctx context.Context, key string) error
	// List returns the keys that begin with a prefix, in order.
	List(ctx context.Context, prefix string) ([]string, error)
}

// errRange is a range of bytes that the value doesn't have.
func errRange(off, n, size int64) error {
	return fmt.Errorf("%d bytes from %d on are outside a value of %d: %w", n, off, size, io.ErrUnexpectedEOF)
}

// span makes off absolute and refuses a range outside size bytes.
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

// valid refuses keys that no store has: of a path, no part may be empty, . or ..
func valid(key string) error {
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

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.values[key]
	if !ok {
		return nil, absent(key)
	}
	return slices.Clone(v), ctx.Err()
}

func (m *memory) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.values[key]
	if !ok {
		return nil, absent(key)
	}
	start, err := span(off, n, int64(len(v)))
	if err != nil {
		return nil, err
	}
	return slices.Clone(v[start : start+n]), ctx.Err()
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	if err := valid(key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = slices.Clone(value)
	return ctx.Err()
}

func (m *memory) Delete(ctx context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return ctx.Err()
}

func (m *memory) List(ctx context.Context, prefix string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	keys := slices.Sorted(maps.Keys(m.values))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }), ctx.Err()
}

// temporary begins the last part of the name of a file that is being written.
const temporary = ".ashlar-part-"

type dir struct{ root *os.Root }

// Dir returns the store of a folder, which must exist. A value is a file; no key and no
// symbolic link leads out of the folder. Set writes a file beside the old one, waits
// until the disk has it, and renames it. A crash can leave such a file behind; its name begins
// with .ashlar-part- and List leaves it out.
func Dir(path string) (Store, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, at(path, err)
	}
	return &dir{root}, nil
}

func (d *dir) open(ctx context.Context, key string) (*os.File, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := valid(key); err != nil {
		return nil, 0, err
	}
	info, err := d.root.Stat(key)
	if err != nil {
		if errors.Is(err, errNotDir) { // a/b where a is a file
			return nil, 0, absent(key)
		}
		return nil, 0, err
	}
	if info.IsDir() {
		return nil, 0, absent(key)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "get", Path: key, Err: errors.New("it is no regular file")}
	}
	f, err := d.root.Open(key)
	return f, info.Size(), err
}

func (d *dir) Get(ctx context.Context, key string) ([]byte, error) {
	f, size, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, err
}

func (d *dir) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	f, size, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start, err := span(off, n, size)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(io.NewSectionReader(f, start, n), b)
	return b, err
}

func (d *dir) Set(ctx context.Context, key string, value []byte) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := valid(key); err != nil {
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
	if err := cmpErr(ctx.Err(), valid(key)); err != nil {
		return err
	}
	err := d.root.Remove(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *dir) List(ctx context.Context, prefix string) (keys []string, err error) {
	top := path.Dir(prefix)
	if strings.HasSuffix(prefix, "/") {
		top = strings.TrimSuffix(prefix, "/")
	}
	err = fs.WalkDir(d.root.FS(), top, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !e.IsDir() && strings.HasPrefix(name, prefix) && !strings.HasPrefix(path.Base(name), temporary) {
			keys = append(keys, name)
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}
