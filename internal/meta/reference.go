package meta

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A frame has all that the nodes of a model refer to besides values.
type frame struct {
	m    *onnx.Model
	seen func(n *onnx.Node, s scope) // is told of each node that ran; may be nil
}

// bounds are for single nodes.
var bounds = onnx.Options{MaxMemory: 256 << 20, MaxIterations: 1000, Threads: 1}

// Reference computes the outputs of a model one node at a time. The turns of Loop, Scan and SequenceMap and the branches of
// If are made here, so that a fault in package onnx's own can't hide.
func Reference(m *onnx.Model, in scope) (scope, error) {
	f := frame{m: m}
	s := maps.Clone(in)
	if err := f.graph(m.Graph, s); err != nil {
		return nil, err
	}
	out := make(scope)
	for _, v := range m.Graph.Outputs {
		out[v.Name] = s[v.Name]
	}
	return out, nil
}

// Trace has a line for each node that the first set runs, also of graphs inside and of functions: its operator,
// and the digests of its results.
func (c *Case) Trace() string {
	var text strings.Builder
	f := frame{m: c.Model, seen: func(n *onnx.Node, s scope) {
		fmt.Fprintf(&text, "%s %s:", n.Name, n.Op)
		for _, name := range n.Outputs {
			if name != "" {
				d, err := s[name].Digest()
				fmt.Fprintf(&text, " %s=%v,%x", name, s[name], d[:8])
				if err != nil {
					fmt.Fprint(&text, " ", err)
				}
			}
		}
		fmt.Fprintln(&text)
	}}
	if err := f.graph(c.Model.Graph, maps.Clone(c.Sets[0].In)); err != nil {
		fmt.Fprintln(&text, err)
	}
	return text.String()
}

// graph computes the values of a graph whose inputs s has.
func (f *frame) graph(g *onnx.Graph, s scope) error {
	for i := range g.Initializers {
		if err := f.weight(&g.Initializers[i], s); err != nil {
			return err
		}
	}
	return f.run(g.Nodes, s)
}

func (f *frame) weight(t *onnx.TensorProto, s scope) error {
	if _, ok := s[t.Name]; ok {
		return nil // an input of that name has a value
	}
	if t.Type == onnx.ElemString {
		list, err := f.m.Strings(t)
		if err != nil {
			return err
		}
		shape, err := t.Shape()
		s[t.Name] = onnx.StringsValue(shape, list...)
		return err
	}
	a, err := f.m.Tensor(t)
	s[t.Name] = onnx.TensorValue(a)
	return err
}

func (f *frame) run(nodes []onnx.Node, s scope) error {
	for i := range nodes {
		if err := f.node(&nodes[i], s); err != nil {
			return fmt.Errorf("%s %s: %w", nodes[i].Op, nodes[i].Outputs, err)
		}
	}
	return nil
}

// node computes the outputs of a node into s.
func (f *frame) node(n *onnx.Node, s scope) error {
	err := f.by(n, s)
	if err == nil && f.seen != nil {
		f.seen(n, s)
	}
	return err
}

func (f *frame) by(n *onnx.Node, s scope) error {
	if fn := f.function(n); fn != nil {
		inner := make(scope)
		for i, name := range fn.Inputs {
			if i < len(n.Inputs) && n.Inputs[i] != "" {
				inner[name] = s[n.Inputs[i]]
			}
		}
		if err := f.run(fn.Nodes, inner); err != nil {
			return err
		}
		give(n, s, at(inner, fn.Outputs)...)
		return nil
	}
	if n.Domain != "" {
		return f.single(n, s)
	}
	switch n.Op {
	case "If":
		name := "else_branch"
		if as[bool](s[n.Inputs[0]])[0] {
			name = "then_branch"
		}
		body, inner := n.Attr(name).Value.(*onnx.Graph), maps.Clone(s)
		if err := f.graph(body, inner); err != nil {
			return err
		}
		give(n, s, at(inner, names(body.Outputs))...)
		return nil
	case "Loop":
		return f.loop(n, s)
	case "Scan":
		return f.scan(n, s)
	case "SequenceMap":
		return f.each(n, s)
	}
	return f.single(n, s)
}

func (f *frame) function(n *onnx.Node) *onnx.Function {
	for i := range f.m.Functions {
		if fn := &f.m.Functions[i]; fn.Domain == n.Domain && fn.Name == n.Op {
			return fn
		}
	}
	return nil
}

