package onnx

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A flow is an operator that package op doesn't have, because it runs graphs or takes what is no tensor of numbers; or the
// form for strings of one that it has.
type flow struct {
	name     string
	domain   string
	versions []int
	graphs   []string // the attributes that hold graphs; all are needed
	attrs    []string // the others, of a form for strings those that the operator hasn't
	least    int      // how many inputs it needs
	most     int      // how many it takes; any number if negative
	chooses  bool     // it runs the first or the second of the graphs, as its only input says
	bodies   func(s *step) error
	asks     func(n *Node) bool // of a form for strings: whether a node has it whatever its inputs are; an input of strings has it, too
	infer    func(f *inference, k *flowCall) ([]Value, account, error)
	run      func(k *flowCall) ([]Value, error) // the values are held for the caller
}

// Name returns the operator's name.
func (f *flow) Name() string { return f.name }

// Domain returns the domain that defines the operator.
func (f *flow) Domain() string { return f.domain }

// Versions returns the opsets that define it.
func (f *flow) Versions() []int { return f.versions }

// A flowCall is one use of a flow, in a run or while inferring.
type flowCall struct {
	c      *compiled
	i      int // of the step
	s      *step
	attrs  *attrs
	in     []Value // the inputs; the zero Value where one is absent, or unknown while inferring
	around []Value // all values of the graph
	fr     *frame  // nil while inferring
}

// flows are the operators of this kind.
var flows = make(map[opKey]*flow)

func init() {
	newer := []int{19, 21, 23, 24, 25}
	for _, f := range slices.Concat(textFlows(), partFlows(), []*flow{
		{name: "If", versions: append([]int{1, 11, 13, 16}, newer...), graphs: []string{"then_branch", "else_branch"},
			least: 1, most: 1, chooses: true, bodies: checkIf, infer: inferIf, run: runIf},
		{name: "Loop", versions: append([]int{1, 11, 13, 16}, newer...), graphs: []string{"body"},
			most: -1, bodies: checkLoop, infer: inferLoop, run: runLoop},
		{name: "Scan", versions: append([]int{8, 9, 11, 16}, newer...), graphs: []string{"body"},
			attrs: []string{"num_scan_inputs", "directions", "scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"},
			most:  -1, bodies: checkScan, infer: inferScan, run: runScan},
		{name: "SequenceMap", versions: []int{17}, graphs: []string{"body"}, least: 1, most: -1, bodies: checkMap, infer: inferMap, run: runMap},
		simple("SequenceEmpty", 0, 0, emptySequence, []string{"dtype"}, 11),
		simple("SequenceConstruct", 1, -1, construct, nil, 11),
		simple("SequenceInsert", 2, 3, insert, nil, 11),
		simple("SequenceErase", 1, 2, erase, nil, 11),
		simple("SequenceAt", 2, 2, sequenceAt, nil, 11),
		simple("SequenceLength", 1, 1, sequenceLength, nil, 11),
		simple("SplitToSequence", 1, 2, splitToSequence, []string{"axis", "keepdims"}, 11, 24),
		simple("ConcatFromSequence", 1, 1, concatFromSequence, []string{"axis", "new_axis"}, 11),
		simple("Optional", 0, 1, optional, []string{"type"}, 15),
		simple("OptionalHasElement", 0, 1, hasElement, nil, 15, 18),
		simple("OptionalGetElement", 1, 1, getElement, nil, 15, 18),
	}) {
		flows[keyOf(f.domain, f.name, "")] = f
	}
}

// simple is computed for one result.
func simple(name string, least, most int, compute func(k *flowCall) (Value, error), attrs []string, versions ...int) *flow {
	return computed(name, least, most, func(k *flowCall) ([]Value, error) {
		v, err := compute(k)
		return []Value{v}, err
	}, attrs, versions...)
}

// computed is a flow without graphs: compute gives the results, in which new tensors are marked fresh. While inferring its
// inputs hold Specs, and it fails with op.ErrUnknown where it needs more.
func computed(name string, least, most int, compute func(k *flowCall) ([]Value, error), attrs []string, versions ...int) *flow {
	return &flow{name: name, versions: versions, attrs: attrs, least: least, most: most,
		infer: func(_ *inference, k *flowCall) ([]Value, account, error) {
			for j, id := range k.s.in {
				if id >= 0 && !k.in[j].known() {
					return nil, account{}, nil
				}
			}
			vals, err := compute(k)
			return vals, account{}, err
		},
		run: func(k *flowCall) ([]Value, error) {
			vals, err := compute(k)
			if err != nil {
				return nil, err
			}
			for j := range vals {
				k.own(&vals[j])
			}
			return vals, nil
		}}
}

// tensors goes over the tensors that the inputs are or hold.
func (k *flowCall) tensors(yield func(*Value) bool) {
	for j := range k.in {
		v := &k.in[j]
		if v.seq == nil {
			if !yield(v) {
				return
			}
		} else if !v.seq.tensors(yield) {
			return
		}
	}
}

