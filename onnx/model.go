package onnx

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/op"
)

// A Model is a decoded ONNX file, or one that a program put together. The fields are what the file says, nothing is
// filled in; Check says whether it makes sense and whether this library can run it.
//
// A decoded model keeps using the bytes it came from. Close gives them back; so does the collector, once nothing refers
// to the model, its sessions, and its tensors and descriptions of them (TensorProto) any more.
type Model struct {
	IR              int64 // version of the file format itself
	Producer        string
	ProducerVersion string
	Domain          string // reverse domain name of the model's author
	Version         int64  // of the model
	Doc             string
	Opsets          []Opset
	Metadata        []Entry
	Graph           *Graph
	Functions       []Function // a node that calls one becomes its nodes when the model is checked

	// Operators are what the model may use besides those of package op, found by domain and name; nothing in a file. One of
	// the same domain and name comes before that of package op. A program that sets them does so before it calls Check or
	// makes a session. Package imagedecoder has one.
	Operators []*op.Op

	source
}

// An Opset names an operator set and the version of it that a model was written for.
type Opset struct {
	Domain  string // "" and "ai.onnx" are ONNX's own
	Version int64
}

// An Entry is a named string.
type Entry struct{ Key, Value string }

// A Graph computes Outputs from Inputs by running Nodes, which may stand in any order. Values are named by strings, each
// given one value once. A graph inside a node, the branch of an If or the body of a loop, reads those of the graphs around.
type Graph struct {
	Name         string
	Doc          string
	Nodes        []Node
	Initializers []TensorProto // the weights; before IR version 4 each is also an input, and a caller may replace it
	Sparse       []SparseTensor
	Inputs       []ValueInfo
	Outputs      []ValueInfo
	Values       []ValueInfo // what the file says about values between the nodes; may be empty
	Quantization []Quantization
	Metadata     []Entry
}

// All goes over g and the graphs inside its nodes, from the outside in. It ends where they nest too deep to be run.
func (g *Graph) All() iter.Seq[*Graph] {
	return func(yield func(*Graph) bool) { g.all(yield, 0) }
}

func (g *Graph) all(yield func(*Graph) bool, depth int) bool {
	if g == nil {
		return true
	}
	if depth > maxNested || !yield(g) { // one that holds itself has no end
		return false
	}
	for i := range g.Nodes {
		for j := range g.Nodes[i].Attributes {
			switch v := g.Nodes[i].Attributes[j].Value.(type) {
			case *Graph:
				if !v.all(yield, depth+1) {
					return false
				}
			case []Graph:
				for k := range v {
					if !v[k].all(yield, depth+1) {
						return false
					}
				}
			}
		}
	}
	return true
}

// A Node applies an operator. An empty input name leaves an optional input out, an empty output name an output.
type Node struct {
	Name       string // for people; may be empty and need not be unique
	Op         string
	Domain     string
	Overload   string // tells functions of one name apart
	Doc        string
	Inputs     []string
	Outputs    []string
	Attributes []Attribute
	Metadata   []Entry
}

// Attr returns the node's attribute of the given name, or nil.
func (n *Node) Attr(name string) *Attribute {
	if n == nil {
		return nil
	}
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// label names node number i in errors: node 17 "conv3" (Conv, opset 11). The opset is left out when it is 0.
func (n *Node) label(i int, opset int64) string {
	if i < 0 {
		return fmt.Sprintf("sparse initializer %.100q", n.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "node %d", i)
	if n.Name != "" {
		fmt.Fprintf(&b, " %.100q", n.Name)
	}
	if n.Op != "" {
		fmt.Fprintf(&b, " (%s", opName(n.Domain, n.Op))
		if opset != 0 {
			fmt.Fprintf(&b, ", opset %d", opset)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// opName is an operator's name with its domain, unless that is ONNX's own.
func opName(domain, op string) string {
	if isDefault(domain) {
		return op
	}
	return domain + "." + op
}

// isDefault reports whether a domain is ONNX's own operator set.
func isDefault(domain string) bool { return domain == "" || domain == "ai.onnx" }

// AttrType is the kind of an attribute's value, numbered as in the file.
type AttrType int32

// The kinds of attribute, each with the Go type of Attribute.Value.
const (
	AttrUndefined     AttrType = 0
	AttrFloat         AttrType = 1  // float32
	AttrInt           AttrType = 2  // int64
	AttrString        AttrType = 3  // string
	AttrTensor        AttrType = 4  // *TensorProto
	AttrGraph         AttrType = 5  // *Graph
	AttrFloats        AttrType = 6  // []float32
	AttrInts          AttrType = 7  // []int64
	AttrStrings       AttrType = 8  // []string
	AttrTensors       AttrType = 9  // []TensorProto
	AttrGraphs        AttrType = 10 // []Graph
	AttrSparseTensor  AttrType = 11 // *SparseTensor
	AttrSparseTensors AttrType = 12 // []SparseTensor
	AttrTypeProto     AttrType = 13 // *Type
	AttrTypes         AttrType = 14 // []Type
)

var attrNames = [...]string{"undefined", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors", "graphs",
	"sparse tensor", "sparse tensors", "type", "types"}

// String returns the kind in words: ints, sparse tensor.
func (t AttrType) String() string {
	if t < 0 || int(t) >= len(attrNames) {
		return fmt.Sprintf("attribute type %d", int32(t))
	}
	return attrNames[t]
}

// An Attribute is a named constant of a node. Value holds the Go type that AttrType's constants list.
type Attribute struct {
	Name  string
	Type  AttrType
	Ref   string // in a function: the function's attribute this one stands for; Value is nil then
	Doc   string
	Value any
}

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

// held returns the type of what an optional of type t holds, t itself if it is none.
func (t *Type) held() *Type {
	for t.Kind == KindOptional && t.Of != nil {
		t = t.Of
	}
	return t
}

// tensor returns the type of the tensors that values of type t consist of.
func (t *Type) tensor() *Type {
	for t.Of != nil && (t.Kind == KindSequence || t.Kind == KindOptional) {
		t = t.Of
	}
	return t
}

func (t Type) of() string {
	if t.Of == nil {
		return "?"
	}
	return t.Of.String()
}

// A Function is an operator defined inside the model by other nodes.
type Function struct {
	Domain, Name, Overload string
	Doc                    string
	Inputs, Outputs        []string
	Attributes             []string    // names the caller must give
	Defaults               []Attribute // attributes with a default
	Nodes                  []Node
	Opsets                 []Opset
	Values                 []ValueInfo
	Metadata               []Entry
}

// A SparseTensor lists the elements that aren't zero.
type SparseTensor struct {
	Values  TensorProto // as many as there are indices; its name is the tensor's
	Indices TensorProto
	Dims    []int64
}

// Quantization names the tensors that hold the scale and zero point of another.
type Quantization struct {
	Tensor string
	Params []Entry
}
