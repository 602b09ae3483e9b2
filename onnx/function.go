package onnx

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A node that calls a function becomes the steps of the function, in the caller's program. So plans, fused operators and
// the account of memory don't know functions. Source: docs/IR.md of github.com/onnx/onnx, "Functions".

// What the calls of a model may make of its functions. Each call, node, name and attribute counts, and takes some 120 bytes.
const (
	maxExpanded = 1 << 19
	maxCalls    = 64 // functions that call each other, one inside the other
)

// An opKey tells operators and functions apart.
type opKey struct{ domain, name, overload string }

func keyOf(domain, name, overload string) opKey {
	if isDefault(domain) {
		domain = ""
	}
	return opKey{domain, name, overload}
}

// operators are those of package op.
var operators = sync.OnceValue(func() map[opKey]*op.Op {
	m := make(map[opKey]*op.Op)
	for _, o := range op.All() {
		m[keyOf(o.Domain(), o.Name(), "")] = o
		if slices.Contains(microsoft, o.Name()) {
			a := o.As(microsoftDomain, o.Name(), 1)
			m[keyOf(a.Domain(), a.Name(), "")] = a
		}
	}
	return m
})

// An expansion is what resolving and checking a model share.
type expansion struct {
	m         *Model
	opsets    map[string]int64 // of the model
	given     map[opKey]*op.Op // by the program
	functions map[opKey]*Function
	imports   map[*Function]map[string]int64
	left      int
	gaps      gaps
	text      *text.Table            // the strings of the model
	tensors   map[*TensorProto]Value // those that are loaded: attributes, constants
	copied    copying
	constants map[*Node]Value // the values of Constants without a tensor
}

