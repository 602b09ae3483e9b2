package zarr

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Roots are the values of which the root of a hierarchy has one.
var Roots = []string{"zarr.json", ".zarray", ".zgroup"}

// sign recognizes Zarr by the name of a file, and kerchunk's references by their first key.
func sign(head []byte, named bool) format.Sign {
	rest, object := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	rest = bytes.TrimSpace(rest)
	for _, key := range []string{`"version"`, `"templates"`, `"refs"`, `".zgroup"`, `".zattrs"`, `".zmetadata"`, `".zarray"`, `"zarr.json"`} {
		if n := min(len(key), len(rest)); object && n > 3 && string(rest[:n]) == key[:n] {
			return format.Begin
		}
	}
	return format.ByName(head, named)
}

// zipped recognizes Zarr by the metadata of an array or a group.
func zipped(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(nodes, path.Base(name)) })
}

func init() {
	format.Register(&format.Format{Name: "zarr", Ends: []string{".zarr", ".zarr.zip"}, Several: true, Sign: sign, Zipped: zipped, Open: openFile,
		Folder: func(dir string) bool {
			return slices.ContainsFunc(Roots, func(name string) bool {
				_, err := os.Stat(filepath.Join(dir, name))
				return err == nil
			})
		},
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			store := Memory()
			if err := put(context.Background(), store, arrays, o.Chunks, ""); err != nil {
				return err
			}
			return WriteZip(context.Background(), w, store)
		},
		Fill: func(dir string, arrays []format.Array, o format.WriteOptions) error {
			store, err := Dir(dir)
			if err != nil {
				return err
			}
			return put(context.Background(), store, arrays, o.Chunks, "")
		}})
}

// A Hierarchy presents the arrays of a store as a format.File. It opens an array at its first use.
type Hierarchy struct {
	root    string // the name of an array at the root; "" for a group
	group   *Group
	store   Store
	names   []string
	set     Options // Unfinished: unfinished arrays may be read
	arrays  map[string]*Array
	refused map[string]error // of arrays that aren't finished
	closer  io.Closer
	path    string // of a file or a folder that openFile has opened, for errors
}

// OpenStore opens the arrays of a store. An array at its root has the name root. Arrays that aren't finished can be described,
// but are read only with Options.Unfinished.
func OpenStore(store Store, root string, opts *Options) (*Hierarchy, error) {
	h := &Hierarchy{root: root, store: store, set: settingsOf(opts), arrays: make(map[string]*Array), refused: make(map[string]error)}
	_, err := h.Array(root)
	if err == nil {
		h.names = []string{root}
		return h, nil
	}
	if !errors.Is(err, ErrNode) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // of an array that can't be read
	}
	group, problem := OpenGroup(context.Background(), store, "")
	if errors.Is(problem, fs.ErrNotExist) {
		problem = err
	}
	if problem == nil {
		h.root, h.group = "", group
		h.names, problem = group.Arrays(context.Background())
	}
	if problem != nil {
		return nil, problem
	}
	return h, nil
}

// OpenMember opens an array of a store by its path, or the field of an array of structs. It needs no list of the store's keys.
func OpenMember(store Store, name string, opts *Options) (*Hierarchy, error) {
	group, err := OpenGroup(context.Background(), store, "")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNode) {
		group, err = &Group{store: store}, nil // a path leads below it all the same
	}
	if err != nil {
		return nil, err
	}
	h := &Hierarchy{group: group, store: store, names: []string{name}, set: settingsOf(opts), arrays: make(map[string]*Array), refused: make(map[string]error)}
	_, err = h.Array(name)
	return h, err
}

// Array opens an array.
func (h *Hierarchy) Array(name string) (*Array, error) {
	if a := h.arrays[name]; a != nil {
		return a, nil
	}
	open := func(unfinished bool) (*Array, error) {
		o := h.set
		o.Unfinished = unfinished
		if h.group == nil { // root.field is .field
			return Open(context.Background(), h.store, strings.TrimPrefix(name, h.root), &o)
		}
		return h.group.Open(context.Background(), name, &o)
	}
	a, err := open(false)
	if errors.Is(err, ErrUnfinished) {
		if !h.set.Unfinished {
			h.refused[name] = err
		}
		a, err = open(true)
	}
	if err == nil {
		h.arrays[name] = a
	}
	return a, err
}

// Spread opens all arrays, and replaces each array of structs by its fields. An array of a type or a codec that isn't known stays;
// to use it is an error.
func (h *Hierarchy) Spread() error {
	var names []string
	for _, name := range h.names {
		a, err := h.Array(name)
		if err != nil && !errors.Is(err, format.ErrType) && !errors.Is(err, ErrCodec) {
			return err
		}
		if a == nil || a.meta.Fields == nil {
			names = append(names, name)
			continue
		}
		for _, f := range a.meta.Fields {
			names = append(names, name+"."+f.Name)
		}
	}
	h.names = names
	return nil
}

