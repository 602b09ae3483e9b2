package zarr

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// zipStore is a zip file that is read.
type zipStore struct {
	r       io.ReaderAt
	entries map[string]*zip.File
	keys    []string
}

// Zip returns the store of a zip file of n bytes, read only. Of entries that aren't
// compressed a range is read without the rest. An entry whose name comes twice counts
// as it stands last, as in zarr-python.
func Zip(r io.ReaderAt, n int64) (Store, error) {
	if r == nil {
		return nil, fail(fs.ErrInvalid, "the reader is nil")
	}
	z, err := zip.NewReader(r, n)
	if err != nil {
		return nil, fail(err, "the zip file: %v", err)
	}
	s := &zipStore{r: r, entries: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") || valid(f.Name) != nil {
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

func (s *zipStore) Get(ctx context.Context, key string) ([]byte, error) {
	f := s.entries[key]
	if f == nil {
		return nil, absent(key)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := inflate(r, int(min(f.CompressedSize64, 1<<30)), maxValue)
	return b, cmpErr(ctx.Err(), err)
}

// maxValue is the most bytes that a compressed entry or an answer of a server may have.
const maxValue = 1<<31 - 1

func (s *zipStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	f := s.entries[key]
	if f == nil {
		return nil, absent(key)
	}
	if f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 {
		b, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		start, err := span(off, n, int64(len(b)))
		if err != nil {
			return nil, err
		}
		return b[start : start+n], nil
	}
	if f.UncompressedSize64 > 1<<62 {
		return nil, errRange(off, n, -1)
	}
	start, err := span(off, n, int64(f.UncompressedSize64))
	if err != nil {
		return nil, err
	}
	begin, err := f.DataOffset()
	if err != nil {
		return nil, err
	}
	b, err := inflate(io.NewSectionReader(s.r, begin+start, n), int(min(n, 1<<20)), int(n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, cmpErr(ctx.Err(), err)
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
	return keys, ctx.Err()
}

// WriteZip writes all values of a store to a zip file, which Zip reads. They aren't
// compressed again, so that ranges of them can be read.
func WriteZip(ctx context.Context, w io.Writer, from Store) error {
	if w == nil || from == nil {
		return fail(fs.ErrInvalid, "the writer or the store is nil")
	}
	keys, err := from.List(ctx, "")
	if err != nil {
		return at("", err)
	}
	z := zip.NewWriter(w)
	for _, key := range keys {
		b, err := from.Get(ctx, key)
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
