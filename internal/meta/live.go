package meta

import (
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
)

// live takes nodes, weights, inputs and functions out that nothing reads or calls.
func live(c *Case) {
	l := liveness{c.Model.Functions, make(map[string]bool), make(map[string]bool)}
	*c.Model.Graph = *l.graph(c.Model.Graph)
	g := c.Model.Graph
	g.Inputs = slices.DeleteFunc(g.Inputs, func(v onnx.ValueInfo) bool { return !l.read[v.Name] })
	c.Model.Functions = slices.DeleteFunc(slices.Clone(c.Model.Functions), func(fn onnx.Function) bool { return !l.called[fn.Name] })
}

// liveness is the names of values that nodes read, which are unlike in all graphs, and of functions that they call.
type liveness struct {
	functions    []onnx.Function
	read, called map[string]bool
}

// graph returns a graph without nodes and weights that nothing reads.
func (l *liveness) graph(g *onnx.Graph) *onnx.Graph {
	out := *g
	for _, v := range g.Outputs {
		l.read[v.Name] = true
	}
	out.Nodes = nil
	for _, n := range slices.Backward(g.Nodes) {
		if slices.ContainsFunc(n.Outputs, func(name string) bool { return l.read[name] }) {
			out.Nodes = append(out.Nodes, l.node(n))
		}
	}
	slices.Reverse(out.Nodes)
	out.Initializers = slices.DeleteFunc(slices.Clone(g.Initializers), func(t onnx.TensorProto) bool { return !l.read[t.Name] })
	return &out
}

func (l *liveness) node(n onnx.Node) onnx.Node {
	for _, name := range n.Inputs {
		l.read[name] = true
	}
	if n.Domain == functions && !l.called[n.Op] {
		l.called[n.Op] = true
		for _, fn := range l.functions {
			if fn.Name == n.Op {
				l.graph(&onnx.Graph{Nodes: fn.Nodes, Outputs: []onnx.ValueInfo{{Name: fn.Outputs[0]}}})
			}
		}
	}
	n.Attributes = slices.Clone(n.Attributes)
	for i, a := range n.Attributes {
		if body, ok := a.Value.(*onnx.Graph); ok {
			n.Attributes[i].Value = l.graph(body)
		}
	}
	return n
}

var errNone = errors.New("no value fits")
