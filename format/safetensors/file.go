package safetensors

import (
	"maps"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// File is an open safetensors file. Its methods may be called concurrently.
type File struct {
	path   string
	buf    *mem.Buffer
	header *header
	byName map[string]int // index in header.entries

	mu    sync.Mutex
	views map[int]tensor.Any // those handed out that lie in buf
}

// Open maps a file and reads its header. Close it when its tensors are no longer
// used; it must not be truncated before.
func Open(path string) (*File, error) {
	buf, err := mem.Map(path)
	if err != nil {
		return nil, in(path, fail(-1, "", err, "%v", cause(err)))
	}
	f, err := New(buf)
	if err != nil {
		buf.Close()
		return nil, in(path, err)
	}
	f.path = path
	return f, nil
}

// New reads the header of a file that is in memory: embedded, or received. The
// File takes over buf, and Close closes it; on an error buf stays the caller's.
func New(buf *mem.Buffer) (*File, error) {
	h, err := parse(buf.Bytes())
	if err != nil {
		return nil, err
	}
	f := &File{buf: buf, header: h, byName: make(map[string]int, len(h.entries)), views: map[int]tensor.Any{}}
	for i, e := range h.entries {
		f.byName[e.name] = i
	}
	return f, nil
}

// Close ends the file and every tensor of it that is not a copy: a later access
// to one panics with an error wrapping tensor.ErrClosed. tensor.Close of such a
// tensor does the same.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buf.Close()
}

// Names returns the tensors' names in the order of their bytes in the file;
// tensors without elements that stand at the same place keep the header's order.
func (f *File) Names() []string {
	names := make([]string, len(f.header.entries))
	for i, e := range f.header.entries {
		names[i] = e.name
	}
	return names
}

// Metadata returns a copy of the file's free text, by key; nil if it has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.metadata) }

// Info describes a tensor without touching its elements.
func (f *File) Info(name string) (Info, error) {
	i, err := f.find(name)
	if err != nil {
		return Info{}, err
	}
	e := f.header.entries[i]
	t := types[e.typ]
	return Info{Name: e.name, Type: t.name, DType: t.d, Shape: slices.Clone(e.shape), Offset: f.header.start + e.begin, Bytes: e.end - e.begin}, nil
}

func (f *File) find(name string) (int, error) {
	i, ok := f.byName[name]
	if !ok {
		return 0, in(f.path, fail(-1, name, ErrName, "the file has no such tensor; Names lists the %d it has", len(f.byName)))
	}
	return i, nil
}

// Tensor returns a tensor of the file, row-major and read-only: its elements are
// the file's own memory. They are copied, and writable, only where they can't be
// used in place: when they aren't aligned for their type, which files of old
// writers may have, on a big-endian machine, and for a BOOL with bytes other
// than 0 and 1, which count as true.
func (f *File) Tensor(name string) (tensor.Any, error) {
	i, err := f.find(name)
	if err != nil {
		return nil, err
	}
	e := f.header.entries[i]
	t := types[e.typ]
	if t.d == dtype.Invalid {
		return nil, f.fail(e, ErrType, "no tensor holds elements of %s", t.name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buf.Closed() {
		return nil, f.fail(e, tensor.ErrClosed, "the file is closed")
	}
	if a, ok := f.views[i]; ok {
		return a, nil
	}
	lay, err := layout.RowMajor(e.shape...)
	if err != nil {
		return nil, f.fail(e, err, "%v", err)
	}
	from := f.header.start + e.begin
	bytes := f.buf.Bytes()[from : f.header.start+e.end]
	if (!conv.BigEndian || conv.Unit(t.d) == 1) && (t.d != dtype.Bool || conv.IsBool(bytes)) {
		if a, err := tensor.FromBytes(t.d, f.buf, from, lay); err == nil {
			f.views[i] = a
			return a, nil
		} // not aligned for its type
	}
	own, err := mem.AllocDirty(len(bytes))
	if err != nil {
		return nil, f.fail(e, err, "%v", err)
	}
	to := own.Bytes()
	copy(to, bytes)
	if conv.BigEndian {
		conv.Reverse(to, conv.Unit(t.d))
	}
	if t.d == dtype.Bool {
		for i, v := range to {
			to[i] = min(v, 1)
		}
	}
	a, err := tensor.FromBytes(t.d, own, 0, lay)
	if err != nil {
		own.Close()
		return nil, f.fail(e, err, "%v", err)
	}
	return a, nil
}

func (f *File) fail(e entry, err error, format string, args ...any) error {
	return in(f.path, fail(int64(8+e.at), e.name, err, format, args...))
}
