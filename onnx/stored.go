package onnx

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

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

func (d *decoder) tensor(m wire.Message, t *TensorProto) error {
	t.from = d.from
	n, err := m.Scan()
	if err != nil {
		return err
	}
	if t.Dims, err = d.Int64s(m, 1); err != nil {
		return err
	}
	if err := d.Spend(int64(len(t.Dims)) * checkAxis); err != nil {
		return err
	}
	if t.Metadata, err = wire.List[Entry](&d.Limit, n[16], 0); err != nil {
		return err
	}
	entries, err := wire.List[Entry](&d.Limit, n[13], 0)
	if err != nil {
		return err
	}
	outside := false
	err = d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 2:
			var v int32
			v, err = f.Int32()
			t.Type = ElemType(v)
		case 3:
			t.Segment = true
		case 8:
			t.Name, err = d.Text(f)
		case rawField:
			var m wire.Message
			m, err = f.Message()
			t.Raw, t.rawAt = m.Bytes, m.At
		case 12:
			t.Doc, err = d.Text(f)
		case 13:
			entries, err = wire.Append(entries, f, d.entry)
		case 14:
			var v int64
			v, err = f.Int64()
			outside = v == 1
		case 16:
			t.Metadata, err = wire.Append(t.Metadata, f, d.entry)
		}
		return err
	})
	if err != nil {
		return err
	}
	if outside {
		if err := d.Spend(96); err != nil {
			return err
		}
		t.External, err = external(entries, d.folder)
		return err
	}
	for num := range n {
		if l, ok := lists[protowire.Number(num)]; ok && n[num] > 0 {
			if err := t.counted(m, protowire.Number(num), l.width); err != nil {
				return err
			}
		}
	}
	if t.list == stringField {
		return d.Spend(int64(len(m.Bytes)) + int64(t.count)*24)
	}
	// Loading allocates no more than this, by check.
	dt, _ := t.Type.DType()
	return d.Spend(int64(len(t.Raw))*int64(dt.PerByte()) + int64(t.count)*int64(dt.PerByte()*dt.Size()))
}

// counted notes the list num of m as the one that holds the elements, unless it is empty.
func (t *TensorProto) counted(m wire.Message, num protowire.Number, width int) error {
	var n int
	var err error
	if width < 0 {
		var f wire.Field
		for rest, ok := m, true; ok && err == nil; {
			if ok, err = rest.Next(&f); ok && f.Num == num {
				if n++; f.Type != protowire.BytesType {
					err = f.WrongType("a string")
				}
			}
		}
	} else {
		n, err = m.Numbers(num, width, nil)
	}
	switch {
	case err != nil || n == 0:
		return err
	case t.list != 0:
		return failf("elements stand both in %s and in %s", lists[t.list].name, lists[num].name)
	case len(t.Raw) > 0:
		return failf("elements stand both in raw_data and in %s", lists[num].name)
	}
	t.body, t.list, t.count, t.Raw = m, num, n, nil
	return nil
}

func external(entries []Entry, from *wire.Folder) (*External, error) {
	e := &External{Length: -1, Entries: entries, from: from}
	for _, kv := range entries {
		var err error
		switch kv.Key {
		case "location":
			e.Location = kv.Value
		case "offset":
			e.Offset, err = strconv.ParseInt(kv.Value, 10, 64)
		case "length":
			e.Length, err = strconv.ParseInt(kv.Value, 10, 64)
		}
		if err != nil || e.Offset < 0 || e.Length < -1 {
			return nil, failf("external_data: %s is %.40q, not a count of bytes", kv.Key, kv.Value)
		}
	}
	if e.Location == "" {
		return nil, failf("external_data names no location")
	}
	return e, nil
}

func (d *decoder) sparse(m wire.Message, s *SparseTensor) (err error) {
	if s.Dims, err = d.Int64s(m, 3); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		var to *TensorProto
		switch f.Num {
		case 1:
			to = &s.Values
		case 2:
			to = &s.Indices
		default:
			return nil
		}
		m, err := f.Message()
		if err != nil {
			return err
		}
		*to = TensorProto{}
		return d.tensor(m, to)
	})
}

// listOf says in which list by type the elements of e stand, and how many entries one element takes there.
func listOf(e ElemType) (num protowire.Number, per int) {
	switch e {
	case ElemFloat32:
		return 4, 1
	case ElemComplex64:
		return 4, 2
	case ElemString:
		return 6, 1
	case ElemInt64:
		return 7, 1
	case ElemFloat64:
		return 10, 1
	case ElemComplex128:
		return 10, 2
	case ElemUint32, ElemUint64:
		return 11, 1
	}
	if d, ok := e.DType(); ok && d.Size() <= 4 { // those of less than 8 bits as the bytes of raw_data
		return 5, 1
	}
	return 0, 0
}

