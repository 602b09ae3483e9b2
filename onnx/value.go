package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Value is what a graph computes with: a tensor, a sequence of tensors, or nothing, which an optional may hold. The
// zero Value is none of them.
type Value struct {
	a   tensor.Any
	own *storage  // what holds the memory of a, a result of the run; nil for the caller's and the model's own
	seq *sequence // of every value that is no tensor
}

// A sequence is what a Value refers to that is no tensor. It doesn't change once it is made.
type sequence struct {
	kind  Kind // KindSequence, or KindOptional for nothing
	items []*Value
	elem  dtype.DType // of the items; Invalid where nothing says it
}

// nothing is an optional without a value.
var nothing = &sequence{kind: KindOptional}

// TensorValue returns a tensor as a Value.
func TensorValue(a tensor.Any) Value { return Value{a: a} }

// SequenceValue returns a sequence of tensors that hold d. A run refuses one in which a tensor holds something else.
func SequenceValue(d dtype.DType, list ...tensor.Any) Value {
	items := make([]*Value, len(list))
	for i, a := range list {
		items[i] = &Value{a: a}
	}
	return sequenceOf(d, items)
}

func sequenceOf(d dtype.DType, items []*Value) Value {
	return Value{seq: &sequence{KindSequence, items, d}}
}

// Nothing returns the value of an optional that holds none.
func Nothing() Value { return Value{seq: nothing} }

// Kind returns KindTensor, KindSequence, KindOptional for Nothing, or KindNone for the zero Value. An optional that holds
// a value is that value.
func (v Value) Kind() Kind {
	switch {
	case v.seq != nil:
		return v.seq.kind
	case !v.a.IsZero():
		return KindTensor
	}
	return KindNone
}

// known reports whether v is not the zero Value, which stands for an absent input, or one that isn't known before the run.
func (v *Value) known() bool { return v.seq != nil || !v.a.IsZero() }

// isTensor reports whether v is a tensor.
func (v *Value) isTensor() bool { return v.seq == nil && !v.a.IsZero() }

// Tensor returns the tensor that v is, the zero Any if it is something else.
func (v Value) Tensor() tensor.Any { return v.a }

// List returns the tensors of a sequence, nil for other values.
func (v Value) List() []tensor.Any {
	if v.Kind() != KindSequence {
		return nil
	}
	list := make([]tensor.Any, len(v.seq.items))
	for i, item := range v.seq.items {
		list[i] = item.a
	}
	return list
}

// String describes the value: float32[2,3], sequence of 2: int64[], int64[4]; nothing. A long sequence is cut.
func (v Value) String() string {
	switch v.Kind() {
	case KindTensor:
		return tensor.Describe(v.a)
	case KindSequence:
		const most = 8
		var parts []string
		for _, item := range v.seq.items[:min(len(v.seq.items), most)] {
			parts = append(parts, item.String())
		}
		if len(v.seq.items) > most {
			parts = append(parts, "…")
		}
		if parts == nil {
			return "empty sequence of " + v.seq.elem.String()
		}
		return fmt.Sprintf("sequence of %d: %s", len(v.seq.items), strings.Join(parts, ", "))
	case KindOptional:
		return "nothing"
	}
	return "no value"
}

// Close closes the tensors of v: see tensor.Any.Close.
func (v Value) Close() error {
	var errs []error
	if v.isTensor() {
		errs = append(errs, v.a.Close())
	} else if v.seq != nil {
		for _, item := range v.seq.items {
			errs = append(errs, item.a.Close())
		}
	}
	return errors.Join(errs...)
}

// elem returns the element type of a tensor, or of those of a sequence; Invalid where it isn't known.
func (v *Value) elem() dtype.DType {
	switch {
	case v.isTensor():
		return v.a.DType()
	case v.seq != nil:
		return v.seq.elem
	}
	return dtype.Invalid
}

// spec returns what is known of v's type, without elements; of what is no tensor that is nothing.
func (v *Value) spec() (Value, error) {
	if !v.isTensor() || v.a.IsSpec() {
		return Value{a: v.a}, nil
	}
	s, err := tensor.NewSpec(v.a.DType(), v.a.Shape()...)
	return Value{a: s.Any()}, err
}

// axes is how many axes the tensors of v have together, and one for each.
func (v *Value) axes() int {
	if v.seq == nil {
		return v.a.Rank()
	}
	n := len(v.seq.items)
	for _, item := range v.seq.items {
		n += item.a.Rank()
	}
	return n
}

// size returns the bytes of a value, -1 if it is unknown.
func (v *Value) size() int64 {
	if v.seq == nil {
		return size(v.a)
	}
	var n int64
	for _, item := range v.seq.items {
		n = add(n, max(size(item.a), 0))
	}
	return n
}

// sameType reports whether two tensors hold the same type in the same shape.
func sameType(v, w *Value) bool {
	return v.isTensor() && w.isTensor() && v.a.DType() == w.a.DType() && slices.Equal(v.a.Shape(), w.a.Shape())
}

// DecodeValue decodes a file that holds one value of type t, as in the data sets beside ONNX models: a TensorProto, a
// SequenceProto or an OptionalProto. Tensors are copies. The error wraps ErrUnsupported for types that no Value holds.
func DecodeValue(b []byte, t Type) (Value, error) {
	d := newDecoder(len(b))
	v, err := d.anyValue(msg{b, 0}, &t)
	return v, inFile("", err)
}

func (d *decoder) anyValue(m msg, t *Type) (v Value, err error) {
	of := t.Of
	switch {
	case t.Kind == KindTensor:
		var p TensorProto
		if err = d.tensor(m, &p); err == nil {
			v.a, err = (&Model{}).load(&p)
		}
		return v, err
	case t.Kind == KindSequence && of != nil && of.Kind == KindTensor:
		elem, _ := of.Elem.DType()
		var items []*Value
		err = d.each(m, func(f field) error {
			if f.num != 3 {
				return nil
			}
			body, err := f.message()
			if err == nil {
				err = d.spend(256)
			}
			if err == nil {
				v, err = d.anyValue(body, of)
			}
			items = append(items, &Value{a: v.a})
			return in(fmt.Sprintf("element %d", len(items)-1), err)
		})
		return sequenceOf(elem, items), err
	case t.Kind == KindOptional && of != nil:
		v = Nothing()
		err = d.each(m, func(f field) error {
			if f.num != 3 && f.num != 5 {
				return nil
			}
			body, err := f.message()
			if err == nil {
				v, err = d.anyValue(body, of)
			}
			return err
		})
		return v, err
	}
	return v, failf("%w: values of type %v", ErrUnsupported, *t)
}
