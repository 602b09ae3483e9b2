package safetensors

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// File is an open safetensors file, or several files of an index. Its methods may be called concurrently.
type File struct {
	path   string
	index  *sharded // of the files that have the tensors; there is nothing else then
	buf    *mem.Buffer
	header *header
	byName map[string]int // index in header.entries
	packed map[int]*pack.Spec

	mu    sync.Mutex
	views map[int]tensor.Any // the tensors returned to callers that lie in buf
}

// Open maps a file and reads its header. Close it when its tensors are no longer
// used. The file must not be truncated before: an access beyond its new end is an
// error inside tensor.Try, and ends the program outside.
func Open(path string) (*File, error) {
	f, err := formats.Mapped("safetensors", path, New)
	if err != nil {
		return nil, err
	}
	f.path = path
	return f, nil
}

// ReadHeader reads the descriptions of the tensors in a file of size bytes, in their order, and its metadata. It reads no
// elements, so a file of any size opens at once; Info has their place. Info.Packed is nil except for types of six bits.
func ReadHeader(r io.ReaderAt, size int64) ([]Info, map[string]string, error) {
	if r == nil {
		return nil, nil, fail(-1, "", format.ErrShort, "the reader is nil")
	}
	if size < 0 || int64(int(size)) != size {
		return nil, nil, fail(-1, "", format.ErrLimit, "a file of %d bytes", size)
	}
	head := make([]byte, min(before, max(size, 0)))
	if _, err := r.ReadAt(head, 0); err != nil && !(errors.Is(err, io.EOF) && len(head) < before) {
		return nil, nil, fail(0, "", err, "%v", disk.Bare(err))
	}
	n, bad := headerBytes(head, int(size))
	if bad != nil {
		return nil, nil, bad
	}
	file := make([]byte, before+n)
	if k, err := r.ReadAt(file, 0); k < len(file) {
		return nil, nil, fail(int64(k), "", cmp.Or(err, io.ErrUnexpectedEOF), "the header ends early")
	}
	h, bad := parseSized(file, int(size))
	if bad != nil {
		return nil, nil, bad
	}
	list := make([]Info, len(h.entries))
	for i := range h.entries {
		list[i] = h.info(i)
	}
	return list, maps.Clone(h.metadata), nil
}

func (h *header) info(i int) Info {
	e := h.entries[i]
	x := Info{Name: e.name, Type: types[e.typ].name, DType: e.d, Shape: slices.Clone(e.shape), Offset: h.start + e.begin, Bytes: e.end - e.begin}
	if s, err := e.six(); err == nil && s != nil {
		x.DType, x.Packed = s.DType(), s
	}
	return x
}

