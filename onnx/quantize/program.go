package quantize

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A program is a model on its way to integers.
type program struct {
	o       Options
	m       *onnx.Model
	g       *onnx.Graph
	floats  map[string]tensor.Tensor[float32] // constants
	kept    map[string]string                 // why nodes stay in float32, by their results
	foreign map[string]bool                   // values of other types
	used    map[string]bool                   // names of values, in all graphs
	units   []unit                            // that are quantized, in the order of the nodes
	unitOf  map[string]int                    // by the value that a unit makes
	moved   map[string]string                 // the operand of a MaxPool, Reshape, Flatten or Transpose, by its result
	ranges  map[string]*span
	err     *error // the first of a constant, of the emitters as well
}

// A unit is a node that runs on integers, with the Relu or Clip that alone reads its result.
type unit struct {
	node    int
	tail    int   // -1 if there is none
	reads   []int // the inputs that are activations
	product bool  // Conv, Gemm or MatMul
	moves   bool  // it only chooses or moves elements, and keeps the scale
	out     string
}

// A span is the range of a value, and for a Range other than Extremes its histogram.
type span struct {
	lo, hi float64 // with 0
	zeros  int64   // elements that are 0, which have an integer of their own in any case
	count  []int64
}

// ends are the ends of the integers of activations.
func (p *program) ends() (lo, hi float64) {
	if p.o.Activations == dtype.Int8 {
		return math.MinInt8, math.MaxInt8
	}
	return 0, math.MaxUint8
}

// newProgram copies the part of a model that changes, and checks the options.
func newProgram(m *onnx.Model, o *Options) (*program, error) {
	p := &program{floats: make(map[string]tensor.Tensor[float32]), kept: make(map[string]string), foreign: make(map[string]bool), used: make(map[string]bool), err: new(error)}
	if o != nil {
		p.o = *o
	}
	if p.o.Activations == dtype.Invalid {
		p.o.Activations = dtype.Uint8
	}
	if p.o.Percentile == 0 {
		p.o.Percentile = 99.99
	}
	switch {
	case p.o.Activations != dtype.Uint8 && p.o.Activations != dtype.Int8:
		return nil, fmt.Errorf("quantize: %w: activations of %v; want uint8 or int8", tensor.ErrValue, p.o.Activations)
	case p.o.Range < 0 || int(p.o.Range) >= len(rangeNames):
		return nil, fmt.Errorf("quantize: %w: there is no range %d", tensor.ErrValue, p.o.Range)
	case !(p.o.Percentile > 50 && p.o.Percentile <= 100):
		return nil, fmt.Errorf("quantize: %w: a percentile of %v; want more than 50, and 100 at most", tensor.ErrValue, p.o.Percentile)
	case !(p.o.KeepError >= 0):
		return nil, fmt.Errorf("quantize: %w: nodes with an error over %v stay; want 0 or more", tensor.ErrValue, p.o.KeepError)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	own := *m
	g := *m.Graph
	own.Graph, p.m, p.g = &g, &own, &g
	own.Opsets = slices.Clone(m.Opsets)
	g.Inputs = m.Inputs() // without the ones that have a default
	g.Values, g.Quantization = nil, nil
	g.Initializers = slices.Clone(g.Initializers)
	g.Nodes = slices.Clone(g.Nodes)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Inputs, n.Outputs, n.Attributes = slices.Clone(n.Inputs), slices.Clone(n.Outputs), slices.Clone(n.Attributes)
	}
	p.sort()
	p.names()
	if err := p.known(); err != nil {
		return nil, err
	}
	if err := p.constants(); err != nil {
		return nil, err
	}
	p.integers()
	return p, nil
}

// integers keeps products as they are whose operand is made of integers already.
func (p *program) integers() {
	maker := p.makers()
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		if !onnxs(n, products...) || len(n.Inputs) == 0 || len(n.Outputs) == 0 {
			continue
		}
		if k, ok := maker[n.Inputs[0]]; ok && onnxs(&p.g.Nodes[k], "DequantizeLinear") {
			p.kept[n.Outputs[0]] = "its operand is made of integers already"
		}
	}
}

