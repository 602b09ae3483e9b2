package onnx

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// Extract returns the part of a model that computes outputs from inputs. Both are names of values: inputs of the graph,
// weights, or results of nodes. No inputs at all stand for the inputs of the graph that the outputs depend on, no outputs for
// all outputs of the graph. The part has the nodes that it needs, in their order, with their weights and functions. An input
// that is a weight loses its elements. A needed node may also give the value of an input; that result gets another name.
//
// The file may declare the type of a new input or output. If it doesn't, the element type follows from the graph, and so do
// the sizes if the model's inputs have fixed ones. An operator that this library doesn't have leaves the type open; Check
// then says so.
//
// It fails for a name that isn't there or stands twice, and for an input that no output depends on. It fails with a list of
// the graph's inputs that would be left without a value. The part shares the file of m: to close one of them
// closes both.
func Extract(m *Model, inputs, outputs []string) (part *Model, err error) {
	err = m.use(func() error {
		if m.Graph == nil {
			return failf("the model has no graph")
		}
		part, err = m.extract(inputs, outputs)
		return in(fmt.Sprintf("graph %q", m.Graph.Name), err)
	})
	return part, err
}

// A cut is the knowledge of Extract about a graph.
type cut struct {
	g       *Graph
	makers  map[string]int  // the node that gives a value
	inputs  map[string]bool // where the part begins
	needed  map[string]bool // values
	nodes   []bool          // the nodes of the part
	reads   [][]string      // by node, for the graphs inside it, too
	missing []string        // inputs of the graph that would have no value
}

func (m *Model) extract(inputs, outputs []string) (*Model, error) {
	g := m.Graph
	p, err := resolve(g)
	if err != nil {
		return nil, err
	}
	k := &cut{g: g, makers: make(map[string]int), inputs: make(map[string]bool), needed: make(map[string]bool), nodes: make([]bool, len(g.Nodes)),
		reads: make([][]string, len(g.Nodes))}
	for i := range p.steps {
		if s := &p.steps[i]; s.index >= 0 { // else a sparse weight
			for id := range s.reads() {
				k.reads[s.index] = append(k.reads[s.index], p.names[id])
			}
		}
	}
	all := make(map[string]bool)
	for i := range g.Inputs {
		all[g.Inputs[i].Name] = true
	}
	weights := make(map[string]bool, len(g.Initializers)+len(g.Sparse))
	for i := range g.Initializers {
		weights[g.Initializers[i].Name] = true
	}
	for i := range g.Sparse {
		weights[g.Sparse[i].Values.Name] = true
	}
	maps.Copy(all, weights)
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Outputs {
			if name != "" {
				all[name], k.makers[name] = true, i
			}
		}
	}
	if len(outputs) == 0 {
		for i := range g.Outputs {
			outputs = append(outputs, g.Outputs[i].Name)
		}
	}
	given := len(inputs) > 0
	if !given {
		for _, v := range m.Inputs() {
			inputs = append(inputs, v.Name)
		}
	}
	for _, l := range []struct {
		kind  string
		names []string
	}{{"input", inputs}, {"output", outputs}} {
		twice := make(map[string]bool, len(l.names))
		for _, name := range l.names {
			switch {
			case !all[name]:
				return nil, failf("%w: %s %.100q: there is no value of this name%s", tensor.ErrValue, l.kind, name, near(name, all))
			case twice[name]:
				return nil, failf("%w: %s %.100q stands twice", tensor.ErrValue, l.kind, name)
			}
			twice[name] = true
		}
	}
	for _, name := range inputs {
		k.inputs[name] = true
	}
	k.need(outputs)
	k.leftOut(weights)
	if len(k.missing) > 0 {
		return nil, failf("%w: the outputs also depend on %s; add them to the inputs, or cut behind them", tensor.ErrValue, quoted(k.missing))
	}
	if !given {
		inputs = slices.DeleteFunc(inputs, func(name string) bool { return !k.needed[name] })
	}
	for _, name := range inputs {
		if !k.needed[name] {
			return nil, failf("%w: input %.100q: no output depends on it", tensor.ErrValue, name)
		}
	}
	return k.part(m, inputs, outputs, all)
}

// need walks from the outputs up to the inputs.
func (k *cut) need(outputs []string) {
	left := slices.Clone(outputs)
	for len(left) > 0 {
		name := left[len(left)-1]
		left = left[:len(left)-1]
		if k.needed[name] {
			continue
		}
		k.needed[name] = true
		i, made := k.makers[name]
		if k.inputs[name] || !made || k.nodes[i] {
			continue
		}
		k.nodes[i] = true
		left = append(left, k.reads[i]...)
	}
}

// leftOut lists the inputs of the graph that the part needs and isn't given.
func (k *cut) leftOut(weights map[string]bool) {
	for i := range k.g.Inputs {
		if name := k.g.Inputs[i].Name; k.needed[name] && !k.inputs[name] && !weights[name] {
			k.missing = append(k.missing, name)
		}
	}
}