func (m *Model) expansion() (*expansion, error) {
	x := &expansion{m: m, opsets: importsOf(m.Opsets), given: make(map[opKey]*op.Op), functions: make(map[opKey]*Function, len(m.Functions)),
		imports: make(map[*Function]map[string]int64), left: maxExpanded, tensors: make(map[*TensorProto]Value), constants: make(map[*Node]Value)}
	for i, o := range m.Operators {
		if o == nil {
			return nil, failf("operator %d that the program gives the model is nil", i)
		}
		x.given[keyOf(o.Domain(), o.Name(), "")] = o
	}
	for i := range m.Functions {
		fn := &m.Functions[i]
		key := keyOf(fn.Domain, fn.Name, fn.Overload)
		if x.functions[key] != nil {
			return nil, in(fn.label(), failf("the model defines it twice"))
		}
		x.functions[key] = fn
	}
	return x, nil
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

// label names a function in errors.
func (fn *Function) label() string { return fmt.Sprintf("function %.100q", opName(fn.Domain, fn.Name)) }

// A callee is a call of a function.
type callee struct {
	outer  *callee // of the function that the call stands in
	fn     *Function
	node   *Node // that calls
	index  int
	depth  int
	attrs  map[string]*Attribute
	opsets map[string]int64
	graphs map[*Graph]*resolver // the graphs among attrs, each with the graph or function that it stands in
}

// opset returns the version of a domain that nodes of the function are of: the model's where the function is silent.
func (x *expansion) opset(domain string, call *callee) int64 {
	domain = keyOf(domain, "", "").domain
	for ; call != nil; call = call.outer {
		if v := call.opsets[domain]; v != 0 {
			return v
		}
	}
	return x.opsets[domain]
}

// label names a step in errors, after the calls that it stands in.
func (p *program) label(s *step) string {
	text := s.node.label(s.index, s.opset)
	for call := s.call; call != nil && call != p.site; call = call.outer {
		text = call.node.label(call.index, 0) + ": " + text
	}
	return text
}

// find returns what runs a node, nil if nothing of this library or the program does: the operator o of its name, or the flow
// f. That may also be the form of o for strings.
func (x *expansion) find(n *Node) (d definition, o *op.Op, f *flow) {
	key := keyOf(n.Domain, n.Op, "")
	f = flows[key]
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
	v, b := x.opset(n.Domain, call), bodies[key]
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

// spend counts n pieces of what calls make.
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

// bound returns a node with the attributes that it refers to: a copy, or itself if there are none.
func (r *resolver) bound(n *Node) (*Node, error) {
	if r.call == nil {
		return n, nil
	}
	if slices.ContainsFunc(n.Attributes, func(a Attribute) bool { return a.Ref != "" }) {
		own := *n
		own.Attributes = make([]Attribute, 0, len(n.Attributes))
		for i := range n.Attributes {
			a := n.Attributes[i]
			if a.Ref != "" {
				from := r.call.attrs[a.Ref]
				if from == nil {
					continue // neither the call nor the function gives it
				}
				if a.Type != AttrUndefined && a.Type != from.Type {
					return nil, in(named("attribute", a.Name, i), failf("it is %v, but stands for %q of the function, which is %v", a.Type, a.Ref, from.Type))
				}
				a.Ref, a.Type, a.Value = "", from.Type, from.Value
			}
			own.Attributes = append(own.Attributes, a)
		}
		n = &own
	}
	return n, r.x.spendNode(n)
}

// around returns what stands around a graph that an attribute holds: for one that was handed to a function its caller.
func (r *resolver) around(g *Graph) (*resolver, error) {
	if r.call == nil || r.call.graphs[g] == nil {
		return r, nil
	}
	from := r.call.graphs[g]
	if from.naming != r.naming {
		return nil, failf("%w: a function hands the graph on to a node inside another graph", ErrUnsupported)
	}
	return from, nil
}

// expand appends the steps of the function that a step calls.
func (r *resolver) expand(p *program, s *step, fn *Function) error {
	n := s.node
	call := &callee{outer: r.call, fn: fn, node: n, index: s.index, attrs: make(map[string]*Attribute)}
	if r.call != nil {
		call.depth = r.call.depth + 1
	}
	for c := r.call; c != nil; c = c.outer {
		if c.fn == fn {
			return failf("%s calls itself: %s", fn.label(), call.chain(fn))
		}
	}
	if call.depth >= maxCalls {
		return failf("functions call each other more than %d deep", maxCalls)
	}
	if err := r.x.spend(2 + len(fn.Inputs) + 2*len(fn.Outputs) + len(fn.Defaults)); err != nil {
		return err
	}
	if len(n.Inputs) > len(fn.Inputs) || len(n.Outputs) > len(fn.Outputs) {
		return failf("it has %d inputs and %d outputs; the function has %d and %d", len(n.Inputs), len(n.Outputs), len(fn.Inputs), len(fn.Outputs))
	}
	if err := r.arguments(call); err != nil {
		return err
	}
	call.opsets = r.x.imports[fn]
	if call.opsets == nil {
		call.opsets = importsOf(fn.Opsets)
		r.x.imports[fn] = call.opsets
	}
	if err := r.read(s); err != nil {
		return err
	}
	inside := &resolver{naming: r.naming, x: r.x, nodes: fn.Nodes, depth: r.depth, call: call,
		id: make(map[string]int, len(fn.Inputs)), wanted: make(map[string]int, len(fn.Outputs))}
	for k, name := range fn.Inputs {
		if _, ok := inside.id[name]; ok || name == "" {
			return failf("input %d %.100q of the function has no name of its own", k, name)
		}
		inside.id[name] = -1
		if k < len(s.in) {
			inside.id[name] = s.in[k]
		}
	}
	for k, name := range fn.Outputs {
		if _, ok := inside.id[name]; ok {
			continue // an input that is handed on
		}
		if _, ok := inside.wanted[name]; ok {
			continue
		}
		inside.wanted[name] = -1
		if k < len(s.out) {
			inside.wanted[name] = s.out[k]
		}
	}
	if err := inside.program(p); err != nil {
		return err
	}
	for k, name := range fn.Outputs {
		id, ok := inside.id[name]
		switch {
		case !ok:
			return failf("output %d %.100q of the function is given a value by none of its nodes", k, name)
		case k >= len(s.out) || s.out[k] < 0 || s.out[k] == id:
		case id < 0:
			return failf("output %d is %.100q of the function, an input that the call leaves out", k, name)
		default:
			hand := &Node{Op: "Identity", Inputs: []string{name}, Outputs: []string{name}}
			p.steps = append(p.steps, step{node: hand, index: len(fn.Nodes) + k, call: call, opset: 1, in: []int{id}, out: []int{s.out[k]}})
		}
	}
	return nil
}

// arguments collects the attributes that a call gives the function, and its defaults.
func (r *resolver) arguments(call *callee) error {
	for i := range call.fn.Defaults {
		a := &call.fn.Defaults[i]
		call.attrs[a.Name] = a
	}
	if err := checkAttributes(call.node); err != nil {
		return err
	}
	for i := range call.node.Attributes {
		a := &call.node.Attributes[i]
		if call.attrs[a.Name] == nil && !slices.Contains(call.fn.Attributes, a.Name) {
			return in(named("attribute", a.Name, i), failf("the function has none of that name"))
		}
		call.attrs[a.Name] = a
		if g, ok := a.Value.(*Graph); ok {
			if call.graphs == nil {
				call.graphs = make(map[*Graph]*resolver)
			}
			from := r
			if r.call != nil && r.call.graphs[g] != nil {
				from = r.call.graphs[g]
			}
			call.graphs[g] = from
		}
	}
	return nil
}

// chain names the functions from fn down to the call.
func (c *callee) chain(fn *Function) string {
	names := []string{opName(fn.Domain, fn.Name)}
	for c = c.outer; c.fn != fn; c = c.outer {
		names = append(names, opName(c.fn.Domain, c.fn.Name))
	}
	names = append(names, names[0])
	slices.Reverse(names)
	return fmt.Sprintf("%.300s", strings.Join(names, " calls "))
}

// checkAttributes refuses attributes without a value or of one name.
func checkAttributes(n *Node) error {
	seen := make(map[string]bool, len(n.Attributes))
	for j := range n.Attributes {
		a := &n.Attributes[j]
		switch {
		case a.Value == nil && a.Ref != "":
			return in(named("attribute", a.Name, j), failf("it stands for %.100q of a function, but the node is in none", a.Ref))
		case a.Value == nil:
			return in(named("attribute", a.Name, j), failf("it has no value"))
		case seen[a.Name]:
			return in(named("attribute", a.Name, j), failf("it is there twice"))
		}
		seen[a.Name] = true
	}
	return nil
}

// gaps collects what a model needs and this library doesn't have. What a node of a function needs counts once.
type gaps struct {
	list []Unsupported
	seen map[gap]bool
}

type gap struct {
	node   *Node // as the file has it
	reason string
}

func (g *gaps) add(c *compiled, s *step, reason string) {
	if s.call != nil {
		node := s.node
		switch {
		case s.index < 0:
		case s.call == c.site:
			node = &c.g.Nodes[s.index]
		case s.index < len(s.call.fn.Nodes):
			node = &s.call.fn.Nodes[s.index]
		}
		if g.seen[gap{node, reason}] {
			return
		}
		if g.seen == nil {
			g.seen = make(map[gap]bool)
		}
		g.seen[gap{node, reason}] = true
	}
	g.list = append(g.list, Unsupported{Place: c.place + c.label(s), Op: opName(s.node.Domain, s.node.Op), Opset: s.opset, Reason: reason})
}

// err returns the list as an error, nil if it is empty.
func (g *gaps) err() error {
	if len(g.list) == 0 {
		return nil
	}
	return &UnsupportedError{List: g.list}
}
