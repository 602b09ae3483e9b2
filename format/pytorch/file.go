package pytorch

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxPickle is the longest pickle accepted, in bytes.
const MaxPickle = 256 << 20

// A File is an open file of PyTorch. It is a [format.File]. Its methods may be called concurrently.
type File struct {
	path     string
	buf      *mem.Buffer // nil: elements are read by parts
	r        io.ReaderAt
	size     int64
	about    string
	big      bool // elements are big-endian
	names    []string
	arrays   map[string]*array
	metadata map[string]string
}

// Open maps a file and reads its pickle. Close it when its tensors are no longer used. It must not be truncated before: an
// access beyond its new end is an error inside tensor.Try, and ends the program outside.
func Open(path string) (*File, error) {
	f, err := formats.Mapped("pytorch", path, New)
	if err != nil {
		return nil, err
	}
	f.path = path
	return f, nil
}

// New reads the pickle of a file that is in memory. The File takes over buf, and Close closes it; on an error buf stays the
// caller's.
func New(buf *mem.Buffer) (*File, error) {
	if buf == nil {
		return nil, fail(-1, "", format.ErrShort, "there is no buffer: it is nil")
	}
	f := &File{buf: buf, size: int64(buf.Len())}
	err := formats.Guarded("pytorch", func() error {
		f.r = bytes.NewReader(buf.Bytes())
		return f.read()
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// read reads the pickle of either form.
func (f *File) read() error {
	head := make([]byte, min(4, f.size))
	if _, err := f.r.ReadAt(head, 0); err != nil && err != io.EOF {
		return fail(0, "", err, "%v", disk.Bare(err))
	}
	switch {
	case string(head) == "PK\x03\x04":
		return f.readZip()
	case len(head) > 0 && head[0] == 0x80:
		return f.readLegacy()
	}
	return fail(0, "", format.ErrFormat, "it begins with %q, neither as a zip file nor as a pickle of protocol 2 or later; torch.save writes both", head)
}

// section returns n bytes of the file at off, which are in it; mapped ones in place.
func (f *File) section(off, n int64) ([]byte, error) {
	if f.buf != nil {
		return f.buf.Bytes()[off : off+n], nil
	}
	b := make([]byte, n)
	if k, err := f.r.ReadAt(b, off); int64(k) < n {
		return nil, fail(off+int64(k), "", cmp.Or(err, io.ErrUnexpectedEOF), "the file ends early")
	}
	return b, nil
}

func (f *File) machine(b []byte, base int64) *machine {
	return &machine{b: b, base: base, room: 48<<20 + 5*f.size, call: call}
}

// readZip reads the form of PyTorch since 1.6, and of TorchScript: a zip file of entries that aren't compressed, data.pkl and
// a storage each, in one folder (torch/serialization.py, caffe2/serialize/inline_container.cc).
func (f *File) readZip() error {
	z, err := zip.NewReader(f.r, f.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are never used as paths
		return fail(-1, "", format.ErrFormat, "a zip file: %v", err)
	}
	entries := make(map[string]*zip.File, len(z.File))
	for _, e := range z.File {
		if entries[e.Name] != nil {
			return fail(-1, "", format.ErrFormat, "the archive has the entry %.100q twice", e.Name)
		}
		entries[e.Name] = e
	}
	folder := ""
	if len(z.File) > 0 {
		folder, _, _ = strings.Cut(z.File[0].Name, "/")
	}
	type part struct{ begin, end int64 }
	used := make(map[string]part)
	find := func(name string) (part, error) {
		e := entries[folder+"/"+name]
		if e == nil {
			return part{}, fail(-1, "", format.ErrFormat, "the archive has no entry %.100q, which torch.save writes", folder+"/"+name)
		}
		if p, ok := used[name]; ok {
			return p, nil
		}
		begin, err := e.DataOffset()
		n := int64(min(e.UncompressedSize64, math.MaxInt64))
		switch {
		case e.Flags&1 != 0:
			return part{}, fail(-1, "", format.ErrFormat, "the entry %.100q is encrypted", e.Name)
		case e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64:
			return part{}, fail(-1, "", format.ErrFormat, "the entry %.100q is compressed, which torch.save never does; load and save the file, or store its entries (zip -0)", e.Name)
		case err != nil || begin > f.size || n > f.size-begin:
			return part{}, fail(-1, "", format.ErrShort, "the entry %.100q of %d bytes reaches beyond the file", e.Name, n)
		}
		used[name] = part{begin, begin + n}
		return used[name], nil
	}
	p, err := find("data.pkl")
	if err != nil {
		return err
	}
	if n := p.end - p.begin; n > MaxPickle {
		return fail(p.begin, "", format.ErrLimit, "a pickle of %d bytes; the most is %d", n, MaxPickle)
	}
	pickle, err := f.section(p.begin, p.end-p.begin)
	if err != nil {
		return err
	}
	if sum := entries[folder+"/data.pkl"].CRC32; sum != 0 && sum != crc32.ChecksumIEEE(pickle) { // 0: written without
		return fail(p.begin, "", format.ErrFormat, "the pickle is damaged: its checksum isn't that of the archive")
	}
	if e := entries[folder+"/byteorder"]; e != nil {
		p, err := find("byteorder")
		if err != nil {
			return err
		}
		word, err := f.section(p.begin, min(p.end-p.begin, 16))
		if err != nil {
			return err
		}
		switch string(word) {
		case "little":
		case "big":
			f.big = true
		default:
			return fail(p.begin, "", format.ErrFormat, "the byte order %q", word)
		}
	}
	if f.about = "PyTorch"; entries[folder+"/constants.pkl"] != nil {
		f.about = "TorchScript"
	}
	roots := make(map[string]*root)
	m := f.machine(pickle, p.begin)
	m.persistent = func(id []any) (any, *format.Error) {
		return persistent(id, func(key string, wide, _ int64) (*root, *format.Error) {
			if r := roots[key]; r != nil {
				return r, nil
			}
			p, err := find("data/" + key)
			if err != nil {
				return nil, err.(*format.Error)
			}
			roots[key] = &root{p.begin, p.end - p.begin, wide}
			return roots[key], nil
		})
	}
	v, bad := m.load()
	if bad != nil {
		return bad
	}
	parts := slices.SortedFunc(maps.Values(used), func(a, b part) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(parts); i++ {
		if parts[i-1].end > parts[i].begin {
			return fail(parts[i].begin, "", format.ErrFormat, "two entries share bytes of the archive")
		}
	}
	return f.name(v, m.room)
}

// The first two pickles of a legacy file: torch/serialization.py, MAGIC_NUMBER and PROTOCOL_VERSION.
var (
	magic, _ = new(big.Int).SetString("1950a86a20f9469cfc6c", 16)
	protocol = int64(1001)
)

// readLegacy reads the form of PyTorch before 1.6: five pickles, magic, version, machine, object and keys of storages, and
// then for each key a count of 8 bytes and that many elements, all of them little-endian (torch/csrc/serialization.cpp).
func (f *File) readLegacy() error {
	for n := min(f.size, 1<<20); ; n = min(4*n, f.size) {
		if f.buf != nil {
			n = min(f.size, MaxPickle)
		}
		b, err := f.section(0, n)
		if err != nil {
			return err
		}
		err = f.readPickles(b)
		if !errors.Is(err, format.ErrShort) || n == f.size || n >= MaxPickle {
			return err
		}
	}
}

// readPickles reads a legacy file whose pickles are in b.
func (f *File) readPickles(b []byte) error {
	m := f.machine(b, 0)
	first, err := m.load()
	if v, ok := first.(*big.Int); err == nil && (!ok || v.Cmp(magic) != 0) {
		return fail(0, "", format.ErrFormat, "it is a pickle, and not of torch.save: that begins with a number which is missing")
	}
	var version, system, v, keys any
	if err == nil {
		version, err = m.load()
	}
	if err == nil && version != any(protocol) {
		return fail(int64(m.op), "", format.ErrFormat, "version %v of the format; %d is read", version, protocol)
	}
	if err == nil {
		system, err = m.load()
	}
	roots := make(map[string]*root)
	m.persistent = func(id []any) (any, *format.Error) {
		return persistent(id, func(key string, wide, count int64) (*root, *format.Error) {
			r := roots[key]
			if r == nil {
				r = &root{-1, count * wide, wide}
				roots[key] = r
			}
			return r, nil
		})
	}
	if err == nil {
		v, err = m.load()
	}
	if m.persistent = nil; err == nil {
		keys, err = m.load()
	}
	if err != nil {
		return err
	}
	list, ok := keys.(*seq)
	if !ok {
		return fail(int64(m.op), "", format.ErrFormat, "%s in place of the keys of storages", kindOf(keys))
	}
	at := int64(m.at)
	for _, k := range list.items {
		key, _ := textOf(k)
		r := roots[key]
		if r == nil || r.off >= 0 {
			return fail(at, "", format.ErrFormat, "the storage %.100q, which no tensor has or which stands there twice", key)
		}
		if f.size-at < 8 {
			return fail(at, "", format.ErrShort, "the file ends before the storage %.100q", key)
		}
		head, err := f.section(at, 8)
		if err != nil {
			return err
		}
		if n := binary.LittleEndian.Uint64(head); n != uint64(r.size/r.wide) {
			return fail(at, "", format.ErrFormat, "the storage %.100q has %d elements, and %d in the pickle", key, n, r.size/r.wide)
		}
		if at += 8; r.size > f.size-at {
			return fail(at, "", format.ErrShort, "the storage %.100q has %d bytes, and the file ends after %d", key, r.size, f.size-at)
		}
		r.off = at
		at += r.size
	}
	for key, r := range roots {
		if r.off < 0 {
			return fail(at, "", format.ErrShort, "the storage %.100q isn't among those of the file", key)
		}
	}
	f.about = "PyTorch, legacy"
	if err := f.name(v, m.room); err != nil {
		return err
	}
	if d, ok := system.(*dict); ok && d.get("little_endian") == false {
		for _, a := range f.arrays {
			if a.d.IsComplex() { // written as integers of their size
				refused(a, "complex numbers that a big-endian machine wrote")
			}
		}
	}
	return nil
}

// name finds the tensors in the value of the pickle.
func (f *File) name(v any, room int64) error {
	w := walk{room: &room, arrays: make(map[string]*array), metadata: make(map[string]string), holds: make(map[any]bool), within: make(map[*object]bool)}
	found, err := w.find(v, 0)
	switch {
	case err != nil:
		return err
	case !found && (kindOf(v) != "a dictionary" && kindOf(v) != "a list"):
		return fail(-1, "", format.ErrType, "it holds %s and no tensors: save a state_dict", kindOf(v))
	case !found: // a dictionary without tensors is one of none
		err = w.describe("", v)
	default:
		err = w.visit("", v, 0, false)
	}
	if err != nil {
		return err
	}
	f.names, f.arrays, f.metadata = w.names, w.arrays, w.metadata
	most := max(48<<20, 8*f.size)
	for _, a := range f.arrays {
		if n := formats.Bytes(a.d, a.shape...); a.why == nil && n > most && n > a.root.size {
			a.reason, a.why = "elements that stand for others over and over, more than a file of this size may have; save a clone of it", format.ErrLimit
		}
	}
	return nil
}

// Close ends the file and every tensor of it that is not a copy: a later access to one panics with an error wrapping
// tensor.ErrClosed.
func (f *File) Close() error {
	if f.buf == nil {
		return nil
	}
	return f.buf.Close()
}

// About says which form the file has: PyTorch, or PyTorch, legacy, or TorchScript.
func (f *File) About() string { return f.about }

// Names returns the names of the tensors in the order in which the file has them. A name is the keys on the way to the
// tensor with dots between, as "model.conv1.weight" and "optimizer.state.0.exp_avg", and of a file of one tensor "array".
func (f *File) Names() []string { return slices.Clone(f.names) }

// Metadata returns the other values of the file, by name: plain data as JSON, and of objects their class.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

func (f *File) find(name string) (*array, error) {
	a := f.arrays[name]
	if a == nil {
		return nil, formats.Within(f.path, fail(-1, name, format.ErrName, "the file has no such tensor; Names lists the %d it has", len(f.names)))
	}
	return a, nil
}

// Info describes a tensor without touching its elements.
func (f *File) Info(name string) (format.Info, error) {
	a, err := f.find(name)
	if err != nil {
		return format.Info{}, err
	}
	i := format.Info{Type: a.d.String(), DType: a.d, Shape: slices.Clone(a.shape), Bytes: formats.Bytes(a.d, a.shape...), Layout: a.lay}
	if a.why != nil {
		i.Type, i.DType, i.Bytes, i.Text = "no tensor holds it", dtype.Invalid, 0, a.reason+", which no tensor holds"
		if a.name != "" {
			i.Type, i.Bytes = a.name, int64(a.size)*int64(a.lay.Size())
			i.Text = formats.Typed(a.name, a.shape) + ", " + i.Text
		}
		return i, nil
	}
	var storage []string
	if a.lay.IsRowMajor() {
		i.Offset = a.root.off + a.begin
	} else {
		storage = append(storage, "strides "+a.lay.Strides().String())
	}
	if f.big {
		storage = append(storage, "big-endian")
	}
	i.Storage = strings.Join(storage, ", ")
	return i, nil
}

// Tensor returns a tensor of the file with its strides, or the part of it that idx selects, as [tensor.Slice] does, and
// read-only: its elements are the file's own memory, which it shares with other tensors of the same storage. They are copied,
// and writable, in three cases alone: they aren't aligned for their type, as in legacy files; they are in the other byte order
// than the machine's; and a bool has bytes other than 0 and 1, which count as true. No other elements are read. It fails with
// format.ErrType for a type or a kind of tensor that isn't read, and for an index that doesn't fit, with the error of tensor.Slice wrapped.
func (f *File) Tensor(name string, idx ...layout.Index) (tensor.Any, error) {
	a, err := f.find(name)
	switch {
	case err != nil:
		return tensor.Any{}, err
	case a.why != nil:
		return tensor.Any{}, f.fail(a, name, a.why, "no tensor holds it: %s", a.reason)
	}
	off, swapped := a.root.off+a.begin, f.big != conv.BigEndian
	if f.buf == nil {
		t, err := disk.ReadPart(f.r, a.d, &a.lay, off, swapped, idx...)
		return t, f.in(a, name, err)
	}
	if f.buf.Closed() {
		return tensor.Any{}, f.fail(a, name, tensor.ErrClosed, "the file is closed")
	}
	t, _, err := disk.SliceBytes(a.d, f.buf, int(off), a.lay, swapped, idx...)
	return t, f.in(a, name, err)
}

// in names the tensor of an error.
func (f *File) in(a *array, name string, err error) error {
	if err == nil {
		return nil
	}
	if wrong := formats.WrongIndex("pytorch", name, err); wrong != nil {
		return formats.Within(f.path, wrong)
	}
	return f.fail(a, name, err, "%v", disk.Bare(err))
}

func (f *File) fail(a *array, name string, err error, text string, args ...any) error {
	return formats.Within(f.path, fail(a.at, name, err, text, args...))
}
