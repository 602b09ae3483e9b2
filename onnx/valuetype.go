package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
)

// An elem is the element type of a value: a dtype.DType, or one of those below.
type elem uint16

const (
	noElem   elem = elem(dtype.Invalid) // it isn't known
	ofString elem = 1 << 8
	ofMap    elem = 1 << 9
)

func (e elem) String() string {
	switch e {
	case ofString:
		return "string"
	case ofMap:
		return "map"
	}
	return dtype.DType(e).String()
}

// elem returns the element type of the values of a type, noElem if it isn't known or no Value holds it.
func (t *Type) elem() elem {
	t = t.tensor()
	switch {
	case t.Kind == KindMap && t.isMap():
		return ofMap
	case t.Kind != KindTensor:
		return noElem
	case t.Elem == ElemString:
		return ofString
	}
	d, _ := t.Elem.DType()
	return elem(d)
}

// isMap reports whether a Value holds maps of a type.
func (t *Type) isMap() bool {
	return t.Kind == KindMap && (t.Elem == ElemInt64 || t.Elem == ElemString) && t.Of != nil && t.Of.Kind == KindTensor &&
		slices.Contains([]ElemType{ElemInt64, ElemFloat32, ElemFloat64, ElemString}, t.Of.Elem)
}

// whole reports whether t is of tensors and fixes all their extents.
func (t *Type) whole() bool {
	return t.Kind == KindTensor && t.HasShape && !slices.ContainsFunc(t.Shape, func(d Dim) bool { return d.Value < 0 || d.Value > 1<<30 })
}

// guess describes a value of type t, the zero Value if it isn't a tensor, or the rank or the element type is open.
func guess(t *Type) Value {
	e := t.elem()
	if t.Kind != KindTensor || e == noElem || !t.HasShape {
		return Value{}
	}
	shape := make([]int, len(t.Shape))
	for i, dim := range t.Shape {
		shape[i] = 1
		if dim.Value >= 0 {
			shape[i] = int(min(dim.Value, 1<<30))
		}
	}
	return describedAs(e, shape...)
}
