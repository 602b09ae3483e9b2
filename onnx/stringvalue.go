package onnx

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/tensor"
)

// someStrings is the table of descriptions, whose strings aren't known.
var someStrings = text.NewTable(nil)

// in returns the value with the numbers that its strings have in a table, to which it may add them.
func (v Value) in(t *text.Table) (Value, error) {
	switch {
	case v.seq != nil && v.seq.kind != KindOptional:
		items := make([]*Value, len(v.seq.items))
		for i, item := range v.seq.items {
			w, err := item.in(t)
			if err != nil {
				return v, err
			}
			items[i] = &w
		}
		return Value{seq: &sequence{v.seq.kind, items, v.seq.elem}}, nil
	case v.text == nil || v.text == t || v.a.IsSpec():
		return v, nil
	}
	a, err := t.Renumbered(v.text, v.a)
	return Value{a: a, text: t}, err
}

// StringsValue returns a tensor of strings as a Value; an empty shape makes it one string. Strings may hold any bytes.
// It panics, as tensor.FromSlice does, when the shape isn't of as many elements.
func StringsValue(shape []int, list ...string) Value {
	t := text.NewTable(nil)
	v := make([]int32, len(list))
	for i, s := range list {
		v[i] = t.Add(s)
	}
	return Value{a: shaped(v, shape), text: t}
}

// Strings returns the elements of a tensor of strings in row-major order, nil for other values.
func (v Value) Strings() []string {
	if v.text == nil || v.a.IsSpec() {
		return nil
	}
	return v.text.Strings(v.a)
}

// Shape returns the shape of a tensor, also of one of strings; nil for other values.
func (v Value) Shape() []int {
	if !v.isTensor() {
		return nil
	}
	return v.a.Shape()
}

// describedAs describes a tensor without elements, the zero Value if the shape is too large.
func describedAs(e elem, shape ...int) Value {
	var text *text.Table
	if e == ofString {
		e, text = elem(dtype.Int32), someStrings
	}
	s, err := tensor.NewSpec(dtype.DType(e), shape...)
	if err != nil {
		return Value{}
	}
	return Value{a: s.Any(), text: text}
}

// shaped returns a tensor over list.
func shaped[T int32 | int64 | float32 | float64 | uint64 | bool](list []T, shape []int) tensor.Any {
	return tensor.FromSlice(list, len(list)).Any().Reshape(shape...)
}