// reads are the values that a node reads, also in graphs inside it.
func reads(n *onnx.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, in := range n.Inputs {
			if in != "" && !yield(in) {
				return
			}
		}
		for g := range inside(n) {
			for i := range g.Nodes {
				for _, in := range g.Nodes[i].Inputs {
					if in != "" && !yield(in) {
						return
					}
				}
			}
			for i := range g.Outputs {
				if !yield(g.Outputs[i].Name) {
					return
				}
			}
		}
	}
}

// inside are the graphs in a node, at any depth.
func inside(n *onnx.Node) iter.Seq[*onnx.Graph] {
	return func(yield func(*onnx.Graph) bool) {
		for i := range n.Attributes {
			var list []*onnx.Graph
			switch v := n.Attributes[i].Value.(type) {
			case *onnx.Graph:
				list = append(list, v)
			case []onnx.Graph:
				for k := range v {
					list = append(list, &v[k])
				}
			}
			for _, b := range list {
				for g := range b.All() {
					if !yield(g) {
						return
					}
				}
			}
		}
	}
}

// onnxs reports whether a node is of ONNX's own operator of one of the names.
func onnxs(n *onnx.Node, names ...string) bool {
	return (n.Domain == "" || n.Domain == "ai.onnx") && slices.Contains(names, n.Op)
}

// label is the name of a node, else of its first result.
func label(n *onnx.Node) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Outputs[0]
}

// sort brings the nodes into an order that they can run in.
func (p *program) sort() {
	maker := p.makers()
	state, order := make([]int, len(p.g.Nodes)), make([]onnx.Node, 0, len(p.g.Nodes))
	var left []int
	for i := range p.g.Nodes {
		left = append(left[:0], i)
		for len(left) > 0 {
			k := left[len(left)-1]
			if state[k] == 2 {
				left = left[:len(left)-1]
				continue
			}
			if state[k] == 1 {
				state[k], left = 2, left[:len(left)-1]
				order = append(order, p.g.Nodes[k])
				continue
			}
			state[k] = 1
			for in := range reads(&p.g.Nodes[k]) {
				if j, ok := maker[in]; ok && state[j] == 0 {
					left = append(left, j)
				}
			}
		}
	}
	p.g.Nodes = order
}

// makers are the nodes that give values, by their places.
func (p *program) makers() map[string]int {
	maker := make(map[string]int)
	for i := range p.g.Nodes {
		for _, out := range p.g.Nodes[i].Outputs {
			if out != "" {
				maker[out] = i
			}
		}
	}
	return maker
}

// readers counts the nodes that read a value, and the model's outputs.
func (p *program) readers() map[string]int {
	count := make(map[string]int)
	for i := range p.g.Nodes {
		for in := range reads(&p.g.Nodes[i]) {
			count[in]++
		}
	}
	for i := range p.g.Outputs {
		count[p.g.Outputs[i].Name]++
	}
	return count
}

// names notes which names are in use, of values and of nodes.
func (p *program) names() {
	for g := range p.g.All() {
		for i := range g.Nodes {
			p.used[g.Nodes[i].Name] = true
			for _, list := range [][]string{g.Nodes[i].Inputs, g.Nodes[i].Outputs} {
				for _, name := range list {
					p.used[name] = true
				}
			}
		}
		for i := range g.Initializers {
			p.used[g.Initializers[i].Name] = true
		}
		for _, list := range [][]onnx.ValueInfo{g.Inputs, g.Outputs} {
			for i := range list {
				p.used[list[i].Name] = true
			}
		}
	}
}