// FileStore returns the store of a file of n bytes: a zip file, or a document of References. References may lead to files in the folder
// and URLs of the hosts.
func FileStore(r io.ReaderAt, n int64, folder string, hosts []string) (Store, error) {
	var head [64]byte
	k, _ := r.ReadAt(head[:], 0)
	if !bytes.HasPrefix(bytes.TrimSpace(head[:k]), []byte("{")) {
		return Zip(r, n)
	}
	document, err := io.ReadAll(io.NewSectionReader(r, 0, n))
	if err != nil {
		return nil, err
	}
	return References(document, &ReferenceOptions{Folder: folder, Hosts: hosts})
}

func fileStore(s *format.Source, r io.ReaderAt, n int64) (Store, error) {
	folder := ""
	if s.Path != "" {
		folder = filepath.Dir(s.Path)
	}
	return FileStore(r, n, folder, s.Hosts)
}

// openFile opens a folder, a zip file or references, with all arrays.
func openFile(s *format.Source) (format.File, error) {
	var store Store
	var closer io.Closer
	var err error
	switch info, problem := os.Stat(s.Path); {
	case s.Path == "" && s.At == nil:
		return nil, errors.New("a Zarr hierarchy is a folder or a file; give its path")
	case s.At != nil:
		store, err = fileStore(s, s.At, s.Size)
	case problem != nil:
		err = problem
	case info.IsDir():
		store, err = Dir(s.Path)
	default:
		var f *os.File
		if f, err = os.Open(s.Path); err == nil {
			closer = f
			store, err = fileStore(s, f, info.Size())
		}
	}
	var h *Hierarchy
	if err == nil {
		root := "array"
		if s.Path != "" {
			root = filepath.Base(filepath.Clean(s.Path))
		}
		root = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(root, ".zip"), ".json"), ".zarr")
		h, err = OpenStore(store, root, &Options{MaxBytes: cmp.Or(s.MaxBytes, 16<<30), Unfinished: s.Unfinished, CF: s.CF})
	}
	if z, ok := store.(*zipStore); ok && errors.Is(err, fs.ErrNotExist) {
		if i := slices.IndexFunc(z.keys, func(key string) bool { return slices.Contains(nodes, path.Base(key)) }); i >= 0 {
			err = fmt.Errorf("%w; but %.200q is there: put the hierarchy at the root of the zip file", err, z.keys[i])
		}
	}
	if err == nil {
		err = h.Spread()
	}
	if err == nil {
		h.closer, h.path = closer, s.Path
		return h, nil
	}
	if closer != nil {
		closer.Close()
	}
	return nil, disk.In(s.Path, disk.Bare(err))
}

func (h *Hierarchy) About() string   { return "Zarr" }
func (h *Hierarchy) Names() []string { return h.names }

// Info describes an array by its metadata.
func (h *Hierarchy) Info(name string) (i format.Info, err error) {
	a, err := h.Array(name)
	if err != nil {
		return i, disk.In(h.path, err)
	}
	m := a.Metadata()
	i = format.Info{Type: cmp.Or(m.Type, m.DType.String()), DType: m.DType, Shape: m.Shape, Bytes: formats.Bytes(m.DType, m.Shape...), Unfinished: m.Unfinished}
	if axes := len(m.Shape) - 1; m.chars > 0 && m.Type != "" {
		i.Shape, m.Chunks = m.Shape[:axes], m.Chunks[:axes]
		if m.Inner != nil {
			m.Inner = m.Inner[:axes]
		}
	}
	if a.text() {
		i.DType = dtype.Invalid
	}
	if m.varies() { // the chunks say it
		i.Bytes = 0
	}
	i.Storage = "chunks " + formats.Typed("", m.Chunks)
	if m.Inner != nil {
		i.Storage = "shards " + formats.Typed("", m.Chunks) + " of chunks " + formats.Typed("", m.Inner)
	}
	if a.cf != nil {
		i.Storage = a.cf.String() + ", " + i.Storage
	}
	var codecs []string
	for _, c := range m.Codecs {
		if c.Name != "bytes" {
			codecs = append(codecs, strings.TrimPrefix(c.Name, "numcodecs."))
		}
	}
	if len(codecs) > 0 {
		i.Storage += ", " + strings.Join(codecs, " ")
	}
	i.Storage += fmt.Sprintf(", version %d", m.Version)
	return i, nil
}

