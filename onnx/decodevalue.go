package onnx

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeValue decodes a file that holds one value of type t, as in the data sets beside ONNX models: a TensorProto, a
// SequenceProto, a MapProto or an OptionalProto. Tensors are copies. The error wraps ErrUnsupported for types that no Value holds.
func DecodeValue(b []byte, t Type) (Value, error) {
	d := newDecoder(len(b))
	d.strings = text.NewTable(nil)
	v, err := d.anyValue(wire.Message{Bytes: b}, &t)
	return v, inFile("", err)
}

func (d *decoder) anyValue(m wire.Message, t *Type) (v Value, err error) {
	of := t.Of
	switch {
	case t.Kind == KindTensor:
		var p TensorProto
		if err = d.tensor(m, &p); err == nil {
			v, err = (&Model{}).loadValue(&p, d.strings)
		}
		return v, err
	case t.isMap():
		return d.mapValue(m, t)
	case t.Kind == KindSequence && of != nil && (of.Kind == KindTensor || of.isMap()):
		num := protowire.Number(3) // tensor_values
		if of.Kind == KindMap {
			num = 6
		}
		var items []*Value
		err = d.Each(m, func(f wire.Field) error {
			if f.Num != num {
				return nil
			}
			body, err := f.Message()
			if err == nil {
				err = d.Spend(256)
			}
			if err == nil {
				v, err = d.anyValue(body, of)
			}
			item := v
			items = append(items, &item)
			return in(fmt.Sprintf("element %d", len(items)-1), err)
		})
		return sequenceOf(of.elem(), items), err
	case t.Kind == KindOptional && of != nil:
		v = Nothing()
		err = d.Each(m, func(f wire.Field) error {
			if f.Num != 3 && f.Num != 5 && f.Num != 6 {
				return nil
			}
			body, err := f.Message()
			if err == nil {
				v, err = d.anyValue(body, of)
			}
			return err
		})
		return v, err
	}
	return v, failf("%w: values of type %v", ErrUnsupported, *t)
}

// mapValue decodes a MapProto, whose values are a SequenceProto of tensors of one element.
func (d *decoder) mapValue(m wire.Message, t *Type) (v Value, err error) {
	numbers, err := d.Int64s(m, 3)
	if err != nil {
		return v, err
	}
	var names []string
	vals := sequenceOf(t.Of.elem(), nil)
	err = d.Each(m, func(f wire.Field) error {
		switch f.Num {
		case 4:
			s, err := d.Text(f)
			names = append(names, s)
			return err
		case 5:
			body, err := f.Message()
			if err == nil {
				vals, err = d.anyValue(body, &Type{Kind: KindSequence, Of: t.Of})
			}
			return err
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	keys := listValue(numbers)
	if t.Elem == ElemString {
		if keys, err = stringsValue(d.strings, []int{len(names)}, names); err != nil {
			return v, err
		}
	}
	list, err := joined(vals.seq, t.Of.elem())
	if err == nil && list.a.Len() != keys.a.Len() {
		err = failf("a map of %d keys has %d values", keys.a.Len(), list.a.Len())
	}
	if err != nil {
		return v, err
	}
	list.text = nil
	if t.Of.Elem == ElemString {
		list.text = d.strings
	}
	return mapOf(keys, list), nil
}

// joined returns a list of the elements of tensors that have one each.
func joined(seq *sequence, e elem) (Value, error) {
	list := make([]tensor.Any, len(seq.items))
	for i, item := range seq.items {
		if item.a.Len() != 1 || item.elem() != e {
			return Value{}, in(fmt.Sprintf("value %d", i), failf("it is %v; want one %v", *item, e))
		}
		list[i] = item.a.Reshape(1)
	}
	if len(list) == 0 {
		d := dtype.DType(e)
		if e == ofString {
			d = dtype.Int32
		}
		a, err := tensor.Make(d, 0)
		return Value{a: a}, err
	}
	o, _ := op.Lookup("Concat")
	outs, err := o.Run(&op.Call{Inputs: list, Attrs: op.AttrMap{"axis": int64(0)}, Opset: 13})
	if err != nil {
		return Value{}, err
	}
	return Value{a: outs[0]}, nil
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