// turn computes the outputs of a body whose inputs have the values in.
func (f *frame) turn(body *onnx.Graph, s scope, in ...onnx.Value) ([]onnx.Value, error) {
	inner := maps.Clone(s)
	for i, v := range body.Inputs {
		inner[v.Name] = in[i]
	}
	if err := f.graph(body, inner); err != nil {
		return nil, err
	}
	return at(inner, names(body.Outputs)), nil
}

func (f *frame) loop(n *onnx.Node, s scope) error {
	body := n.Attr("body").Value.(*onnx.Graph)
	carried := at(s, n.Inputs[2:])
	turns, going := int64(1)<<40, onnx.TensorValue(tensor.Scalar(true).Any())
	if n.Inputs[0] != "" {
		turns = as[int64](s[n.Inputs[0]])[0]
	}
	if n.Inputs[1] != "" {
		going = s[n.Inputs[1]]
	}
	rows := make([][]onnx.Value, len(body.Outputs)-1-len(carried))
	for i := int64(0); i < turns && as[bool](going)[0]; i++ {
		out, err := f.turn(body, s, append([]onnx.Value{onnx.TensorValue(tensor.Scalar(i).Any()), going}, carried...)...)
		if err != nil {
			return err
		}
		going, carried = out[0], out[1:1+len(carried)]
		for k := range rows {
			rows[k] = append(rows[k], out[1+len(carried)+k])
		}
	}
	return f.stacked(n, s, carried, rows, nil)
}

func (f *frame) scan(n *onnx.Node, s scope) error {
	body := n.Attr("body").Value.(*onnx.Graph)
	ins := int(n.Attr("num_scan_inputs").Value.(int64))
	carried, whole := at(s, n.Inputs[:len(n.Inputs)-ins]), at(s, n.Inputs[len(n.Inputs)-ins:])
	back := func(name string, i int) bool {
		a := n.Attr(name)
		return a != nil && a.Value.([]int64)[i] == 1
	}
	turns := 0
	for i, v := range whole {
		shape := v.Shape()
		if len(shape) == 0 || i > 0 && shape[0] != turns {
			return fmt.Errorf("input of shape %v has other turns than %d", shape, turns)
		}
		turns = shape[0]
	}
	rows := make([][]onnx.Value, len(body.Outputs)-len(carried))
	for i := range turns {
		in := carried
		for k, v := range whole {
			at := i
			if back("scan_input_directions", k) {
				at = turns - 1 - i
			}
			row, err := f.op("Gather", []onnx.Value{v, onnx.TensorValue(tensor.Scalar(int64(at)).Any())})
			if err != nil {
				return err
			}
			in = append(in[:len(in):len(in)], row)
		}
		out, err := f.turn(body, s, in...)
		if err != nil {
			return err
		}
		carried = out[:len(carried)]
		for k := range rows {
			rows[k] = append(rows[k], out[len(carried)+k])
		}
	}
	return f.stacked(n, s, carried, rows, func(k int) bool { return back("scan_output_directions", k) })
}

// stacked gives a node carried values, and lists of rows as tensors with an axis more.
func (f *frame) stacked(n *onnx.Node, s scope, carried []onnx.Value, rows [][]onnx.Value, back func(k int) bool) error {
	out := carried[:len(carried):len(carried)]
	for k, list := range rows {
		if len(list) == 0 { // a session describes it
			return f.single(n, s)
		}
		if back != nil && back(k) {
			for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
				list[i], list[j] = list[j], list[i]
			}
		}
		v, err := f.op("ConcatFromSequence", []onnx.Value{onnx.SequenceOf(list...)}, onnx.IntAttr("axis", 0), onnx.IntAttr("new_axis", 1))
		if err != nil {
			return err
		}
		out = append(out, v)
	}
	give(n, s, out...)
	return nil
}

