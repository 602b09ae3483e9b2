package gguf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

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

// File is an open GGUF file, or all files that a model is split into. Its methods may be called concurrently.
type File struct {
	parts []part
	names []string
	where map[string]place
}

// A part is one file.
type part struct {
	path   string
	buf    *mem.Buffer
	header *header
}

// A place is a tensor of a part.
type place struct{ part, tensor int }

// Open maps a file and reads its header. If the header says that the model is split into several files, Open opens all of them:
// they lie in one folder, and their names end in -00001-of-00003.gguf and so on. Close it when its tensors are no longer used. A
// file must not be truncated before: an access beyond its new end is an error inside tensor.Try, and ends the program outside.
func Open(path string) (*File, error) {
	f := &File{}
	err := f.open(path)
	if err == nil {
		err = f.index()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// New reads the header of a file that is in memory. For a split model it opens only this one of its files. The File owns buf, and
// Close closes it; after an error the caller still owns buf.
func New(buf *mem.Buffer) (*File, error) {
	if buf == nil {
		return nil, fail(-1, "", format.ErrShort, "there is no buffer: it is nil")
	}
	p, err := read(buf)
	if err != nil {
		return nil, err
	}
	f := &File{parts: []part{p}}
	if err := f.index(); err != nil {
		return nil, err
	}
	return f, nil
}

func read(buf *mem.Buffer) (p part, err error) {
	p.buf = buf
	err = formats.Guarded("gguf", func() error {
		var bad *format.Error
		if p.header, bad = parse(buf.Bytes()); bad != nil {
			return bad
		}
		return nil
	})
	return p, err
}

// add opens one file.
func (f *File) add(path string) error {
	p, err := formats.Mapped("gguf", path, read)
	if err != nil {
		return err
	}
	p.path = path
	f.parts = append(f.parts, p)
	return nil
}

var splitName = regexp.MustCompile(`-([0-9]{5})-of-([0-9]{5})\.gguf$`)

// open opens a file and, if the model is split, the other files of the model.
func (f *File) open(path string) error {
	if err := f.add(path); err != nil {
		return err
	}
	count := f.parts[0].whole(splitCount)
	if count < 2 {
		return nil
	}
	m := splitName.FindStringSubmatch(filepath.Base(path))
	number := -1
	if m != nil && m[2] == fmt.Sprintf("%05d", count) {
		number, _ = strconv.Atoi(m[1])
		number--
	}
	if number < 0 || number >= count {
		return in(path, fail(-1, "", format.ErrName, "it is one of %d files of a model, whose names end in -00001-of-%05[1]d.gguf and so on, and its name doesn't: call it so", count))
	}
	for i := range count {
		if i == number {
			continue
		}
		name := fmt.Sprintf("%s-%05d-of-%05d.gguf", strings.TrimSuffix(path, m[0]), i+1, count)
		if err := f.add(name); err != nil {
			var own *format.Error
			if errors.As(err, &own) {
				own.Text += fmt.Sprintf("; it is one of the %d files of the model of %s", count, path)
			}
			return err
		}
	}
	f.parts = slices.Insert(f.parts[1:], number, f.parts[0])
	for i, p := range f.parts {
		if n, of := p.whole(splitNumber), p.whole(splitCount); n != i || of != count {
			return in(p.path, fail(-1, splitNumber, format.ErrFormat, "it says that it is file %d of %d, from 0 on, and by its name it is %d of %d", n, of, i, count))
		}
	}
	return nil
}

// whole returns an integer of the metadata, 0 if it isn't there.
func (p *part) whole(key string) int {
	i, ok := p.header.byKey[key]
	if !ok || sizes[p.header.keys[i].typ] == 0 { // a text or an array may be as large as the file
		return 0
	}
	v, err := p.value(key)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// index collects the tensors of all parts.
func (f *File) index() error {
	f.where = make(map[string]place)
	for i, p := range f.parts {
		for k := range p.header.tensors {
			e := &p.header.tensors[k]
			if other, twice := f.where[e.Name]; twice {
				return in(p.path, fail(e.at, e.Name, format.ErrFormat, "the tensor is in %s, too", f.parts[other.part].path))
			}
			f.where[e.Name] = place{i, k}
			f.names = append(f.names, e.Name)
		}
	}
	_, said := f.parts[0].header.byKey[splitTensors]
	if n := f.parts[0].whole(splitTensors); len(f.parts) > 1 && said && n != len(f.names) {
		return in(f.parts[0].path, fail(-1, splitTensors, format.ErrFormat, "the model has %d tensors, and its %d files have %d", n, len(f.parts), len(f.names)))
	}
	return nil
}

// Close closes the file and every tensor of it that is not a copy: a later access to one panics with an error wrapping
// tensor.ErrClosed. tensor.Close of such a tensor does the same to its file.
func (f *File) Close() error {
	var first error
	for _, p := range f.parts {
		if err := p.buf.Close(); first == nil {
			first = err
		}
	}
	return first
}

// Files returns the paths of the files: one, or several if the model is split; nil for a File of New.
func (f *File) Files() (paths []string) {
	for _, p := range f.parts {
		if p.path != "" {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// Version returns the version of the format, 2 or 3.
func (f *File) Version() int { return int(f.parts[0].header.version) }

// Names returns the tensors' names in the order of the header.
func (f *File) Names() []string { return slices.Clone(f.names) }

// Keys returns the keys of the metadata in the order of the header; for a split model, the keys of the first file.
func (f *File) Keys() (keys []string) {
	for _, k := range f.parts[0].header.keys {
		keys = append(keys, k.name)
	}
	return keys
}

// Value returns a value of the metadata: a uint8, int8, uint16, int16, uint32, int32, float32, bool, string, uint64, int64 or
// float64, or a slice of one of these types. An array of arrays is a []any of slices. Value fails if there is no such key, if a
// bool in an array isn't 0 or 1, and if the file is closed.
func (f *File) Value(key string) (any, error) {
	v, err := f.parts[0].value(key)
	return v, in(f.parts[0].path, err)
}

func (p *part) value(key string) (v any, err error) {
	i, ok := p.header.byKey[key]
	if !ok {
		return nil, fail(-1, key, format.ErrName, "the metadata has no such key; Keys lists the %d it has", len(p.header.keys))
	}
	if p.buf.Closed() {
		return nil, fail(-1, key, tensor.ErrClosed, "the file is closed")
	}
	k := p.header.keys[i]
	err = ram.Guard(func() error {
		c := &cursor{p.buf.Bytes(), k.at}
		var bad *format.Error
		if v, bad = c.value(k.typ, 0); bad != nil {
			bad.Name = key
			return bad
		}
		return nil
	})
	var own *format.Error
	if err != nil && !errors.As(err, &own) {
		err = fail(int64(k.at), key, err, "%v", disk.Bare(err))
	}
	return v, err
}

// Info describes a tensor without touching its elements.
func (f *File) Info(name string) (Info, error) {
	p, e, err := f.find(name)
	if err != nil {
		return Info{}, err
	}
	i, err := e.info()
	return i, in(p.path, err)
}

func (f *File) find(name string) (*part, *entry, error) {
	w, ok := f.where[name]
	if !ok {
		return nil, nil, in(f.parts[0].path, fail(-1, name, format.ErrName, "there is no such tensor; Names lists the %d that there are", len(f.names)))
	}
	p := &f.parts[w.part]
	return p, &p.header.tensors[w.tensor], nil
}

// Tensor returns a tensor, row-major and read-only, over the file's own memory. For blocks it is a pack.Tensor. Elements that
// aren't aligned for their type are copied, and all elements on a big-endian machine.
//
// With indices it returns the part that they select, as [tensor.Slice] does. It decodes the blocks from the first element of
// the part to the last, and reads no other elements. An index that doesn't fit gives a [format.Error] that wraps the one of tensor.Slice.
func (f *File) Tensor(name string, idx ...tensor.Index) (tensor.Any, error) {
	p, e, err := f.held(name)
	switch {
	case err != nil:
		return tensor.Any{}, err
	case e.kind.format == nil:
		return p.part(e, idx)
	case len(idx) > 0:
		return p.decoded(name, e, idx)
	}
	i, err := e.info()
	if err != nil {
		return tensor.Any{}, in(p.path, err)
	}
	packed, err := pack.FromBytes(*i.Packed, p.buf, e.Offset)
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	return packed.Any(), nil
}

// decoded returns a part of a tensor of blocks.
func (p *part) decoded(name string, e *entry, idx []tensor.Index) (tensor.Any, error) {
	whole, err := layout.RowMajor(e.Shape...)
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	lay, off, err := whole.Slice(idx...)
	if err != nil {
		return tensor.Any{}, in(p.path, formats.WrongIndex("gguf", name, tensor.Wrap("tensor.Slice", err)))
	}
	if lay.Size() == 0 {
		return tensor.Make(e.DType, lay.Shape()...)
	}
	// The blocks of all elements, as one row.
	k := e.kind
	lo, hi := lay.Span()
	first := (off + lo) / k.block
	n := (off+hi)/k.block + 1 - first
	s, err := pack.NewSpec(e.DType, []int{n * k.block}, &pack.Options{Format: k.format})
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	row, err := pack.FromBytes(s, p.buf, e.Offset+first*k.size)
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	values, err := row.Unpack()
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	out, err := tensor.Make(e.DType, lay.Shape()...)
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	single, _ := tensor.As[float32](values)
	data, from := single.Data()
	err = tensor.Copy(out, tensor.FromLayout(data[from+off+lo-first*k.block:], lay).Any())
	runtime.KeepAlive(single) // which has the memory of data
	if err != nil {
		return tensor.Any{}, p.fail(e, err)
	}
	return out, nil
}

// held finds a tensor that Tensor can return.
func (f *File) held(name string) (*part, *entry, error) {
	p, e, err := f.find(name)
	switch {
	case err != nil:
		return nil, nil, err
	case e.DType == dtype.Invalid:
		return nil, nil, in(p.path, fail(e.at, name, format.ErrType, "no tensor holds elements of %s", e.Type))
	case p.buf.Closed():
		return nil, nil, in(p.path, fail(e.at, name, tensor.ErrClosed, "the file is closed"))
	}
	return p, e, nil
}

// part makes a tensor of plain elements.
func (p *part) part(e *entry, idx []tensor.Index) (a tensor.Any, err error) {
	lay, err := layout.RowMajor(e.Shape...)
	if err == nil {
		a, _, err = disk.SliceBytes(e.DType, p.buf, e.Offset, lay, conv.BigEndian, idx...)
	}
	if wrong := formats.WrongIndex("gguf", e.Name, err); wrong != nil {
		err = in(p.path, wrong)
	} else if err != nil {
		err = p.fail(e, err)
	}
	return a, err
}

func (p *part) fail(e *entry, err error) error {
	return in(p.path, fail(e.at, e.Name, err, "%v", disk.Bare(err)))
}

// text writes a value for people. For a long array it writes the type and the number of elements, and reads no more of it.
func (f *File) text(key string) string {
	p := &f.parts[0]
	k := p.header.keys[p.header.byKey[key]]
	const most = 8
	long := ""
	err := ram.Guard(func() error {
		c := &cursor{p.buf.Bytes(), k.at}
		if k.typ != typeArray || p.buf.Closed() {
			return nil
		}
		of, n, bad := c.array(0)
		if bad != nil {
			return bad
		}
		if n > most || of == typeArray {
			long = fmt.Sprintf("%d of %s", n, typeNames[of])
		}
		return nil
	})
	if err != nil || long != "" {
		return long
	}
	v, err := f.Value(key)
	switch texts, ok := v.([]string); {
	case err != nil:
		return err.Error()
	case ok:
		return fmt.Sprintf("%q", texts)
	}
	return fmt.Sprint(v)
}