// fresh is a name that nothing has, and takes it.
func (p *program) fresh(base string) string {
	name := base
	for i := 2; p.used[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	p.used[name] = true
	return name
}

// weight adds a constant and returns its name.
func (p *program) weight(base string, a tensor.Any) string {
	name := p.fresh(base)
	t, err := onnx.NewTensorProto(name, a)
	if err != nil && *p.err == nil {
		*p.err = err
	}
	p.g.Initializers = append(p.g.Initializers, t)
	if f, ok := tensor.As[float32](a); ok {
		p.floats[name] = f
	}
	return name
}

// known notes the nodes that Options.Keep names.
func (p *program) known() error {
	for _, name := range p.o.Keep {
		found := false
		for i := range p.g.Nodes {
			if n := &p.g.Nodes[i]; n.Name == name || slices.Contains(n.Outputs, name) {
				for _, out := range n.Outputs {
					p.kept[out] = "Keep names it"
				}
				found = true
			}
		}
		if !found {
			return fmt.Errorf("quantize: %w: no node of the graph has the name %.100q, nor a result of that name; ashlar info lists the nodes", tensor.ErrValue, name)
		}
	}
	return nil
}

// foldSlack is how many bytes results of weights alone may have more than all weights.
const foldSlack = 1 << 20

// constants makes weights of the results that depend on weights alone, and reads the weights of float32.
func (p *program) constants() error {
	fixed, weights := map[string]bool{"": true}, int64(foldSlack)
	count := func(t *onnx.TensorProto) {
		if n, err := t.Len(); err == nil {
			weights += 8 * int64(n)
		}
	}
	for i := range p.g.Initializers {
		t := &p.g.Initializers[i]
		fixed[t.Name] = true
		count(t)
	}
	for i := range p.g.Nodes {
		if a := p.g.Nodes[i].Attr("value"); a != nil && onnxs(&p.g.Nodes[i], "Constant") {
			if t, ok := a.Value.(*onnx.TensorProto); ok && t != nil {
				count(t)
			}
		}
	}
	made, wanted := make(map[string]bool), []string(nil)
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		constant := !strings.HasPrefix(n.Op, "Random") && !onnxs(n, "Bernoulli", "Multinomial") && (n.Domain == "" || n.Domain == "ai.onnx") && len(slices.Collect(inside(n))) == 0
		for in := range reads(n) {
			constant = constant && fixed[in]
			if !constant {
				break
			}
		}
		if constant {
			for _, out := range n.Outputs {
				fixed[out], made[out] = true, true
			}
			continue
		}
		for in := range reads(n) {
			if made[in] {
				made[in], wanted = false, append(wanted, in)
			}
		}
	}
	if len(wanted) > 0 {
		if err := p.folded(wanted, weights); err != nil {
			return err
		}
	}
	p.sweep()
	for i := range p.g.Initializers {
		t := &p.g.Initializers[i]
		if t.Type != onnx.ElemOf(dtype.Float32) {
			continue
		}
		a, err := p.m.Tensor(t)
		if err != nil {
			return err
		}
		if f, ok := tensor.As[float32](a); ok {
			p.floats[t.Name] = f
		}
	}
	return nil
}

// folded computes values that depend on weights alone, and makes weights of them, of most bytes together.
func (p *program) folded(names []string, most int64) error {
	part, err := onnx.Extract(p.m, nil, names)
	if err != nil {
		return err
	}
	s, err := onnx.NewSession(part)
	if err != nil {
		return err
	}
	run := p.o.Run
	out, err := s.RunValues(context.Background(), nil, &run)
	if err != nil {
		return fmt.Errorf("of weights alone: %w", err)
	}
	gone := make(map[string]bool)
	for _, name := range names {
		v := out[name]
		if v.Kind() != onnx.KindTensor || v.Tensor().IsZero() {
			continue
		}
		a := v.Tensor()
		size := int64(a.Len()) * int64(max(1, a.DType().Bits()/8))
		t, err := onnx.NewTensorProto(name, a)
		if err != nil || size > most {
			continue
		}
		most -= size
		gone[name] = true
		p.g.Initializers = append(p.g.Initializers, t)
	}
	for i := range p.g.Nodes {
		for k, name := range p.g.Nodes[i].Outputs {
			if gone[name] {
				p.g.Nodes[i].Outputs[k] = p.fresh(name + ".folded")
			}
		}
	}
	return nil
}

// sweep drops nodes and weights that nothing reads.
func (p *program) sweep() {
	read := make(map[string]bool)
	for i := range p.g.Outputs {
		read[p.g.Outputs[i].Name] = true
	}
	var nodes []onnx.Node
	for i := len(p.g.Nodes) - 1; i >= 0; i-- {
		n := &p.g.Nodes[i]
		if !slices.ContainsFunc(n.Outputs, func(out string) bool { return read[out] }) {
			continue
		}
		for in := range reads(n) {
			read[in] = true
		}
		nodes = append(nodes, *n)
	}
	slices.Reverse(nodes)
	p.g.Nodes = nodes
	p.g.Initializers = slices.DeleteFunc(p.g.Initializers, func(t onnx.TensorProto) bool { return !read[t.Name] })
}