// tensors goes over the tensors that the items are or hold. It reports whether yield asked for all.
func (q *sequence) tensors(yield func(*Value) bool) bool {
	for _, item := range q.items {
		if item.seq == nil && !yield(item) || item.seq != nil && !item.seq.tensors(yield) {
			return false
		}
	}
	return true
}

// checkFlow gives a step the flow that runs it, and those of its graphs that the flow runs.
func (s *step) checkFlow(f *flow, graphs []*compiled) error {
	for _, name := range f.graphs {
		a := s.node.Attr(name)
		i := slices.IndexFunc(graphs, func(b *compiled) bool { return b.attr == name })
		switch {
		case a == nil:
			return failf("it has no attribute %q; the operator runs the graph there", name)
		case i < 0:
			return inAttr(name, failf("it holds %v, the operator runs a graph", a.Type))
		}
		s.bodies = append(s.bodies, graphs[i])
	}
	n := len(s.in)
	for n > 0 && s.in[n-1] < 0 {
		n--
	}
	switch {
	case n < f.least || slices.Contains(s.in[:f.least], -1):
		return failf("it needs %d inputs", f.least)
	case f.most >= 0 && n > f.most:
		return failf("it has %d inputs, the operator takes %d at most", n, f.most)
	}
	s.flow = f
	return nil
}

// check compares the graphs of a step, which have passed their own checks, with the node.
func (f *flow) check(s *step) error {
	if f.bodies == nil {
		return nil
	}
	return f.bodies(s)
}

// wants is an error about the graph that an attribute holds.
func (b *compiled) wants(format string, args ...any) error {
	return inAttr(b.attr, failf(format, args...))
}

// output names output k of a graph inside a node.
func (b *compiled) output(k int) string {
	return fmt.Sprintf("output %d %.100q", k, b.g.Outputs[k].Name)
}

// at puts err at output k of the graph that an attribute holds.
func (b *compiled) at(k int, err error) error {
	return inAttr(b.attr, in(b.output(k), err))
}

// declared is the element type that the graph declares for output k, noElem if it doesn't.
func (b *compiled) declared(k int) elem {
	e := b.g.Outputs[k].Type.elem()
	if dtype.DType(e).IsFloat() && b.fixed != dtype.Invalid {
		return elem(b.fixed)
	}
	return e
}

// truth returns the only element of a tensor of bool.
func truth(v *Value) (bool, error) {
	if !v.isTensor() || v.a.DType() != dtype.Bool || v.a.Len() != 1 {
		return false, failf("%w: it is %v; a condition is one bool", tensor.ErrDType, *v)
	}
	if v.a.IsSpec() {
		return false, op.ErrUnknown
	}
	for b := range tensor.ValuesOf[bool](v.a) {
		return b, nil
	}
	return false, op.ErrUnknown
}

// whole returns the only element of a tensor of int64 or int32.
func whole(v *Value) (int64, error) {
	if !v.isTensor() || v.text != nil || v.a.DType() != dtype.Int64 && v.a.DType() != dtype.Int32 || v.a.Len() != 1 {
		return 0, failf("%w: it is %v; it must be one int64", tensor.ErrDType, *v)
	}
	if v.a.IsSpec() {
		return 0, op.ErrUnknown
	}
	if v.a.DType() == dtype.Int32 {
		for x := range tensor.ValuesOf[int32](v.a) {
			return int64(x), nil
		}
	}
	for x := range tensor.ValuesOf[int64](v.a) {
		return x, nil
	}
	return 0, op.ErrUnknown
}

// input names input j in an error.
func input(j int, err error) error { return in(fmt.Sprintf("input %d", j), err) }

// parts cuts a along an axis: extents from[i] to from[i+1], or single entries without the axis. They are views.
func parts(a tensor.Any, axis int, from []int, drop bool) (list []tensor.Any, err error) {
	list = make([]tensor.Any, len(from)-1)
	if a.IsSpec() {
		shape := a.Shape()
		for i := range list {
			part := slices.Clone(shape)
			if part[axis] = from[i+1] - from[i]; drop {
				part = slices.Delete(part, axis, axis+1)
			}
			s, err := tensor.NewSpec(a.DType(), part...)
			if err != nil {
				return nil, err
			}
			list[i] = s.Any()
		}
		return list, nil
	}
	if !a.LayoutRef().Flat() { // a part of a nested axis may have no view
		if a, err = tensor.Contiguous(a); err != nil {
			return nil, err
		}
	}
	idx := make([]tensor.Index, a.Rank())
	for i := range idx {
		idx[i] = tensor.Colon
	}
	for i := range list {
		if idx[axis] = tensor.R(from[i], from[i+1]); drop {
			idx[axis] = tensor.I(from[i])
		}
		if list[i], err = tensor.Slice(a, idx...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// axisIn resolves a possibly negative axis.
func axisIn(axis int64, rank int) (int, error) {
	if axis < -int64(rank) || axis >= int64(rank) {
		return 0, failf("%w: axis %d of a tensor of rank %d", tensor.ErrAxis, axis, rank)
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}
