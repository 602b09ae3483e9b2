package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Check reports whether the model can be run. A model that contradicts itself (a value given twice or not at all, nodes
// out of order or in a cycle, a weight with the wrong number of bytes) gives an *Error about the first such place.
// Otherwise an *UnsupportedError lists everything this library doesn't have: operators, their attributes, their meaning
// at the imported opset, element types. Types of values between the nodes are followed as far as they don't depend on
// the sizes of the inputs; Session.Plan, which Run begins with, has those and completes the list before anything runs.
//
// While checking, values that shapes may depend on are computed: integers and the like of up to 1,024 elements, for a
// second at most. Nothing else of the model is run.
func (m *Model) Check() error {
	return m.use(func() error {
		_, err := m.compile()
		return err
	})
}

// compiled is a model that has passed its checks, ready to be given inputs.
type compiled struct {
	*program
	m      *Model
	opset  int64                   // of ONNX's own operators
	others map[string]int64        // of other domains
	ops    []op.Op                 // by step; nil for a Constant
	attrs  []map[string]tensor.Any // by step: the attributes that are tensors
	consts []constant              // what doesn't depend on inputs: initializers and the outputs of Constants
}

// A constant is the value of an initializer or of a Constant node.
type constant struct {
	id    int
	proto *TensorProto // nil: value
	value tensor.Any
}

func (m *Model) compile() (*compiled, error) {
	g := m.Graph
	if g == nil {
		return nil, failf("the model has no graph")
	}
	c := &compiled{m: m, opset: m.Opset(""), others: make(map[string]int64, len(m.Opsets))}
	for _, o := range m.Opsets {
		c.others[o.Domain] = max(c.others[o.Domain], o.Version)
	}
	if err := c.compileGraph(g); err != nil {
		return nil, in(fmt.Sprintf("graph %q", g.Name), err)
	}
	return c, nil
}

func (c *compiled) compileGraph(g *Graph) (err error) {
	if c.program, err = resolve(g); err != nil {
		return err
	}
	list, err := c.checkValues(g)
	if err != nil {
		return err
	}
	if c.opset == 0 && slices.ContainsFunc(g.Nodes, func(n Node) bool { return isDefault(n.Domain) }) {
		return failf("the model doesn't say which opset its nodes are of")
	}
	known := make(map[string]op.Op)
	for _, o := range op.All() {
		known[o.Name()] = o
	}
	c.ops = make([]op.Op, len(c.steps))
	c.attrs = make([]map[string]tensor.Any, len(c.steps))
	for i := range c.steps {
		s := &c.steps[i]
		missing := func(format string, args ...any) {
			list = append(list, c.missing(s, fmt.Sprintf(format, args...)))
		}
		if err := c.checkNode(i, known, missing); err != nil {
			return in(c.label(s), err)
		}
	}
	list = append(list, c.checkTypes(g)...)
	if len(list) > 0 {
		return &UnsupportedError{List: list}
	}
	return nil
}

// checkValues looks at inputs, outputs and weights.
func (c *compiled) checkValues(g *Graph) (list []Unsupported, err error) {
	for _, l := range []struct {
		kind string
		vals []ValueInfo
	}{{"input", g.Inputs}, {"output", g.Outputs}} {
		for i := range l.vals {
			v := &l.vals[i]
			_, ok := v.Type.Elem.DType()
			if n := len(v.Type.Shape); n > maxRank {
				return nil, in(named(l.kind, v.Name, i), tooManyAxes(n))
			}
			if v.Type.Kind == KindNone && (l.kind == "output" || c.given[c.inputs[i]]) {
				continue // the type follows from the rest
			}
			if v.Type.Kind != KindTensor || !ok {
				list = append(list, Unsupported{Place: named(l.kind, v.Name, i), Reason: "its type is " + v.Type.String()})
			}
		}
	}
	for i := range g.Values {
		if n := len(g.Values[i].Type.Shape); n > maxRank {
			return nil, in(named("value", g.Values[i].Name, i), tooManyAxes(n))
		}
	}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		place := fmt.Sprintf("initializer %q", t.Name)
		if why := t.unsupported(); why != "" {
			list = append(list, Unsupported{Place: place, Reason: why})
			continue
		}
		if _, _, err := t.check(); err != nil {
			return nil, in(place, err)
		}
		c.consts = append(c.consts, constant{id: c.inits[i], proto: t})
	}
	for i := range g.Sparse {
		list = append(list, Unsupported{Place: fmt.Sprintf("sparse initializer %q", g.Sparse[i].Values.Name), Reason: "weights in sparse form"})
	}
	return list, nil
}

