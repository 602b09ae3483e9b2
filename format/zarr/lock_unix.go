//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package zarr

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

func (d *dir) flock(ctx context.Context, key string, value []byte) (release func() error, err error) {
	if err := d.root.MkdirAll(path.Dir(key), 0o777); err != nil {
		return nil, err
	}
	for {
		f, err := d.root.OpenFile(key, os.O_RDWR|os.O_CREATE, 0o666)
		if errors.Is(err, fs.ErrNotExist) { // a holder removed the folder meanwhile
			err = cmp.Or(ctx.Err(), d.root.MkdirAll(path.Dir(key), 0o777))
			if err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			err = heldBy(key, written(f))
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			err = errors.ErrUnsupported
		case err == nil:
			if current, same := d.still(key, f); !same {
				f.Close() // its holder removed it meanwhile
				if err := ctx.Err(); err != nil || current != nil && !errors.Is(current, fs.ErrNotExist) {
					return nil, errors.Join(err, current)
				}
				continue
			}
			if err = f.Truncate(0); err == nil {
				_, err = f.WriteAt(value, 0)
			}
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return func() error {
			err := d.root.Remove(key) // while it is locked
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return errors.Join(err, f.Close())
		}, nil
	}
}

// still reports whether a key has the file f.
func (d *dir) still(key string, f *os.File) (error, bool) {
	a, err := f.Stat()
	if err != nil {
		return err, false
	}
	b, err := d.root.Stat(key)
	return err, err == nil && os.SameFile(a, b)
}

// written returns the value that the holder wrote. It waits a little for a value that isn't written yet.
func written(f *os.File) []byte {
	b := make([]byte, 4096)
	for range 20 {
		if n, _ := f.ReadAt(b, 0); n > 0 {
			return b[:n]
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// unlinked reports whether a folder was removed while it was open.
func unlinked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}

// sync waits until the disk has the names of all files below a path.
func (d *dir) sync(ctx context.Context, p string) error {
	one := func(name string) error {
		f, err := d.root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	}
	err := d.walk(ctx, p, func(name string, e fs.DirEntry) error {
		if !e.IsDir() {
			return nil
		}
		return one(name)
	})
	return cmp.Or(err, one(cmp.Or(p, ".")))
}
