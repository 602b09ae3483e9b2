// Package blobstore makes a bucket of an object store a store of Zarr: any that
// gocloud.dev/blob has a driver for, among them S3, Google Cloud Storage and Azure. The
// program imports the driver that it needs. It is a module of its own, since drivers
// bring the clients of the clouds.
//
// An object appears when it is written in full, so a chunk is the old one or the new one.
package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ashlar-go/ashlar/format/zarr"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

type store struct{ b *blob.Bucket }

// New returns the store of a bucket, which stays the caller's to close. A prefix of
// keys is given by blob.PrefixedBucket.
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
		return nil, fmt.Errorf("an object of %d bytes; at most %d are read here: %w", r.Size(), most, zarr.ErrLimit)
	}
	b, err := io.ReadAll(io.LimitReader(r, r.Size()+1))
	if err == nil && int64(len(b)) != r.Size() {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func (s store) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if n < 0 || off < 0 && n > -off {
		return nil, fmt.Errorf("%d bytes from %d on: %w", n, off, io.ErrUnexpectedEOF)
	}
	start := off
	if off < 0 || n == 0 {
		size, err := s.Size(ctx, key)
		if err != nil {
			return nil, err
		}
		if off < 0 {
			start += size
		}
		if start < 0 || start > size {
			return nil, fmt.Errorf("%d bytes from %d on are outside an object of %d: %w", n, off, size, io.ErrUnexpectedEOF)
		}
		if n == 0 {
			return nil, nil
		}
	}
	r, err := s.b.NewRangeReader(ctx, key, start, n, nil)
	if err != nil {
		return nil, known(key, err)
	}
	defer r.Close()
	if n > r.Size() || start > r.Size()-n {
		return nil, fmt.Errorf("%d bytes from %d on are outside an object of %d: %w", n, off, r.Size(), io.ErrUnexpectedEOF)
	}
	b := make([]byte, n)
	if _, err = io.ReadFull(r, b); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, err
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

// each calls f for the objects whose keys begin with a prefix.
func (s store) each(ctx context.Context, prefix string, f func(o *blob.ListObject)) error {
	all := s.b.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := all.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f(o)
	}
}
