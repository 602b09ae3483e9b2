package onnx

import (
	"strconv"
	"strings"
)

// A ValueInfo is a name with a type.
type ValueInfo struct {
	Name     string
	Doc      string
	Type     Type
	Metadata []Entry
}

// String returns the name and type: image float32[batch,1,28,28].
func (v ValueInfo) String() string { return v.Name + " " + v.Type.String() }

// Kind tells the kinds of value apart.
type Kind uint8

// The kinds of value.
const (
	KindNone     Kind = iota // the file doesn't say
	KindTensor               // Elem, Shape
	KindSparse               // a sparse tensor: Elem, Shape
	KindSequence             // of Of
	KindOptional             // Of or nothing
	KindMap                  // from Elem to Of
	KindOpaque               // a type of some other domain
)

// A Type is the type of a value.
type Type struct {
	Kind       Kind
	Elem       ElemType
	HasShape   bool // false: even the rank is unknown
	Shape      []Dim
	Of         *Type
	Denotation string
}

// String returns the type as text: float32[batch,1,28,28], sequence(int64[]), float32[...] when the rank is unknown.
func (t Type) String() string {
	switch t.Kind {
	case KindTensor, KindSparse:
		s := t.Elem.String() + "[...]"
		if t.HasShape {
			parts := make([]string, len(t.Shape))
			for i, d := range t.Shape {
				parts[i] = d.String()
			}
			s = t.Elem.String() + "[" + strings.Join(parts, ",") + "]"
		}
		if t.Kind == KindSparse {
			return "sparse(" + s + ")"
		}
		return s
	case KindSequence:
		return "sequence(" + t.of() + ")"
	case KindOptional:
		return "optional(" + t.of() + ")"
	case KindMap:
		return "map(" + t.Elem.String() + "," + t.of() + ")"
	case KindOpaque:
		return "opaque"
	}
	return "unknown"
}

// tensor returns the type of the tensors that values of type t consist of.
func (t *Type) tensor() *Type {
	for t.Of != nil && (t.Kind == KindSequence || t.Kind == KindOptional) {
		t = t.Of
	}
	return t
}

// held returns the type of the value that an optional of type t holds, t itself if it is none.
func (t *Type) held() *Type {
	for t.Kind == KindOptional && t.Of != nil {
		t = t.Of
	}
	return t
}

// A Dim is the size of one axis: a number, a name, or, with Value < 0 and no Param, unknown. A name stands for one
// number in all inputs of a run.
type Dim struct {
	Value      int64 // negative when not fixed
	Param      string
	Denotation string
}

// String returns the number, the name, or "?".
func (d Dim) String() string {
	switch {
	case d.Value >= 0:
		return strconv.FormatInt(d.Value, 10)
	case d.Param != "":
		return d.Param
	}
	return "?"
}

// An Entry is a named string.
type Entry struct{ Key, Value string }

// An Opset names an operator set and the version of it that a model was written for.
type Opset struct {
	Domain  string // "" and "ai.onnx" are ONNX's own
	Version int64
}

func (t Type) of() string {
	if t.Of == nil {
		return "?"
	}
	return t.Of.String()
}
