package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
	"google.golang.org/protobuf/encoding/protowire"
)

// A TensorProto describes a tensor as the file stores it; Model.Tensor turns it into one. Elements are in row-major
// order, either in Raw, or in a list by type of the message (float_data and its like), or in another file.
//
// Raw of a decoded model is valid while the model is open and the TensorProto, or a copy of it, is reachable: after the
// last use of the slice alone call runtime.KeepAlive on one of them.
type TensorProto struct {
	Name     string
	Doc      string
	Type     ElemType
	Dims     []int64
	Raw      []byte    // little-endian; of a decoded model a part of the file; nil if the elements are elsewhere
	External *External // non-nil if they are in another file
	Segment  bool      // the elements are only a part of the tensor
	Metadata []Entry

	from  *mem.Buffer // the file that Raw and body are parts of; nil for a program's own bytes
	rawAt int         // where Raw starts in the file

	// elements in a list by type: the whole message, the number of the list's field and its length
	body  wire.Message
	list  protowire.Number
	count int
}

// External says in which other file the elements of a tensor are.
type External struct {
	Location string // a path relative to the model's folder
	Offset   int64
	Length   int64   // -1: to the end of the file
	Entries  []Entry // everything as the file has it

	from *wire.Folder // of the model; nil for a program's own
}

// The lists by type: name, and the bytes of an element in the file, 0 for varints, -1 for strings.
var lists = map[protowire.Number]struct {
	name  string
	width int
}{
	4: {"float_data", 4}, 5: {"int32_data", 0}, 6: {"string_data", -1}, 7: {"int64_data", 0}, 10: {"double_data", 8}, 11: {"uint64_data", 0},
}

const rawField protowire.Number = 9

const stringField protowire.Number = 6

// Storage names the field that holds the elements: raw_data, float_data, …; external_data; "" if there are none.
func (t *TensorProto) Storage() string {
	switch {
	case t == nil:
		return ""
	case t.External != nil:
		return "external_data"
	case t.list != 0:
		return lists[t.list].name
	case t.Raw != nil:
		return "raw_data"
	}
	return ""
}

// Len returns the number of elements that Dims speak of. It fails if one is negative or the product overflows.
func (t *TensorProto) Len() (int, error) {
	if t == nil {
		return 0, failf("%w: there is no description of a tensor: it is nil", tensor.ErrValue)
	}
	n := int64(1)
	zero := false
	for i, d := range t.Dims {
		switch {
		case d < 0:
			return 0, failf("dimension %d of %v is negative", i, t.Dims)
		case d == 0:
			zero = true
		case n > math.MaxInt/d:
			return 0, failf("dimensions %v make more elements than fit an int", t.Dims)
		default:
			n *= d
		}
	}
	if zero {
		return 0, nil
	}
	return int(n), nil
}

// Shape returns Dims as ints, after the checks of Len. It fails for more than 64.
func (t *TensorProto) Shape() ([]int, error) {
	if _, err := t.Len(); err != nil {
		return nil, err
	}
	if len(t.Dims) > maxRank {
		return nil, tooManyAxes(len(t.Dims))
	}
	shape := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		if shape[i] = int(d); int64(shape[i]) != d {
			return nil, failf("dimension %d of %v doesn't fit an int", i, t.Dims)
		}
	}
	return shape, nil
}

// String returns type and shape: float32[8,1,5,5].
func (t *TensorProto) String() string {
	if t == nil {
		return "no tensor"
	}
	typ := Type{Kind: KindTensor, Elem: t.Type, HasShape: true}
	for _, d := range t.Dims {
		typ.Shape = append(typ.Shape, Dim{Value: d})
	}
	return typ.String()
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

// NewStringsProto describes a tensor of strings under a name, for a model to be written.
func NewStringsProto(name string, shape []int, list ...string) (TensorProto, error) {
	t := TensorProto{Name: name, Type: ElemString}
	for _, n := range shape {
		t.Dims = append(t.Dims, int64(n))
	}
	n, err := t.Len()
	if err == nil && n != len(list) {
		err = failf("%w: %d strings for %v", tensor.ErrShape, len(list), &t)
	}
	if err != nil {
		return TensorProto{}, in(fmt.Sprintf("tensor %q", name), err)
	}
	if n > 0 {
		t.body, t.list, t.count = wire.Message{Bytes: wire.AppendStrings(nil, stringField, list)}, stringField, n
	}
	return t, nil
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// unit is the size of the numbers an element consists of: a complex one of two.
func unit(d dtype.DType) int {
	if d.IsComplex() {
		return d.Size() / 2
	}
	return d.Size()
}
