// Command quantize makes a quantized model of a float32 model: it reads IN and writes OUT, with DequantizeLinear and QuantizeLinear nodes
// around the operators. Values that nodes make of weights alone become weights, and BatchNormalization joins the Conv before it. Activations are uint8 with the range of one run on numbers in [-1, 1). Weights are int8, with a scale for each output
// channel of a Conv, else with one scale. The model is for measuring time; its answers aren't accurate.
//
//	go run ./quantize IN.onnx OUT.onnx
package main

import (
	"context"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// quantized are the operators that have DequantizeLinear before them and QuantizeLinear after them; moving ones keep the scale.
var (
	quantized = []string{"Conv", "Gemm", "MatMul", "Add", "Relu", "MaxPool", "Reshape", "Flatten", "Transpose"}
	moving    = []string{"MaxPool", "Reshape", "Flatten", "Transpose"}
)

type scale struct {
	step float32
	zero uint8
}

type program struct {
	m      *onnx.Model
	nodes  []onnx.Node
	fixed  map[string]tensor.Any // results that depend on weights alone
	scales map[string]scale      // of activations
	floats map[string]tensor.Tensor[float32]
	err    error
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: quantize IN.onnx OUT.onnx")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(from, to string) error {
	m, err := onnx.Open(from)
	if err != nil {
		return err
	}
	defer m.Close()
	if err = os.Setenv("ASHLAR_PASSES", "none"); err != nil { // so that each node tells its result
		return err
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	p := program{m: m, fixed: map[string]tensor.Any{}, scales: map[string]scale{}, floats: map[string]tensor.Tensor[float32]{}}
	fixed := constants(m.Graph)
	feeds := map[string]tensor.Any{}
	for i, v := range s.Inputs() {
		var shape []int
		for _, e := range v.Type.Shape {
			shape = append(shape, max(1, int(e.Value)))
		}
		feeds[v.Name] = tensor.RandomUniform[float32](uint64(i)+1, -1, 1, shape...).Any()
		p.ranged(v.Name, feeds[v.Name])
	}
	if _, err = s.Run(context.Background(), feeds, &onnx.Options{Observe: func(r *onnx.NodeRun) {
		for i, name := range r.Names {
			if r.Depth == 0 && r.Values[i].Kind() == onnx.KindTensor {
				if p.ranged(name, r.Values[i].Tensor()); fixed[name] {
					p.fixed[name] = r.Values[i].Tensor().Clone()
				}
			}
		}
	}}); err != nil {
		return err
	}
	g := m.Graph
	for i := range g.Initializers {
		if a, err := m.Tensor(&g.Initializers[i]); err == nil {
			if t, ok := tensor.As[float32](a); ok {
				p.floats[g.Initializers[i].Name] = t
			}
		}
	}
	g.Inputs = s.Inputs() // without the weights
	p.weights(g)
	p.normalized(g)
	p.graph(g)
	if p.err != nil {
		return p.err
	}
	read := map[string]bool{}
	for _, n := range p.nodes {
		for _, in := range n.Inputs {
			read[in] = true
		}
	}
	g.Initializers = slices.DeleteFunc(g.Initializers, func(t onnx.TensorProto) bool { return !read[t.Name] })
	g.Nodes, g.Values, m.IR = p.nodes, nil, max(m.IR, 8)
	for i := range m.Opsets {
		if m.Opsets[i].Domain == "" {
			m.Opsets[i].Version = max(13, m.Opsets[i].Version)
		}
	}
	data, err := onnx.Encode(m)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// constants returns the names of values that depend on weights alone.
func constants(g *onnx.Graph) map[string]bool {
	fixed := map[string]bool{"": true}
	for _, t := range g.Initializers {
		fixed[t.Name] = true
	}
	for _, n := range g.Nodes {
		if slices.ContainsFunc(n.Inputs, func(in string) bool { return !fixed[in] }) || strings.HasPrefix(n.Op, "Random") {
			continue
		}
		for _, out := range n.Outputs {
			fixed[out] = true
		}
	}
	return fixed
}

// weights makes weights of the results that depend on weights alone.
func (p *program) weights(g *onnx.Graph) {
	made := func(n onnx.Node) bool { _, ok := p.fixed[n.Outputs[0]]; return ok }
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			a, ok := p.fixed[in]
			if !ok || slices.ContainsFunc(g.Initializers, func(t onnx.TensorProto) bool { return t.Name == in }) {
				continue
			}
			if t, ok := tensor.As[float32](a); ok {
				p.floats[in] = t
			}
			p.weight(in, a)
		}
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, made)
}

// normalized multiplies the weights of a Conv by the factors of a BatchNormalization that alone reads its result, and adds to its bias.
func (p *program) normalized(g *onnx.Graph) {
	maker, readers := map[string]int{}, map[string]int{}
	for i, n := range g.Nodes {
		maker[n.Outputs[0]] = i
		for _, in := range n.Inputs {
			readers[in]++
		}
	}
	gone := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		at, ok := maker[n.Inputs[0]]
		if n.Op != "BatchNormalization" || !ok || g.Nodes[at].Op != "Conv" || readers[n.Inputs[0]] != 1 || len(n.Outputs) > 1 {
			continue
		}
		conv := &g.Nodes[at]
		w, ok := p.floats[conv.Inputs[1]]
		var rows [4][]float32 // scale, bias, mean and variance
		for k := range rows {
			t, is := p.floats[n.Inputs[1+k]]
			if ok = ok && is; ok {
				rows[k] = slices.Collect(tensor.ValuesOf[float32](t.Any()))
			}
		}
		if !ok {
			continue
		}
		epsilon := float32(1e-5)
		if a := n.Attr("epsilon"); a != nil {
			epsilon, _ = a.Value.(float32)
		}
		all, bias := slices.Collect(tensor.ValuesOf[float32](w.Any())), make([]float32, w.Dim(0))
		if len(conv.Inputs) > 2 {
			copy(bias, slices.Collect(tensor.ValuesOf[float32](p.floats[conv.Inputs[2]].Any())))
		}
		for c := range bias {
			by := rows[0][c] / float32(math.Sqrt(float64(rows[3][c]+epsilon)))
			for j := range len(all) / len(bias) {
				all[c*len(all)/len(bias)+j] *= by
			}
			bias[c] = (bias[c]-rows[2][c])*by + rows[1][c]
		}
		out := n.Outputs[0]
		p.floats[out+".folded"], p.floats[out+".shift"] = tensor.FromSlice(all, w.Shape()...), tensor.FromSlice(bias, len(bias))
		conv.Inputs = []string{conv.Inputs[0], p.weight(out+".folded", p.floats[out+".folded"].Any()), p.weight(out+".shift", p.floats[out+".shift"].Any())}
		conv.Outputs = []string{out}
		gone[i] = true
	}
	kept := g.Nodes[:0]
	for i, n := range g.Nodes {
		if !gone[i] {
			kept = append(kept, n)
		}
	}
	g.Nodes = kept
}

