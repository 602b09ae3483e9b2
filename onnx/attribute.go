package onnx

import "google.golang.org/protobuf/encoding/protowire"

// attrFields are the fields that hold an attribute's value, by kind.
var attrFields = [...]protowire.Number{
	AttrFloat: 2, AttrInt: 3, AttrString: 4, AttrTensor: 5, AttrGraph: 6, AttrFloats: 7, AttrInts: 8, AttrStrings: 9, AttrTensors: 10,
	AttrGraphs: 11, AttrTypeProto: 14, AttrTypes: 15, AttrSparseTensor: 22, AttrSparseTensors: 23,
}

func (d *decoder) attribute(to []Attribute, f field) ([]Attribute, error) {
	to, err := one(to, f, d.attributeInto)
	if err != nil {
		err = in(named("attribute", f.body.first(1), len(to)-1), err)
	}
	return to, err
}

// attributeInto takes the value from the field that the type names. In a file of IR version 1, which has no type, it is
// the first one present; a scalar that is left out is zero, as proto3 writes it.
func (d *decoder) attributeInto(m msg, a *Attribute) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	var kind int32
	err = d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			a.Name, err = d.text(f)
		case 13:
			a.Doc, err = d.text(f)
		case 20:
			kind, err = f.int32()
		case 21:
			a.Ref, err = d.text(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	a.Type = AttrType(kind)
	var present AttrType
	for k := AttrFloat; k <= AttrTypes; k++ {
		if t[attrFields[k]] > 0 {
			present = k
			break
		}
	}
	switch {
	case a.Type == AttrUndefined:
		a.Type = present
	case a.Type < 0 || int(a.Type) >= len(attrFields):
		return failf("its type is %d, which ONNX doesn't have", kind)
	case present != AttrUndefined && t[attrFields[a.Type]] == 0:
		return failf("its type is %v, but it holds %v", a.Type, present)
	}
	if a.Ref != "" || a.Type == AttrUndefined {
		return nil
	}
	return d.attributeValue(m, a, t)
}

func (d *decoder) attributeValue(m msg, a *Attribute, t tally) (err error) {
	num := attrFields[a.Type]
	n := t[num]
	if err := d.spend(32); err != nil { // the value's own header, boxed
		return err
	}
	// each calls do for the occurrences of the value's field
	each := func(do func(f field) error) error {
		return d.each(m, func(f field) error {
			if f.num != num {
				return nil
			}
			return do(f)
		})
	}
	switch a.Type {
	case AttrFloat:
		var v float32
		err = each(func(f field) (err error) { v, err = f.float(); return err })
		a.Value = v
	case AttrInt:
		var v int64
		err = each(func(f field) (err error) { v, err = f.int(); return err })
		a.Value = v
	case AttrString:
		var v string
		err = each(func(f field) (err error) { v, err = d.text(f); return err })
		a.Value = v
	case AttrFloats:
		a.Value, err = d.float32s(m, num)
	case AttrInts:
		a.Value, err = d.int64s(m, num)
	case AttrStrings:
		v, err := list[string](d, n, 0)
		if err == nil {
			err = each(func(f field) (err error) { v, err = d.texts(v, f); return err })
		}
		a.Value = v
		return err
	case AttrTensor:
		a.Value, err = single(d, n, each, d.tensor)
	case AttrSparseTensor:
		a.Value, err = single(d, n, each, d.sparse)
	case AttrTypeProto:
		a.Value, err = single(d, n, each, d.typ)
	case AttrGraph:
		a.Value, err = single(d, n, each, d.graphInto)
	case AttrTensors:
		a.Value, err = several(d, n, each, d.tensor)
	case AttrSparseTensors:
		a.Value, err = several(d, n, each, d.sparse)
	case AttrTypes:
		a.Value, err = several(d, n, each, d.typ)
	case AttrGraphs:
		a.Value, err = several(d, n, each, d.graphInto)
	}
	return err
}

// several decodes n occurrences of a message field.
func several[T any](d *decoder, n int, each func(func(field) error) error, decode func(msg, *T) error) ([]T, error) {
	out, err := list[T](d, n, 0)
	if err != nil {
		return nil, err
	}
	err = each(func(f field) (err error) { out, err = one(out, f, decode); return err })
	return out, err
}

// single decodes a message field that occurs n times, of which one is right.
func single[T any](d *decoder, n int, each func(func(field) error) error, decode func(msg, *T) error) (*T, error) {
	if n != 1 {
		return nil, failf("its value is there %d times", n)
	}
	out, err := several(d, n, each, decode)
	if err != nil {
		return nil, err
	}
	return &out[0], nil
}
