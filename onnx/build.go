package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Builder puts a model together, node by node. Values are their names; methods that make one return its name, to be
// handed on:
//
//	b := onnx.NewBuilder("tiny")
//	x := b.Input("x", dtype.Float32, "batch", 8)
//	y := b.Node("Gemm", []string{x, b.Weight("w", w)}, onnx.IntAttr("transB", 1))
//	b.Output(b.Node("Softmax", []string{y}), dtype.Float32, "batch", 10)
//	m, err := b.Model(13)
//
// The first mistake is kept and returned by Model.
type Builder struct {
	g    Graph
	sets []Opset         // of other domains
	used map[string]bool // names, of all graphs inside each other
	next map[string]int  // the least number that fresh tries
	err  error
	top  *Builder // of the model, if this one is of a graph inside a node
}

// ready makes the zero value a Builder.
func (b *Builder) ready() {
	if b.used == nil {
		b.used, b.next = make(map[string]bool), make(map[string]int)
	}
}

// NewBuilder returns a Builder of a graph with this name.
func NewBuilder(name string) *Builder {
	return &Builder{g: Graph{Name: name}, used: make(map[string]bool), next: make(map[string]int)}
}

func (b *Builder) fail(place string, err error) {
	if b.top != nil {
		b.top.fail(place, err)
		return
	}
	if b.err == nil && err != nil {
		b.err = in(place, err)
	}
}

// Body returns a Builder of a graph for a node of b, to be handed to GraphAttr. It may read all values of b; the names it
// gives are new in both. The Model of b reports its first mistake.
func (b *Builder) Body(name string) *Builder {
	b.ready()
	top := b
	if b.top != nil {
		top = b.top
	}
	return &Builder{g: Graph{Name: name}, used: b.used, next: b.next, top: top}
}

// GraphAttr is an attribute that holds the graph of a Builder that Body made, as it is when the model is complete.
func GraphAttr(name string, body *Builder) Attribute {
	if body == nil {
		body = new(Builder)
	}
	return Attribute{Name: name, Type: AttrGraph, Value: &body.g}
}

// InputOf declares an input of any type: a sequence, an optional, or a tensor of whatever rank.
func (b *Builder) InputOf(name string, t Type) string {
	b.ready()
	b.g.Inputs = append(b.g.Inputs, ValueInfo{Name: name, Type: t})
	b.used[name] = true
	return name
}

// OutputOf declares the value of this name as an output of any type; the zero Type leaves it to the results of the nodes.
func (b *Builder) OutputOf(name string, t Type) {
	b.ready()
	b.g.Outputs = append(b.g.Outputs, ValueInfo{Name: name, Type: t})
}

// Input declares an input. Each dimension is an int, a string that names it, or nil if it may be anything.
func (b *Builder) Input(name string, d dtype.DType, dims ...any) string {
	b.ready()
	b.g.Inputs = append(b.g.Inputs, b.value(fmt.Sprintf("input %q", name), name, d, dims))
	b.used[name] = true
	return name
}

// Output declares the value of this name as an output of the graph. Each dimension is an int, a string that names it, or nil
// if it may be anything. It is the model's word: a run gives the type and the shape that the nodes make.
func (b *Builder) Output(name string, d dtype.DType, dims ...any) {
	b.ready()
	b.g.Outputs = append(b.g.Outputs, b.value(fmt.Sprintf("output %q", name), name, d, dims))
}

func (b *Builder) value(place, name string, d dtype.DType, dims []any) ValueInfo {
	t := Type{Kind: KindTensor, Elem: ElemOf(d), HasShape: true}
	if t.Elem == ElemUndefined {
		b.fail(place, failf("ONNX has no %v", d))
	}
	for _, v := range dims {
		dim := Dim{Value: -1}
		fixed := func(e int64) {
			if dim.Value = e; e < 0 {
				b.fail(place, failf("dimension %d is negative; use nil for one that isn't fixed", e))
			}
		}
		switch v := v.(type) {
		case nil:
		case string:
			dim.Param = v
		case int:
			fixed(int64(v))
		case int64:
			fixed(v)
		default:
			b.fail(place, failf("a dimension is a %T; it must be an int, a string or nil", v))
		}
		t.Shape = append(t.Shape, dim)
	}
	return ValueInfo{Name: name, Type: t}
}

// Weight adds a constant: a copy of a's elements.
func (b *Builder) Weight(name string, a tensor.Any) string {
	b.ready()
	t, err := NewTensorProto(name, a)
	b.fail(fmt.Sprintf("weight %q", name), err)
	b.g.Initializers = append(b.g.Initializers, t)
	b.used[name] = true
	return name
}

// Strings adds a constant that is a tensor of strings; an empty shape makes it one string.
func (b *Builder) Strings(name string, shape []int, list ...string) string {
	b.ready()
	t, err := NewStringsProto(name, shape, list...)
	b.fail(fmt.Sprintf("weight %q", name), err)
	b.g.Initializers = append(b.g.Initializers, t)
	b.used[name] = true
	return name
}

// Import says which opset of a domain the nodes of the model mean. Of ONNX's own domain Model says it. Check refuses nodes of a
// domain that isn't imported.
func (b *Builder) Import(domain string, opset int64) { b.sets = append(b.sets, Opset{domain, opset}) }

// Node adds a node and returns the name of its output. An empty name among the inputs leaves an optional one out. An
// operator of another domain has that before its name, as in "ai.onnx.ml.ZipMap"; see Import. The node has the name of its first
// output; Model's Graph.Nodes may get others.
func (b *Builder) Node(op string, inputs []string, attrs ...Attribute) string {
	return b.Nodes(op, 1, inputs, attrs...)[0]
}

