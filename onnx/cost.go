package onnx

import (
	"context"
	"maps"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Cost counts, before a run, the operations and the memory that it will take.
//
// FLOPs are additions, multiplications and other operations on single elements, of whatever type. A product that is added
// counts as two. The rules follow the definitions of the operators in docs/Operators.md of github.com/onnx/onnx:
//
//   - Conv and its like, MatMul, Gemm: twice the products that the definition sums, padding included, and one for each
//     element of a bias. Einsum: the number of operands for each combination of indices. LSTM, GRU, RNN and Attention:
//     their matrix products alone.
//   - A function of one element, whatever it takes to compute: one. An operator on two or more: one less than there are.
//   - Reductions, ArgMax, CumSum and global pools: one for each element that is read, two where each is squared or made
//     absolute first. Pools with a kernel: its size for each result.
//   - For each element, LayerNormalization and its like 7, Softmax 5, RMSNormalization 4, and LRN four more than its size.
//     BatchNormalization, QuantizeLinear and DequantizeLinear: 2 for each element.
//   - Copies, those by Resize to the nearest included, conversions and operators that describe shapes: none.
//
// An operator of a program counts as its Info.FLOPs says. Others have no rule: their count is unknown.
type Cost struct {
	Plan  Plan       // the memory; see Session.Plan
	FLOPs int64      // of the nodes that run once and whose FLOPs are known
	Exact bool       // false: FLOPs lacks something, as a size, a rule or the number of runs is unknown
	Nodes []NodeCost // in an order that they can run in; the nodes of a graph inside a node after that node
}

// A NodeCost counts the operations of one node.
type NodeCost struct {
	Node  *Node
	Index int    // of the node in its graph or function; negative for a sparse weight
	Depth int    // 0 in the model's graph, 1 in a graph inside one of its nodes, and so on
	FLOPs int64  // of one run of the node without the graphs inside; -1: unknown
	Bytes int64  // of its results; -1: unknown
	Once  bool   // it runs exactly once; false in a loop, and in a branch that may not be taken
	Types []Type // of the results, the zero Type where a size stays open: names of dimensions aren't carried on

	branch *compiled // the graph that an If runs, if that is known
}

// Cost follows the shapes of a run with these inputs, which may be descriptions (tensor.Spec), and counts the operations that it would
// compute. It reads no weights but small ones, on which shapes may depend. An input may be left out: it has the declared
// shape, and a named axis the size that it has in other inputs. Nodes that a session computes once count as others. Where
// a size stays open, all that depends on it is unknown.
//
// It fails where Check does, and where Session.Plan does for inputs that don't fit.
func (m *Model) Cost(inputs map[string]tensor.Any) (*Cost, error) {
	var cost *Cost
	err := m.use(func() error {
		c, x, err := m.compile()
		if err == nil {
			cost, err = c.cost(x, inputs)
		}
		return err
	})
	return cost, err
}

// A spot is a step of a graph.
type spot struct {
	c *compiled
	i int
}

func (c *compiled) cost(x *expansion, inputs map[string]tensor.Any) (*Cost, error) {
	vals, err := c.described(inputs)
	if err != nil {
		return nil, err
	}
	cost := &Cost{Exact: true}
	found := make(map[spot]NodeCost)
	f := inference{seen: func(b *compiled, i int, vals []Value) { found[spot{b, i}] = b.nodeCost(i, vals) }}
	if _, err := c.inferred(&f, slices.Clone(vals)); err != nil {
		return nil, err
	}
	cost.collect(c, 0, true, found)

	set, err := passesSet()
	if err != nil {
		return nil, err
	}
	c.improve(set) // as a session does
	p, err := c.inferred(new(inference), vals)
	if err != nil {
		return nil, err
	}
	cost.Plan = *p
	cost.Plan.Weights = c.weights(x)
	return cost, nil
}

// described returns the known values and descriptions of the inputs of a run, and the constants, by value.
func (c *compiled) described(inputs map[string]tensor.Any) ([]Value, error) {
	vals := slices.Clone(c.vals)
	bound := make(map[string]binding)
	s := &Session{c: c}
	left := maps.Clone(inputs)
	for i := range c.g.Inputs {
		v := &c.g.Inputs[i]
		a, ok := inputs[v.Name]
		if !ok {
			continue
		}
		delete(left, v.Name)
		val := Value{a: a}
		if !val.known() {
			return nil, in(named("input", v.Name, i), failf("%w: it is the zero Any", tensor.ErrValue))
		}
		if err := s.fits(v, &v.Type, &val, bound); err != nil {
			return nil, in(named("input", v.Name, i), err)
		}
		if !isShapeLike(a) {
			if spec, err := val.spec(); err == nil {
				val = spec
			}
		}
		vals[c.inputs[i]] = val
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		return nil, failf("%w: there is no input %.100q", tensor.ErrValue, name)
	}
	for i := range c.g.Inputs {
		t := &c.g.Inputs[i].Type
		if id := c.inputs[i]; !vals[id].known() && !c.given[id] && t.Kind == KindTensor && t.HasShape && t.elem() != noElem {
			shape := make([]int, len(t.Shape))
			open := false
			for axis, d := range t.Shape {
				b, ok := bound[d.Param]
				switch {
				case d.Value >= 0:
					shape[axis] = int(d.Value)
					open = open || int64(shape[axis]) != d.Value
				case ok && d.Param != "":
					shape[axis] = b.n
				default:
					open = true
				}
			}
			if !open {
				vals[id] = describedAs(t.elem(), shape...)
			}
		}
	}
	return vals, nil
}

// inferred infers the graph with these values. An operator's error is that of a plan.
func (c *compiled) inferred(f *inference, vals []Value) (*Plan, error) {
	var p Plan
	f.failed = func(b *compiled, i int, err error) error { return in(b.label(&b.steps[i]), err) }
	err := f.within(context.Background(), 0, func() error { return f.graph(c, vals, &p) })
	return &p, err
}

// weights is how many bytes a session's constants take, each once.
func (c *compiled) weights(x *expansion) int64 {
	total := c.text.Bytes
	done := make(map[*TensorProto]bool)
	c.all(func(b *compiled) bool {
		for _, k := range b.consts {
			if k.proto == nil && k.outer || done[k.proto] {
				continue
			}
			if done[k.proto] = k.proto != nil; k.proto != nil && k.proto.Type == ElemString {
				continue // the table has them
			}
			if v, err := x.described(k); err == nil {
				total = add(total, max(v.size(), 0))
			}
		}
		return true
	})
	return total
}

// collect lists the steps of a graph and of those inside its nodes.
func (cost *Cost) collect(c *compiled, depth int, once bool, found map[spot]NodeCost) {
	for i := range c.steps {
		s := &c.steps[i]
		if !c.runs(i) {
			continue
		}
		n, ok := found[spot{c, i}]
		if !ok {
			n = NodeCost{Node: s.node, Index: s.index, FLOPs: -1, Bytes: -1, Types: make([]Type, len(s.out))}
		}
		n.Depth, n.Once = depth, once
		taken, decided := s.bodies, n.branch != nil
		if decided {
			taken = []*compiled{n.branch}
		}
		cost.Nodes = append(cost.Nodes, n)
		switch {
		case n.FLOPs < 0 || !once && n.FLOPs > 0:
			cost.Exact = false
		case once:
			cost.FLOPs = add(cost.FLOPs, n.FLOPs)
		}
		for _, b := range taken {
			cost.collect(b, depth+1, once && decided, found)
		}
	}
}

// nodeCost counts a step whose results are inferred, as far as they can be.
func (c *compiled) nodeCost(i int, vals []Value) NodeCost {
	s := &c.steps[i]
	n := NodeCost{Node: s.node, Index: s.index, FLOPs: -1}
	for _, id := range s.out {
		var t Type
		if id >= 0 {
			v := &vals[id]
			if t = typeOf(v); n.Bytes >= 0 && v.known() && v.size() >= 0 {
				n.Bytes = add(n.Bytes, v.size())
			} else {
				n.Bytes = -1
			}
		}
		n.Types = append(n.Types, t)
	}
	if len(s.bodies) > 0 {
		n.FLOPs = 0
		if s.value != nil && s.value.chooses {
			if yes, err := truth(&vals[s.in[0]]); err == nil && yes {
				n.branch = s.bodies[0]
			} else if err == nil {
				n.branch = s.bodies[1]
			}
		}
	} else if o := c.ops[i]; o == nil && isDefault(s.node.Domain) {
		n.FLOPs = 0 // sequences and strings
	} else if o != nil {
		n.FLOPs = c.operations(i, vals)
	}
	return n
}

// operations counts the operations of step i. Its plan says them, or else the types and shapes that are known.
func (c *compiled) operations(i int, vals []Value) int64 {
	s := &c.steps[i]
	call, _, err := c.call(i, vals, nil)
	if err != nil {
		return -1
	}
	if !slices.ContainsFunc(s.in, func(id int) bool { return id >= 0 && !vals[id].known() }) {
		if p, err := c.ops[i].Plan(call); err == nil && p.FLOPs() >= 0 {
			return p.FLOPs()
		}
	}
	outs := make([]tensor.Any, len(s.out))
	for j, id := range s.out {
		if id >= 0 {
			outs[j] = vals[id].a
		}
	}
	return about(c.ops[i]).FLOPs.Of(call.Inputs, outs)
}

// typeOf is the type of a value, the zero Type where it isn't known.
func typeOf(v *Value) Type {
	if !v.isTensor() {
		return Type{Kind: v.Kind()}
	}
	t := Type{Kind: KindTensor, Elem: ElemOf(v.a.DType()), HasShape: true}
	if v.text != nil {
		t.Elem = ElemString
	}
	for axis := range v.a.Rank() {
		t.Shape = append(t.Shape, Dim{Value: int64(v.a.Dim(axis))})
	}
	return t
}
