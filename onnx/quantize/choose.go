package quantize

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
)

var (
	products = []string{"Conv", "Gemm", "MatMul"}
	movers   = []string{"MaxPool", "Reshape", "Flatten", "Transpose"}
)

// choose finds the units.
func (p *program) choose(r *Report) error {
	readers, ends := p.readers(), make(map[string]bool)
	next := make(map[string][]int) // the nodes that read a value
	for i := range p.g.Outputs {
		ends[p.g.Outputs[i].Name] = true
	}
	for i := range p.g.Nodes {
		for in := range reads(&p.g.Nodes[i]) {
			next[in] = append(next[in], i)
		}
	}
	p.units, p.unitOf, r.Floats, r.Products, r.Quantized = nil, make(map[string]int), nil, 0, 0
	took := make(map[int]bool)
	p.moved = make(map[string]string)
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		if took[i] || len(n.Outputs) == 0 {
			continue
		}
		u := unit{node: i, tail: -1, out: n.Outputs[0]}
		isProduct := onnxs(n, products...)
		why := p.kept[u.out]
		ok := why == ""
		switch {
		case isProduct:
			r.Products++
			if u.product = true; ok {
				u.reads, why = p.operands(n)
				ok = why == ""
			}
		case onnxs(n, "Add"):
			ok = ok && p.unitResult(n.Inputs[0]) && p.unitResult(n.Inputs[1]) && slices.ContainsFunc(next[u.out], func(k int) bool {
				m := &p.g.Nodes[k]
				return onnxs(m, products...) || onnxs(m, movers...) || onnxs(m, "Add", "Relu", "Clip")
			})
			u.reads = []int{0, 1}
		case onnxs(n, movers...):
			if len(n.Outputs) == 1 {
				p.moved[u.out] = n.Inputs[0]
			}
			ok = ok && len(n.Outputs) == 1 && p.unitResult(n.Inputs[0])
			u.reads, u.moves = []int{0}, true
		default:
			continue
		}
		if !ok {
			if isProduct {
				r.Floats = append(r.Floats, fmt.Sprintf("%s (%s): %s", label(n), n.Op, why))
			}
			continue
		}
		if list := next[u.out]; !u.moves && readers[u.out] == 1 && len(list) == 1 && !ends[u.out] {
			if t := &p.g.Nodes[list[0]]; p.rectifies(t) && p.kept[t.Outputs[0]] == "" {
				u.tail, u.out = list[0], t.Outputs[0]
				took[u.tail] = true
			}
		}
		if u.product {
			r.Quantized++
		}
		p.unitOf[u.out] = len(p.units)
		p.units = append(p.units, u)
	}
	for i := range p.g.Nodes {
		for g := range inside(&p.g.Nodes[i]) {
			for k := range g.Nodes {
				if n := &g.Nodes[k]; onnxs(n, products...) {
					r.Products++
					r.Floats = append(r.Floats, fmt.Sprintf("%s (%s): it is in a graph inside a node", label(n), n.Op))
				}
			}
		}
	}
	if r.Quantized == 0 {
		if r.Products == 0 {
			return fmt.Errorf("quantize: %w: it has no Conv, Gemm or MatMul", ErrNothing)
		}
		return fmt.Errorf("quantize: %w: %s", ErrNothing, r.Floats[0])
	}
	return nil
}

func (p *program) unitResult(name string) bool { _, ok := p.unitOf[name]; return ok }

// rectifies reports whether a node is a Relu, or a Clip from 0, that a rounding to integers may stand for.
func (p *program) rectifies(n *onnx.Node) bool {
	if onnxs(n, "Relu") {
		return true
	}
	if !onnxs(n, "Clip") || len(n.Inputs) < 2 {
		return false
	}
	low, ok := p.floats[n.Inputs[1]]
	if !ok || low.Len() != 1 || low.Reshape(1).At(0) != 0 {
		return false
	}
	if len(n.Inputs) > 2 && n.Inputs[2] != "" {
		high, ok := p.floats[n.Inputs[2]]
		return ok && high.Len() == 1 && high.Reshape(1).At(0) > 0
	}
	return true
}

// operands returns the inputs of a product that are activations, or why it stays in float32.
func (p *program) operands(n *onnx.Node) (list []int, why string) {
	constant := func(k int) bool { _, ok := p.floats[n.Inputs[k]]; return ok }
	for _, in := range n.Inputs[:2] {
		if p.foreign[in] {
			return nil, "it isn't of float32"
		}
		if w, ok := p.floats[in]; ok && w.Len() == 0 {
			return nil, "its weights have no elements"
		}
	}
	bias := func() string {
		if len(n.Inputs) > 2 && n.Inputs[2] != "" && !constant(2) {
			return "its bias is no constant of float32"
		}
		return ""
	}
	switch {
	case constant(0):
		return nil, "its first operand is a constant"
	case n.Op == "MatMul" && constant(1):
		if p.floats[n.Inputs[1]].Rank() < 2 {
			return nil, "its weights have one axis"
		}
		return []int{0}, ""
	case n.Op == "MatMul":
		return []int{0, 1}, ""
	case !constant(1):
		return nil, "its weights are no constant of float32"
	case n.Op == "Conv":
		return []int{0}, bias()
	}
	if a := n.Attr("transA"); a != nil && a.Value != int64(0) {
		return nil, "it transposes its first operand"
	}
	if len(n.Inputs) > 2 && n.Inputs[2] != "" && constant(2) {
		columns := p.floats[n.Inputs[1]].Dim(1)
		if a := n.Attr("transB"); a != nil && a.Value != int64(0) {
			columns = p.floats[n.Inputs[1]].Dim(0)
		}
		if c := p.floats[n.Inputs[2]]; c.Len() != 1 && (c.Len() != columns || c.Dim(c.Rank()-1) != columns) {
			return nil, "its bias isn't one number for each column"
		}
	}
	return []int{0}, bias()
}

// values need a range: units read and make them. They are in the order of the nodes.
func (p *program) values() (list []string) {
	seen := make(map[string]bool)
	take := func(name string) {
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for i := range p.units {
		u := &p.units[i]
		for _, k := range u.reads {
			take(p.root(p.g.Nodes[u.node].Inputs[k]))
		}
		take(p.root(u.out))
	}
	return list
}

// root is the value that has the range of a value: the operand of a MaxPool, Reshape, Flatten or Transpose on integers, or of one in floats whose result
// has no range.
func (p *program) root(name string) string {
	for p.moved[name] != "" && (p.unitResult(name) || len(p.ranges) > 0 && p.ranges[name] == nil) {
		name = p.moved[name]
	}
	return name
}