// mostOutputs is how many outputs Nodes gives a node at most.
const mostOutputs = 1 << 16

// Nodes adds a node with several outputs and returns their names.
func (b *Builder) Nodes(op string, outputs int, inputs []string, attrs ...Attribute) []string {
	b.ready()
	domain := ""
	if i := strings.LastIndexByte(op, '.'); i >= 0 {
		domain, op = op[:i], op[i+1:]
	}
	name := b.fresh(strings.ToLower(op))
	if outputs < 1 || outputs > mostOutputs {
		b.fail(fmt.Sprintf("node %q", name), failf("%w: %d outputs; a node has 1 to %d", tensor.ErrValue, outputs, mostOutputs))
		outputs = 1
	}
	n := Node{Name: name, Op: op, Domain: domain, Inputs: slices.Clone(inputs), Attributes: attrs}
	for i := range outputs {
		out := name
		if i > 0 {
			out = b.fresh(name + "_" + fmt.Sprint(i))
		}
		n.Outputs = append(n.Outputs, out)
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return slices.Clone(n.Outputs)
}

// Rename gives a value another name, wherever it is used so far, and returns that: for outputs that callers ask for by name.
func (b *Builder) Rename(value, name string) string {
	b.ready()
	if !b.used[value] || b.used[name] {
		b.fail(fmt.Sprintf("value %q", value), failf("it can't be renamed to %q: it must exist and the new name must be free", name))
		return name
	}
	rename := func(list []string) {
		for i := range list {
			if list[i] == value {
				list[i] = name
			}
		}
	}
	for g := range b.g.All() {
		for i := range g.Nodes {
			rename(g.Nodes[i].Inputs)
			rename(g.Nodes[i].Outputs)
		}
		for _, list := range [][]ValueInfo{g.Inputs, g.Outputs} {
			for i := range list {
				if list[i].Name == value {
					list[i].Name = name
				}
			}
		}
		for i := range g.Initializers {
			if t := &g.Initializers[i]; t.Name == value {
				t.Name = name
			}
		}
	}
	delete(b.used, value)
	for k := len(value) - 1; k > 0 && value[k] >= '0' && value[k] <= '9'; k-- { // fresh may give it again
		if i, err := strconv.Atoi(value[k:]); err == nil {
			b.next[value[:k]] = min(b.next[value[:k]], i)
		}
	}
	b.used[name] = true
	return name
}

// fresh returns a name that isn't used: conv1, conv2, …
func (b *Builder) fresh(base string) string {
	for i := max(b.next[base], 1); ; i++ {
		if name := fmt.Sprint(base, i); !b.used[name] {
			b.used[name], b.next[base] = true, i+1
			return name
		}
	}
}

// Model returns the model, with its nodes understood as ones of the given opset. It fails with the first mistake made on
// the way, and if a value is given twice or never. Whether the operators exist, and take these inputs, Model.Check says.
func (b *Builder) Model(opset int64) (*Model, error) {
	b.ready()
	err := b.err
	if b.top != nil {
		err = b.top.err
	}
	if err != nil {
		return nil, inFile("", err)
	}
	m := &Model{IR: irOf(opset), Producer: "ashlar", Opsets: append([]Opset{{"", opset}}, b.sets...), Graph: &b.g}
	if _, err := resolve(m.Graph); err != nil {
		return nil, inFile("", in(fmt.Sprintf("graph %q", b.g.Name), err))
	}
	return m, nil
}

// irOf returns the version of the file format that ONNX had when it published an opset, so that readers of that time
// accept the file; at least 4, from which on weights needn't be inputs. Source: docs/Versioning.md of ONNX.
func irOf(opset int64) int64 {
	last := []int64{4: 9, 5: 10, 6: 11, 7: 14, 8: 18, 9: 20, 10: 22, 11: 23} // the last opset of each version
	for ir := int64(4); ir < int64(len(last)); ir++ {
		if opset <= last[ir] {
			return ir
		}
	}
	return int64(len(last))
}

// IntAttr is an attribute that holds an integer.
func IntAttr(name string, v int64) Attribute { return Attribute{Name: name, Type: AttrInt, Value: v} }

// IntsAttr is an attribute that holds a list of integers.
func IntsAttr(name string, v ...int64) Attribute {
	return Attribute{Name: name, Type: AttrInts, Value: v}
}

// FloatAttr is an attribute that holds a float32.
func FloatAttr(name string, v float32) Attribute {
	return Attribute{Name: name, Type: AttrFloat, Value: v}
}

// FloatsAttr is an attribute that holds a list of float32.
func FloatsAttr(name string, v ...float32) Attribute {
	return Attribute{Name: name, Type: AttrFloats, Value: v}
}

// StringAttr is an attribute that holds a string.
func StringAttr(name, v string) Attribute { return Attribute{Name: name, Type: AttrString, Value: v} }

// StringsAttr is an attribute that holds a list of strings.
func StringsAttr(name string, v ...string) Attribute {
	return Attribute{Name: name, Type: AttrStrings, Value: v}
}

// TensorAttr is an attribute that holds a tensor, a copy of a. It fails for a tensor that can't be written, see NewTensorProto.
func TensorAttr(name string, a tensor.Any) (Attribute, error) {
	t, err := NewTensorProto("", a)
	if err != nil {
		return Attribute{}, err
	}
	return Attribute{Name: name, Type: AttrTensor, Value: &t}, nil
}
