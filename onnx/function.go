package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/op"
)

// A node that calls a function becomes the steps of the function, in the caller's program. So plans, fused operators and
// the account of memory don't know functions. Source: docs/IR.md of github.com/onnx/onnx, "Functions".

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
			if a.Ref != "" && a.Value == nil { // else checkAttributes refuses it
				from := r.call.attrs[a.Ref]
				if from == nil {
					continue // neither the call nor the function gives it
				}
				if a.Type != AttrUndefined && a.Type != from.kind() {
					return nil, in(named("attribute", a.Name, i), failf("it is %v, but stands for %q of the function, which is %v", a.Type, a.Ref, from.kind()))
				}
				a.Ref, a.Type, a.Value = "", from.kind(), from.Value
			}
			own.Attributes = append(own.Attributes, a)
		}
		n = &own
	}
	return n, r.x.spendNode(n)
}

// around returns the resolver around a graph that an attribute holds: for one that was handed to a function the caller's.
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
	if err := checkAttributes(call.fn.Defaults); err != nil {
		return err
	}
	if err := checkAttributes(call.node.Attributes); err != nil {
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

// checkAttributes refuses attributes of one name, or without a value, or with several: a type and a reference count as one.
func checkAttributes(list []Attribute) error {
	seen := make(map[string]bool, len(list))
	for j := range list {
		a := &list[j]
		switch {
		case a.Value != nil && a.Ref != "":
			return in(named("attribute", a.Name, j), failf("it has a value, and stands for %.100q of a function, too; leave one out", a.Ref))
		case a.Value == nil && a.Ref != "":
			return in(named("attribute", a.Name, j), failf("it stands for %.100q of a function, but the node is in none", a.Ref))
		case a.Value == nil:
			return in(named("attribute", a.Name, j), failf("it has no value"))
		case seen[a.Name]:
			return in(named("attribute", a.Name, j), failf("it is there twice"))
		case a.Type != AttrUndefined && a.typed() != nil:
			return in(named("attribute", a.Name, j), a.typed())
		}
		seen[a.Name] = true
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
