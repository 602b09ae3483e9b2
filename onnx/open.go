package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

// source is where a decoded model came from. A model that a program put together has none.
type source struct {
	file   string
	buf    *mem.Buffer
	folder *wire.Folder // of files that the model names; nil if nothing says where it is
	ended  uint32       // atomic: not 0 after Close
}

// Open maps the ONNX file at path and decodes its graph. Weights stay in the file and are used there where they are
// aligned; the file must keep its contents until Close. Weights in other files, which lie in the model's folder or below,
// are used in the same way.
func Open(path string) (*Model, error) {
	buf, err := mem.Map(path)
	if err != nil {
		return nil, inFile(path, plainPath(err, path))
	}
	return decodeBuffer(buf, path, &wire.Folder{Dir: filepath.Dir(path)})
}

// OpenFS reads the ONNX file name from fsys, an embed.FS or a zip for example, and decodes it. Other
// files, in which weights are, it reads when they are needed.
func OpenFS(fsys fs.FS, name string) (*Model, error) {
	if fsys == nil {
		return nil, inFile(name, failf("%w: there is no file system: it is nil", tensor.ErrValue))
	}
	b, err := wire.ReadFile(fsys, name)
	if err != nil {
		return nil, inFile(name, plainPath(err, name))
	}
	return decodeBuffer(mem.Borrow(b, nil), name, &wire.Folder{FS: fsys, Base: path.Dir(name)})
}

// Decode decodes the bytes of an ONNX file. The model goes on using b, which must stay as it is. A model with weights in
// other files needs DecodeIn, or Open.
func Decode(b []byte) (*Model, error) { return decodeBuffer(mem.Borrow(b, nil), "", nil) }

// DecodeIn is Decode for a model whose other files, in which weights are, lie in fsys. It reads them when they are needed.
func DecodeIn(b []byte, fsys fs.FS) (*Model, error) {
	if fsys == nil {
		return nil, inFile("", failf("%w: there is no file system: it is nil", tensor.ErrValue))
	}
	return decodeBuffer(mem.Borrow(b, nil), "", &wire.Folder{FS: fsys})
}

func decodeBuffer(buf *mem.Buffer, name string, f *wire.Folder) (*Model, error) {
	d := newDecoder(buf.Len())
	d.from, d.folder = buf, f
	var m *Model
	err := mem.Guard(func() (err error) {
		m, err = d.model(wire.Message{Bytes: buf.Bytes()})
		return err
	})
	if err != nil {
		buf.Close()
		return nil, inFile(name, err)
	}
	m.source = source{file: name, buf: buf, folder: f}
	return m, nil
}

// use runs f while the model's bytes stay where they are. It fails for no model, for one that is closed, and, with
// mem.ErrShrunk, where f meets a page of a mapped file that is gone. The errors name the model's file.
func (m *Model) use(f func() error) error {
	if m == nil {
		return failf("%w: there is no model: it is nil", tensor.ErrValue)
	}
	if m.closed() {
		return inFile(m.file, wire.ErrClosed)
	}
	if m.buf != nil {
		if !m.buf.Hold() {
			return inFile(m.file, wire.ErrClosed)
		}
		defer m.buf.Release()
	}
	defer m.folder.Pin()()
	return inFile(m.file, mem.Guard(f))
}

// plainPath cuts the path out of an error that will name it anyway.
func plainPath(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path == path {
		return pe.Err
	}
	return err
}

// Close gives back the file or bytes the model was decoded from, and the files that hold its weights. From then on what
// needs them fails with tensor.ErrClosed: the model's methods, its sessions, and tensors that use weights in place. A call
// that is on its way keeps the bytes until it returns; it may succeed or fail with tensor.ErrClosed. Raw of any TensorProto,
// and slices of weights that Elems or Data gave out, must not be used after Close, unless they are the program's own. A
// second Close does nothing.
func (m *Model) Close() error {
	if m == nil {
		return nil
	}
	if atomic.StoreUint32(&m.ended, 1); m.buf == nil {
		return nil
	}
	return errors.Join(m.buf.Close(), m.folder.Close())
}

func (m *Model) closed() bool { return atomic.LoadUint32(&m.ended) != 0 }

// Opset returns the version of the operator set of a domain that the model imports, 0 if it imports none. The empty domain
// is ONNX's own.
func (m *Model) Opset(domain string) int64 {
	var v int64
	if m == nil {
		return 0
	}
	for _, o := range m.Opsets {
		if o.Domain == domain || isDefault(o.Domain) && isDefault(domain) {
			v = max(v, o.Version)
		}
	}
	return v
}

