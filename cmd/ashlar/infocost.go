package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A costing is the cost of a run, with the inputs that it lacks.
type costing struct {
	*onnx.Cost
	open   []onnx.ValueInfo // without sizes
	values []string         // whose values it depends on
}

// sizes are the inputs that --shape and -i give.
func (p *program) sizes(s *source, m *onnx.Model, f *infoFlags) (map[string]tensor.Any, error) {
	if s.sizes != nil {
		return s.sizes, nil
	}
	sizes := make(map[string]tensor.Any)
	all := m.Inputs()
	for _, text := range f.shapes {
		i := slices.IndexFunc(all, func(v onnx.ValueInfo) bool { return strings.HasPrefix(text, v.Name+"=") })
		if i < 0 {
			var names []string
			for _, v := range all {
				names = append(names, v.Name)
			}
			name, _, ok := strings.Cut(text, "=")
			if !ok {
				return nil, p.usagef("--shape %s: want name=1x3x224x224", text)
			}
			return nil, fmt.Errorf("%s: --shape %s: there is no input %q; it has %d%s", s.name, text, name, len(names), listed(names))
		}
		v := &all[i]
		shape, err := extents(text[len(v.Name)+1:])
		if err != nil {
			return nil, p.usagef("--shape %s: %v", text, err)
		}
		d, ok := v.Type.Elem.DType()
		if !ok || v.Type.Kind != onnx.KindTensor {
			return nil, fmt.Errorf("%s: --shape %s: the input is %v, no tensor of numbers", s.name, text, v.Type)
		}
		spec, err := tensor.NewSpec(d, shape...)
		if err != nil {
			return nil, fmt.Errorf("%s: --shape %s: %w", s.name, text, err)
		}
		sizes[v.Name] = spec.Any()
	}
	in := &inputs{p: p, m: m, model: s.name}
	for _, text := range f.inputs {
		name, file, err := in.named(text)
		if err != nil {
			return nil, err
		}
		src, err := p.open(file)
		if err != nil {
			return nil, err
		}
		if sizes[name], err = p.tensor(src); err != nil {
			return nil, err
		}
	}
	s.sizes = sizes
	return sizes, nil
}

// costOf counts a run with these inputs.
func costOf(s *source, m *onnx.Model, sizes map[string]tensor.Any) (*costing, error) {
	c, err := m.Cost(sizes)
	if err != nil {
		return nil, s.in(err)
	}
	x := &costing{Cost: c, open: openInputs(m.Inputs(), sizes)}
	if !c.Exact || !c.Plan.Exact {
		x.values = valuesWanted(m, sizes)
	}
	return x, nil
}

// parameters is the number of elements of a model's weights that are numbers, also of those in Constant nodes.
func parameters(m *onnx.Model) (total int64) {
	count := func(t *onnx.TensorProto) {
		if n, err := t.Len(); err == nil && t.Type != onnx.ElemString {
			total += int64(n)
		}
	}
	for g := range m.Graph.All() {
		for i := range g.Initializers {
			count(&g.Initializers[i])
		}
		for _, t := range constants(g) {
			count(t)
		}
	}
	return total
}

// constants yields the results and the tensors of a graph's Constant nodes.
func constants(g *onnx.Graph) iter.Seq2[string, *onnx.TensorProto] {
	return func(yield func(string, *onnx.TensorProto) bool) {
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if opOf(n) != "Constant" || len(n.Attributes) != 1 || len(n.Outputs) != 1 {
				continue
			}
			if t, ok := n.Attributes[0].Value.(*onnx.TensorProto); ok && !yield(n.Outputs[0], t) {
				return
			}
		}
	}
}

// inConstants counts the tensors in Constant nodes of a model, and their bytes.
func inConstants(m *onnx.Model) (n int, bytes int64) {
	for g := range m.Graph.All() {
		for _, t := range constants(g) {
			n++
			if d, ok := t.Type.DType(); ok {
				if elems, err := t.Len(); err == nil {
					bytes += formats.Bytes(d, elems)
				}
			}
		}
	}
	return n, bytes
}

// An operatorUse counts the nodes of an operator in a model, and their cost.
type operatorUse struct {
	Op      string `json:"op"`
	Nodes   int    `json:"nodes"`
	FLOPs   int64  `json:"flops"`             // of the nodes that run once, as far as they are known
	Unknown int    `json:"unknown,omitempty"` // nodes whose FLOPs aren't in FLOPs
}

func opOf(n *onnx.Node) string {
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return n.Domain + "." + n.Op
	}
	return n.Op
}

// operatorsOf counts the nodes of a model by operator, the most frequent first, without their costs.
func operatorsOf(m *onnx.Model) (list []operatorUse) {
	counts := make(map[string]int)
	for g := range m.Graph.All() {
		for i := range g.Nodes {
			counts[opOf(&g.Nodes[i])]++
		}
	}
	for name, n := range counts {
		list = append(list, operatorUse{Op: name, Nodes: n, Unknown: n})
	}
	slices.SortFunc(list, func(a, b operatorUse) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Op, b.Op))
	})
	return list
}

// costs sums the costs of nodes by operator, the largest first. Nodes of functions stand in place of their calls.
func costs(c *onnx.Cost) (list []operatorUse) {
	at := make(map[string]int)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		op := opOf(n.Node)
		k, ok := at[op]
		if !ok {
			k = len(list)
			at[op], list = k, append(list, operatorUse{Op: op})
		}
		list[k].Nodes++
		switch {
		case n.FLOPs < 0 || !n.Once && n.FLOPs > 0:
			list[k].Unknown++
		case n.Once:
			list[k].FLOPs += n.FLOPs
		}
	}
	slices.SortFunc(list, func(a, b operatorUse) int {
		return cmp.Or(cmp.Compare(b.FLOPs, a.FLOPs), cmp.Compare(b.Unknown, a.Unknown), strings.Compare(a.Op, b.Op))
	})
	return list
}

