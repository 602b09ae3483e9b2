package onnx

import (
	"context"
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A slot is a tensor of a prepared run: it has the same type, shape and place in all runs.
type slot struct {
	like   tensor.Any // describes it; if it is fixed it is this
	fixed  bool       // it is the same in every run: a weight, or a result of weights and shapes alone
	loose  bool       // it is a value that a run alone can describe, and that the frame holds as any other
	whole  []*slot    // the slots that it is a view of; of a loose one, may be a view of
	as     *slot      // the result of an If that has the same place, if it is a branch's result
	last   bool       // it lies channels last
	region *Region    // of results that may, if it is one of them
	part   *slot      // the slot that it is a part of, if a step joins it with others
	axis   int        // the axis along which they are joined
	from   int        // where its part begins there
	apart  bool       // it has memory that no other slot ever has
	turned bool       // it has another place in each turn
	made   int        // the tick at which it gets its elements; 0 for an input
	used   int        // the last tick that reads it, or a view of it
	at     int        // where its memory begins
	place  [2]tensor.Any

	follows bool  // its elements could be computed before the run, if the elements of some inputs of the graph were known,
	inputs  []int // which are these
}

// An outline plans the run of a graph on shapes alone: which steps have a plan, which results have a place, and how long.
type outline struct {
	ctx   context.Context
	f     *inference
	room  int64        // bytes that fixed results may take
	asked []int        // inputs whose elements would tell more
	told  map[int]bool // those by number
	tick  int
	late  int     // for how many ticks a result keeps its memory after the last that reads it
	slots []*slot // in the order in which they are made
	own   []tensor.Any
	slow  bool // a step isn't planned
}

// A drawing is a graph of an outline: the model's, or a branch.
type drawing struct {
	c     *compiled
	vals  []Value // the value or the description of each
	slots []*slot // of each value; nil for one that there isn't
	steps []doing
	ends  []moving // the slots that are copied when all steps are done
}

// A moving is a slot that is copied to another one.
type moving struct{ to, from *slot }

// A doing is how a step is done.
type doing struct {
	how   how
	ways  [2]*drawing // of an If the graphs for true and false, which are the same one if the condition is fixed
	tick  int         // when the results are there; 0 for a step that is idle
	join  int         // 1 + the axis along which the result has the inputs one after the other; 0: it hasn't
	op    *op.Op      // keeps weights that the steps before give; nil for that of the graph
	last  bool        // the result may lie channels last
	by    bool        // where the first input lies so
	keeps int64       // bytes of weights that the plan keeps
	flops float64     // of a convolution, besides the nodes that follow
	stays string      // why its operator works in planes alone, if it says so
	plan  *op.Plan    // of views
}

type how uint8

const (
	already how = iota // there is nothing to do in a run
	viewing            // the results are views of the first input, made once
	planned            // by a plan, if it has a steady one
	calling            // as in a run that isn't prepared
	choosing
	reordering // of a view that there isn't: the first input's elements in row-major order
)

// outline outlines a graph that isn't a branch, whose inputs and captures have their slots. It fails if the context ends.
func (z *outline) outline(d *drawing) error {
	err := z.draw(d)
	z.spread()
	return err
}

// draw outlines the steps of a graph, without the time that their results last for views of them.
func (z *outline) draw(d *drawing) error {
	d.steps = make([]doing, len(d.c.steps))
	for i := range d.c.steps {
		s := &d.c.steps[i]
		if d.c.idle(i, d.vals) {
			continue
		}
		z.tick++
		d.steps[i].tick = z.tick
		if s.folded {
			continue
		}
		for id := range s.reads() {
			d.slots[id].touch(z.tick)
		}
		err := z.ctx.Err()
		if err == nil {
			err = z.step(d, i)
		}
		if err != nil {
			return in(d.c.label(s), err)
		}
		d.steps[i].tick = z.tick // after the ticks of branches
		z.slow = z.slow || d.steps[i].how == calling
	}
	z.tick++
	for _, id := range d.c.outputs {
		d.slots[id].touch(z.tick)
	}
	return nil
}

// bytes is how much memory a slot of its own takes.
func (s *slot) bytes() int64 { return max(size(s.like), 0) }

// touch notes that a slot is read. The slots that it is a view of follow when all is drawn: see spread.
func (s *slot) touch(tick int) {
	if s != nil {
		s.used = max(s.used, tick)
	}
}

// spread makes slots last as long as the views of them. These are behind them in the list.
func (z *outline) spread() {
	for i := len(z.slots) - 1; i >= 0; i-- {
		for _, w := range z.slots[i].whole {
			w.touch(z.slots[i].used)
		}
	}
}

// add makes a slot for a result of a step.
func (z *outline) add(s *slot) *slot {
	s.made = z.tick
	s.touch(z.tick)
	z.slots = append(z.slots, s)
	return s
}

// step outlines one step.
func (z *outline) step(d *drawing, i int) error {
	s := &d.c.steps[i]
	if form := s.form(d.vals); form != nil && form.chooses {
		return z.choose(d, i)
	}
	var outs []Value
	var err error
	how := calling
	if s.form(d.vals) != nil {
		outs, _, err = z.f.step(d.c, i, d.vals)
		outs = bare(outs)
	} else {
		outs, how, err = z.operator(d, i)
	}
	if err != nil {
		outs = nil // the run gives the error, if it gets there
	}
	if how == already {
		for j, id := range s.out {
			if id >= 0 {
				d.vals[id], d.slots[id] = outs[j], &slot{like: outs[j].a, fixed: true}
			}
		}
		return nil
	}
	d.steps[i].how = how
	around := z.read(d, s)
	if len(s.out) > 1 && len(around) > 1 { // so that not every result has all
		around = []*slot{z.add(&slot{loose: true, whole: around})}
	}
	follows, from := z.follows(d, i, outs)
	for j, id := range s.out {
		if id < 0 {
			continue
		}
		o := &slot{loose: true, whole: around}
		if j < len(outs) && outs[j].known() && outs[j].axes() <= z.f.axes {
			z.f.axes -= outs[j].axes()
			if d.vals[id] = outs[j]; outs[j].isTensor() && outs[j].text == nil {
				v, err := outs[j].spec() // a valueOp may have it
				if err != nil {
					return err
				}
				d.vals[id] = v
				o = &slot{like: v.a, follows: follows, inputs: from}
				if how == viewing {
					o.whole = []*slot{d.slots[s.in[0]]}
				}
			}
		}
		d.slots[id] = z.add(o)
	}
	return nil
}

// read returns the slots that a step reads whose elements may change.
func (z *outline) read(d *drawing, s *step) (list []*slot) {
	for id := range s.reads() {
		if in := d.slots[id]; in != nil && !in.fixed {
			list = append(list, in)
		}
	}
	return list
}

// operator outlines an operator of package op. The results of one that reads nothing but fixed values are computed.
func (z *outline) operator(d *drawing, i int) ([]Value, how, error) {
	s, o := &d.c.steps[i], d.c.ops[i]
	if err := s.noStrings(d.vals); err != nil {
		return nil, calling, err
	}
	fixed, placed := !s.own && !o.Unsteady(), true
	for _, id := range s.in {
		if id < 0 || d.slots[id] == nil {
			continue
		}
		if !d.vals[id].known() {
			return nil, calling, nil
		}
		fixed, placed = fixed && d.slots[id].fixed, placed && !d.slots[id].loose
	}
	p, list, err := d.c.planned(i, d.vals, z.ctx, d.kept)
	if err != nil {
		if errors.Is(err, op.ErrUnknown) {
			for _, id := range s.in {
				z.ask(d, id)
			}
		}
		return nil, calling, err
	}
	there := !s.own && len(list) >= len(s.out)
	for j, a := range list {
		there = there && (j >= len(s.out) || s.out[j] < 0 || !a.IsZero() && !a.IsSpec())
	}
	if !there && fixed {
		if ran, ok := z.compute(d, s, p, list); ok {
			list, there = ran, true
		}
	}
	outs := make([]Value, len(list))
	for j, a := range list {
		outs[j] = Value{a: a}
	}
	switch {
	case there:
		return outs, already, nil
	case placed && p.Views() && s.in[0] >= 0 && !d.slots[s.in[0]].fixed:
		d.steps[i].plan = p
		return outs, viewing, nil
	case placed && len(s.out) == 1 && s.out[0] >= 0:
		if axis, ok := p.Joins(); ok {
			d.steps[i].join = axis + 1
		}
		how := &d.steps[i]
		said := draftOf(p)
		how.last, how.by = said.Last, said.ByInput
		if how.keeps = said.KeepsAs(true); about(o).Convolves {
			how.flops, how.stays = float64(max(0, said.Operations())), said.Stays
		}
		return outs, planned, nil
	}
	return outs, calling, nil
}

// compute runs a plan whose results, which list describes, are the same in every run. It reports false for results that
// take too much, and for an error: of that the run says more, if it gets there.
func (z *outline) compute(d *drawing, s *step, p *op.Plan, list []tensor.Any) ([]tensor.Any, bool) {
	need := p.Scratch()
	for _, a := range list {
		need = add(need, max(size(a), 0))
	}
	if need > z.room {
		return nil, false
	}
	outs, err := p.Run()
	if err != nil || checkRanks(outs) != nil || len(outs) < len(s.out) {
		return nil, false
	}
	outs = slices.Clone(outs) // the list is the plan's
	for j, a := range outs {
		switch {
		case a.IsZero():
			if j < len(s.out) && s.out[j] >= 0 {
				return nil, false
			}
		case !slices.ContainsFunc(s.in, func(id int) bool { return id >= 0 && a.SameData(d.vals[id].a) }):
			if !slices.ContainsFunc(outs[:j], a.SameData) {
				z.own = append(z.own, a)
				z.room -= max(size(a), 0)
			}
		}
	}
	return outs, true
}

// follows reports whether the results of step i could be computed before a run, if the elements of some inputs of the graph
// were known, and of which ones.
func (z *outline) follows(d *drawing, i int, outs []Value) (bool, []int) {
	s := &d.c.steps[i]
	if !s.shapes(d.c.ops[i]) {
		return false, nil
	}
	for j := range outs {
		if !outs[j].isTensor() || reach(outs[j].a) > small {
			return false, nil
		}
	}
	var from []int
	for _, id := range s.in {
		switch {
		case id < 0 || d.slots[id] == nil:
		case d.slots[id].fixed && reach(d.slots[id].like) <= small:
		case !d.slots[id].follows:
			return false, nil
		default:
			from = append(from, d.slots[id].inputs...)
		}
	}
	slices.Sort(from)
	from = slices.Compact(from)
	return len(from) <= mostAsked, from
}

// mostAsked is how many inputs a value may follow from. The lists of them would grow with the graph.
const mostAsked = 64

// ask notes that the elements of a value would tell more.
func (z *outline) ask(d *drawing, id int) {
	if id >= 0 && d.slots[id] != nil && d.slots[id].follows {
		for _, k := range d.slots[id].inputs {
			if !z.told[k] {
				z.told[k] = true
				z.asked = append(z.asked, k)
			}
		}
	}
}

// inside begins the drawing of a graph inside a node.
func (d *drawing) inside(b *compiled) *drawing {
	e := &drawing{c: b, vals: slices.Clone(b.vals), slots: make([]*slot, len(b.vals))}
	e.constants()
	for _, o := range b.captures {
		e.vals[o.id], e.slots[o.id] = d.vals[o.from], d.slots[o.from]
	}
	return e
}

// constants gives slots to the values that are known from the beginning.
func (d *drawing) constants() {
	for id := range d.vals {
		if v := &d.vals[id]; v.known() && d.slots[id] == nil {
			d.slots[id] = &slot{like: v.a, fixed: v.isTensor() && v.text == nil, loose: !v.isTensor() || v.text != nil}
		}
	}
}

// choose outlines an If: the branch that a fixed condition leads to, or both, whose results then have one place.
func (z *outline) choose(d *drawing, i int) error {
	s := &d.c.steps[i]
	ways, begun := &d.steps[i].ways, z.tick
	d.steps[i].how = choosing
	yes, known := false, false
	if cond := d.slots[s.in[0]]; cond != nil && cond.fixed {
		y, err := truth(&d.vals[s.in[0]])
		yes, known = y, err == nil
	} else {
		z.ask(d, s.in[0])
	}
	mark := len(z.slots)
	for k, b := range s.bodies {
		if known && yes != (k == 0) {
			continue
		}
		e := d.inside(b)
		if err := z.draw(e); err != nil {
			return inAttr(b.attr, err)
		}
		ways[k] = e
	}
	if known {
		e := ways[0]
		if e == nil {
			e = ways[1]
		}
		ways[0], ways[1] = e, e
		for j, id := range s.out {
			if id >= 0 {
				from := e.c.outputs[j]
				d.vals[id], d.slots[id] = e.vals[from], e.slots[from]
			}
		}
		return nil
	}
	var before []*slot // that are there before the branches
	for j, id := range s.out {
		if id < 0 {
			continue
		}
		var v [2]*Value
		var o [2]*slot
		for k, e := range ways {
			from := e.c.outputs[j]
			v[k], o[k] = &e.vals[from], e.slots[from]
		}
		d.vals[id] = join(v[0], v[1])
		if o[0] == nil || o[1] == nil || o[0].loose || o[1].loose || !d.vals[id].known() {
			d.slots[id] = z.add(&slot{loose: true})
			for _, o := range o {
				if o != nil && !o.fixed {
					d.slots[id].whole = append(d.slots[id].whole, o)
				}
			}
			continue
		}
		to := &slot{like: d.vals[id].a, made: begun, used: z.tick}
		before = append(before, to)
		d.slots[id] = to
		for k, from := range o {
			if !from.fixed && from.whole == nil && from.as == nil && from.made > begun {
				from.as = to
			} else {
				ways[k].ends = append(ways[k].ends, moving{to, from})
			}
		}
	}
	slices.Reverse(before)
	z.slots = slices.Insert(z.slots, mark, before...)
	return nil
}

// common reports whether a slot has a place of its own in the common memory.
func (s *slot) common() bool {
	return !s.fixed && !s.loose && s.whole == nil && s.as == nil && !s.apart && s.part == nil
}

// joined is places where inputs of steps that join them have their places in the results, unless that takes much more memory.
func (z *outline) joined(d *drawing) int {
	type span struct{ made, used int }
	spans := make(map[*slot]span, len(z.slots))
	for _, s := range z.slots {
		spans[s] = span{s.made, s.used}
	}
	apart := z.places()
	z.join(d)
	if end := z.places(); end <= apart+apart/8 {
		return end
	}
	for s, was := range spans {
		s.made, s.used, s.part = was.made, was.used, nil
	}
	z.order()
	return z.places()
}

// order sorts the slots by when they are made.
func (z *outline) order() {
	slices.SortStableFunc(z.slots, func(a, b *slot) int { return a.made - b.made })
}

// join gives inputs of steps that join them their places in the results, so that nothing is copied: inputs that have a run of the
// result, and that no other step has. The result takes memory from the first of them on.
func (z *outline) join(d *drawing) {
	for i := range d.steps {
		s := &d.c.steps[i]
		if d.steps[i].join == 0 {
			continue
		}
		axis, to, from := d.steps[i].join-1, d.slots[s.out[0]], 0
		before := 1
		for k := range axis {
			before *= to.like.Dim(k)
		}
		for _, id := range s.in {
			in := d.slots[id]
			if (before == 1 && !to.last || to.last && axis == 1) && in.last == to.last && in.common() && in.made > 0 && in.bytes() > 0 {
				in.part, in.axis, in.from = to, axis, from
				to.made, to.used = min(to.made, in.made), max(to.used, in.used)
			}
			from += in.like.Dim(axis)
		}
	}
	z.order()
}

// mostGaps is how many gaps of memory are looked through for each slot. The smallest of more is left unused.
const mostGaps = 256

// places finds where the slots begin that have memory in common, and returns how much they take together. One whose last
// reader has run makes room for later ones.
func (z *outline) places() int {
	type gap struct{ from, till int }
	var free []gap
	busy := make([][]*slot, z.tick+1) // by the tick that reads them last
	end, done := 0, 0
	const align = 64 // a cache line
	for _, s := range z.slots {
		if !s.common() {
			continue
		}
		for ; done < s.made-z.late; done++ {
			for _, b := range busy[done] {
				at, n := b.at, (int(b.bytes())+align-1)&^(align-1)
				i, _ := slices.BinarySearchFunc(free, at, func(r gap, at int) int { return r.from - at })
				free = slices.Insert(free, i, gap{at, at + n})
				if i+1 < len(free) && free[i].till == free[i+1].from {
					free[i].till = free[i+1].till
					free = slices.Delete(free, i+1, i+2)
				}
				if i > 0 && free[i-1].till == free[i].from {
					free[i-1].till = free[i].till
					free = slices.Delete(free, i, i+1)
				}
				if len(free) > mostGaps {
					i := 0
					for k, r := range free {
						if r.till-r.from < free[i].till-free[i].from {
							i = k
						}
					}
					free = slices.Delete(free, i, i+1)
				}
			}
		}
		n := (int(s.bytes()) + align - 1) &^ (align - 1)
		best := -1
		for i, r := range free {
			if r.till-r.from >= n && (best < 0 || r.till-r.from < free[best].till-free[best].from) {
				best = i
			}
		}
		if best >= 0 {
			s.at = free[best].from
			if free[best].from += n; free[best].from == free[best].till {
				free = slices.Delete(free, best, best+1)
			}
		} else if last := len(free) - 1; last >= 0 && free[last].till == end { // grows
			s.at = free[last].from
			end, free = s.at+n, free[:last]
		} else {
			s.at = end
			end += n
		}
		if n > 0 {
			busy[s.used] = append(busy[s.used], s)
		}
	}
	return end
}
