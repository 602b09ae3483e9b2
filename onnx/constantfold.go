package onnx

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// A session computes results of weights alone once, when it is made, before the other passes: exporters cut, join and turn the weights of
// recurrent layers in the graph, and compute bounds, pads and sizes. Shapes count as known where an input without a default declares
// all its extents. The results take at most the bytes of the weights, or foldable if that is more; each node may
// give foldSlack bytes more than it reads. Together the nodes read and write up to foldWork bytes, so that a session of large
// weights begins as fast, and take up to patience. Each run computes the nodes beyond these bounds.
const (
	foldable  = 1 << 20
	foldSlack = 64 << 10
	foldWork  = 64 << 20
)

// A folding computes the steps of graphs that read nothing but constants.
type folding struct {
	ctx   context.Context // ends with patience
	left  int64           // bytes that results and scratch may still take
	work  int64           // bytes that may still be read and written
	bytes int64           // of results
}

// fold computes the results that follow from the constants of s, and returns their bytes.
func (s *Session) fold() int64 {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f := folding{ctx: ctx, left: max(s.weights, foldable), work: foldWork}
	f.shapes(s.c)
	f.graph(s.c, nil, nil)
	return f.bytes
}

// shapes notes results of the model's graph that follow from the shapes of its inputs.
func (f *folding) shapes(c *compiled) {
	vals := slices.Clone(c.vals)
	for i, id := range c.inputs {
		vals[id] = Value{} // a run may give another value
		if t := &c.g.Inputs[i].Type; !c.given[id] && t.whole() {
			vals[id] = guess(t)
		}
	}
	x := new(inference)
	x.seen = func(b *compiled, i int, vals []Value) {
		if b == c {
			f.note(c, i, vals, x)
		}
	}
	_ = x.within(f.ctx, f.left, func() error { return x.graph(c, vals, new(Plan)) }) // what it finds is there when it ends early
}

// note keeps the results of step i of an inference that are elements. It forgets shapes that an operator of package op doesn't say: a run
// may have others.
func (f *folding) note(c *compiled, i int, vals []Value, x *inference) {
	s := &c.steps[i]
	outs := slices.DeleteFunc(slices.Clone(s.out), func(id int) bool { return id < 0 })
	if s.own || s.form(vals) != nil {
		for _, id := range outs {
			x.release(&vals[id])
			vals[id] = Value{}
		}
		return
	}
	need := int64(0)
	for _, id := range outs {
		if v := &vals[id]; !v.isTensor() || v.text != nil || !hasValue(v.a) {
			return
		}
		need = add(need, size(vals[id].a))
	}
	if !s.shapes(c.ops[i]) || len(outs) == 0 || need > f.left {
		return
	}
	for _, id := range outs {
		c.vals[id] = Value{a: vals[id].a.Clone()}
	}
	s.folded = true
	f.left, f.bytes = f.left-need, add(f.bytes, need)
}

// graph computes the steps of a graph, and of the graphs inside its nodes. The graph around has the values around. The values
// that fixed marks are constants.
func (f *folding) graph(c *compiled, around []Value, fixed []bool) {
	known := make([]bool, len(c.names))
	for _, k := range c.consts {
		known[k.id] = true
	}
	for _, o := range c.captures {
		if fixed[o.from] {
			known[o.id], c.vals[o.id] = true, around[o.from]
		}
	}
	for _, id := range c.inputs {
		known[id] = false // a run may give another value
	}
	for i := range c.steps {
		s := &c.steps[i]
		s.folded = s.folded || f.step(c, i, known)
		for _, id := range s.out {
			if s.folded && id >= 0 {
				known[id] = true
			}
		}
		for _, b := range s.bodies {
			f.graph(b, c.vals, known)
		}
	}
}

// step computes step i if it reads nothing but constants, and reports whether it did. Of a step that fails a run says why.
func (f *folding) step(c *compiled, i int, known []bool) bool {
	s, o := &c.steps[i], c.ops[i]
	if o == nil || s.own || s.form(c.vals) != nil || f.ctx.Err() != nil || o.Unsteady() {
		return false
	}
	room := int64(foldSlack)
	for _, id := range s.in {
		if id < 0 {
			continue
		}
		if v := &c.vals[id]; !known[id] || !v.isTensor() || v.text != nil || v.a.IsSpec() {
			return false
		}
		room = add(room, size(c.vals[id].a))
	}
	call, read, err := c.call(i, c.vals, f.ctx)
	if err != nil || checkAxes(s.node, o, call.Inputs) != nil {
		return false
	}
	p, err := o.Plan(call)
	if err != nil || read.wrong != nil {
		return false
	}
	outs, err := p.Results()
	if err != nil {
		return false
	}
	need := int64(0)
	for _, a := range outs {
		need = add(need, max(size(a), 0))
	}
	if need > room || add(need, room) > f.work || add(need, p.Scratch()) > f.left {
		return false
	}
	f.work -= need + room
	list, err := p.Run()
	if err != nil || read.wrong != nil || checkRanks(list) != nil || len(list) < len(s.out) {
		return false
	}
	for j, id := range s.out {
		if id < 0 {
			continue
		}
		a, err := tensor.Contiguous(list[j])
		if err != nil || list[j].IsZero() {
			return false
		}
		c.vals[id] = Value{a: a}
	}
	f.left, f.bytes = f.left-need, add(f.bytes, need)
	return true
}
