package onnx

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"google.golang.org/protobuf/encoding/protowire"
)

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
	if d, ok := e.DType(); ok && d.Size() <= 4 { // types of less than 8 bits as the bytes of raw_data
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

// noFolder says why the elements can't be read; "" if they can be looked for.
func (x *External) noFolder() string {
	if x.from == nil {
		return fmt.Sprintf("elements in another file (%.200q), of an unknown folder; Open, OpenFS and DecodeIn know it", x.Location)
	}
	return ""
}

// find returns the file that holds the elements, with the place and the number of their bytes there.
func (x *External) find() (buf *mem.Buffer, at, n int, err error) {
	if why := x.noFolder(); why != "" {
		return nil, 0, 0, failf("%w: %s", ErrUnsupported, why)
	}
	var sums []string
	for _, e := range x.Entries {
		if e.Key == "checksum" && e.Value != "" {
			sums = append(sums, e.Value)
		}
	}
	if buf, at, n, err = x.from.Find(x.Location, x.Offset, x.Length, sums); err != nil {
		return nil, 0, 0, in(fmt.Sprintf("file %.200q", x.Location), err)
	}
	return buf, at, n, nil
}

// checkStrings is check for a tensor of strings.
func (t *TensorProto) checkStrings() error {
	n, err := t.Len()
	switch {
	case err != nil:
		return err
	case len(t.Dims) > maxRank:
		return tooManyAxes(len(t.Dims))
	case t.External != nil || t.Segment || len(t.Raw) > 0 || t.list != 0 && t.list != stringField:
		return failf("strings stand elsewhere than in string_data, their place")
	case n > math.MaxInt32 || n != t.count:
		return failf("string_data has %d entries; %v needs %d", t.count, t, n)
	}
	return nil
}