// ranged notes the scale of a value of floats.
func (p *program) ranged(name string, a tensor.Any) {
	t, ok := tensor.As[float32](a)
	if !ok {
		return
	}
	lo, hi := float32(0), float32(0)
	for v := range tensor.ValuesOf[float32](t.Any()) {
		lo, hi = min(lo, v), max(hi, v)
	}
	step := max((hi-lo)/255, 1e-6)
	p.scales[name] = scale{step, uint8(min(255, math.Round(float64(-lo/step))))}
}

func (p *program) weight(name string, a tensor.Any) string {
	t, err := onnx.NewTensorProto(name, a)
	if err != nil && p.err == nil {
		p.err = err
	}
	p.m.Graph.Initializers = append(p.m.Graph.Initializers, t)
	return name
}

func (p *program) add(op string, out string, attrs []onnx.Attribute, in ...string) string {
	p.nodes = append(p.nodes, onnx.Node{Op: op, Inputs: in, Outputs: []string{out}, Attributes: attrs})
	return out
}

// pair puts a QuantizeLinear and a DequantizeLinear between a value and its readers, which read it by another name.
func (p *program) pair(from, to string, s scale) {
	by := p.weight(to+".scale", tensor.Scalar(s.step).Any())
	zero := p.weight(to+".zero", tensor.Scalar(s.zero).Any())
	p.add("DequantizeLinear", to, nil, p.add("QuantizeLinear", to+".integers", nil, from, by, zero), by, zero)
}

