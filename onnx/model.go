package onnx

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Model is a decoded ONNX file, or one that a program put together. The fields are as in the file, nothing is
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

	// Operators lists the operators that the model may use besides package op's, found by domain and name; nothing in a file. One of
	// the same domain and name comes before that of package op. A program that sets them does so before it calls Check or
	// makes a session. Package imagedecoder has one.
	Operators []*op.Op

	source
}

// A Graph computes Outputs from Inputs by running Nodes, which may stand in any order. Values are named by strings, each
// given one value once. A graph inside a node, the branch of an If or the body of a loop, reads the values of the graphs around.
type Graph struct {
	Name         string
	Doc          string
	Nodes        []Node
	Initializers []TensorProto // the weights; before IR version 4 each is also an input, and a caller may replace it
	Sparse       []SparseTensor
	Inputs       []ValueInfo
	Outputs      []ValueInfo
	Values       []ValueInfo // the file's descriptions of values between the nodes; may be empty
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

// kind returns the type that the value has in a file.
func (a *Attribute) kind() AttrType {
	switch a.Value.(type) {
	case float32:
		return AttrFloat
	case int64:
		return AttrInt
	case string:
		return AttrString
	case *TensorProto:
		return AttrTensor
	case *Graph:
		return AttrGraph
	case []float32:
		return AttrFloats
	case []int64:
		return AttrInts
	case []string:
		return AttrStrings
	case []TensorProto:
		return AttrTensors
	case []Graph:
		return AttrGraphs
	case *SparseTensor:
		return AttrSparseTensor
	case []SparseTensor:
		return AttrSparseTensors
	case *Type:
		return AttrTypeProto
	case []Type:
		return AttrTypes
	}
	return AttrUndefined
}

// typed refuses a value of another type than Type.
func (a *Attribute) typed() error {
	if k := a.kind(); k != a.Type {
		return failf("its type is %v, but its value is a Go %s", a.Type, fmt.Sprintf("%T", a.Value))
	}
	return nil
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

// source is where a decoded model came from. A model that a program put together has none.
type source struct {
	file   string
	buf    *mem.Buffer
	folder *wire.Folder // of files that the model names; nil if nothing says where it is
	ended  uint32       // atomic: not 0 after Close
}

// A visit keeps the model's bytes where they are.
type visit struct {
	m     *Model
	pin   func()
	fault bool
}

// enter begins a visit for a function that defers leave(&err), and then ram.Recover(&err), which sets err where the function
// meets a page of a mapped file that is gone. It fails for no model and for one that is closed.
func (m *Model) enter() (visit, error) {
	switch {
	case m == nil:
		return visit{}, failf("%w: there is no model: it is nil", tensor.ErrValue)
	case m.closed() || m.buf != nil && !m.buf.Hold():
		return visit{}, inFile(m.file, wire.ErrClosed)
	}
	return visit{m, m.folder.Pin(), debug.SetPanicOnFault(true)}, nil
}

// leave ends a visit, and names the model's file in err.
func (v visit) leave(err *error) {
	debug.SetPanicOnFault(v.fault)
	v.pin()
	if v.m.buf != nil {
		v.m.buf.Release()
	}
	*err = inFile(v.m.file, *err)
}

// use runs f in a visit.
func (m *Model) use(f func() error) (err error) {
	v, err := m.enter()
	if err != nil {
		return err
	}
	defer v.leave(&err)
	defer ram.Recover(&err)
	return f()
}

// Close gives back the file or bytes the model was decoded from, and the files that hold its weights. From then on the calls and values that
// need them fail with tensor.ErrClosed: the model's methods, its sessions, and tensors that use weights in place. A call
// that is on its way keeps the bytes until it returns; it may succeed or fail with tensor.ErrClosed. Raw of any TensorProto,
// and slices of weights that Elems or Data gave out, must not be used after Close, unless they are the program's own. A
// second Close does nothing.
func (m *Model) Close() error {
	if m == nil {
		return nil
	}
	if atomic.StoreUint32(&m.ended, 1); m.buf == nil {
		return nil
	}
	return errors.Join(m.buf.Close(), m.folder.Close())
}

func (m *Model) closed() bool { return atomic.LoadUint32(&m.ended) != 0 }

// Opset returns the version of the operator set of a domain that the model imports, 0 if it imports none. The empty domain
// is ONNX's own.
func (m *Model) Opset(domain string) int64 {
	var v int64
	if m == nil {
		return 0
	}
	for _, o := range m.Opsets {
		if o.Domain == domain || isDefault(o.Domain) && isDefault(domain) {
			v = max(v, o.Version)
		}
	}
	return v
}

// maxNested is how deep graphs may stand inside nodes of graphs. A file holds about 25.
const maxNested = 32
