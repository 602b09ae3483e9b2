package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Value is an operand or a result of a graph: a tensor of numbers or of strings, a sequence of tensors or of maps, a map, or
// nothing, which an optional may hold. The zero Value is none of them.
type Value struct {
	a    tensor.Any
	own  *storage    // the holder of the memory of a, a result of the run; nil for the caller's and the model's own
	seq  *sequence   // of every value that is no tensor
	text *text.Table // of a tensor of strings: a holds their numbers there
}

// A sequence is the content of a Value that is no tensor. It doesn't change once it is made.
type sequence struct {
	kind  Kind // KindSequence, KindMap, whose items are the keys and the values, or KindOptional for nothing
	items []*Value
	elem  elem // of the items; noElem where nothing says it
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
	return sequenceOf(elem(d), items)
}

// SequenceOf returns a sequence of tensors or maps, also of strings. A run refuses one of values of different types.
func SequenceOf(list ...Value) Value {
	items := make([]*Value, len(list))
	var of elem
	for i := range list {
		item := list[i]
		if items[i] = &item; i == 0 {
			of = item.itemElem()
		}
	}
	return sequenceOf(of, items)
}

func sequenceOf(d elem, items []*Value) Value {
	return Value{seq: &sequence{KindSequence, items, d}}
}

// Nothing returns the value of an optional that holds none.
func Nothing() Value { return Value{seq: nothing} }

// Kind returns KindTensor, KindSequence, KindMap, KindOptional for Nothing, or KindNone for the zero Value. An optional that
// holds a value is that value.
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

// isTensor reports whether v is a tensor, of numbers or of strings.
func (v *Value) isTensor() bool { return v.seq == nil && !v.a.IsZero() }

// Tensor returns the tensor of numbers that v is, the zero Any if it is something else.
func (v Value) Tensor() tensor.Any {
	if v.text != nil {
		return tensor.Any{}
	}
	return v.a
}

// List returns the tensors of a sequence, nil for other values. In place of an item that is no tensor of numbers it has the zero
// Any: see Items.
func (v Value) List() []tensor.Any {
	if v.Kind() != KindSequence {
		return nil
	}
	list := make([]tensor.Any, len(v.seq.items))
	for i, item := range v.seq.items {
		list[i] = item.Tensor()
	}
	return list
}

// Items returns the elements of a sequence, nil for other values.
func (v Value) Items() []Value {
	if v.Kind() != KindSequence {
		return nil
	}
	list := make([]Value, len(v.seq.items))
	for i, item := range v.seq.items {
		list[i] = *item
	}
	return list
}

// String describes the value: float32[2,3], string[4], sequence of 2: int64[], int64[4]; map of 3: string to float32;
// nothing. A long sequence is cut.
func (v Value) String() string {
	switch v.Kind() {
	case KindTensor:
		s := tensor.Describe(v.a)
		if v.text != nil {
			s = "string" + strings.TrimPrefix(s, dtype.Int32.String())
		}
		return s
	case KindMap:
		return fmt.Sprintf("map of %d: %v to %v", v.seq.items[0].a.Len(), v.seq.items[0].elem(), v.seq.elem)
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
			errs = append(errs, item.Close())
		}
	}
	return errors.Join(errs...)
}

// elem returns the element type of a tensor, or of the tensors of a sequence; noElem where it isn't known.
func (v *Value) elem() elem {
	switch {
	case v.text != nil:
		return ofString
	case v.isTensor():
		return elem(v.a.DType())
	case v.seq != nil:
		return v.seq.elem
	}
	return noElem
}

// itemElem returns the element type of v as an item of a sequence.
func (v *Value) itemElem() elem {
	switch v.Kind() {
	case KindMap:
		return ofMap
	case KindTensor:
		return v.elem()
	}
	return noElem
}

// spec describes v without elements; for a value that is no tensor it returns the zero Value.
func (v *Value) spec() (Value, error) {
	if !v.isTensor() || v.a.IsSpec() {
		return Value{a: v.a, text: v.text}, nil
	}
	s, err := tensor.NewSpec(v.a.DType(), v.a.Shape()...)
	return Value{a: s.Any(), text: v.text}, err
}

// axes is how many axes the tensors of v have together, and one for each.
func (v *Value) axes() int {
	if v.seq == nil {
		return v.a.Rank()
	}
	n := len(v.seq.items)
	for _, item := range v.seq.items {
		n += item.axes()
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
		n = add(n, max(item.size(), 0))
	}
	return n
}

// sameType reports whether two tensors hold the same type in the same shape.
func sameType(v, w *Value) bool {
	return v.isTensor() && w.isTensor() && v.elem() == w.elem() && v.a.DType() == w.a.DType() && slices.Equal(v.a.Shape(), w.a.Shape())
}
