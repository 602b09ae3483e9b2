package chunk

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Map returns an elementwise operator of package op, by its name there, of arrays that are
// broadcast as there: arithmetic, comparisons, functions, Cast, Clip, Where and the like. attrs may be nil.
// Chains of Map are computed in one pass over the chunks. The chunks are the chunks of the
// first operand that has the result's extent, axis by axis; others are read as needed.
func Map(name string, attrs op.AttrMap, in ...Array) Array {
	ns, err := given("Map", in...)
	if err != nil {
		return Array{err: err}
	}
	o := named(name)
	if o == nil {
		return Array{err: fail("Map", op.ErrUnsupported, "there is no operator %.60q", name)}
	}
	if k := plan.AboutOf((*plan.Op)(o)).Like - 1; k >= 0 && k < len(ns) { // its type alone counts
		t, err := tensor.Make(ns[k].dtype)
		if err != nil {
			return Array{err: err}
		}
		ns[k] = Value(t).n
	}
	// A call of some elements tells the type, and whether the operator is one that can wait. Their shape is one that any other operator changes.
	var lazy []tensor.Any
	want := []int{}
	for _, n := range ns {
		probe := []int{}
		if len(n.shape) > 0 {
			probe, want = []int{1, 2, 3}, []int{1, 2, 3}
		}
		t, err := tensor.Make(n.dtype, probe...)
		if err == nil {
			t, err = pointwise.LazyOf(t)
		}
		if err != nil {
			return Array{err: err}
		}
		lazy = append(lazy, t)
	}
	m := &mapped{name: name, op: o, attrs: attrs}
	r, err := run(o, m.attributes(), lazy...)
	by, _ := reach.LazyBy(r)
	switch {
	case errors.Is(err, tensor.ErrShape), errors.Is(err, tensor.ErrAxis), errors.Is(err, tensor.ErrLazy), err == nil && (by == nil || !slices.Equal(r.Shape(), want)):
		return Array{err: fail("Map", op.ErrUnsupported, "%s isn't elementwise; Reduce, MatMul, MapBlocks and others take the rest", name)}
	case err != nil:
		return Array{err: err}
	}
	shape, err := shapeOf(o, m.attributes(), ns...)
	if err != nil {
		return Array{err: err}
	}
	for i, n := range ns {
		if k := len(shape) - len(n.shape); k < 0 || !slices.EqualFunc(n.shape, shape[k:], func(e, to int) bool { return e == 1 || e == to }) {
			return Array{err: fail("Map", tensor.ErrShape, "operand %d of %s has shape %v, which doesn't broadcast to the result's %v", i, name, n.shape, shape)}
		}
	}
	chunks := make([]int, len(shape))
	for i := range shape {
		for _, n := range ns {
			if k := i - len(shape) + len(n.shape); k >= 0 && n.shape[k] == shape[i] && chunks[i] == 0 && (n.shape[k] != 1 || shape[i] == 1) {
				chunks[i] = n.chunks[k]
			}
		}
	}
	return Array{n: newNode(m, r.DType(), shape, chunks, ns...)}
}

// shapeOf returns the shape of an operator's result.
func shapeOf(o *op.Op, attrs op.Attrs, in ...*node) ([]int, error) {
	c := op.Call{Attrs: attrs, Opset: opset, Outputs: 1}
	for _, n := range in {
		s, err := tensor.NewSpec(n.dtype, n.shape...)
		if err != nil {
			return nil, err
		}
		c.Inputs = append(c.Inputs, s.Any())
	}
	out, err := o.Infer(&c)
	if err != nil {
		return nil, err
	}
	return out[0].Shape(), nil
}

// mapped is an elementwise operator.
type mapped struct {
	name  string
	op    *op.Op
	attrs op.AttrMap
}

func (m *mapped) attributes() op.Attrs {
	if m.attrs == nil {
		return op.AttrMap(nil)
	}
	return m.attrs
}

func (m *mapped) text() string {
	text := m.name + " map["
	for _, name := range slices.Sorted(maps.Keys(m.attrs)) {
		switch v := m.attrs[name].(type) {
		case tensor.Any, interface{ Any() tensor.Any }:
			t, _ := m.attrs.Tensor(name)
			d, err := tensor.Digest(t)
			text += fmt.Sprintf("%q %x %v ", name, d, err)
		default:
			text += fmt.Sprintf("%q %T %#v ", name, v, v)
		}
	}
	return text + "]"
}

// part returns the part of operand n that a part b of the result takes.
func part(n *node, b box) box {
	p := newBox(len(n.shape))
	for i, e := range n.shape {
		k := len(b.from) - len(n.shape) + i
		if e == 1 {
			p.from[i], p.to[i] = 0, min(1, b.to[k]-b.from[k])
		} else {
			p.from[i], p.to[i] = b.from[k], b.to[k]
		}
	}
	return p
}

// A place is a part of a node.
type place struct {
	n   *node
	key string
}

