package onnx

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

// Weights returns how many bytes of initializers a session uses where they are in the file, and how many it copies
// because they are misaligned there, or stored in another form than in memory. Initializers of graphs inside nodes count, too.
// Strings, and initializers it can't read at all, count in neither. Of a closed model both are 0.
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

// Tensor returns the tensor that t describes: over the model's own bytes where they can be used as they are, read-only
// then if the file is mapped; else a copy. It fails if the stored elements don't fit type and shape, and with
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

// loadValue is load for tensors of all types. Strings get their numbers from a table.
func (m *Model) loadValue(t *TensorProto, to *text.Table) (v Value, err error) {
	if t.Type != ElemString {
		v.a, err = m.load(t)
		return v, err
	}
	list, err := m.strings(t)
	if err != nil {
		return v, err
	}
	shape, err := t.Shape()
	if err != nil {
		return v, err
	}
	return stringsValue(to, shape, list)
}

// strings returns the elements of a tensor of strings, for callers that hold the model's bytes.
func (m *Model) strings(t *TensorProto) (list []string, err error) {
	release, err := wire.Hold(t.from)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := t.checkStrings(); err != nil {
		return nil, err
	}
	var f wire.Field
	list = make([]string, 0, t.count)
	for body := t.body; t.list != 0; {
		ok, err := body.Next(&f)
		if err != nil || !ok {
			return list, err
		}
		if f.Num == stringField {
			list = append(list, string(f.Body.Bytes))
		}
	}
	return list, nil
}

// Strings returns the elements of the tensor of strings that t describes, in row-major order.
func (m *Model) Strings(t *TensorProto) (list []string, err error) {
	err = m.use(func() (err error) {
		if t == nil || t.Type != ElemString {
			return failf("%w: %v isn't a tensor of strings", tensor.ErrValue, t)
		}
		list, err = m.strings(t)
		return in(fmt.Sprintf("tensor %q", t.Name), err)
	})
	return list, err
}

// stringsValue returns a tensor of strings, as many as the shape asks for, which it adds to a table.
func stringsValue(t *text.Table, shape []int, list []string) (Value, error) {
	a, err := t.Tensor(shape, list)
	return Value{a: a, text: t}, err
}

// A copying counts bytes that are copied out of other files. Tensors may share bytes there, so the files don't bound them.
type copying int64

// add counts t unless it is used in place.
func (c *copying) add(m *Model, t *TensorProto) error {
	if t.External == nil || t.Type == ElemString {
		return nil
	}
	n, size, err := t.check()
	if err != nil {
		return err
	}
	if _, _, ok := m.place(t); ok {
		return nil
	}
	if *c += copying(n) * copying(size); int64(*c) > copiedBase+copiedFactor*m.folder.Size() {
		return failf("%w: the copies of elements from other files would take more than %d MiB + %d × the size of the files", tensor.ErrMemory, copiedBase>>20, copiedFactor)
	}
	return nil
}

// The bytes that may be copied out of other files: a model that isn't made to do harm needs at most their size.
const (
	copiedBase   = 16 << 20
	copiedFactor = 2
)