func (f *frame) each(n *onnx.Node, s scope) error {
	body := n.Attr("body").Value.(*onnx.Graph)
	in := at(s, n.Inputs)
	lists := make([][]onnx.Value, len(body.Outputs))
	for i := range in[0].Items() {
		row := make([]onnx.Value, len(in))
		for k, v := range in {
			if row[k] = v; v.Kind() == onnx.KindSequence {
				row[k] = v.Items()[i]
			}
		}
		out, err := f.turn(body, s, row...)
		if err != nil {
			return err
		}
		for k := range lists {
			lists[k] = append(lists[k], out[k])
		}
	}
	var out []onnx.Value
	for _, list := range lists {
		if len(list) == 0 {
			return fmt.Errorf("an empty sequence has no type")
		}
		out = append(out, onnx.SequenceOf(list...))
	}
	give(n, s, out...)
	return nil
}

// op runs one operator of ONNX.
func (f *frame) op(name string, in []onnx.Value, attrs ...onnx.Attribute) (onnx.Value, error) {
	n, s := onnx.Node{Op: name, Outputs: []string{"out"}, Attributes: attrs}, make(scope)
	for i, v := range in {
		n.Inputs = append(n.Inputs, fmt.Sprint("in", i))
		s[n.Inputs[i]] = v
	}
	err := f.single(&n, s)
	return s["out"], err
}

// reads are the names of all values that a node and the graphs inside it read, of the ones around it.
func reads(n *onnx.Node, s scope) []string {
	list := slices.Clone(n.Inputs)
	add := func(name string) {
		if _, ok := s[name]; ok {
			list = append(list, name)
		}
	}
	for _, a := range n.Attributes {
		body, ok := a.Value.(*onnx.Graph)
		if !ok {
			continue
		}
		for g := range body.All() {
			for _, n := range g.Nodes {
				for _, name := range n.Inputs {
					add(name)
				}
			}
			for _, v := range g.Outputs {
				add(v.Name)
			}
		}
	}
	return list
}

// single runs a node as a model of its own, whose inputs are all that it reads.
func (f *frame) single(n *onnx.Node, s scope) error {
	m := &onnx.Model{IR: f.m.IR, Opsets: f.m.Opsets, Functions: f.m.Functions, Operators: f.m.Operators, Graph: &onnx.Graph{Name: "node", Nodes: []onnx.Node{*n}}}
	in := make(scope)
	for _, name := range reads(n, s) {
		if _, ok := in[name]; name == "" || ok {
			continue
		}
		in[name] = s[name]
		m.Graph.Inputs = append(m.Graph.Inputs, onnx.ValueInfo{Name: name, Type: typeOf(s[name])})
	}
	for _, name := range n.Outputs {
		if name != "" {
			m.Graph.Outputs = append(m.Graph.Outputs, onnx.ValueInfo{Name: name})
		}
	}
	defer passes("none")()
	session, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	out, err := session.RunValues(context.Background(), in, &bounds)
	if err != nil {
		return err
	}
	for name, v := range out {
		if s[name] = v; v.Kind() == onnx.KindSequence && len(v.Items()) == 0 {
			return fmt.Errorf("%s is an empty sequence, whose type can't be asked for", name)
		}
	}
	return nil
}

// passes sets the passes that sessions make from now on, and returns a function that takes that back.
func passes(text string) func() {
	const name = "ASHLAR_PASSES"
	old := os.Getenv(name)
	os.Setenv(name, text)
	return func() { os.Setenv(name, old) }
}

// give names values as the outputs of a node.
func give(n *onnx.Node, s scope, out ...onnx.Value) {
	for i, name := range n.Outputs {
		if name != "" {
			s[name] = out[i]
		}
	}
}

func at(s scope, names []string) []onnx.Value {
	list := make([]onnx.Value, len(names))
	for i, name := range names {
		list[i] = s[name]
	}
	return list
}

func names(list []onnx.ValueInfo) (names []string) {
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}

// as returns the elements of a value.
func as[T bool | int64 | float64](v onnx.Value) []T {
	a, _ := tensor.As[T](v.Tensor())
	return a.Contiguous().Elems()
}

// typeOf is the type of a value, without its shape.
func typeOf(v onnx.Value) onnx.Type {
	t := onnx.Type{Kind: v.Kind()}
	switch {
	case v.Kind() == onnx.KindSequence || v.Kind() == onnx.KindOptional:
		of := onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}
		if items := v.Items(); len(items) > 0 {
			of = typeOf(items[0])
		}
		t.Of = &of
	case v.Strings() != nil:
		t.Elem = onnx.ElemString
	default:
		t.Elem = onnx.ElemOf(v.Tensor().DType())
	}
	return t
}