// part puts the model together.
func (k *cut) part(m *Model, inputs, outputs []string, all map[string]bool) (*Model, error) {
	types := m.typesOf(slices.Concat(inputs, outputs))
	infos := make(map[string]*ValueInfo)
	for _, list := range [][]ValueInfo{k.g.Values, k.g.Outputs, k.g.Inputs} {
		for i := len(list) - 1; i >= 0; i-- { // the first that has a type
			if list[i].Type.Kind != KindNone {
				infos[list[i].Name] = &list[i]
			}
		}
	}
	info := func(name string) ValueInfo {
		if v := infos[name]; v != nil {
			return *v
		}
		return ValueInfo{Name: name, Type: types[name]}
	}
	g := &Graph{Name: k.g.Name, Doc: k.g.Doc, Metadata: k.g.Metadata}
	for _, name := range inputs {
		g.Inputs = append(g.Inputs, info(name))
	}
	for _, name := range outputs {
		g.Outputs = append(g.Outputs, info(name))
	}
	for i := range k.g.Initializers {
		if t := &k.g.Initializers[i]; k.needed[t.Name] && !k.inputs[t.Name] {
			g.Initializers = append(g.Initializers, *t)
		}
	}
	for i := range k.g.Sparse {
		if t := &k.g.Sparse[i]; k.needed[t.Values.Name] && !k.inputs[t.Values.Name] {
			g.Sparse = append(g.Sparse, *t)
		}
	}
	weights := make(map[string]bool, len(g.Initializers))
	for i := range g.Initializers {
		weights[g.Initializers[i].Name] = true
	}
	for i := range g.Sparse {
		weights[g.Sparse[i].Values.Name] = true
	}
	for i := range k.g.Inputs { // before IR version 4 weights are inputs, too
		if v := &k.g.Inputs[i]; weights[v.Name] {
			g.Inputs = append(g.Inputs, *v)
		}
	}
	kept, ends := make(map[string]bool), make(map[string]bool, len(outputs))
	for _, name := range outputs {
		ends[name] = true
	}
	for i, wanted := range k.nodes {
		if !wanted {
			continue
		}
		n := k.g.Nodes[i]
		for j, name := range n.Outputs {
			if k.inputs[name] {
				n.Outputs = slices.Clone(n.Outputs)
				n.Outputs[j] = unused(name+"_cut", all)
			}
			kept[n.Outputs[j]] = true
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i := range k.g.Values {
		if v := &k.g.Values[i]; kept[v.Name] && !ends[v.Name] {
			g.Values = append(g.Values, *v)
		}
	}
	for _, q := range k.g.Quantization {
		if kept[q.Tensor] || k.needed[q.Tensor] {
			g.Quantization = append(g.Quantization, q)
		}
	}
	part := *m
	part.Graph, part.Functions = g, functionsOf(m, g)
	if _, err := resolve(g); err != nil {
		return nil, err
	}
	return &part, nil
}

// unused returns a name that no value has, and takes it.
func unused(base string, all map[string]bool) string {
	name := base
	for i := 2; all[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	all[name] = true
	return name
}

// functionsOf are the functions of m that a graph calls, and the functions that these call.
func functionsOf(m *Model, g *Graph) (list []Function) {
	wanted := make(map[opKey]bool)
	var left []*Node
	call := func(nodes []Node) {
		for i := range nodes {
			left = append(left, &nodes[i])
		}
	}
	call(g.Nodes)
	for len(left) > 0 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		for j := range n.Attributes {
			switch v := n.Attributes[j].Value.(type) {
			case *Graph:
				if v != nil {
					call(v.Nodes)
				}
			case []Graph:
				for i := range v {
					call(v[i].Nodes)
				}
			}
		}
		key := keyOf(n.Domain, n.Op, n.Overload)
		if wanted[key] {
			continue
		}
		wanted[key] = true
		for i := range m.Functions {
			if fn := &m.Functions[i]; keyOf(fn.Domain, fn.Name, fn.Overload) == key {
				call(fn.Nodes)
			}
		}
	}
	for i := range m.Functions {
		if fn := &m.Functions[i]; wanted[keyOf(fn.Domain, fn.Name, fn.Overload)] {
			list = append(list, *fn)
		}
	}
	return list
}

// typesOf infers the types of values of the main graph: with their sizes where these follow from the model alone, else the
// element type, else nothing.
func (m *Model) typesOf(names []string) map[string]Type {
	types, wanted := make(map[string]Type), make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	for i := range m.Graph.Initializers {
		t := &m.Graph.Initializers[i]
		typ := Type{Kind: KindTensor, Elem: t.Type, HasShape: true}
		for _, d := range t.Dims {
			typ.Shape = append(typ.Shape, Dim{Value: d})
		}
		types[t.Name] = typ
	}
	c, _, err := m.compile()
	if err != nil {
		return types
	}
	note := func(keep func(t Type) Type) func(b *compiled, i int, vals []Value) {
		return func(b *compiled, i int, vals []Value) {
			if b != c {
				return
			}
			for _, id := range b.steps[i].out {
				if id < 0 || !wanted[b.names[id]] || types[b.names[id]].Kind != KindNone {
					continue
				}
				if t := typeOf(&vals[id]); t.Kind == KindTensor {
					types[b.names[id]] = keep(t)
				}
			}
		}
	}
	if vals, err := c.described(nil); err == nil {
		f := inference{seen: note(func(t Type) Type { return t })}
		f.within(context.Background(), 0, func() error { return f.graph(c, vals, new(Plan)) })
	}
	f := inference{guessing: true, seen: note(func(t Type) Type { return Type{Kind: KindTensor, Elem: t.Elem} })}
	f.within(context.Background(), 0, func() error { return f.graph(c, c.guesses(), new(Plan)) })
	return types
}

// near ends a sentence about a name that isn't there with one like it.
func near(name string, all map[string]bool) string {
	lower := strings.ToLower(name)
	best := ""
	for other := range all {
		if l := strings.ToLower(other); (l == lower || strings.Contains(l, lower) || strings.Contains(lower, l)) && (best == "" || other < best) && l != "" {
			best = other
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; there is %.100q", best)
}

// quoted lists names, a dozen at most.
func quoted(names []string) string {
	const most = 12
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, fmt.Sprintf("%.100q", name))
	}
	if len(names) > most {
		list = append(list, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(list, ", ")
}
