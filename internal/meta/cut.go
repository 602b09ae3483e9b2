package meta

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// Cut returns a case and a way that fail as c and w do, and are as small as single steps make them: fewer sets, outputs,
// nodes and inputs, smaller extents, calmer numbers, a way nearer to the zero Way. fails tells whether a case still fails.
func Cut(c *Case, w Way, fails func(c *Case, w Way) bool) (*Case, Way) {
	k := &cutter{c, w, fails}
	for k.again() {
	}
	return k.c, k.w
}

type cutter struct {
	c     *Case
	w     Way
	fails func(c *Case, w Way) bool
}

// again makes each kind of step once, and reports whether one of them helped.
func (k *cutter) again() (helped bool) {
	for _, step := range []func() bool{k.way, k.sets, k.outputs, k.nodes, k.extents, k.numbers} {
		helped = step() || helped
	}
	return helped
}

// try takes a case if it fails, too. Its outputs are computed anew.
func (k *cutter) try(c *Case) bool {
	live(c)
	c.Sets = slices.Clone(c.Sets)
	for i, s := range c.Sets {
		in := make(scope)
		for _, v := range c.Model.Graph.Inputs {
			if x, ok := s.In[v.Name]; ok {
				in[v.Name] = x
			}
		}
		want, err := Reference(c.Model, in)
		if err != nil {
			return false
		}
		c.Sets[i] = Set{in, want}
	}
	if len(c.Model.Graph.Outputs) == 0 || !k.fails(c, k.w) {
		return false
	}
	k.c = c
	return true
}

// with is the case with a copy of its graph, which a step changes.
func (k *cutter) with() *Case {
	c, m, g := *k.c, *k.c.Model, *k.c.Model.Graph
	g.Nodes, g.Inputs, g.Outputs, g.Initializers = slices.Clone(g.Nodes), slices.Clone(g.Inputs), slices.Clone(g.Outputs), slices.Clone(g.Initializers)
	m.Graph = &g
	c.Model = &m
	return &c
}

func (k *cutter) way() (helped bool) {
	for _, change := range []func(w *Way){
		func(w *Way) { *w = Way{} }, func(w *Way) { w.Repeat = 0 }, func(w *Way) { w.Repeat = min(w.Repeat, 1) }, func(w *Way) { w.Hold = false }, func(w *Way) { w.Receipt = "" }, func(w *Way) { w.Look, w.Sweep = 0, false }, func(w *Way) { w.Sweep = false },
		func(w *Way) { w.Memory = false }, func(w *Way) { w.Parts = false }, func(w *Way) { w.Observe = false }, func(w *Way) { w.File = "" }, func(w *Way) { w.Run = "" }, func(w *Way) { w.Run = "run" }, func(w *Way) { w.Passes = "" }, func(w *Way) { w.Passes = "none" }, func(w *Way) { w.Threads = 0 }, func(w *Way) { w.Threads = 1 },
	} {
		w := k.w
		if change(&w); w != k.w && w.odds() < k.w.odds() && k.fails(k.c, w) {
			k.w, helped = w, true
		}
	}
	return helped
}

// odds is how far a way is from the zero Way.
func (w Way) odds() int {
	n := 2*w.Repeat + min(w.Look, 1) + min(w.Threads, 2)
	for i, yes := range []bool{w.Memory, w.Hold, w.Parts, w.Observe, w.File != "", w.Run != "", w.Receipt != "", w.Passes != "", w.Passes != "none" && w.Passes != "", w.Run != "run" && w.Run != ""} {
		if yes {
			n += 1 + i/8
		}
	}
	return n
}

func (k *cutter) sets() (helped bool) {
	for i := 0; i < len(k.c.Sets) && len(k.c.Sets) > 1; i++ {
		c := k.with()
		c.Sets = slices.Delete(slices.Clone(c.Sets), i, i+1)
		if k.try(c) {
			helped, i = true, i-1
		}
	}
	return helped
}