// integers puts a DequantizeLinear after weights of int8, and returns its result and scales. There is one for each index of the first axis, or one.
func (p *program) integers(name, place string, each bool) (string, []float32) {
	t := p.floats[name]
	n := 1
	if each {
		n = t.Dim(0)
	}
	steps, all, elems := make([]float32, n), make([]int8, t.Len()), slices.Collect(tensor.ValuesOf[float32](t.Any()))
	for c := range steps {
		some, most := elems[c*len(elems)/n:(c+1)*len(elems)/n], float32(1e-6)
		for _, v := range some {
			most = max(most, v, -v)
		}
		steps[c] = most / 127
		for i, v := range some {
			all[c*len(elems)/n+i] = int8(math.RoundToEven(float64(v / steps[c])))
		}
	}
	by, zero := tensor.Scalar(steps[0]).Any(), tensor.Scalar(int8(0)).Any()
	if each {
		by, zero = tensor.FromSlice(steps, n).Any(), tensor.New[int8](n).Any()
	}
	var attrs []onnx.Attribute
	if each {
		attrs = append(attrs, onnx.IntAttr("axis", 0))
	}
	w := p.weight(place+".weights", tensor.FromSlice(all, t.Shape()...).Any())
	return p.add("DequantizeLinear", place+".floats", attrs, w, p.weight(place+".scale", by), p.weight(place+".zero", zero)), steps
}

// bias puts a DequantizeLinear after a bias of int32.
func (p *program) bias(name, place string, x float32, steps []float32) string {
	var list []int32
	var by []float32
	for i, v := range slices.Collect(tensor.ValuesOf[float32](p.floats[name].Any())) {
		s := x * steps[i%len(steps)]
		by, list = append(by, s), append(list, int32(math.RoundToEven(float64(v/s))))
	}
	w := p.weight(place+".bias", tensor.FromSlice(list, len(list)).Any())
	return p.add("DequantizeLinear", place+".biasFloats", []onnx.Attribute{onnx.IntAttr("axis", 0)}, w, p.weight(place+".biasScale", tensor.FromSlice(by, len(by)).Any()))
}

func (p *program) graph(g *onnx.Graph) {
	readers := map[string][]string{}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			readers[in] = append(readers[in], n.Op)
		}
	}
	for _, v := range g.Outputs {
		readers[v.Name] = append(readers[v.Name], "")
	}
	renamed := map[string]string{}
	for _, v := range g.Inputs {
		renamed[v.Name] = v.Name + ".quantized"
		p.pair(v.Name, renamed[v.Name], p.scales[v.Name])
	}
	for _, n := range g.Nodes {
		n.Inputs, n.Outputs = slices.Clone(n.Inputs), slices.Clone(n.Outputs)
		for i, in := range n.Inputs {
			if to, ok := renamed[in]; ok {
				n.Inputs[i] = to
				p.scales[to] = p.scales[in]
			}
		}
		if n.Op == "Sum" && len(n.Inputs) == 2 {
			n.Op = "Add"
		}
		var s, x scale
		ok := slices.Contains(quantized, n.Op)
		if ok {
			s, ok = p.scales[n.Outputs[0]]
		}
		if ok {
			x, ok = p.scales[n.Inputs[0]]
		}
		if !ok {
			p.nodes = append(p.nodes, n)
			continue
		}
		out := n.Outputs[0]
		if slices.Contains([]string{"Conv", "Gemm", "MatMul"}, n.Op) {
			if _, ok := p.floats[n.Inputs[1]]; ok {
				var steps []float32
				n.Inputs[1], steps = p.integers(n.Inputs[1], out+".of", n.Op == "Conv")
				if len(n.Inputs) > 2 {
					n.Inputs[2] = p.bias(n.Inputs[2], out+".of", x.step, steps)
				}
			}
		}
		if n.Op == "Add" {
			for i, in := range n.Inputs {
				if _, ok := p.floats[in]; ok {
					p.ranged(in, p.floats[in].Any())
					n.Inputs[i] = out + ".addend"
					p.pair(in, n.Inputs[i], p.scales[in])
				}
			}
		}
		if slices.Contains(moving, n.Op) {
			s = x
			p.scales[out] = s
		}
		if slices.Equal(readers[out], []string{"Relu"}) && !slices.Contains(moving, n.Op) {
			p.nodes = append(p.nodes, n)
			continue
		}
		n.Outputs[0] = out + ".float"
		p.nodes = append(p.nodes, n)
		p.pair(n.Outputs[0], out, s)
	}
}
