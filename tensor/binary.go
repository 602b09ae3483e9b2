package tensor

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/layout"
)

// binaryMagic begins every binary form; its last byte is the version.
const binaryMagic = "ASHLAR\x00\x01"

// MarshalBinary writes a tensor for UnmarshalBinary, and so for encoding/gob. All
// numbers are in ascending byte order:
//
//	8 bytes   "ASHLAR", 0, and the version, 1
//	1 byte    the length of the name of the element type
//	          the name, as dtype.DType.String writes it
//	4 bytes   the rank
//	8 bytes   the extent of each axis
//	          the elements in row-major order, nothing after them
//
// The layout isn't kept. It fails when the tensor is closed. For files that other
// programs read use format/npy or format/safetensors.
func (t Tensor[T]) MarshalBinary() ([]byte, error) { return t.a.MarshalBinary() }

// MarshalBinary writes the form of Tensor.MarshalBinary. It fails also when a has no
// elements.
func (a Any) MarshalBinary() ([]byte, error) {
	if err := Try(func() { a.pointer("tensor.MarshalBinary") }); err != nil {
		return nil, err
	}
	out := new(bytes.Buffer)
	out.Grow(64 + 8*a.Rank() + a.Len()*a.DType().Size())
	if err := a.writeBinary(out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeBinary writes the bytes that MarshalBinary returns.
func (a Any) writeBinary(w io.Writer) error {
	name := a.DType().String()
	b := append(append([]byte(binaryMagic), byte(len(name))), name...)
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Rank()))
	for i := range a.Rank() {
		b = binary.LittleEndian.AppendUint64(b, uint64(a.Dim(i)))
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	return Encode(w, a)
}

// UnmarshalBinary reads the bytes of MarshalBinary and makes t a new row-major tensor of
// it. An error leaves t as it was. It fails with ErrSyntax when the bytes don't have that
// form or the length that it states, and with ErrDType when the elements are of another
// type than T. It fails with ErrValue when a bool is neither 0 nor 1.
func (t *Tensor[T]) UnmarshalBinary(b []byte) error { return fromBinary(&t.a, dtype.Of[T](), b) }

func fromBinary(a *Any, d dtype.DType, b []byte) error {
	const op = "tensor.UnmarshalBinary"
	shape, elems, err := unmarshalBinary(op, b, d)
	if err != nil {
		return err
	}
	return Try(func() {
		u := create(op, d, shape, true)
		inOrder(u.st.bytes(), elems, d)
		*a = u
	})
}

// inOrder copies elements in ascending byte order to the machine's.
func inOrder(to, from []byte, d dtype.DType) {
	copy(to, from)
	if unit := conv.Unit(d); conv.BigEndian && unit > 1 {
		conv.Reverse(to, unit)
	}
}

func unmarshalBinary(op string, b []byte, d dtype.DType) (shape []int, elems []byte, err error) {
	syntax := func(text string, args ...any) ([]int, []byte, error) {
		return nil, nil, &Error{op, sprintf(text, args...), ErrSyntax}
	}
	if len(b) < len(binaryMagic)+1 || string(b[:len(binaryMagic)-1]) != binaryMagic[:len(binaryMagic)-1] {
		return syntax("the bytes don't begin with ASHLAR: they were not written by MarshalBinary")
	}
	if v := b[len(binaryMagic)-1]; v != 1 {
		return syntax("version %d of the form; this program reads version 1", v)
	}
	n := int(b[len(binaryMagic)])
	if b = b[len(binaryMagic)+1:]; len(b) < n+4 {
		return syntax("%d bytes are too few for the header", len(b))
	}
	if name := string(b[:n]); name != d.String() {
		if _, err := dtype.Parse(name); err != nil {
			return syntax("the element type %.40q doesn't exist", name)
		}
		return nil, nil, &Error{op, sprintf("the elements are %s, not %v; read them as what they are and convert with op.Cast", name, d), ErrDType}
	}
	rank := uint64(binary.LittleEndian.Uint32(b[n:]))
	if b = b[n+4:]; rank > uint64(len(b))/8 {
		return syntax("rank %d with %d bytes left", rank, len(b))
	}
	shape = make([]int, rank)
	for i := range shape {
		e := binary.LittleEndian.Uint64(b[8*i:])
		if shape[i] = int(e); e > uint64(maxInt) {
			return syntax("extent %d of axis %d", e, i)
		}
	}
	b = b[8*rank:]
	lay, err := layout.RowMajor(shape...)
	if err != nil {
		return nil, nil, Wrap(op, err)
	}
	if size := d.Size(); len(b)%size != 0 || len(b)/size != lay.Size() {
		return syntax("%d bytes for %d elements of %d", len(b), lay.Size(), size)
	}
	if i := d.Misfit(b); i >= 0 {
		return nil, nil, &Error{op, sprintf("element %d is the byte %d, which is no %v", i, b[i], d), ErrValue}
	}
	return shape, b, nil
}