func (k *cutter) outputs() (helped bool) {
	for _, n := range k.c.Model.Graph.Nodes { // the outputs of one node alone
		c := k.with()
		c.Model.Graph.Outputs = nil
		for _, name := range n.Outputs {
			if name != "" {
				c.Model.Graph.Outputs = append(c.Model.Graph.Outputs, onnx.ValueInfo{Name: name})
			}
		}
		if !slices.ContainsFunc(k.c.Model.Graph.Outputs, func(v onnx.ValueInfo) bool { return !slices.Contains(n.Outputs, v.Name) }) {
			break // it has all that there are
		}
		if k.try(c) {
			return true
		}
	}
	for n := len(k.c.Model.Graph.Outputs) / 2; n >= 1; n /= 2 {
		for i := 0; i+n <= len(k.c.Model.Graph.Outputs) && len(k.c.Model.Graph.Outputs) > n; {
			c := k.with()
			if c.Model.Graph.Outputs = slices.Delete(c.Model.Graph.Outputs, i, i+n); k.try(c) {
				helped = true
			} else {
				i += n
			}
		}
	}
	return helped
}

// nodes makes the results of nodes inputs of the model, weights inputs, and inputs weights.
func (k *cutter) nodes() (helped bool) {
	for i := len(k.c.Model.Graph.Nodes) - 1; i >= 0; i-- {
		if i >= len(k.c.Model.Graph.Nodes) {
			continue
		}
		c := k.with()
		g := c.Model.Graph
		n := g.Nodes[i]
		g.Nodes = slices.Delete(g.Nodes, i, i+1)
		g.Outputs = slices.DeleteFunc(g.Outputs, func(v onnx.ValueInfo) bool { return slices.Contains(n.Outputs, v.Name) })
		c.Sets = slices.Clone(c.Sets)
		for j, s := range c.Sets {
			f, all := frame{m: k.c.Model}, maps.Clone(s.In)
			if f.graph(k.c.Model.Graph, all) != nil {
				return helped
			}
			in := maps.Clone(s.In)
			for _, name := range n.Outputs {
				in[name] = all[name]
			}
			c.Sets[j] = Set{In: in}
		}
		for _, name := range n.Outputs {
			if name != "" {
				g.Inputs = append(g.Inputs, onnx.ValueInfo{Name: name, Type: typeOf(c.Sets[0].In[name])})
			}
		}
		helped = k.try(c) || helped
	}
	for i := len(k.c.Model.Graph.Nodes) - 1; i >= 0; i-- { // a node whose first input has the result's type may go
		c := k.with()
		g := c.Model.Graph
		n := g.Nodes[i]
		if len(n.Inputs) == 0 || len(n.Outputs) != 1 {
			continue
		}
		g.Nodes[i] = onnx.Node{Op: "Identity", Name: n.Name, Inputs: n.Inputs[:1], Outputs: n.Outputs}
		if n.Op != "Identity" {
			helped = k.try(c) || helped
		}
	}
	return helped
}

// extents makes the extents of the inputs smaller, each in all inputs that have it.
func (k *cutter) extents() (helped bool) {
	seen := make(map[int]bool)
	for _, s := range k.c.Sets {
		for _, v := range s.In {
			for _, e := range v.Shape() {
				seen[e] = true
			}
		}
	}
	for _, e := range slices.Backward(slices.Sorted(maps.Keys(seen))) {
		for _, to := range []int{1, 2, e / 2, e - 1} {
			if to < 1 || to >= e {
				continue
			}
			if k.change(func(a tensor.Any) tensor.Any {
				for axis, extent := range a.Shape() {
					if extent == e {
						idx := make([]tensor.Index, axis, axis+1)
						for i := range idx {
							idx[i] = tensor.Colon
						}
						a = a.Slice(append(idx, tensor.R(0, to))...)
					}
				}
				return a.Clone()
			}) {
				helped = true
				break
			}
		}
	}
	return helped
}

// change tries other elements of all inputs.
func (k *cutter) change(f func(a tensor.Any) tensor.Any) bool {
	c, other := k.changed(f)
	return other && k.try(c)
}

// changed is the case with other elements of all inputs, whose shapes aren't fixed, and whether they differ.
func (k *cutter) changed(f func(a tensor.Any) tensor.Any) (c *Case, other bool) {
	c = k.with()
	c.Sets = slices.Clone(c.Sets)
	for j, s := range c.Sets {
		in := maps.Clone(s.In)
		for name, v := range in {
			if v.Kind() == onnx.KindTensor && v.Strings() == nil {
				in[name] = onnx.TensorValue(f(v.Tensor()))
				other = other || in[name].String() != v.String() || digestOf(in[name].Tensor()) != digestOf(v.Tensor())
			}
		}
		c.Sets[j] = Set{In: in}
	}
	for i := range c.Model.Graph.Inputs {
		t := &c.Model.Graph.Inputs[i].Type
		t.HasShape, t.Shape = false, nil
	}
	return c, other
}

