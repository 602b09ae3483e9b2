package zarr

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
)

// zipStore is a zip file that is read.
type zipStore struct {
	r       io.ReaderAt
	size    int64
	entries map[string]*zip.File
	keys    []string
}

// Zip returns the store of a zip file of n bytes, read only. A range of an uncompressed
// entry is read without the rest. If several entries have one name, the last counts, as in
// zarr-python.
func Zip(r io.ReaderAt, n int64) (Store, error) {
	if r == nil {
		return nil, fail(fs.ErrInvalid, "the reader is nil")
	}
	z, err := zip.NewReader(r, n)
	if err != nil {
		return nil, fail(err, "the zip file: %v", err)
	}
	s := &zipStore{r: r, size: n, entries: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") || ValidKey(f.Name) != nil {
			continue
		}
		if s.entries[f.Name] == nil {
			s.keys = append(s.keys, f.Name)
		}
		s.entries[f.Name] = f
	}
	slices.Sort(s.keys)
	return s, nil
}

func (s *zipStore) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	return get(ctx, s, key, most)
}

// Open opens an entry. The first read of a compressed entry decompresses all of it.
func (s *zipStore) Open(ctx context.Context, key string) (*Value, error) {
	f := s.entries[key]
	if f == nil {
		return nil, absent(key)
	}
	if f.Method != zip.Store {
		size := int64(min(f.UncompressedSize64, math.MaxInt))
		return &Value{size: size, all: sync.OnceValues(func() ([]byte, error) {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return inflate(r, nil, int(min(f.CompressedSize64, 1<<17)), int(size))
		})}, ended(ctx)
	}
	begin, err := f.DataOffset()
	if err != nil {
		return nil, err
	}
	size := int64(f.CompressedSize64)
	if size < 0 || f.UncompressedSize64 != f.CompressedSize64 || begin > s.size-size {
		return nil, fmt.Errorf("the entry of %d bytes reaches beyond the zip file: %w", f.CompressedSize64, zip.ErrFormat)
	}
	return NewValue(io.NewSectionReader(s.r, begin, size), size, nil), ended(ctx)
}

// GetRange reads a range. In a compressed entry it decompresses the bytes before the range and drops them.
func (s *zipStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	f := s.entries[key]
	if f == nil || f.Method == zip.Store {
		return getRange(ctx, s, key, off, n)
	}
	start, err := span(off, n, int64(min(f.UncompressedSize64, math.MaxInt64)))
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, start); err != nil {
		return nil, unexpected(err)
	}
	b, err := inflate(io.LimitReader(r, n), nil, int(min(f.CompressedSize64, 1<<17)), int(n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, cmp.Or(ended(ctx), unexpected(err))
}

func (s *zipStore) Size(ctx context.Context, key string) (int64, error) {
	f := s.entries[key]
	if f == nil {
		return 0, absent(key)
	}
	return int64(min(f.UncompressedSize64, math.MaxInt64)), ended(ctx)
}

func (s *zipStore) Set(_ context.Context, key string, _ []byte) error {
	return fmt.Errorf("%s: a zip file is written once, by WriteZip: %w", key, errors.ErrUnsupported)
}

func (s *zipStore) Delete(ctx context.Context, key string) error { return s.Set(ctx, key, nil) }

func (s *zipStore) List(ctx context.Context, prefix string) (keys []string, err error) {
	for _, k := range s.keys {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	return keys, ended(ctx)
}

// WriteZip writes all values of a store, except locks, to a zip file that Zip reads. It
// doesn't compress them again, so that ranges of them can be read. It takes the memory of the largest value.
func WriteZip(ctx context.Context, w io.Writer, from Store) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if w == nil || from == nil {
		return fail(fs.ErrInvalid, "the writer or the store is nil")
	}
	keys, err := from.List(ctx, "")
	if err != nil {
		return at("", err)
	}
	z := zip.NewWriter(w)
	for _, key := range keys {
		if strings.HasPrefix(path.Base(key), own) {
			continue
		}
		var b []byte
		size, err := from.Size(ctx, key)
		if err == nil {
			b, err = from.Get(ctx, key, size)
		}
		var f io.Writer
		if err == nil {
			f, err = z.CreateHeader(&zip.FileHeader{Name: key, Method: zip.Store})
		}
		if err == nil {
			_, err = f.Write(b)
		}
		if err != nil {
			return at(key, err)
		}
	}
	return z.Close()
}
