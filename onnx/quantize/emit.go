package quantize

import (
	"maps"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// An emitter writes a graph beside that of a program.
type emitter struct {
	program
	nodes []onnx.Node
	steps map[string][2]string // the names of the scale and zero point of a value
}

func (p *program) emitter() *emitter {
	e := &emitter{program: *p, steps: make(map[string][2]string)}
	g := *p.g
	g.Initializers = slices.Clone(p.g.Initializers)
	e.g, e.used, e.floats = &g, maps.Clone(p.used), maps.Clone(p.floats)
	return e
}

// model is the graph with other outputs, of types that follow from the nodes.
func (e *emitter) model(outputs []string) *onnx.Model {
	e.g.Nodes, e.g.Outputs = e.nodes, nil
	for _, name := range outputs {
		e.g.Outputs = append(e.g.Outputs, onnx.ValueInfo{Name: name})
	}
	m := *e.m
	m.Graph, m.IR = e.g, max(m.IR, 8)
	return &m
}

// add adds a node and returns the name of its result.
func (e *emitter) add(op, out string, attrs []onnx.Attribute, in ...string) string {
	e.nodes = append(e.nodes, onnx.Node{Name: e.fresh(out + "." + op), Op: op, Inputs: in, Outputs: []string{out}, Attributes: attrs})
	return out
}

// pair puts a QuantizeLinear and a DequantizeLinear between a value and the readers of to. They have the scale of the value of.
func (e *emitter) pair(from, to, of string) string {
	of = e.root(of)
	names, ok := e.steps[of]
	if !ok {
		s := e.step(of)
		zero := tensor.Scalar(uint8(s.zero)).Any()
		if e.o.Activations == dtype.Int8 {
			zero = tensor.Scalar(int8(s.zero)).Any()
		}
		names = [2]string{e.weight(of+".scale", tensor.Scalar(s.scale).Any()), e.weight(of+".zero", zero)}
		e.steps[of] = names
	}
	return e.add("DequantizeLinear", to, nil, e.add("QuantizeLinear", e.fresh(to+".integers"), nil, from, names[0], names[1]), names[0], names[1])
}

// unit writes a unit that reads activations by these names. Its result is out.
func (e *emitter) unit(u *unit, in []string, out string) {
	n := e.g.Nodes[u.node]
	inputs, attrs := slices.Clone(n.Inputs), slices.Clone(n.Attributes)
	for i, k := range u.reads {
		inputs[k] = in[i]
	}
	if u.product && len(u.reads) == 1 {
		inputs, attrs = e.weighed(&n, inputs, attrs)
	}
	float := e.fresh(out + ".float")
	e.nodes = append(e.nodes, onnx.Node{Name: label(&n), Op: n.Op, Domain: n.Domain, Inputs: inputs, Outputs: []string{float}, Attributes: attrs})
	e.pair(float, out, u.out)
}

// weighed replaces weights by integers, and the bias.
func (e *emitter) weighed(n *onnx.Node, inputs []string, attrs []onnx.Attribute) ([]string, []onnx.Attribute) {
	w := e.floats[n.Inputs[1]]
	axis, alpha, beta := 0, 1.0, 1.0
	switch n.Op {
	case "MatMul":
		if axis = 1; w.Rank() != 2 {
			axis = -1
		}
	case "Gemm":
		if a := n.Attr("transB"); a == nil || a.Value == int64(0) {
			axis = 1
		}
		for name, v := range map[string]*float64{"alpha": &alpha, "beta": &beta} {
			if a := n.Attr(name); a != nil {
				if f, ok := a.Value.(float32); ok {
					*v = float64(f)
				}
			}
		}
		attrs = slices.DeleteFunc(attrs, func(a onnx.Attribute) bool { return a.Name == "alpha" || a.Name == "beta" })
	}
	channels := 1
	if axis >= 0 {
		channels = w.Dim(axis)
	}
	var bias []float64
	if len(inputs) > 2 && inputs[2] != "" {
		list := slices.Collect(tensor.ValuesOf[float32](e.floats[inputs[2]].Any()))
		for c := range channels {
			bias = append(bias, float64(list[c%len(list)])*beta)
		}
	}
	x := float64(e.step(n.Inputs[0]).scale)
	all, steps := channelSteps(w, axis, channels, alpha, func(c int) float64 {
		if bias == nil {
			return 0
		}
		return math.Abs(bias[c]) / x / (1 << 30) // so that the bias has room in an int32
	})
	by, zero, at := tensor.Scalar(steps[0]).Any(), tensor.Scalar(int8(0)).Any(), []onnx.Attribute(nil)
	if axis >= 0 {
		by, zero, at = tensor.FromSlice(steps, channels).Any(), tensor.New[int8](channels).Any(), []onnx.Attribute{onnx.IntAttr("axis", int64(axis))}
	}
	base := n.Inputs[1]
	inputs[1] = e.add("DequantizeLinear", e.fresh(base+".floats"), at, e.weight(base+".integers", tensor.FromSlice(all, w.Shape()...).Any()),
		e.weight(base+".scale", by), e.weight(base+".zero", zero))
	if bias != nil {
		list, scales := make([]int32, channels), make([]float32, channels)
		for c := range list {
			scales[c] = float32(x * float64(steps[c%len(steps)]))
			list[c] = int32(max(-1<<31, min(1<<31-1, math.RoundToEven(bias[c]/float64(scales[c])))))
		}
		base := inputs[2]
		inputs[2] = e.add("DequantizeLinear", e.fresh(base+".floats"), []onnx.Attribute{onnx.IntAttr("axis", 0)}, e.weight(base+".integers", tensor.FromSlice(list, channels).Any()),
			e.weight(base+".scale", tensor.FromSlice(scales, channels).Any()))
	}
	return inputs, attrs
}

// channelSteps rounds weights times alpha to integers from -127 to 127. There is a scale for each index of an axis, or one for an axis of -1.
// No scale is less than least says.
func channelSteps(w tensor.Tensor[float32], axis, channels int, alpha float64, least func(c int) float64) ([]int8, []float32) {
	elems := slices.Collect(tensor.ValuesOf[float32](w.Any()))
	inner := 1 // elements from one index of the axis to the next
	if axis >= 0 {
		for k := axis + 1; k < w.Rank(); k++ {
			inner *= w.Dim(k)
		}
	} else {
		inner = max(1, len(elems))
	}
	steps, all := make([]float32, channels), make([]int8, len(elems))
	most := make([]float64, channels)
	for i, v := range elems {
		c := i / inner % channels
		most[c] = max(most[c], math.Abs(float64(v)*alpha))
	}
	for c := range steps {
		if steps[c] = float32(max(most[c]/127, least(c))); steps[c] == 0 {
			steps[c] = 1
		}
	}
	for i, v := range elems {
		all[i] = int8(max(-127, min(127, math.RoundToEven(float64(v)*alpha/float64(steps[i/inner%channels])))))
	}
	return all, steps
}

// quantized is the model of integers.
func (p *program) quantized() (*onnx.Model, error) {
	e := p.emitter()
	at, tails, reader := make(map[int]int), make(map[int]bool), make(map[string]string)
	for i := range p.units {
		at[p.units[i].node] = i
		tails[p.units[i].tail] = true
	}
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		k, ok := at[i]
		if !ok {
			if !tails[i] {
				e.nodes = append(e.nodes, *n)
			}
			continue
		}
		u := &p.units[k]
		var in []string
		for _, j := range u.reads {
			name := n.Inputs[j]
			if !p.unitResult(name) { // floats make it: one pair is for all readers on integers
				if reader[name] == "" {
					reader[name] = e.pair(name, e.fresh(name+".quantized"), name)
				}
				name = reader[name]
			}
			in = append(in, name)
		}
		e.unit(u, in, u.out)
	}
	outputs := p.g.Outputs
	m := e.model(nil)
	m.Graph.Outputs = outputs
	e.sweep()
	if *p.err != nil {
		return nil, *p.err
	}
	return m, m.Check()
}
