package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// An expansion is the state that resolving and checking a model share.
type expansion struct {
	m         *Model
	opsets    map[string]int64 // of the model
	given     map[opKey]*op.Op // by the program
	functions map[opKey]*Function
	imports   map[*Function]map[string]int64
	left      int
	gaps      gaps
	text      *text.Table            // the strings of the model
	tensors   map[*TensorProto]Value // the tensors that are loaded: attributes, constants
	copied    copying
	constants map[*Node]Value // the values of Constants without a tensor
}

// importsOf returns the newest version of each domain that a list imports.
func importsOf(list []Opset) map[string]int64 {
	m := make(map[string]int64, len(list))
	for _, o := range list {
		d := keyOf(o.Domain, "", "").domain
		m[d] = max(m[d], o.Version)
	}
	return m
}

// assumed has the version of a domain that nodes are of if nothing imports it: the last one, as ONNX Runtime takes it.
var assumed = map[string]int64{microsoftDomain: 1, mlDomain: mlOpset, preview: 1, trainingDomain: 1}

// AssumedOpsets returns the domains that nodes name and the model doesn't import, with the versions that are taken: the last ones of
// com.microsoft, ai.onnx.ml, ai.onnx.preview and ai.onnx.preview.training. A node of another domain that isn't imported is an error of Check.
func (m *Model) AssumedOpsets() (list []Opset) {
	add := func(g *Graph, imports ...map[string]int64) {
		for in := range g.All() {
			for i := range in.Nodes {
				d := in.Nodes[i].Domain
				taken := Opset{d, assumed[d]}
				if taken.Version > 0 && !slices.Contains(list, taken) && !slices.ContainsFunc(imports, func(m map[string]int64) bool { return m[d] != 0 }) {
					list = append(list, taken)
				}
			}
		}
	}
	model := importsOf(m.Opsets)
	if m.Graph != nil {
		add(m.Graph, model)
	}
	for i := range m.Functions {
		add(&Graph{Nodes: m.Functions[i].Nodes}, model, importsOf(m.Functions[i].Opsets))
	}
	return list
}

// opset returns the version of a domain that nodes of the function are of: the model's where the function is silent, and the assumed one
// where both are.
func (x *expansion) opset(domain string, call *callee) int64 {
	domain = keyOf(domain, "", "").domain
	for ; call != nil; call = call.outer {
		if v := call.opsets[domain]; v != 0 {
			return v
		}
	}
	return cmp.Or(x.opsets[domain], assumed[domain])
}

// label names a function in errors.
func (fn *Function) label() string { return fmt.Sprintf("function %.100q", opName(fn.Domain, fn.Name)) }

// operators are the operators of all domains, and ONNX's under the names that com.microsoft has for them.
var operators = sync.OnceValue(func() map[opKey]*op.Op {
	m := make(map[opKey]*op.Op)
	for _, o := range all.Operators() {
		m[keyOf(o.Domain(), o.Name(), "")] = o
		if about(o).Shared {
			a := o.As(microsoftDomain, o.Name(), 1)
			m[keyOf(a.Domain(), a.Name(), "")] = a
		}
	}
	return m
})

// find returns the operator that runs a node, nil if neither this library nor the program has one: the operator o of its name, or the valueOp
// f. That may also be the form of o for strings.
func (x *expansion) find(n *Node) (d definition, o *op.Op, f *valueOp) {
	key := keyOf(n.Domain, n.Op, "")
	f = valueOps[key]
	if o = x.given[key]; o == nil {
		o = operators()[key]
	}
	switch {
	case f != nil && (f.asks == nil || f.asks(n)):
		d = f
	case o != nil:
		d = o
	}
	return d, o, f
}

// function returns the function that a node calls, nil if an operator of this library runs it or nothing does. Of the
// model's functions, and the bodies that operators have, those count whose meaning no operator of package op has.
func (x *expansion) function(n *Node, call *callee) *Function {
	if x == nil {
		return nil
	}
	d, _, _ := x.find(n)
	key := keyOf(n.Domain, n.Op, "")
	v, b := x.opset(n.Domain, call), composites[key]
	if (!b.asked(n) || x.given[key] != nil) && d != nil && n.Overload == "" && v != 0 && meaning(d, v) == "" {
		return nil
	}
	if fn := x.functions[keyOf(n.Domain, n.Op, n.Overload)]; fn != nil {
		return fn
	}
	if b != nil && n.Overload == "" && v != 0 && b.refuses(n, v) == "" {
		return b.build(n)
	}
	return nil
}

// spend counts n of the nodes, names and attributes that calls make.
func (x *expansion) spend(n int) error {
	if x.left -= n; x.left < 0 {
		x.left = 0
		return failf("%w: the calls of the model's functions make more than %d nodes, names and attributes; a run takes no more", tensor.ErrMemory, maxExpanded)
	}
	return nil
}

// spendNode counts a node inside a function.
func (x *expansion) spendNode(n *Node) error {
	pieces := 1 + len(n.Inputs) + 2*len(n.Outputs) + len(n.Attributes)
	for i := range n.Attributes {
		switch v := n.Attributes[i].Value.(type) {
		case string:
			pieces += len(v) / 64
		case []int64:
			pieces += len(v) / 16
		case []float32:
			pieces += len(v) / 32
		case []string:
			pieces += len(v) / 4
		}
	}
	return x.spend(pieces)
}

// The bounds on the nodes that the calls of a model make of its functions. Each call, node, name and attribute counts, and takes some 120 bytes.
const (
	maxExpanded = 1 << 19
	maxCalls    = 64 // functions that call each other, one inside the other
)