// Tensor reads an array, or the part that idx selects.
func (h *Hierarchy) Tensor(name string, idx ...layout.Index) (tensor.Any, error) {
	a, err := h.Array(name)
	if err == nil && a.text() {
		err = at(name, fail(format.ErrType, "strings, %s, which no tensor holds", a.meta.Type))
	}
	if err != nil {
		return tensor.Any{}, disk.In(h.path, err)
	}
	return h.elements(name, a, idx)
}

func (h *Hierarchy) elements(name string, a *Array, idx []layout.Index) (t tensor.Any, err error) {
	if err = h.refused[name]; err == nil && len(idx) == 0 {
		t, err = a.Read(context.Background())
	} else if err == nil {
		t, err = a.Index(context.Background(), idx...)
	}
	return t, disk.In(h.path, err)
}

// Strings returns the elements of an array of strings or times as text, and their shape. idx selects a part. For other arrays list
// is nil.
func (h *Hierarchy) Strings(name string, idx ...layout.Index) (list []string, shape []int, err error) {
	a, err := h.Array(name)
	if err != nil {
		return nil, nil, disk.In(h.path, err)
	}
	if !a.text() && !timeName.MatchString(a.meta.Type) {
		return nil, nil, nil
	}
	if err = h.refused[name]; err == nil {
		list, shape, err = a.Strings(context.Background(), idx...)
	}
	return list, shape, disk.In(h.path, err)
}

// Close closes the zip file.
func (h *Hierarchy) Close() error {
	if h.closer == nil {
		return nil
	}
	return h.closer.Close()
}

// pieces returns a shape of chunks of about a MiB, in which the last axes are whole if they fit.
func pieces(t tensor.Any) []int {
	left := max(1<<20/t.DType().Size(), 1)
	chunks := make([]int, t.Rank())
	for i := t.Rank() - 1; i >= 0; i-- {
		chunks[i] = max(1, min(t.Dim(i), left))
		left = max(left/chunks[i], 1)
	}
	return chunks
}

// Put writes tensors to an empty store: a single one at the root, several in a group. chunks is the shape of their chunks; nil: chunks of
// about a MiB. Until all are written, they are marked as unfinished, and by names their writer. If Put fails, it removes the values that
// it wrote. For a store that has values, Put returns an error that wraps fs.ErrExist, and changes nothing.
func Put(ctx context.Context, store Store, arrays []format.Array, chunks []int, by string) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if some, err := holds(ctx, store); err != nil || some {
		return cmp.Or(err, error(fail(fs.ErrExist, "it is there, and is never replaced: remove it, or take another name")))
	}
	err := put(ctx, store, arrays, chunks, by)
	if err != nil && !errors.Is(err, fs.ErrExist) { // ErrExist: another program just wrote there
		err = errors.Join(err, Remove(context.WithoutCancel(ctx), store, ""))
	}
	return err
}

// holds reports whether a store has a value. If the store is a Stater, it stops at the first one.
func holds(ctx context.Context, store Store) (some bool, err error) {
	s, ok := store.(Stater)
	if !ok {
		keys, err := store.List(ctx, "")
		return len(keys) > 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err = s.States(ctx, "", func(string, string) { some = true; stop() }); some {
		err = nil
	}
	return some, err
}

// put writes tensors to a store: a single one at the root, several in a group. Unless by is "", they are marked as unfinished until all
// are written.
func put(ctx context.Context, store Store, arrays []format.Array, shape []int, by string) error {
	var g *Group
	if len(arrays) != 1 || strings.Contains(arrays[0].Name, "/") {
		var err error
		if g, err = CreateGroup(ctx, store, "", nil); err != nil {
			return err
		}
	}
	var all []*Array
	for _, x := range arrays {
		name := cmp.Or(x.Name, "array")
		if g == nil {
			name = ""
		}
		chunks := pieces(x.Tensor)
		if shape != nil {
			if len(shape) != len(chunks) {
				return fmt.Errorf("%s: chunks of %d extents, %s has %d axes", x.Name, len(shape), tensor.Describe(x.Tensor), len(chunks))
			}
			for i := range chunks {
				chunks[i] = max(1, min(shape[i], x.Tensor.Dim(i)))
			}
		}
		a, err := Create(ctx, store, name, Metadata{DType: x.Tensor.DType(), Type: x.Type, Shape: x.Tensor.Shape(), Chunks: chunks, Unfinished: by}, nil)
		if err == nil {
			err = a.Write(ctx, make([]int, x.Tensor.Rank()), x.Tensor)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
		all = append(all, a)
	}
	for _, a := range all {
		if by == "" {
			break
		}
		if err := a.Finish(ctx); err != nil {
			return err
		}
	}
	if g == nil {
		return nil
	}
	return g.Consolidate(ctx)
}