// checkNode looks for what step i needs, and keeps it; missing takes note of what there isn't.
func (c *compiled) checkNode(i int, known map[string]op.Op, missing func(format string, args ...any)) error {
	n := c.steps[i].node
	if !isDefault(n.Domain) {
		missing("operators of the domain %q", n.Domain)
		return nil
	}
	inner := false // a graph inside the node
	seen := make(map[string]bool, len(n.Attributes))
	for j := range n.Attributes {
		a := &n.Attributes[j]
		switch {
		case a.Value == nil:
			return in(named("attribute", a.Name, j), failf("it has no value"))
		case seen[a.Name]:
			return in(named("attribute", a.Name, j), failf("it is there twice"))
		}
		seen[a.Name] = true
		inner = inner || a.Type == AttrGraph || a.Type == AttrGraphs
	}
	o, ok := known[n.Op]
	switch {
	case inner:
		missing("it runs a graph inside the graph")
		return nil
	case !ok:
		missing("there is no operator of this name")
		return nil
	}
	if why := meaning(o, c.opset); why != "" {
		missing("%s", why)
		return nil
	}
	if n.Op == "Constant" {
		return c.checkConstant(i, o, missing)
	}
	c.ops[i] = o
	for j := range n.Attributes {
		a := &n.Attributes[j]
		if !slices.Contains(o.Attributes(), a.Name) {
			missing("attribute %q isn't known", a.Name)
			c.ops[i] = nil
			continue
		}
		t, ok := a.Value.(*TensorProto)
		if !ok {
			continue
		}
		v, err := c.m.load(t)
		if errors.Is(err, ErrUnsupported) {
			missing("attribute %q: %s", a.Name, t.unsupported())
			c.ops[i] = nil
			continue
		}
		if err != nil {
			return in(fmt.Sprintf("attribute %q", a.Name), err)
		}
		if c.attrs[i] == nil {
			c.attrs[i] = make(map[string]tensor.Any)
		}
		c.attrs[i][a.Name] = v
	}
	return nil
}

// checkConstant makes the output of a Constant node a constant.
func (c *compiled) checkConstant(i int, o op.Op, missing func(format string, args ...any)) error {
	s := &c.steps[i]
	if len(s.node.Attributes) != 1 || len(s.out) != 1 || s.out[0] < 0 || len(s.in) != 0 {
		return failf("it has %d attributes, %d inputs and %d outputs; a Constant has one attribute and one output", len(s.node.Attributes), len(s.in), len(s.out))
	}
	a := &s.node.Attributes[0]
	k := constant{id: s.out[0]}
	if t, ok := a.Value.(*TensorProto); ok && a.Name == "value" {
		if why := t.unsupported(); why != "" {
			missing("%s", why)
			return nil
		}
		if _, _, err := t.check(); err != nil {
			return err
		}
		k.proto = t
	} else {
		if !slices.Contains(o.Attributes(), a.Name) {
			missing("attribute %q isn't known", a.Name)
			return nil
		}
		call, read := c.call(i, nil, nil)
		out, err := o.Run(call)
		if err == nil {
			err = read.wrong
		}
		if err != nil {
			return err
		}
		k.value = out[0]
	}
	c.consts = append(c.consts, k)
	return nil
}

// checkTypes follows the element types through the graph, with 1 for every size that isn't fixed, and lists what the
// operators refuse. What it can't follow it leaves to the planner.
func (c *compiled) checkTypes(g *Graph) (list []Unsupported) {
	vals := make([]tensor.Any, len(c.names))
	for i := range g.Inputs {
		if v := guess(&g.Inputs[i].Type); !v.IsZero() && !c.given[c.inputs[i]] {
			vals[c.inputs[i]] = v
		}
	}
	for _, k := range c.consts {
		v, err := c.described(k)
		if err == nil {
			vals[k.id] = v
		}
	}
	c.infer(context.Background(), 0, vals, nil, func(i int, err error) error {
		if refuses(err) {
			list = append(list, c.missing(&c.steps[i], err.Error()))
		}
		return nil
	})
	return list
}

// missing is an entry for the list about a step.
func (c *compiled) missing(s *step, reason string) Unsupported {
	return Unsupported{Place: c.label(s), Op: opName(s.node.Domain, s.node.Op), Opset: c.opsetOf(s.node), Reason: reason}
}

// label names a step in errors.
func (c *compiled) label(s *step) string { return s.node.label(s.index, c.opsetOf(s.node)) }

func (c *compiled) opsetOf(n *Node) int64 {
	if isDefault(n.Domain) {
		return c.opset
	}
	return c.others[n.Domain]
}

// refuses reports whether an operator's error means that it doesn't take what the model gives it, whatever the values.
func refuses(err error) bool {
	return errors.Is(err, tensor.ErrDType) || errors.Is(err, ErrUnsupported)
}

// guess describes a tensor of type t, nil if the rank or the element type is open.
func guess(t *Type) tensor.Any {
	d, ok := t.Elem.DType()
	if t.Kind != KindTensor || !ok || !t.HasShape {
		return tensor.Any{}
	}
	shape := make([]int, len(t.Shape))
	for i, dim := range t.Shape {
		shape[i] = 1
		if dim.Value >= 0 {
			shape[i] = int(min(dim.Value, 1<<30))
		}
	}
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		return tensor.Any{}
	}
	return s.Any()
}

// described returns the value of a constant that is small, and of a large one its type and shape.
func (c *compiled) described(k constant) (tensor.Any, error) {
	if k.proto == nil {
		return k.value, nil
	}
	d, _ := k.proto.Type.DType()
	shape, err := k.proto.Shape()
	if err != nil {
		return tensor.Any{}, err
	}
	s, err := tensor.NewSpec(d, shape...)
	if err == nil && reach(s.Any()) <= small {
		return c.m.load(k.proto)
	}
	return s.Any(), err
}
