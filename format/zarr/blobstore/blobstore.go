// Package blobstore makes a bucket of an object store a store of Zarr: any that
// gocloud.dev/blob has a driver for, among them S3, Google Cloud Storage and Azure. The
// program imports the driver that it needs. It is a module of its own, since drivers
// bring the clients of the clouds.
//
// An object appears when it is written in full, so a chunk is the old one or the new one. Requests are repeated as the driver repeats them.
package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

type store struct{ b *blob.Bucket }

// New returns the store of a bucket, which stays the caller's to close. A prefix of
// keys is given by blob.PrefixedBucket. The store is a zarr.Versioner and a zarr.Stater.
func New(b *blob.Bucket) zarr.Store { return store{b} }

// known turns an absent object into fs.ErrNotExist.
func known(key string, err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	return err
}

func (s store) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	r, err := s.b.NewReader(ctx, key, nil)
	if err != nil {
		return nil, known(key, err)
	}
	defer r.Close()
	if r.Size() > most {
		return nil, fmt.Errorf("an object of %d bytes; at most %d are read here: %w", r.Size(), most, format.ErrLimit)
	}
	b, err := io.ReadAll(io.LimitReader(r, r.Size()+1))
	if err == nil && int64(len(b)) != r.Size() {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (s store) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b, _, err := s.GetVersion(ctx, key, off, n, "")
	return b, err
}

// tries is the most times that a range from the end is read, each of which needs the object's size first.
const tries = 4

// GetVersion implements zarr.Versioner by the size and time of the object. Some services round the time to seconds, so the version is weak.
func (s store) GetVersion(ctx context.Context, key string, off, n int64, version string) (b []byte, now string, err error) {
	if n < 0 || off < 0 && n > -off {
		return nil, "", fmt.Errorf("%d bytes from %d on: %w", n, off, io.ErrUnexpectedEOF)
	}
	for range tries {
		start, size := off, int64(-1)
		if off < 0 || n == 0 {
			if size, err = s.Size(ctx, key); err != nil {
				return nil, "", err
			}
			if off < 0 {
				start += size
			}
			if start < 0 || start > size {
				return nil, "", fmt.Errorf("%d bytes from %d on are outside an object of %d: %w", n, off, size, io.ErrUnexpectedEOF)
			}
			if n == 0 {
				return nil, version, nil
			}
		}
		var same bool
		if b, now, same, err = s.read(ctx, key, start, n, size); err != nil {
			return nil, "", err
		}
		if version != "" && version != now {
			break
		}
		if same {
			return b, now, nil
		}
	}
	return nil, "", fmt.Errorf("%s was replaced while it was read: %w", key, zarr.ErrChanged)
}

// read reads n bytes of an object, and its version. It reports whether the object has size bytes, or size is -1.
func (s store) read(ctx context.Context, key string, start, n, size int64) (b []byte, now string, same bool, err error) {
	r, err := s.b.NewRangeReader(ctx, key, start, n, nil)
	if err != nil {
		return nil, "", false, known(key, err)
	}
	defer r.Close()
	now = fmt.Sprint("W/", r.Size(), " ", r.ModTime().UnixNano())
	if size >= 0 && r.Size() != size {
		return nil, now, false, nil
	}
	if n > r.Size() || start > r.Size()-n {
		return nil, "", false, fmt.Errorf("%d bytes from %d on are outside an object of %d: %w", n, start, r.Size(), io.ErrUnexpectedEOF)
	}
	b = make([]byte, n)
	if _, err = io.ReadFull(r, b); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, now, true, err
}

func (s store) Size(ctx context.Context, key string) (int64, error) {
	a, err := s.b.Attributes(ctx, key)
	if err != nil {
		return 0, known(key, err)
	}
	return a.Size, nil
}

func (s store) Set(ctx context.Context, key string, value []byte) error {
	return s.b.WriteAll(ctx, key, value, nil)
}

func (s store) Delete(ctx context.Context, key string) error {
	if err := known(key, s.b.Delete(ctx, key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s store) List(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.each(ctx, prefix, func(o *blob.ListObject) { keys = append(keys, o.Key) })
	slices.Sort(keys)
	return keys, err
}

// States implements zarr.Stater by the sizes, times and MD5 sums of the list.
func (s store) States(ctx context.Context, prefix string, f func(key, state string)) error {
	return s.each(ctx, prefix, func(o *blob.ListObject) { f(o.Key, fmt.Sprint(o.Size, o.ModTime.UnixNano(), o.MD5)) })
}

const maxKeys = 1 << 24 // of a list

// each calls f for the objects whose keys begin with a prefix.
func (s store) each(ctx context.Context, prefix string, f func(o *blob.ListObject)) error {
	all := s.b.List(&blob.ListOptions{Prefix: prefix})
	for range maxKeys {
		o, err := all.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f(o)
	}
	return fmt.Errorf("the list of %q has more than %d keys: %w", prefix, maxKeys, format.ErrLimit)
}