// unlist writes the elements of a list by type into dst, unless that is nil, as they would stand in raw_data. size is the
// bytes of an element.
func (t *TensorProto) unlist(dst []byte, size int) error {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if t.list == 5 {
		lo, hi = 0, 1<<(8*size)-1 // the types that are bits: float16 and its like, and packed ones
		switch t.Type {
		case ElemInt8, ElemInt16, ElemInt32:
			lo, hi = -1<<(8*size-1), 1<<(8*size-1)-1
		case ElemBool:
			hi = 1
		}
		if d, _ := t.Type.DType(); d.PerByte() > 1 {
			lo = -1 << 7 // a byte of several elements, with a sign or without
		}
	}
	width := lists[t.list].width
	if width > 0 {
		size = width // a complex number is two entries
	}
	_, err := t.body.Numbers(t.list, width, func(i int, v uint64) error {
		if t.list == 5 {
			v = uint64(int64(int32(v)))
		}
		if x := int64(v); x < lo || x > hi || size == 4 && t.list == 11 && v > math.MaxUint32 {
			return failf("%s: element %d is %d, which %v can't hold", lists[t.list].name, i, x, t.Type)
		}
		if dst == nil {
			return nil
		}
		switch size {
		case 1:
			dst[i] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		case 8:
			binary.LittleEndian.PutUint64(dst[8*i:], v)
		}
		return nil
	})
	return err
}

// unsupported says why the tensor can't be read even if the file is right; "" if it can.
func (t *TensorProto) unsupported() string {
	if t.Type == ElemString {
		return ""
	}
	if _, ok := t.Type.DType(); !ok {
		return fmt.Sprintf("element type %v", t.Type)
	}
	switch {
	case t.Segment:
		return "elements in several pieces"
	case t.External != nil:
		return t.External.noFolder()
	}
	return ""
}

// checkElems is check for tensors of all types. It also looks at elements that may be none of the type.
func (t *TensorProto) checkElems() error {
	if t.Type == ElemString {
		return t.checkStrings()
	}
	_, size, err := t.check()
	if d, _ := t.Type.DType(); err != nil || t.list != 5 && t.list != 11 && d != dtype.Bool {
		return err // any bits are an element
	}
	raw, release, err := t.stored()
	if err != nil {
		return err
	}
	defer release()
	if t.list != 0 {
		return t.unlist(nil, size)
	}
	return t.checkBools(raw)
}

// stored returns the bytes of raw_data or of another file, and keeps all that the elements are in until release is called.
func (t *TensorProto) stored() (raw []byte, release func(), err error) {
	own, err := wire.Hold(t.from)
	if err != nil || t.External == nil {
		return t.Raw, own, err
	}
	buf, at, n, err := t.External.find()
	if err != nil {
		own()
		return nil, nil, err
	}
	other, err := wire.Hold(buf)
	if err != nil {
		own()
		return nil, nil, err
	}
	return buf.Bytes()[at:][:n], func() { other(); own() }, nil
}

// checkBools looks at the bytes that a tensor of bools has in raw_data or in another file.
func (t *TensorProto) checkBools(raw []byte) error {
	if t.Type != ElemBool || t.list != 0 {
		return nil
	}
	if i := slices.IndexFunc(raw, func(b byte) bool { return b > 1 }); i >= 0 {
		return failf("%s: element %d is %d; a bool is 0 or 1", t.Storage(), i, raw[i])
	}
	return nil
}

// check compares the stored elements with type and shape, and returns the number of elements and the bytes of one. After
// it has passed, an allocation of their product is covered by bytes that are in the file.
func (t *TensorProto) check() (n, size int, err error) {
	if n, err = t.Len(); err != nil {
		return 0, 0, err
	}
	if len(t.Dims) > maxRank {
		return 0, 0, tooManyAxes(len(t.Dims))
	}
	if why := t.unsupported(); why != "" {
		return 0, 0, failf("%w: %s", ErrUnsupported, why)
	}
	d, ok := t.Type.DType()
	if !ok {
		return 0, 0, failf("%w: element type %v is held by no tensor; a Value holds it", ErrUnsupported, t.Type)
	}
	size = d.Size()
	have := len(t.Raw)
	if t.External != nil {
		if _, _, have, err = t.External.find(); err != nil {
			return 0, 0, err
		}
	}
	if d.PerByte() > 1 {
		return n, size, t.checkPacked(d, n, have)
	}
	if t.External == nil && t.list != 0 {
		num, per := listOf(t.Type)
		switch {
		case num != t.list:
			return 0, 0, failf("elements of type %v stand in %s; their place is %s", t.Type, lists[t.list].name, lists[num].name)
		case n > math.MaxInt/16 || n*per != t.count:
			return 0, 0, failf("%s has %d entries; %v needs %d for each of %d elements", lists[num].name, t.count, t, per, n)
		}
		return n, size, nil
	}
	if n > math.MaxInt/16 || n*size != have {
		return 0, 0, failf("%s has %d bytes; %v needs %d for each of %d elements", cmp.Or(t.Storage(), "raw_data"), have, t, size, n)
	}
	return n, size, nil
}

// checkPacked is the last part of check for elements that have no whole bytes.
func (t *TensorProto) checkPacked(d dtype.DType, n, have int) error {
	where := cmp.Or(t.Storage(), "raw_data")
	if t.list != 0 {
		if where, have = lists[t.list].name, t.count; t.list != 5 {
			return failf("elements of type %v stand in %s; their place is %s", t.Type, where, lists[5].name)
		}
	}
	if want := d.Packed(n); have != want {
		return failf("%s has %d bytes; %v needs %d, %d elements in each", where, have, t, want, d.PerByte())
	}
	return nil
}
