package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// roots are the values of which the root of a Zarr hierarchy has one.
var roots = []string{"zarr.json", ".zarray", ".zgroup"}

// OpenFolder reads what a folder of files says about itself: a Zarr hierarchy. The files go by their paths in it.
func OpenFolder(name string, files map[string]*io.SectionReader) (*File, *Listing, error) {
	f := &File{entries: map[string]*entry{}, name: name}
	if !slices.ContainsFunc(roots, func(root string) bool { return files[root] != nil }) {
		return nil, nil, fmt.Errorf("the folder %s is no Zarr hierarchy: it has none of %s", clip(name), strings.Join(roots, ", "))
	}
	return f.listed(&Listing{Kind: "zarr"}, f.hierarchy(folder(files)))
}

// zipped is the store of a zip file that holds a Zarr hierarchy, nil for another one.
func zipped(r io.ReaderAt, size int64) zarr.Store {
	s, err := zarr.Zip(r, size)
	if err != nil {
		return nil // package npy says why
	}
	for _, root := range roots {
		if _, err := s.Size(context.Background(), root); !errors.Is(err, fs.ErrNotExist) {
			return s
		}
	}
	return nil
}

// hierarchy adds the arrays of a store; one that can't be read has the reason as its type.
func (f *File) hierarchy(s zarr.Store) error {
	ctx := context.Background()
	options := []zarr.Option{zarr.MaxBytes(maxWhole), zarr.Workers(1)}
	root, err := zarr.Open(ctx, s, "", options...)
	if err == nil {
		f.chunked("array", root)
		return nil
	}
	if !errors.Is(err, zarr.ErrNode) && !errors.Is(err, fs.ErrNotExist) {
		return err // of an array that can't be read
	}
	group, problem := zarr.OpenGroup(ctx, s, "")
	if errors.Is(problem, fs.ErrNotExist) {
		problem = err
	}
	if problem != nil {
		return problem
	}
	names, err := group.Arrays(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if len(f.order) >= maxList {
			f.order = append(f.order, name)
		} else if a, err := group.Open(ctx, name, options...); err == nil {
			f.chunked(name, a)
		} else {
			f.add(&entry{Name: name, Type: clip(err.Error()), load: func(...tensor.Index) (tensor.Any, error) { return tensor.Any{}, err }})
		}
	}
	return nil
}

func (f *File) chunked(name string, a *zarr.Array) {
	m := a.Metadata()
	e := &entry{Name: name, Type: m.DType.String(), Shape: m.Shape, Bytes: m.DType.Bits() / 8}
	for _, n := range m.Shape {
		if n > 0 && e.Bytes > math.MaxInt/n { // what metadata says may be more than an int has
			n, e.Bytes = 1, math.MaxInt
		}
		e.Bytes *= n
	}
	var codecs []string
	for _, c := range m.Codecs {
		if c.Name != "bytes" {
			codecs = append(codecs, strings.TrimPrefix(c.Name, "numcodecs."))
		}
	}
	e.Chunks = fmt.Sprintf("version %d, chunks %v %s", m.Version, m.Chunks, strings.Join(codecs, " "))
	e.load = func(idx ...tensor.Index) (tensor.Any, error) { return a.Index(context.Background(), idx...) }
	f.add(e)
}

// A folder is a store of files that are read.
type folder map[string]*io.SectionReader

func (d folder) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	r := d[key]
	if r == nil {
		return nil, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	if most = min(most, maxWhole); r.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes; up to %d are read: %w", key, r.Size(), most, zarr.ErrLimit)
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
