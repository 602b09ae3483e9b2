package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr"
)

// OpenFolder reads the description of a Zarr hierarchy in a folder. The keys of files are their paths in the folder.
func OpenFolder(name string, files map[string]*io.SectionReader) (*File, *Listing, error) {
	if !slices.ContainsFunc(zarr.Roots, func(root string) bool { return files[root] != nil }) {
		return nil, nil, fmt.Errorf("the folder %s is no Zarr hierarchy: it has none of %s", clip(name), strings.Join(zarr.Roots, ", "))
	}
	return (&File{name: name}).hierarchy(folder(files))
}

// hierarchy opens the arrays of a store.
func (f *File) hierarchy(s zarr.Store) (*File, *Listing, error) {
	h, err := zarr.OpenStore(s, "array", &zarr.Options{MaxBytes: maxWhole, Workers: 1})
	if err != nil {
		return nil, nil, err
	}
	f.kind, f.file = "zarr", h
	return f.listed(&Listing{}, 0)
}

// A folder is a read-only store of files.
type folder map[string]*io.SectionReader

func (d folder) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	r := d[key]
	if r == nil {
		return nil, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	if most = min(most, maxWhole); r.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes; up to %d are read: %w", key, r.Size(), most, format.ErrLimit)
	}
	return d.GetRange(ctx, key, 0, r.Size())
}

func (d folder) Size(_ context.Context, key string) (int64, error) {
	r := d[key]
	if r == nil {
		return 0, &fs.PathError{Op: "size", Path: key, Err: fs.ErrNotExist}
	}
	return r.Size(), nil
}

func (d folder) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	r := d[key]
	if r == nil {
		return nil, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	if off < 0 {
		off += r.Size()
	}
	if off < 0 || n < 0 || n > r.Size() || off > r.Size()-n {
		return nil, fmt.Errorf("%d bytes from %d on are outside a value of %d: %w", n, off, r.Size(), io.ErrUnexpectedEOF)
	}
	b := make([]byte, n)
	if k, err := r.ReadAt(b, off); k < len(b) {
		return nil, err
	}
	return b, ctx.Err()
}

func (folder) Set(context.Context, string, []byte) error { return errors.ErrUnsupported }

func (folder) Delete(context.Context, string) error { return errors.ErrUnsupported }

func (d folder) List(_ context.Context, prefix string) ([]string, error) {
	keys := slices.Sorted(maps.Keys(d))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }), nil
}
