package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
)

// Check reports whether the model can be run. If the model contradicts itself, Check returns an *Error about the first such
// place: a value given twice or not at all, nodes out of order or in a cycle, a weight with the wrong number of bytes.
// Otherwise an *UnsupportedError lists everything this library doesn't have: operators, their attributes, their meaning
// at the imported opset, element types. Check follows the types of values between the nodes as far as they don't depend on
// the sizes of the inputs. Session.Plan, with which Run begins, knows the sizes, and completes the list before anything runs. A domain
// that nodes name and the model doesn't import is no gap if AssumedOpsets has it. Plan, too, reports what an operator refuses for its
// operands' shapes or an attribute's value.
//
// Check computes values on which shapes may depend: integers and the like of up to 1,024 elements, for a second at most. It
// runs nothing else of the model. It reads only two kinds of weights: bools, and lists of integers, since their bytes may be
// no valid elements.
func (m *Model) Check() error {
	return m.use(func() error {
		_, _, err := m.compile()
		return err
	})
}

// compile checks the model. The tensors that it loaded are in the expansion.
func (m *Model) compile() (*compiled, *expansion, error) {
	g := m.Graph
	if g == nil {
		return nil, nil, failf("the model has no graph")
	}
	c := &compiled{g: g, m: m, text: text.NewTable(nil)}
	x, err := m.expansion()
	if err == nil {
		x.text = c.text
		err = c.compileModel(x)
	}
	if err != nil {
		return nil, nil, in(fmt.Sprintf("graph %q", g.Name), err)
	}
	return c, x, nil
}

func (c *compiled) compileModel(x *expansion) (err error) {
	if c.program, err = resolveIn(c.g, nil, x); err != nil {
		return err
	}
	if err := c.checkGraph(x); err != nil {
		return err
	}
	c.shareConstants()
	c.checkTypes(x)
	if err := x.gaps.err(); err != nil {
		return err
	}
	return c.checkCopies(x)
}

// checkCopies fails if a session of the model would copy too much out of other files.
func (c *compiled) checkCopies(x *expansion) (err error) {
	copied, seen := x.copied, make(map[*TensorProto]bool)
	c.all(func(b *compiled) bool {
		for _, k := range b.consts {
			if _, ok := x.tensors[k.proto]; ok || k.proto == nil || seen[k.proto] {
				continue
			}
			if seen[k.proto] = true; err == nil {
				err = in(fmt.Sprintf("tensor %q", b.names[k.id]), copied.add(c.m, k.proto))
			}
		}
		return err == nil
	})
	return err
}

// checkGraph looks at a graph, whose names are resolved, and at those inside its nodes.
func (c *compiled) checkGraph(x *expansion) (err error) {
	if err = c.checkValues(x); err != nil {
		return err
	}
	if x.opset("", c.site) == 0 && slices.ContainsFunc(c.g.Nodes, func(n Node) bool { return isDefault(n.Domain) }) {
		return failf("the model doesn't say which opset its nodes are of")
	}
	c.ops = make([]*op.Op, len(c.steps))
	c.attrs = make([]map[string]Value, len(c.steps))
	for i := range c.steps {
		s := &c.steps[i]
		if s.opset == 0 {
			s.opset = x.opset(s.node.Domain, s.call)
		}
		missing := func(format string, args ...any) { x.gaps.add(c, s, fmt.Sprintf(format, args...)) }
		if err := c.checkNode(i, x, missing); err != nil {
			return in(c.label(s), err)
		}
		for _, b := range s.bodies {
			b.m, b.text, b.place = c.m, c.text, c.place+c.label(s)+": "+b.attr+": "
			if err := b.checkGraph(x); err != nil {
				return in(c.label(s), inAttr(b.attr, err))
			}
		}
		if s.value != nil {
			if err := s.value.check(s); err != nil {
				return in(c.label(s), err)
			}
		}
	}
	return nil
}

// shareConstants makes constants of a graph around constants of the graphs that capture them.
func (c *compiled) shareConstants() {
	var fixed map[int]constant
	for i := range c.steps {
		for _, b := range c.steps[i].bodies {
			if fixed == nil {
				fixed = make(map[int]constant, len(c.consts))
				for _, k := range c.consts {
					fixed[k.id] = k
				}
				if !c.inner {
					for _, id := range c.inputs {
						delete(fixed, id) // a run may give another value
					}
				}
			}
			b.captures = slices.DeleteFunc(b.captures, func(o capture) bool {
				k, ok := fixed[o.from]
				if ok {
					b.consts = append(b.consts, constant{o.id, k.proto, k.value, true})
				}
				return ok
			})
			b.shareConstants()
		}
	}
	if fixed != nil {
		c.lifetimes()
	}
}