// Weights returns how many bytes of initializers a session uses where they are in the file, and how many it copies
// because they are misaligned there, or stored in another form than in memory. Those of graphs inside nodes count, too.
// Strings, and those it can't read at all, count in neither. Of a closed model both are 0.
func (m *Model) Weights() (inPlace, copied int64) {
	if m == nil || m.Graph == nil || m.closed() {
		return 0, 0
	}
	for g := range m.Graph.All() {
		for i := range g.Initializers {
			t := &g.Initializers[i]
			n, size, err := t.check()
			switch {
			case err != nil:
			case m.isPlaced(t):
				inPlace += int64(n * size)
			default:
				copied += int64(n * size)
			}
		}
	}
	return inPlace, copied
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// place returns the bytes in which t, which has passed check, is used where it is; false if it has to be copied.
func (m *Model) place(t *TensorProto) (buf *mem.Buffer, at int, ok bool) {
	d, _ := t.Type.DType()
	align := unit(d)
	switch {
	case !littleEndian || m.buf == nil || d.PerByte() > 1:
		return nil, 0, false
	case t.External != nil:
		var n int
		var err error
		if buf, at, n, err = t.External.find(); err != nil || n == 0 || t.External.from != m.folder {
			return nil, 0, false
		}
	case len(t.Raw) == 0 || t.from != m.buf:
		return nil, 0, false
	default:
		buf, at = m.buf, t.rawAt
		b := buf.Bytes() // nil once closed; compared here, not read
		if at+len(t.Raw) > len(b) || &b[at] != &t.Raw[0] {
			return nil, 0, false
		}
	}
	return buf, at, at%align == 0 && buf.Align() >= align
}

func (m *Model) isPlaced(t *TensorProto) bool {
	_, _, ok := m.place(t)
	return ok
}

// unit is the size of the numbers an element consists of: a complex one of two.
func unit(d dtype.DType) int {
	if d.IsComplex() {
		return d.Size() / 2
	}
	return d.Size()
}

// Tensor returns the tensor that t describes: over the model's own bytes where they can be used as they are, read-only
// then if the file is mapped; else a copy. It fails if the stored elements aren't what type and shape say, and with
// ErrUnsupported if no tensor holds the type, or the elements are in another file of an unknown folder.
func (m *Model) Tensor(t *TensorProto) (tensor.Any, error) {
	var a tensor.Any
	err := m.use(func() (err error) {
		if t == nil {
			return failf("%w: there is no description of a tensor: it is nil", tensor.ErrValue)
		}
		a, err = m.load(t)
		return in(fmt.Sprintf("tensor %q", t.Name), err)
	})
	return a, err
}

// load is Tensor for callers that hold the model's bytes.
func (m *Model) load(t *TensorProto) (tensor.Any, error) {
	raw, release, err := t.stored()
	if err != nil {
		return tensor.Any{}, err
	}
	defer release()
	_, size, err := t.check()
	if err != nil {
		return tensor.Any{}, err
	}
	shape, err := t.Shape()
	if err != nil {
		return tensor.Any{}, err
	}
	d, _ := t.Type.DType()
	if err := t.checkBools(raw); err != nil {
		return tensor.Any{}, err
	}
	if buf, at, ok := m.place(t); ok {
		lay, err := layout.RowMajor(shape...)
		if err != nil {
			return tensor.Any{}, err
		}
		return tensor.FromBytes(d, buf, at, lay)
	}
	a, err := tensor.Make(d, shape...)
	if err != nil {
		return tensor.Any{}, err
	}
	b, ok := tensor.Bytes(a)
	if !ok {
		return tensor.Any{}, failf("a new tensor of shape %v isn't contiguous", shape)
	}
	file := b
	if d.PerByte() > 1 {
		file = make([]byte, d.Packed(len(b)))
	}
	if t.list != 0 {
		err = t.unlist(file, size)
	} else {
		copy(file, raw)
	}
	if d.PerByte() > 1 {
		d.Unpack(b, file)
	}
	if !littleEndian {
		for u := unit(d); len(b) > 0; b = b[u:] {
			slices.Reverse(b[:u])
		}
	}
	return a, err
}

// DecodeTensor decodes a file that holds one tensor (a TensorProto, as in the data sets beside ONNX models). The tensor
// is a copy. The error wraps ErrUnsupported for strings and other types that no tensor holds.
func DecodeTensor(b []byte) (tensor.Any, error) {
	d := newDecoder(len(b))
	var t TensorProto
	if err := d.tensor(wire.Message{Bytes: b}, &t); err != nil {
		return tensor.Any{}, inFile("", err)
	}
	a, err := (&Model{}).load(&t)
	return a, inFile("", err)
}

// NewTensorProto describes a copy of a's elements under a name, for a model to be written. It fails for a description
// without elements.
func NewTensorProto(name string, a tensor.Any) (TensorProto, error) {
	if a.IsZero() {
		return TensorProto{}, inFile("", in(fmt.Sprintf("tensor %q", name), failf("%w: it is nil", tensor.ErrValue)))
	}
	e := ElemOf(a.DType())
	c, err := tensor.Contiguous(a)
	if err != nil {
		return TensorProto{}, in(fmt.Sprintf("tensor %q", name), err)
	}
	b, ok := tensor.Bytes(c)
	if e == ElemUndefined || !ok {
		return TensorProto{}, in(fmt.Sprintf("tensor %q", name), failf("%v can't be written", a.DType()))
	}
	raw := make([]byte, a.DType().Packed(c.Len()))
	a.DType().Pack(raw, b)
	runtime.KeepAlive(c) // its memory may be outside the collector's sight
	if !littleEndian {
		for u, r := unit(a.DType()), raw; len(r) > 0; r = r[u:] {
			slices.Reverse(r[:u])
		}
	}
	t := TensorProto{Name: name, Type: e, Raw: raw}
	for _, n := range a.Shape() {
		t.Dims = append(t.Dims, int64(n))
	}
	return t, nil
}