// leafs calls f for the nodes that a chain of elementwise operators begins with, each part once.
func leafs(n *node, b box, f func(n *node, b box) error) error {
	seen := map[place]bool{}
	var visit func(n *node, b box) error
	visit = func(n *node, b box) error {
		at := place{n, b.key()}
		if seen[at] {
			return nil
		}
		seen[at] = true
		if _, ok := n.kind.(*mapped); !ok {
			return f(n, b)
		}
		for _, i := range n.in {
			if err := visit(i, part(i, b)); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(n, b)
}

func (m *mapped) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	mark := len(e.held)
	done := map[place]tensor.Any{}
	err := leafs(n, b, func(n *node, b box) error {
		t, err := e.eval(n, b)
		if err == nil {
			t, err = pointwise.LazyOf(t)
		}
		done[place{n, b.key()}] = t
		return err
	})
	if err != nil {
		return tensor.Any{}, err
	}
	type divisor struct {
		op   string
		t    tensor.Any // lazy
		from []int
	}
	var divisors []divisor // of integers, in the order of their divisions
	t, err := noted(n, b, done, func(m *mapped, n *node, b box, in []tensor.Any) {
		if plan.AboutOf((*plan.Op)(m.op)).Divides && n.dtype.IsInteger() {
			divisors = append(divisors, divisor{m.name, in[1], part(n.in[1], b).from})
		}
	})
	if err == nil {
		t, err = pointwise.FuseOf(t, op.Context(e.ctx))
	}
	if errors.Is(err, tensor.ErrValue) { // package op counts the index in the part
		for _, d := range divisors {
			if at := e.zeroIn(d.t, d.from); at != nil {
				return tensor.Any{}, fail(d.op, tensor.ErrValue, "integer division by zero: the divisor at index %v is 0", at)
			}
		}
	}
	if err != nil {
		return tensor.Any{}, err
	}
	e.release(mark, t)
	return e.own(t), nil
}

// noted returns the lazy result of a chain of elementwise operators. done has what it begins with, and gets what is between. f is
// called before each operator.
func noted(n *node, b box, done map[place]tensor.Any, f func(m *mapped, n *node, b box, in []tensor.Any)) (tensor.Any, error) {
	at := place{n, b.key()}
	if t, ok := done[at]; ok {
		return t, nil
	}
	in := make([]tensor.Any, len(n.in))
	for i, from := range n.in {
		var err error
		if in[i], err = noted(from, part(from, b), done, f); err != nil {
			return tensor.Any{}, err
		}
	}
	m := n.kind.(*mapped)
	f(m, n, b, in)
	t, err := run(m.op, m.attributes(), in...)
	done[at] = t
	return t, err
}

// zeroIn returns the index of the first 0 of a part that begins at from, counted in its array, or nil.
func (e *evaluator) zeroIn(part tensor.Any, from []int) []int {
	t, err := pointwise.FuseOf(part, op.Context(e.ctx))
	if err == nil {
		t, err = e.cast(e.own(t), dtype.Bool)
	}
	b, ok := tensor.As[bool](t)
	if err != nil || !ok {
		return nil
	}
	for i, nonzero := range b.All() {
		if !nonzero {
			at := slices.Clone(from)
			for k := range at {
				at[k] += i[k]
			}
			return at
		}
	}
	return nil
}

func (m *mapped) cost(n *node, b box) cost {
	c := cost{size: bytesOf(n.dtype, b.shape())}
	var held int64
	leafs(n, b, func(n *node, b box) error {
		in := n.kind.cost(n, b)
		c.peak = max(c.peak, plus(held, in.peak))
		held = plus(held, in.size)
		c.read = plus(c.read, in.read)
		return nil
	})
	shape := fmt.Sprint(b.shape())
	scratch, ok := n.scratch.Load(shape)
	if !ok {
		scratch = fuseScratch(n, b, c.size)
		n.scratch.Store(shape, scratch)
	}
	c.peak = max(c.peak, plus(held, plus(c.size, scratch.(int64))))
	return c
}

// fuseScratch returns the bytes that the pass for a part of so many bytes holds beside its operands and the part. Shapes alone decide them.
func fuseScratch(n *node, b box, size int64) int64 {
	one := map[place]tensor.Any{} // of each operand one element, stretched
	err := leafs(n, b, func(n *node, b box) error {
		t, err := tensor.Make(n.dtype)
		if err == nil {
			t, err = tensor.BroadcastTo(t, b.shape()...)
		}
		if err == nil {
			t, err = pointwise.LazyOf(t)
		}
		one[place{n, b.key()}] = t
		return err
	})
	var y tensor.Any
	if err == nil {
		y, err = noted(n, b, one, func(*mapped, *node, box, []tensor.Any) {})
	}
	var scratch int64
	if err == nil && size < 1<<50 {
		scratch, err = pointwise.Scratch(y)
	}
	if err != nil || size >= 1<<50 { // the elements are too many to be counted
		return math.MaxInt64
	}
	return scratch
}