// checkValues looks at inputs, outputs and weights.
func (c *compiled) checkValues(x *expansion) error {
	g := c.g
	missing := func(place, reason string) {
		x.gaps.list = append(x.gaps.list, Unsupported{Place: c.place + place, Reason: reason})
	}
	for _, l := range []struct {
		kind string
		vals []ValueInfo
	}{{"input", g.Inputs}, {"output", g.Outputs}} {
		for i := range l.vals {
			v := &l.vals[i]
			t := v.Type.tensor()
			if n := len(t.Shape); n > maxRank {
				return in(named(l.kind, v.Name, i), tooManyAxes(n))
			}
			if v.Type.Kind == KindNone && (l.kind == "output" || c.inner || c.given[c.inputs[i]]) {
				continue // the type follows from the rest
			}
			if t.elem() == noElem && !(c.inner && t.Kind == KindTensor && t.Elem == ElemUndefined) {
				missing(named(l.kind, v.Name, i), "its type is "+v.Type.String())
			}
		}
	}
	for i := range g.Values {
		if n := len(g.Values[i].Type.Shape); n > maxRank {
			return in(named("value", g.Values[i].Name, i), tooManyAxes(n))
		}
	}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		place := fmt.Sprintf("initializer %q", t.Name)
		if why := t.unsupported(); why != "" {
			missing(place, why)
			continue
		}
		if err := t.checkElems(); err != nil {
			return in(place, err)
		}
		c.consts = append(c.consts, constant{id: c.inits[i], proto: t})
	}
	return nil
}

// checkNode looks for the operator and the tensors of step i, and keeps them; missing lists the gaps.
func (c *compiled) checkNode(i int, x *expansion, missing func(format string, args ...any)) error {
	s := &c.steps[i]
	n := s.node
	s.read, s.kept = new(once), new(memory)
	if err := checkAttributes(n.Attributes); err != nil {
		return err
	}
	if n.Op == "Constant" && isDefault(n.Domain) && len(n.Attributes) == 1 {
		if t, ok := n.Attributes[0].Value.(*SparseTensor); ok && t != nil {
			return c.checkSparse(s, t, missing)
		}
	}
	graphs := s.bodies
	s.bodies = nil
	if n.Overload != "" {
		missing("the model defines no function with overload %.40q", n.Overload)
		return nil
	}
	d, o, f := x.find(n)
	key := keyOf(n.Domain, n.Op, "")
	b := composites[key]
	if b.asked(n) && x.given[key] == nil {
		d = nil
	}
	why := ""
	switch {
	case s.opset == 0:
		why = fmt.Sprintf("the model imports no opset of the domain %q; add the domain with its version to opset_import, Model.Opsets in Go", n.Domain)
	case d == nil && b != nil:
		why = b.refuses(n, s.opset) // else it were a function
	case d == nil || len(d.Versions()) == 0 && x.given[key] == nil: // or no graph has it
		why = without(n)
	default:
		why = meaning(d, s.opset)
	}
	if why != "" {
		missing("%s", why)
		return nil
	}
	if n.Op == "Constant" && isDefault(n.Domain) {
		return c.checkConstant(i, o, x, missing)
	}
	var attrs []string
	if o != nil {
		attrs = o.Attributes()
	}
	if f != nil {
		attrs = slices.Concat(attrs, f.attrs, f.graphs)
	}
	ok, err := c.checkAttrs(i, attrs, x, missing)
	if err != nil {
		return err
	}
	if _, runs := d.(*valueOp); runs {
		return s.checkValueOp(f, graphs)
	}
	if ok {
		c.ops[i], s.text = o, f
		s.own = o != operators()[keyOf(n.Domain, n.Op, "")]
	}
	return nil
}

// checkAttrs loads the attributes of step i that are tensors. It reports whether all attributes are known.
func (c *compiled) checkAttrs(i int, known []string, x *expansion, missing func(format string, args ...any)) (ok bool, err error) {
	n := c.steps[i].node
	ok = true
	for j := range n.Attributes {
		a := &n.Attributes[j]
		if !slices.Contains(known, a.Name) {
			missing("attribute %q isn't known", a.Name)
			ok = false
			continue
		}
		t, is := a.Value.(*TensorProto)
		if !is {
			continue
		}
		v, err := x.load(t)
		if errors.Is(err, ErrUnsupported) {
			missing("attribute %q: %s", a.Name, t.unsupported())
			ok = false
			continue
		}
		if err != nil {
			return ok, inAttr(a.Name, err)
		}
		if c.attrs[i] == nil {
			c.attrs[i] = make(map[string]Value)
		}
		c.attrs[i][a.Name] = v
	}
	return ok, nil
}

