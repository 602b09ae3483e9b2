package onnx

import (
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"google.golang.org/protobuf/encoding/protowire"
)

// attrFields are the fields that hold an attribute's value, by kind.
var attrFields = [...]protowire.Number{
	AttrFloat: 2, AttrInt: 3, AttrString: 4, AttrTensor: 5, AttrGraph: 6, AttrFloats: 7, AttrInts: 8, AttrStrings: 9, AttrTensors: 10,
	AttrGraphs: 11, AttrTypeProto: 14, AttrTypes: 15, AttrSparseTensor: 22, AttrSparseTensors: 23,
}

func (d *decoder) attribute(to []Attribute, f wire.Field) ([]Attribute, error) {
	to, err := wire.Append(to, f, d.attributeInto)
	if err != nil {
		err = in(named("attribute", f.Body.First(1), len(to)-1), err)
	}
	return to, err
}

// attributeInto takes the value from the field that the type names. In a file of IR version 1, which has no type, it is
// the first one present; a scalar that is left out is zero, as proto3 writes it.
func (d *decoder) attributeInto(m wire.Message, a *Attribute) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	var kind int32
	err = d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			a.Name, err = d.Text(f)
		case 13:
			a.Doc, err = d.Text(f)
		case 20:
			kind, err = f.Int32()
		case 21:
			a.Ref, err = d.Text(f)
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

func (d *decoder) attributeValue(m wire.Message, a *Attribute, t wire.Tally) (err error) {
	num := attrFields[a.Type]
	n := t[num]
	if err := d.Spend(32); err != nil { // the value's own header, boxed
		return err
	}
	// each calls do for the occurrences of the value's field
	each := func(do func(f wire.Field) error) error {
		return d.Each(m, func(f wire.Field) error {
			if f.Num != num {
				return nil
			}
			return do(f)
		})
	}
	switch a.Type {
	case AttrFloat:
		var v float32
		err = each(func(f wire.Field) (err error) { v, err = f.Float(); return err })
		a.Value = v
	case AttrInt:
		var v int64
		err = each(func(f wire.Field) (err error) { v, err = f.Int64(); return err })
		a.Value = v
	case AttrString:
		var v string
		err = each(func(f wire.Field) (err error) { v, err = d.Text(f); return err })
		a.Value = v
	case AttrFloats:
		a.Value, err = d.Float32s(m, num)
	case AttrInts:
		a.Value, err = d.Int64s(m, num)
	case AttrStrings:
		v, err := wire.List[string](&d.Limit, n, checkItem)
		if err == nil {
			err = each(func(f wire.Field) (err error) { v, err = d.AppendText(v, f); return err })
		}
		a.Value = v
		return err
	case AttrTensor:
		a.Value, err = wire.Single(&d.Limit, n, each, d.tensor)
	case AttrSparseTensor:
		a.Value, err = wire.Single(&d.Limit, n, each, d.sparse)
	case AttrTypeProto:
		a.Value, err = wire.Single(&d.Limit, n, each, d.typ)
	case AttrGraph:
		a.Value, err = wire.Single(&d.Limit, n, each, d.graphInto)
	case AttrTensors:
		a.Value, err = wire.Several(&d.Limit, n, checkItem, each, d.tensor)
	case AttrSparseTensors:
		a.Value, err = wire.Several(&d.Limit, n, checkItem, each, d.sparse)
	case AttrTypes:
		a.Value, err = wire.Several(&d.Limit, n, checkItem, each, d.typ)
	case AttrGraphs:
		a.Value, err = wire.Several(&d.Limit, n, checkItem, each, d.graphInto)
	}
	return err
}
