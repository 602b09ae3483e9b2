package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// A hierarchy is the arrays of a Zarr folder or zip file.
type hierarchy struct {
	io.Closer
	names   []string
	arrays  map[string]*zarr.Array
	refused map[string]error // of arrays that aren't finished
}

// add opens an array. One that isn't finished can be described, and without --unfinished not read.
func (h *hierarchy) add(name string, partly bool, open func(...zarr.Option) (*zarr.Array, error), opts ...zarr.Option) error {
	a, err := open(opts...)
	if errors.Is(err, zarr.ErrUnfinished) {
		if !partly {
			h.refused[name] = err
		}
		a, err = open(append(opts, zarr.Unfinished())...)
	}
	if err == nil {
		h.arrays[name] = a
	}
	return err
}

// isZarr reports whether a folder is a hierarchy.
func isZarr(path string) bool {
	for _, name := range []string{"zarr.json", ".zarray", ".zgroup"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return true
		}
	}
	return false
}

// stem is the name that the array at the root of a hierarchy goes by.
func (s *source) stem() string {
	name := filepath.Base(filepath.Clean(s.path))
	return strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".zarr")
}

// hierarchy opens the arrays of s by their metadata.
func (p *program) hierarchy(s *source) (*hierarchy, error) {
	if s.r != nil {
		return nil, errors.New("a Zarr hierarchy is a folder or a file; give its path")
	}
	h := &hierarchy{arrays: make(map[string]*zarr.Array), refused: make(map[string]error), Closer: io.NopCloser(nil)}
	most := cmp.Or(p.freely(), 16<<30)
	var store zarr.Store
	info, err := os.Stat(s.path)
	if err == nil && info.IsDir() {
		store, err = zarr.Dir(s.path)
	} else if err == nil {
		var f *os.File
		if f, err = os.Open(s.path); err == nil {
			h.Closer = f
			store, err = zarr.Zip(f, info.Size())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, bare(err))
	}
	ctx := context.Background()
	err = h.add(s.stem(), p.partly, func(o ...zarr.Option) (*zarr.Array, error) { return zarr.Open(ctx, store, "", o...) }, zarr.MaxBytes(most))
	if err == nil {
		h.names = []string{s.stem()}
		return h, nil
	}
	var group *zarr.Group
	if errors.Is(err, zarr.ErrNode) || errors.Is(err, fs.ErrNotExist) { // else an array that can't be read
		var problem error
		if group, problem = zarr.OpenGroup(ctx, store, ""); !errors.Is(problem, fs.ErrNotExist) {
			err = problem
		}
	}
	if err == nil {
		h.names, err = group.Arrays(ctx)
	}
	if err == nil {
		for _, name := range h.names {
			err = h.add(name, p.partly, func(o ...zarr.Option) (*zarr.Array, error) { return group.Open(ctx, name, o...) }, zarr.MaxBytes(most))
			if err != nil {
				break
			}
		}
	}
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return h, nil
}

func (h *hierarchy) Names() []string { return h.names }

func (h *hierarchy) Tensor(name string) (tensor.Any, error) {
	if err := h.refused[name]; err != nil {
		return tensor.Any{}, err
	}
	return h.arrays[name].Read(context.Background())
}

func (h *hierarchy) Slice(name string, idx ...tensor.Index) (tensor.Any, error) {
	if err := h.refused[name]; err != nil {
		return tensor.Any{}, err
	}
	return h.arrays[name].Index(context.Background(), idx...)
}

// zarrText describes an array by its metadata.
func zarrText(a *zarr.Array) string {
	m := a.Metadata()
	text := typed(m.DType.String(), m.Shape) + ", chunks " + typed("", m.Chunks)
	if m.Inner != nil {
		text = typed(m.DType.String(), m.Shape) + ", shards " + typed("", m.Chunks) + " of chunks " + typed("", m.Inner)
	}
	var codecs []string
	for _, c := range m.Codecs {
		if c.Name != "bytes" {
			codecs = append(codecs, strings.TrimPrefix(c.Name, "numcodecs."))
		}
	}
	if len(codecs) > 0 {
		text += ", " + strings.Join(codecs, " ")
	}
	if text = fmt.Sprintf("%s, version %d", text, m.Version); m.Unfinished != "" {
		text += ", unfinished: " + label(m.Unfinished)
	}
	return text
}

// unfinishedFlag adds --unfinished to a command that reads elements.
func (p *program) unfinishedFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.partly, "unfinished", false, "read Zarr arrays that aren't finished, too; what isn't written yet is the fill value")
}

// zarrChunks cuts a shape into chunks of about a MiB, the last axes whole where they fit.
func zarrChunks(t tensor.Any) []int {
	left := max(1<<20/t.DType().Size(), 1)
	chunks := make([]int, t.Rank())
	for i := t.Rank() - 1; i >= 0; i-- {
		chunks[i] = max(1, min(t.Dim(i), left))
		left = max(left/chunks[i], 1)
	}
	return chunks
}

// putZarr writes tensors to a store: one alone at the root, several in a group.
func putZarr(store zarr.Store, items []item, shape []int) error {
	ctx := context.Background()
	var g *zarr.Group
	if len(items) != 1 || strings.Contains(items[0].name, "/") {
		var err error
		if g, err = zarr.CreateGroup(ctx, store, "", nil); err != nil {
			return err
		}
	}
	for _, x := range items {
		name := cmp.Or(x.name, "array")
		if len(items) == 1 && !strings.Contains(name, "/") {
			name = ""
		}
		chunks := zarrChunks(x.t)
		if shape != nil {
			if len(shape) != len(chunks) {
				return fmt.Errorf("%s: --chunks has %d extents, %s has %d axes", label(x.name), len(shape), typed(x.t.DType().String(), x.t.Shape()), len(chunks))
			}
			for i := range chunks {
				chunks[i] = max(1, min(shape[i], x.t.Dim(i)))
			}
		}
		a, err := zarr.Create(ctx, store, name, zarr.Metadata{DType: x.t.DType(), Shape: x.t.Shape(), Chunks: chunks})
		if err == nil {
			err = a.Write(ctx, make([]int, x.t.Rank()), x.t)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label(x.name), err)
		}
	}
	if g == nil {
		return nil
	}
	return g.Consolidate(ctx)
}

// writeZarr makes a folder or, where the name ends in .zip, a zip file. A folder appears
// when it is whole; one that is there stays, and is an error.
func (v *conversion) writeZarr(items []item) error {
	if v.out == "-" || strings.HasSuffix(strings.ToLower(v.out), ".zip") {
		store := zarr.Memory()
		if err := putZarr(store, items, v.chunks); err != nil {
			return err
		}
		put := func(w io.Writer) error { return zarr.WriteZip(context.Background(), w, store) }
		if v.out == "-" {
			return put(pieces{v.p.out})
		}
		return v.p.writeFile(v.out, put)
	}
	if _, err := os.Lstat(v.out); err == nil {
		return errors.New("it is there, and a folder is never replaced: remove it, or take another name")
	}
	temp := filepath.Join(filepath.Dir(filepath.Clean(v.out)), fmt.Sprintf("ashlar-%016x.part", rand.Uint64()))
	if err := os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(temp) // gone after the rename
	done := removeOnSignal(temp)
	defer done()
	store, err := zarr.Dir(temp)
	if err == nil {
		err = putZarr(store, items, v.chunks)
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, v.out)
}