// checkConstant makes the output of a Constant node a constant.
func (c *compiled) checkConstant(i int, o *op.Op, x *expansion, missing func(format string, args ...any)) error {
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
		if err := t.checkElems(); err != nil {
			return err
		}
		k.proto = t
	} else if list, ok := stringsIn(a); ok && (a.Name == "value_string" || a.Name == "value_strings") {
		var shape []int
		if _, several := a.Value.([]string); several {
			shape = []int{len(list)}
		}
		v, err := stringsValue(c.text, shape, list)
		if err != nil {
			return err
		}
		k.value = v
	} else if v, ok := x.constants[s.node]; ok {
		k.value = v
	} else {
		if !slices.Contains(o.Attributes(), a.Name) {
			missing("attribute %q isn't known", a.Name)
			return nil
		}
		call, read, err := c.call(i, nil, nil)
		if err != nil {
			return err
		}
		out, err := o.Run(call)
		if err == nil {
			err = read.wrong
		}
		if err != nil {
			return err
		}
		k.value.a = out[0]
		x.constants[s.node] = k.value
	}
	c.consts = append(c.consts, k)
	return nil
}

// checkTypes follows the element types through the graph and the graphs inside its nodes, with 1 for every size that isn't
// fixed, and lists the types that operators refuse. It leaves unknown types to the planner.
func (c *compiled) checkTypes(x *expansion) {
	c.all(func(b *compiled) bool {
		b.vals = make([]Value, len(b.names))
		for _, k := range b.consts {
			if v, err := x.described(k); err == nil {
				b.vals[k.id] = v
			}
		}
		return true
	})
	f := inference{guessing: true, failed: func(b *compiled, i int, err error) error {
		if refuses(err) {
			x.gaps.add(b, &b.steps[i], plain(err))
		}
		return nil
	}}
	f.within(context.Background(), 0, func() error { return f.graph(c, c.guesses(), new(Plan)) })
}

// guesses describes the inputs, with 1 for every size that isn't fixed, and the constants, by value.
func (c *compiled) guesses() []Value {
	vals := slices.Clone(c.vals)
	for i := range c.g.Inputs {
		if v := guess(&c.g.Inputs[i].Type); v.known() && !c.given[c.inputs[i]] {
			vals[c.inputs[i]] = v
		}
	}
	return vals
}

// load returns the tensor that an attribute or a constant holds, which all that name it share.
func (x *expansion) load(t *TensorProto) (Value, error) {
	if v, ok := x.tensors[t]; ok {
		return v, nil
	}
	if err := x.copied.add(x.m, t); err != nil {
		return Value{}, err
	}
	v, err := x.m.loadValue(t, x.text)
	if err == nil {
		x.tensors[t] = v
	}
	return v, err
}

// described returns the value of a constant that is small, and of a large one its type and shape.
func (x *expansion) described(k constant) (Value, error) {
	if k.proto == nil {
		return k.value, nil
	}
	shape, err := k.proto.Shape()
	if err != nil {
		return Value{}, err
	}
	v := describedAs((&Type{Kind: KindTensor, Elem: k.proto.Type}).elem(), shape...)
	if v.known() && reach(v.a) <= small {
		return x.load(k.proto)
	}
	return v, nil
}

// checkValueOp gives a step the valueOp that runs it, and the graphs of its node that the valueOp runs.
func (s *step) checkValueOp(f *valueOp, graphs []*compiled) error {
	for _, name := range f.graphs {
		a := s.node.Attr(name)
		i := slices.IndexFunc(graphs, func(b *compiled) bool { return b.attr == name })
		switch {
		case a == nil:
			return failf("it has no attribute %q; the operator runs the graph there", name)
		case i < 0:
			return inAttr(name, failf("it holds %v, the operator runs a graph", a.kind()))
		}
		s.bodies = append(s.bodies, graphs[i])
	}
	n := len(s.in)
	for n > 0 && s.in[n-1] < 0 {
		n--
	}
	switch {
	case n < f.least || slices.Contains(s.in[:f.least], -1):
		return failf("it needs %d inputs", f.least)
	case f.most >= 0 && n > f.most:
		return failf("it has %d inputs, the operator takes %d at most", n, f.most)
	}
	s.value = f
	return nil
}