// New reads the header of a file that is in memory: embedded, or received. The
// File owns buf, and Close closes it; after an error the caller still owns buf.
func New(buf *mem.Buffer) (*File, error) {
	if buf == nil {
		return nil, fail(-1, "", format.ErrShort, "there is no buffer: it is nil")
	}
	var h *header
	err := formats.Guarded("safetensors", func() error {
		var bad *format.Error
		if h, bad = parse(buf.Bytes()); bad != nil {
			return bad
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f := &File{buf: buf, header: h, byName: make(map[string]int, len(h.entries)), views: map[int]tensor.Any{}}
	for i, e := range h.entries {
		f.byName[e.name] = i
	}
	err = f.readDescribed()
	if err == nil {
		err = f.readSixes()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the file and every tensor of it that is not a copy: a later access
// to one panics with an error wrapping tensor.ErrClosed. tensor.Close of such a
// tensor does the same.
func (f *File) Close() error {
	if f.index != nil {
		return f.index.close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buf.Close()
}

// Names returns the tensors' names in the order of their bytes in the file;
// tensors without elements that stand at the same place keep the header's order. Of an
// index it returns the index's order.
func (f *File) Names() []string {
	if f.index != nil {
		return f.index.names()
	}
	names := make([]string, len(f.header.entries))
	for i, e := range f.header.entries {
		names[i] = e.name
	}
	return names
}

// Metadata returns a copy of the file's free text, by key; nil if it has none. Of an
// index, values that are no text are their JSON.
func (f *File) Metadata() map[string]string {
	if f.index != nil {
		return maps.Clone(f.index.metadata)
	}
	return maps.Clone(f.header.metadata)
}

// Info describes a tensor without touching its elements.
func (f *File) Info(name string) (Info, error) {
	f, i, err := f.find(name)
	if err != nil {
		return Info{}, err
	}
	info := f.header.info(i)
	info.Packed = f.packed[i]
	return info, nil
}

// find returns the place of a tensor in f, or in the file of an index that has it.
func (f *File) find(name string) (*File, int, error) {
	if f.index != nil {
		shard, err := f.index.file(name)
		if err != nil {
			return nil, 0, err
		}
		f = shard
	}
	i, ok := f.byName[name]
	if !ok {
		return nil, 0, formats.Within(f.path, fail(-1, name, format.ErrName, "the file has no such tensor; Names lists the %d it has", len(f.byName)))
	}
	return f, i, nil
}

// Tensor returns a tensor of the file, row-major, or a pack.Tensor if the metadata
// describes one. It is read-only: its elements lie in the file's own memory. They are
// copied, and writable, only if they can't be used in place: if they aren't aligned
// for their type, as in files of old writers, on a big-endian machine, and for a BOOL
// with bytes other than 0 and 1, which count as true. Each element of F4 becomes a byte.
//
// With indices it returns the part that they select, as [tensor.Slice] does, a view or a
// copy as above. It reads no other elements, but unpacks a pack.Tensor and an F4 in full.
// An index that doesn't fit gives the error of tensor.Slice.
func (f *File) Tensor(name string, idx ...tensor.Index) (tensor.Any, error) {
	f, i, err := f.find(name)
	if err != nil {
		return tensor.Any{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(idx) > 0 {
		return f.chosen(i, idx)
	}
	if a, ok := f.views[i]; ok && !f.buf.Closed() {
		return a, nil
	}
	a, shared, err := f.whole(i)
	if shared {
		f.views[i] = a
	}
	return a, err
}

// chosen returns a part of tensor i, in elements where blocks hold it.
func (f *File) chosen(i int, idx []tensor.Index) (tensor.Any, error) {
	if f.packed[i] == nil {
		a, _, err := f.part(f.header.entries[i], idx)
		return a, err
	}
	a, _, err := f.whole(i)
	if err == nil {
		a, err = a.Foreign().(pack.Tensor).Unpack()
	}
	if err != nil {
		return tensor.Any{}, err
	}
	return f.slice(f.header.entries[i].name, a, idx)
}

// whole makes a tensor of an entry. shared tells that it lies in f.buf.
func (f *File) whole(i int) (a tensor.Any, shared bool, err error) {
	e, s := f.header.entries[i], f.packed[i]
	if s != nil && e.d == dtype.Invalid { // of six bits
		p, err := pack.FromBytes(*s, f.buf, f.header.start+e.begin)
		if err != nil {
			return tensor.Any{}, false, f.fail(e, err, "%v", err)
		}
		return p.Any(), true, nil
	}
	if a, shared, err = f.part(e, nil); err != nil || s == nil {
		return a, shared, err
	}
	if n := s.ScaleBytes(); s.Format() != nil {
		var full pack.Spec
		err = ram.Guard(func() (err error) {
			at := f.header.start + e.end - n
			full, err = s.WithScales(f.buf.Bytes()[at : at+n])
			return err
		})
		s = &full
	}
	if err != nil {
		return tensor.Any{}, false, f.fail(e, err, "%v", err)
	}
	var p pack.Tensor
	if shared {
		p, err = pack.FromBytes(*s, f.buf, f.header.start+e.begin)
	} else {
		var own *mem.Buffer
		if own, err = mem.AllocDirty(s.Bytes()); err == nil {
			b, _ := tensor.Bytes(a)
			copy(own.Bytes(), b)
			runtime.KeepAlive(a)
			p, err = pack.FromBytes(*s, own, 0)
		}
	}
	if err != nil {
		return tensor.Any{}, false, f.fail(e, err, "%v", err)
	}
	return p.Any(), shared, nil
}

// part makes a tensor of a part of an entry. shared tells that it lies in f.buf.
func (f *File) part(e entry, idx []tensor.Index) (a tensor.Any, shared bool, err error) {
	if f.buf.Closed() {
		return tensor.Any{}, false, f.fail(e, tensor.ErrClosed, "the file is closed")
	}
	if e.d.Bits() < 8 {
		if a, err = f.unpacked(e); err == nil {
			a, err = f.slice(e.name, a, idx)
		}
		return a, false, err
	}
	lay, err := layout.RowMajor(e.shape...)
	if err == nil {
		a, shared, err = disk.SliceBytes(e.d, f.buf, f.header.start+e.begin, lay, conv.BigEndian, idx...)
	}
	if wrong := formats.WrongIndex("safetensors", e.name, err); wrong != nil {
		err = formats.Within(f.path, wrong)
	} else if err != nil {
		err = f.fail(e, err, "%v", disk.Bare(err))
	}
	return a, shared, err
}

// slice is tensor.Slice, whose error says which tensor of which file it is about.
func (f *File) slice(name string, a tensor.Any, idx []tensor.Index) (tensor.Any, error) {
	a, err := tensor.Slice(a, idx...)
	return a, formats.Within(f.path, cmp.Or(formats.WrongIndex("safetensors", name, err), err))
}

// unpacked makes a tensor of an entry whose elements are smaller than a byte.
func (f *File) unpacked(e entry) (tensor.Any, error) {
	a, err := tensor.Make(e.d, e.shape...)
	if err != nil {
		return a, f.fail(e, err, "%v", disk.Bare(err))
	}
	b, _ := tensor.Bytes(a)
	err = ram.Guard(func() error {
		e.d.Unpack(b, f.buf.Bytes()[f.header.start+e.begin:f.header.start+e.end])
		return nil
	})
	runtime.KeepAlive(a)
	if err != nil {
		return tensor.Any{}, f.fail(e, err, "%v", disk.Bare(err))
	}
	return a, nil
}

func (f *File) fail(e entry, err error, text string, args ...any) error {
	return formats.Within(f.path, fail(int64(8+e.at), e.name, err, text, args...))
}
