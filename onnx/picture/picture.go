// Package picture draws the graph of an ONNX model.
package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/onnx"
)

// Of returns the picture of a model's graph: a box for each node, input and output, an arrow for each value that one
// gives and another reads, with its type as far as the file says it or Cost finds it. Weights aren't drawn, nor are
// constants and nodes that read nothing but these. The notes, such as times, stand in the boxes of nodes, by their index in
// the graph. A model without a graph gives a picture without nodes.
func Of(title string, m *onnx.Model, notes map[int]string) *draw.Graph {
	g := &draw.Graph{Title: title}
	if m == nil || m.Graph == nil {
		return g
	}
	makers := make(map[string]int) // of each value, its box
	types := typesOf(m)
	for _, v := range m.Inputs() {
		makers[v.Name] = len(g.Nodes)
		g.Nodes = append(g.Nodes, draw.Node{Label: label(v.Name), Detail: v.Type.String(), Group: -1})
	}
	constant := constants(m)
	groups := make(map[string]int) // a colour for each operator
	boxes := make([]int, len(m.Graph.Nodes))
	for i := range m.Graph.Nodes {
		n := &m.Graph.Nodes[i]
		if boxes[i] = len(g.Nodes); constant[i] {
			boxes[i] = -1
			continue
		}
		if _, ok := groups[n.Op]; !ok {
			groups[n.Op] = len(groups)
		}
		for _, out := range n.Outputs {
			makers[out] = boxes[i]
		}
		detail := insideOf(n)
		if note := notes[i]; note != "" {
			detail = strings.TrimPrefix(detail+", "+label(note), ", ")
		}
		g.Nodes = append(g.Nodes, draw.Node{Label: label(n.Op), Detail: detail, Group: groups[n.Op]})
	}
	arrow := func(value string, to int) {
		if from, ok := makers[value]; ok && value != "" {
			g.Edges = append(g.Edges, draw.Edge{From: from, To: to, Label: types[value]})
		}
	}
	for i := range m.Graph.Nodes {
		if boxes[i] < 0 {
			continue
		}
		for _, in := range m.Graph.Nodes[i].Inputs {
			arrow(in, boxes[i])
		}
		for _, in := range capturedBy(&m.Graph.Nodes[i]) {
			arrow(in, boxes[i])
		}
	}
	for _, v := range m.Graph.Outputs {
		g.Nodes = append(g.Nodes, draw.Node{Label: label(v.Name), Detail: v.Type.String(), Group: -1})
		arrow(v.Name, len(g.Nodes)-1)
	}
	return g
}

// typesOf is the types of values between nodes.
func typesOf(m *onnx.Model) map[string]string {
	types := make(map[string]string)
	if c, err := m.Cost(nil); err == nil { // a model that can't run is drawn, too
		for _, n := range c.Nodes {
			for k, t := range n.Types {
				if n.Depth == 0 && k < len(n.Node.Outputs) && t.HasShape {
					types[n.Node.Outputs[k]] = t.String()
				}
			}
		}
	}
	for _, v := range m.Graph.Values {
		types[v.Name] = v.Type.String()
	}
	return types
}

// constants says of each node whether it is a Constant, or reads nothing but weights and constants.
func constants(m *onnx.Model) []bool {
	fixed := make(map[string]bool)
	for i := range m.Graph.Initializers {
		fixed[m.Graph.Initializers[i].Name] = true
	}
	list := make([]bool, len(m.Graph.Nodes))
	for i := range m.Graph.Nodes {
		n := &m.Graph.Nodes[i]
		varies := func(name string) bool { return name != "" && !fixed[name] }
		list[i] = n.Op == "Constant" || len(n.Inputs) > 0 && !slices.ContainsFunc(n.Inputs, varies) && !slices.ContainsFunc(capturedBy(n), varies)
		for _, out := range n.Outputs {
			fixed[out] = fixed[out] || list[i]
		}
	}
	return list
}

// bodies returns the graphs inside a node, all of them, at any depth.
func bodies(n *onnx.Node) (list []*onnx.Graph) {
	for i := range n.Attributes {
		if g, ok := n.Attributes[i].Value.(*onnx.Graph); ok && g != nil {
			for inner := range g.All() {
				list = append(list, inner)
			}
		}
	}
	return list
}

// insideOf says how many nodes stand in the graphs inside a node.
func insideOf(n *onnx.Node) string {
	nodes := 0
	for _, g := range bodies(n) {
		nodes += len(g.Nodes)
	}
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf("%d nodes inside", nodes)
}

// capturedBy lists names that graphs inside a node read and don't give, each once.
func capturedBy(n *onnx.Node) (list []string) {
	own := make(map[string]bool)
	graphs := bodies(n)
	for _, g := range graphs {
		for _, v := range g.Inputs {
			own[v.Name] = true
		}
		for i := range g.Initializers {
			own[g.Initializers[i].Name] = true
		}
		for i := range g.Nodes {
			for _, out := range g.Nodes[i].Outputs {
				own[out] = true
			}
		}
	}
	read := func(name string) {
		if !own[name] {
			own[name] = true
			list = append(list, name)
		}
	}
	for _, g := range graphs {
		for i := range g.Nodes {
			for _, in := range g.Nodes[i].Inputs {
				read(in)
			}
		}
		for _, v := range g.Outputs {
			read(v.Name)
		}
	}
	return list
}

// label is a name from a file, on one line that isn't too long, without characters that turn the order of others.
func label(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if r := []rune(text); len(r) > 100 {
		text = string(r[:100]) + "…"
	}
	return text
}