// describeCost writes rows about the cost of a run; c is nil for a model that can't be run.
func (p *program) describeCost(c *costing, row func(head, text string)) {
	if c == nil {
		return
	}
	total, live := grouped(c.FLOPs), amount(c.Plan.Live)
	if !c.Exact {
		total += "+"
	}
	if !c.Exact && c.FLOPs == 0 {
		total = "unknown"
	}
	switch {
	case !c.Plan.Exact && c.Plan.Live == 0:
		live = "unknown"
	case !c.Plan.Exact:
		live = "at least " + live
	}
	row("FLOPs", total)
	for _, o := range costs(c.Cost) {
		var text []string
		if o.FLOPs > 0 {
			part := grouped(o.FLOPs) + " in " + label(o.Op)
			if c.Exact {
				part += fmt.Sprintf(", %.1f %%", 100*float64(o.FLOPs)/float64(c.FLOPs))
			}
			text = append(text, part)
		}
		if o.Unknown > 0 && c.FLOPs > 0 {
			text = append(text, fmt.Sprintf("not counted in %d of %d %s", o.Unknown, o.Nodes, label(o.Op)))
		}
		if text != nil {
			row("", strings.Join(text, ", "))
		}
	}
	if live = fmt.Sprintf("weights %s, results %s", amount(c.Plan.Weights), live); c.Plan.Node != "" {
		live += ", most at " + label(c.Plan.Node)
	}
	row("memory", live)
	if len(c.open) > 0 && !(c.Exact && c.Plan.Exact) {
		row("", "sizes are open: say them, as in "+shapeFlags(c.open))
	}
	for _, name := range c.values {
		row("", fmt.Sprintf("it depends on the value of %[1]s: give it, as in -i %[1]s=%[1]s.npy", label(name)))
	}
}

// openInputs are the inputs that lack sizes. A named axis has the size of its name in other inputs.
func openInputs(all []onnx.ValueInfo, given map[string]tensor.Any) (list []onnx.ValueInfo) {
	bound := make(map[string]bool)
	for _, v := range all {
		if _, ok := given[v.Name]; ok {
			for _, d := range v.Type.Shape {
				bound[d.Param] = true
			}
		}
	}
	open := func(d onnx.Dim) bool { return d.Value < 0 && (d.Param == "" || !bound[d.Param]) }
	for _, v := range all {
		if _, ok := given[v.Name]; ok || v.Type.Kind != onnx.KindTensor {
			continue
		}
		if !v.Type.HasShape || slices.ContainsFunc(v.Type.Shape, open) {
			list = append(list, v)
		}
	}
	return list
}

// shapeFlags are flags that give open inputs a size, as an example that can be typed. A name that one input has says the size in others.
func shapeFlags(open []onnx.ValueInfo) string {
	const most = 4
	said := make(map[string]bool)
	var flags []string
	for _, v := range open {
		t, news := &v.Type, !v.Type.HasShape
		sizes := []string{"1x3x64x64"}
		if t.HasShape {
			sizes = nil
		}
		for axis, d := range t.Shape {
			size := fmt.Sprint(d.Value)
			if d.Value < 0 {
				if size = "1"; len(t.Shape) == 4 && axis >= 2 { // height and width, most likely
					size = "64"
				}
				news = news || d.Param == "" || !said[d.Param]
				said[d.Param] = true
			}
			sizes = append(sizes, size)
		}
		if !news {
			continue
		}
		if len(flags) == most {
			flags = append(flags, "and so on")
			break
		}
		flags = append(flags, "--shape "+label(v.Name)+"="+strings.Join(sizes, "x"))
	}
	return strings.Join(flags, " ")
}

// valuesWanted are the inputs of integers on whose values the cost depends: with zeros more of it is known than with a description of these,
// or they are an error.
func valuesWanted(m *onnx.Model, given map[string]tensor.Any) (list []string) {
	const most = 1024 // elements that shapes and branches may depend on
	unknown := func(c *onnx.Cost) (n int) {
		for i := range c.Nodes {
			if x := &c.Nodes[i]; x.FLOPs < 0 || !x.Once || x.Bytes < 0 {
				n++
			}
		}
		return n
	}
	for _, v := range m.Inputs() {
		a, ok := given[v.Name]
		d, numbers := v.Type.Elem.DType()
		if v.Type.Kind != onnx.KindTensor || !numbers || !d.IsInteger() || ok && !a.IsSpec() {
			continue
		}
		var shape []int
		if ok {
			shape = a.Shape()
		}
		for _, x := range v.Type.Shape {
			if !ok {
				shape = append(shape, int(max(x.Value, 1)))
			}
		}
		if formats.Bytes(d, shape...) > most*int64(d.Size()) {
			continue
		}
		spec, err := tensor.NewSpec(d, shape...)
		if err != nil {
			continue
		}
		with := maps.Clone(given)
		with[v.Name] = spec.Any()
		before, err := m.Cost(with)
		if err != nil {
			continue
		}
		if with[v.Name], err = tensor.Make(d, shape...); err != nil {
			continue
		}
		if after, err := m.Cost(with); err != nil || unknown(after) < unknown(before) {
			list = append(list, v.Name)
		}
	}
	return list
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// infoFlags are the flags of info.
type infoFlags struct {
	weights, json bool
	plan          bool
	integers      bool
	digest        bool
	shapes        []string
	inputs        []string
	picture       string
}
