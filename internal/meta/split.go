package meta

import (
	"maps"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// firstOnly are operators each image of whose result, along the first axis, follows from that image of the first input
// alone, and from the other inputs.
var firstOnly = []string{"Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization", "InstanceNormalization"}

// pointwise are operators each element of whose result follows from one of each operand.
var pointwise = []string{"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Neg", "Abs", "Exp", "Erf", "Sqrt", "Clip", "Softplus", "HardSigmoid", "HardSwish",
	"Identity", "Cast", "Where", "Equal", "Greater", "Less"}

// parts returns the case with inputs cut in two along their first axis, and the outputs that follow from the parts: nil if it
// has none. Items of a batch don't meet, so the results of the parts are the parts of the results.
func (c *Case) parts() *Case {
	if len(c.Parted) == 0 {
		return nil
	}
	whole, rank := make([]scope, len(c.Sets)), make(map[string]int)
	for i, s := range c.Sets {
		f := frame{m: c.Model}
		whole[i] = maps.Clone(s.In)
		if f.graph(c.Model.Graph, whole[i]) != nil {
			return nil
		}
	}
	for name, v := range whole[0] {
		if v.Kind() == onnx.KindTensor && v.Strings() == nil {
			rank[name] = len(v.Shape())
		}
	}
	items, mixed := make(map[string]bool), make(map[string]bool) // values that have a part for each item, and others that follow from these
	for _, name := range c.Parted {
		items[name] = true
	}
	m, g := *c.Model, *c.Model.Graph
	g.Inputs, g.Outputs = slices.Clone(g.Inputs), nil
	for i := range g.Nodes {
		n := &g.Nodes[i]
		other := func(s scope) bool { return !byItem(n, c.Model.Opset(""), items, rank, s) }
		if n.Domain == "" && len(n.Inputs) > 0 && len(n.Outputs) == 1 && !slices.ContainsFunc(n.Inputs, func(name string) bool { return mixed[name] }) && !slices.ContainsFunc(whole, other) {
			items[n.Outputs[0]] = true
			g.Outputs = append(g.Outputs, onnx.ValueInfo{Name: n.Outputs[0]})
			continue
		}
		inside := slices.ContainsFunc(n.Attributes, func(a onnx.Attribute) bool { return a.Type == onnx.AttrGraph })
		if inside || slices.ContainsFunc(n.Inputs, func(name string) bool { return items[name] || mixed[name] }) {
			for _, name := range n.Outputs {
				mixed[name] = true
			}
		}
	}
	for i := range g.Inputs {
		g.Inputs[i].Type.HasShape, g.Inputs[i].Type.Shape = false, nil
	}
	m.Graph = &g
	part := &Case{Seed: c.Seed, Model: &m}
	live(part)
	for i, s := range c.Sets {
		n := -1
		for _, v := range m.Graph.Inputs {
			if e := s.In[v.Name].Shape(); items[v.Name] && n >= 0 && e[0] != n {
				return nil
			} else if items[v.Name] {
				n = e[0]
			}
		}
		for _, at := range [][2]int{{0, n / 2}, {n / 2, n}} {
			if at[0] == at[1] { // shapes of nothing may have no meaning, as that of a Reshape
				continue
			}
			set := Set{In: make(scope), Want: make(scope)}
			for _, v := range m.Graph.Inputs {
				x, ok := s.In[v.Name]
				if items[v.Name] {
					x = onnx.TensorValue(x.Tensor().Slice(tensor.R(at[0], at[1])))
				}
				if ok {
					set.In[v.Name] = x
				}
			}
			for _, v := range g.Outputs {
				set.Want[v.Name] = onnx.TensorValue(whole[i][v.Name].Tensor().Slice(tensor.R(at[0], at[1])))
			}
			part.Sets = append(part.Sets, set)
		}
	}
	if len(g.Outputs) == 0 || len(part.Sets) == 0 {
		return nil
	}
	return part
}

// byItem reports whether the items of a node's result follow from the same items of its inputs.
func byItem(n *onnx.Node, opset int64, items map[string]bool, rank map[string]int, s scope) bool {
	first, out := n.Inputs[0], rank[n.Outputs[0]]
	others := func(ok func(name string) bool) bool {
		for _, name := range n.Inputs[1:] {
			if !ok(name) {
				return false
			}
		}
		return items[first]
	}
	alone := func(name string) bool { return !items[name] }
	number := func(name string, def int64) int64 {
		if a := n.Attr(name); a != nil {
			return a.Value.(int64)
		}
		return def
	}
	switch {
	case slices.Contains(firstOnly, n.Op):
		return others(alone) && rank[first] >= 2 && number("training_mode", 0) == 0
	case n.Op == "Dropout":
		return items[first] && len(n.Inputs) == 1
	case n.Op == "QuantizeLinear" || n.Op == "DequantizeLinear":
		return others(func(name string) bool { return !items[name] && rank[name] == 0 })
	case slices.Contains(pointwise, n.Op) && out > 0:
		some := false
		for _, name := range n.Inputs {
			switch v, ok := s[name]; {
			case items[name] && rank[name] == out:
				some = true
			case items[name] || ok && rank[name] == out && v.Shape()[0] != 1:
				return false
			}
		}
		return some
	}
	switch n.Op {
	case "MatMul":
		w := n.Inputs[1]
		return items[first] && rank[first] >= 2 && (!items[w] && rank[w] <= 2 || items[w] && rank[w] == rank[first] && rank[w] > 2)
	case "Gemm":
		return others(func(name string) bool {
			return !items[name] && rank[name] <= 2 && (name != n.Inputs[len(n.Inputs)-1] || len(n.Inputs) < 3 || rank[name] < 2)
		}) && number("transA", 0) == 0
	case "Transpose":
		perm := n.Attr("perm")
		return items[first] && perm != nil && perm.Value.([]int64)[0] == 0
	case "Flatten":
		return items[first] && number("axis", 1) == 1
	case "Softmax":
		axis := number("axis", -1)
		return opset >= 13 && items[first] && rank[first] >= 2 && axis != 0 && axis != int64(-rank[first])
	case "LayerNormalization":
		axis := number("axis", -1)
		return others(alone) && rank[first] >= 2 && axis != 0 && axis != int64(-rank[first])
	case "Concat":
		axis := number("axis", 0)
		for _, name := range n.Inputs {
			if !items[name] {
				return false
			}
		}
		return axis != 0 && axis != int64(-out)
	case "Reshape":
		v, ok := s[n.Inputs[1]]
		return ok && items[first] && !items[n.Inputs[1]] && v.Tensor().Len() > 1 && as[int64](v)[0] == 0 && number("allowzero", 0) == 0
	}
	return false
}