// numbers makes the elements of the inputs zeros, or calm.
func (k *cutter) numbers() bool {
	zeros := func(a tensor.Any) tensor.Any {
		z, _ := tensor.Make(a.DType(), a.Shape()...)
		return z
	}
	calm := func(a tensor.Any) tensor.Any {
		return optest.Random(rand.New(rand.NewPCG(1, 1)), a.DType(), a.Shape(), false, false)
	}
	for _, s := range k.c.Sets {
		for _, v := range s.In {
			if v.Kind() == onnx.KindTensor && v.Strings() == nil && v.Tensor().DType().IsFloat() {
				if a, _ := tensor.Digest(v.Tensor()); a == digestOf(zeros(v.Tensor())) || a == digestOf(calm(v.Tensor())) {
					return false
				}
			}
		}
	}
	only := func(f func(a tensor.Any) tensor.Any) func(a tensor.Any) tensor.Any {
		return func(a tensor.Any) tensor.Any {
			if a.DType().IsFloat() {
				return f(a)
			}
			return a
		}
	}
	return k.change(only(zeros)) || k.change(only(calm))
}

func digestOf(a tensor.Any) [32]byte {
	d, _ := tensor.Digest(a)
	return d
}

// Text describes the nodes of a case, and the inputs of its first set.
func (c *Case) Text() (text string) {
	g := c.Model.Graph
	text = fmt.Sprintf("opset %d\n", c.Model.Opset(""))
	for _, v := range g.Inputs {
		text += fmt.Sprintf("input %v: ", v)
		for _, s := range c.Sets {
			text += fmt.Sprintf("%v ", s.In[v.Name])
		}
		text += "\n"
	}
	for i := range g.Initializers {
		text += fmt.Sprintf("weight %s %v\n", g.Initializers[i].Name, g.Initializers[i].Dims)
	}
	var nodes func(list []onnx.Node, indent string)
	nodes = func(list []onnx.Node, indent string) {
		for _, n := range list {
			text += fmt.Sprintf("%s%v = %s%s%v", indent, n.Outputs, n.Domain, n.Op, n.Inputs)
			for _, a := range n.Attributes {
				if body, ok := a.Value.(*onnx.Graph); ok {
					text += fmt.Sprintf(" %s %v -> %v\n", a.Name, names(body.Inputs), names(body.Outputs))
					nodes(body.Nodes, indent+"  ")
					continue
				}
				text += fmt.Sprintf(" %s=%.80v", a.Name, fmt.Sprint(a.Value))
			}
			text += "\n"
		}
	}
	nodes(g.Nodes, "")
	for _, fn := range c.Model.Functions {
		text += fmt.Sprintf("function %s %v -> %v\n", fn.Name, fn.Inputs, fn.Outputs)
		nodes(fn.Nodes, "  ")
	}
	return text + fmt.Sprintf("outputs %v\n", names(g.Outputs))
}

// Write puts the case into dir, which it makes: model.onnx, and set0.npz and its like with the inputs that are tensors of numbers.
func (c *Case) Write(dir string) error {
	b, err := onnx.Encode(c.Model)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, s := range c.Sets {
		var list []string
		var ts []tensor.Any
		for _, v := range c.Model.Graph.Inputs {
			if x := s.In[v.Name]; x.Kind() == onnx.KindTensor && x.Strings() == nil {
				list, ts = append(list, v.Name), append(ts, x.Tensor())
			}
		}
		if err := npy.WriteZipFile(filepath.Join(dir, fmt.Sprintf("set%d.npz", i)), list, ts, nil); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "model.onnx"), b, 0o600)
}

// Digest is a hash of the outputs that count, of all sets.
func (c *Case) Digest() (digest [8]byte) {
	h := sha256.New()
	for _, s := range c.Sets {
		for _, name := range slices.Sorted(maps.Keys(s.Want)) {
			d, err := s.Want[name].Digest()
			fmt.Fprintf(h, "%s %v %x %v\n", name, s.Want[name], d, err)
		}
	}
	copy(digest[:], h.Sum(nil))
	return digest
}
