package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A prepared is a run made ready for inputs of some types and shapes: its tensors have their places, in two turns. Each turn
// has memory of its own for the outputs, none of which is a view. So the next run may read the last outputs as its inputs, and a run that fails
// leaves them as they are.
type prepared struct {
	run
	key    string // the inputs that it was prepared for: see Stream.describe
	valued []int  // inputs whose elements are part of key
	root   *drawing
	slow   bool  // a step isn't planned
	beside int64 // bytes of the limit that the plan leaves
	memory *mem.Buffer
	bytes  int64        // of memory and own
	kept   int64        // bytes of weights that plans keep packed
	own    []tensor.Any // of inputs, outputs and values that are the same in every run
	outs   []*slot      // of the outputs' memory; nil for one that a run gives as it is
	frames [2]*frame    // nil until the turn is needed
	in     [2][]tensor.Any
	swaps  []bool // by place among the graph's inputs: in a turn its memory is that of an output in the other one
	out    [2]map[string]tensor.Any
	turn   int // the next one
}

// A ready is the prepared part of a step.
type ready struct {
	tick int          // of the outline, when its results are there; 0 for a step that is idle
	skip bool         // its results have their elements already, or are views
	plan *op.Plan     // gives the only result
	copy copied       // the tensor that is copied instead
	ways [2]*frame    // of an If: the graphs for true and false
	to   []tensor.Any // by output: where the result goes; zero for one that the frame holds
}

// A copied is a tensor that is copied when all steps of a frame are done.
type copied struct{ to, from tensor.Any }

// errOther ends a prepared run where a step gives another type or shape than was inferred.
var errOther = errors.New("a result isn't as it was inferred")

// moved moves a result of a step to its place. It reports false for a result of another type or shape.
func moved(to *tensor.Any, v *Value) bool {
	if !v.isTensor() || v.text != nil || v.a.DType() != to.DType() || v.a.Rank() != to.Rank() {
		return false
	}
	for i := range to.Rank() {
		if v.a.Dim(i) != to.Dim(i) {
			return false
		}
	}
	to.CopyFrom(v.a)
	return true
}

// do does a step that is planned, a copy, or an If whose branches are prepared. It panics with the *tensor.Error of an operator.
func (fr *frame) do(i int, r *ready) error {
	if r.skip {
		return nil
	}
	if r.plan != nil {
		r.plan.Under(fr.ctx)
		if list := r.plan.Do(); !list[0].SameData(r.to[0]) {
			if !moved(&r.to[0], &Value{a: list[0]}) {
				return errOther
			}
			list[0].Close()
		}
		return nil
	}
	if !r.copy.to.IsZero() {
		r.copy.to.CopyFrom(r.copy.from)
		return nil
	}
	s := &fr.c.steps[i]
	yes, err := truth(&fr.vals[s.in[0]])
	if err != nil {
		return input(0, err)
	}
	sub := r.ways[1]
	if yes {
		sub = r.ways[0]
	}
	if err := sub.again(fr.vals); err != nil {
		sub.clear()
		return inAttr(sub.c.attr, err)
	}
	for j, id := range s.out {
		if id < 0 {
			continue
		}
		if fr.vals[id] = (Value{a: r.to[j]}); r.to[j].IsZero() {
			fr.vals[id] = sub.vals[sub.c.outputs[j]]
			hold(&fr.vals[id])
		}
	}
	sub.clear()
	return nil
}

// again runs a prepared frame, in a node of the graph that has the values around.
func (fr *frame) again(around []Value) (err error) {
	copy(fr.vals, fr.base)
	for _, o := range fr.c.captures {
		if !fr.vals[o.id].known() {
			fr.vals[o.id] = around[o.from]
			hold(&fr.vals[o.id])
		}
	}
	if panicked := tensor.Try(func() { err = fr.steps(nil) }); panicked != nil {
		err = fr.c.blamed(&fr.c.steps[fr.at], panicked)
	}
	if err != nil {
		return err
	}
	for _, m := range fr.ends {
		m.to.CopyFrom(m.from)
	}
	return nil
}

// perform does the next run of a stream. Nothing has changed after an error that another run reads.
func (p *prepared) perform(st *Stream) error {
	turn := p.turn
	fr, err := p.frame(turn)
	if err != nil {
		return errOther
	}
	p.ctx, p.live, p.left, p.spare, p.places, p.record = st.under, p.bytes, st.o.iterations(), p.beside, nil, st.o.record
	if p.slow {
		p.text = text.NewTable(p.c.text)
	}
	err = fr.again(nil)
	if p.record != nil {
		err = p.record.finish(&p.run, err)
	}
	for i, id := range p.c.outputs {
		if p.outs[i] != nil || err != nil {
			continue
		}
		a, name := tensor.Any{}, p.c.names[id]
		if a, err = p.give(&fr.vals[id]); err != nil {
			err = inFile(p.c.m.file, in(fmt.Sprintf("output %q", name), err))
		}
		p.out[turn][name] = a
	}
	fr.clear()
	if err == nil {
		p.turn = 1 - turn
	}
	return err
}

// give returns an output that has no place, in memory of its own.
func (p *prepared) give(v *Value) (tensor.Any, error) {
	switch {
	case !v.isTensor() || v.text != nil:
		return tensor.Any{}, noTensor(*v)
	case v.own == nil || v.own.refs > 1:
		return tensor.Clone(v.a)
	}
	v.own = nil
	return v.a, nil
}

// close gives the memory back.
func (p *prepared) close() error {
	var err error
	if p.memory != nil {
		err = p.memory.Close()
	}
	for _, a := range p.own {
		a.Close()
	}
	return err
}

// prepare makes a run ready of which describe has written the key. It returns nil where it takes more than the limit on memory.
// It returns the errors of a run.
func (st *Stream) prepare(inputs map[string]tensor.Any) (*prepared, error) {
	limit := st.o.limit()
	vals, plan, err := st.s.begin(st.under, st.values(inputs), limit)
	clear(st.in)
	if err != nil {
		return nil, err
	}
	z, root, err := st.outlined(vals, limit)
	if err != nil {
		return nil, err
	}
	p := &prepared{run: run{Session: st.s, limit: limit, text: text.NewTable(st.s.c.text)}, beside: plan.spare(limit), valued: z.asked, slow: z.slow, root: root, own: z.own}
	p.key = string(st.elements(st.buf, p.valued))
	err = errOther
	if panicked := tensor.Try(func() { err = p.assign(st, z) }); panicked != nil || err != nil {
		_ = p.close() // of memory that nothing has been mapped to
		return nil, nil
	}
	return p, nil
}

// drop gives the memory of an outline back.
func (z *outline) drop() {
	for _, a := range z.own {
		a.Close()
	}
}

// assign gives the inputs and outputs their memory, and the other slots their places in one buffer. It fails where all take
// more than the limit.
func (p *prepared) assign(st *Stream, z *outline) error {
	for _, id := range p.c.outputs {
		s := p.root.slots[id]
		switch {
		case s == nil || s.loose:
			s = nil
		case s.fixed: // a weight, maybe, which nobody may write to or close
			p.bytes = add(p.bytes, s.bytes())
			a, err := tensor.Clone(s.like)
			if err != nil {
				return err
			}
			p.own = append(p.own, a)
			s = &slot{like: a.ReadOnly(), fixed: true}
		case s.made == 0 || s.whole != nil || s.apart: // an input, a view, or an output twice
			from := s
			s = &slot{like: s.like, apart: true, turned: true}
			p.root.ends = append(p.root.ends, moving{s, from})
		default:
			s.apart, s.turned = true, true
		}
		if p.outs = append(p.outs, s); s != nil && !s.fixed {
			p.bytes = add(p.bytes, 2*s.bytes())
		}
	}
	p.swaps = make([]bool, len(p.c.inputs))
	for i, id := range p.c.inputs {
		s := p.root.slots[id]
		if st.from[i] == leftOut || s.fixed {
			continue
		}
		s.apart = true
		// A state changes places with the input that it becomes.
		if st.from[i] == carriedOn {
			k := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i })
			out := p.outs[st.state[k].out]
			if s.turned = out != nil && !out.fixed && tensor.Describe(out.like) == tensor.Describe(s.like); s.turned {
				p.swaps[i] = true
				continue
			}
		}
		p.bytes = add(p.bytes, s.bytes())
	}
	for _, a := range z.own {
		p.bytes = add(p.bytes, size(a))
	}
	if p.passes.has("last") {
		z.lastly(p.root, p.limit-add(p.bytes, p.weights), p.limit <= 0)
	}
	common := 0
	if p.passes.has("join") {
		common = z.joined(p.root)
	} else {
		common = z.places()
	}
	if p.bytes = add(p.bytes, int64(common)); p.limit > 0 && add(p.bytes, p.weights) > p.limit {
		return errOther
	}
	var err error
	if p.memory, err = mem.Alloc(max(common, 1)); err != nil {
		return err
	}
	for turn := range 2 {
		p.in[turn] = make([]tensor.Any, len(p.c.inputs))
		for i, id := range p.c.inputs {
			s := p.root.slots[id]
			if st.from[i] == leftOut || s.fixed {
				continue
			}
			if p.swaps[i] {
				k := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i })
				if s.place[turn], err = p.place(p.outs[st.state[k].out], 1-turn); err != nil {
					return err
				}
			}
			if p.in[turn][i], err = p.place(s, turn); err != nil {
				return err
			}
		}
	}
	_, err = p.frame(0)
	return err
}

// turns reports whether a slot has another place in each turn.
func (s *slot) turns() bool {
	for {
		switch {
		case s.as != nil:
			s = s.as
		case s.part != nil && s.place[0].IsZero() && s.place[1].IsZero():
			s = s.part
		default:
			return s.turned
		}
	}
}

// place returns the tensor of a slot in a turn, the zero Any for one that a frame holds.
func (p *prepared) place(s *slot, turn int) (tensor.Any, error) {
	switch {
	case s == nil || s.loose:
		return tensor.Any{}, nil
	case s.fixed:
		return s.like, nil
	case s.as != nil:
		return p.place(s.as, turn)
	case !s.place[turn].IsZero():
		return s.place[turn], nil
	case s.part != nil:
		var chain []*slot // parts of parts, as long as the graph
		for ; s.part != nil && s.place[turn].IsZero(); s = s.part {
			chain = append(chain, s)
		}
		a, err := p.place(s, turn)
		for k := len(chain) - 1; k >= 0 && err == nil; k-- {
			part := chain[k]
			list := make([]tensor.Index, a.Rank())
			for i := range list {
				list[i] = tensor.Colon
			}
			list[part.axis] = tensor.R(part.from, part.from+part.like.Dim(part.axis))
			a = a.Slice(list...)
			part.place[turn], part.turned = a, s.turns()
		}
		return a, err
	}
	var a tensor.Any
	var err error
	if s.apart {
		if a, err = tensor.Make(s.like.DType(), s.like.Shape()...); err == nil {
			p.own = append(p.own, a)
		}
	} else {
		lay := s.like.Layout()
		if s.last {
			lay, _ = layoutLast(s.like.Shape())
		}
		a, err = tensor.FromBytes(s.like.DType(), p.memory, s.at, lay)
	}
	if s.place[turn] = a; !s.turned {
		s.place[1-turn] = a
	}
	return a, err
}

// frame returns the frame of a turn.
func (p *prepared) frame(turn int) (*frame, error) {
	if p.frames[turn] != nil {
		return p.frames[turn], nil
	}
	fr, err := p.build(p.root, turn, 0, p.frames[1-turn])
	if err != nil {
		return nil, err
	}
	p.out[turn] = make(map[string]tensor.Any)
	for i, id := range p.c.outputs {
		if p.out[turn][p.c.names[id]], err = p.place(p.outs[i], turn); err != nil {
			return nil, err
		}
	}
	p.frames[turn] = fr
	return fr, nil
}

// build makes the frame of a graph in a turn, at a depth of graphs inside nodes. Plans that are the same in both turns are
// the plans of twin, the other turn's frame, if there is one.
func (p *prepared) build(d *drawing, turn, depth int, twin *frame) (fr *frame, err error) {
	fr = &frame{run: &p.run, c: d.c, turn: -1, depth: depth, vals: make([]Value, len(d.vals)), base: make([]Value, len(d.vals)),
		ready: make([]ready, len(d.steps)), plan: &Plan{sizes: make([]int64, len(d.vals))}}
	for id, s := range d.slots {
		fr.plan.sizes[id] = d.vals[id].size()
		if s == nil || s.made > 0 && !s.fixed {
			continue
		}
		if fr.base[id].a, err = p.place(s, turn); err != nil {
			return nil, err
		}
		if s.loose {
			fr.base[id] = d.vals[id]
		}
	}
	for _, o := range d.c.captures {
		if fr.base[o.id].known() {
			continue
		}
		if fr.base[o.id].a, err = p.place(d.slots[o.id], turn); err != nil {
			return nil, err
		}
	}
	for i := range d.steps {
		s, r := &d.c.steps[i], &fr.ready[i]
		r.tick = d.steps[i].tick
		var other *ready
		if twin != nil {
			other = &twin.ready[i]
		}
		switch d.steps[i].how {
		case already:
			r.skip = true
			continue
		case viewing:
			if err := p.view(d, i, turn, fr, r); err != nil {
				return nil, err
			}
		case choosing:
			for k, e := range d.steps[i].ways {
				var t *frame
				if other != nil {
					t = other.ways[k]
				}
				if k == 1 && e == d.steps[i].ways[0] {
					r.ways[1] = r.ways[0]
				} else if r.ways[k], err = p.build(e, turn, depth+1, t); err != nil {
					return nil, err
				}
				r.ways[k].outer = fr
			}
		}
		if r.skip {
			continue
		}
		r.to = make([]tensor.Any, len(s.out))
		turns := false
		for _, id := range slices.Concat(s.in, s.out) {
			turns = turns || id >= 0 && d.slots[id] != nil && d.slots[id].turns()
		}
		for j, id := range s.out {
			if id >= 0 {
				if r.to[j], err = p.place(d.slots[id], turn); err != nil {
					return nil, err
				}
				fr.base[id].a = r.to[j]
			}
		}
		switch {
		case d.steps[i].how == reordering:
			from := fr.base[s.in[0]].a
			r.copy = copied{r.to[0].Reshape(from.Shape()...), from}
		case d.steps[i].how != planned:
		case other != nil && !turns:
			r.plan = other.plan
		default:
			if r.plan = p.planOf(d, i, fr, r.to[0]); r.plan == nil {
				d.steps[i].how, p.slow = calling, true
			}
		}
	}
	for _, m := range d.ends {
		var c copied
		if c.from, err = p.place(m.from, turn); err == nil {
			c.to, err = p.place(m.to, turn)
		}
		if err != nil {
			return nil, err
		}
		fr.ends = append(fr.ends, c)
	}
	return fr, nil
}

// fixed says which inputs of step i stay as they are.
func (d *drawing) fixed(i int) (list []bool) {
	for _, id := range d.c.steps[i].in {
		list = append(list, id < 0 || d.slots[id] == nil || d.slots[id].fixed)
	}
	return list
}

// planOf returns the plan of step i over the tensors that have their places, which writes to one, nil if it has none that runs again and again.
func (p *prepared) planOf(d *drawing, i int, fr *frame, to tensor.Any) *op.Plan {
	call, read, err := d.c.call(i, fr.base, nil)
	if err != nil {
		return nil
	}
	call.Fixed = d.fixed(i)
	o := d.keeping(i, call)
	plan, err := o.Plan(call)
	if err != nil || read.wrong != nil || !plan.Steady() {
		return nil
	}
	plan.Into(to)
	if keeps := plan.Keeps(); keeps > 0 {
		kept := add(p.kept, keeps)
		if p.limit <= 0 || add(add(p.bytes, p.weights), kept) <= p.limit {
			p.kept = kept
			return plan
		}
		clear(call.Fixed) // then nothing is kept
		if plan, err = o.Plan(call); err != nil {
			return nil
		}
		plan.Into(to)
	}
	return plan
}

// view makes the views that step i gives. Where the first input has no such view its results get memory of their own.
func (p *prepared) view(d *drawing, i, turn int, fr *frame, r *ready) error {
	s := &d.c.steps[i]
	call, _, err := d.c.call(i, fr.base, nil)
	var list []tensor.Any
	if err == nil {
		list, err = d.c.ops[i].Run(call)
	}
	r.skip = err == nil && len(list) >= len(s.out)
	for j, id := range s.out {
		r.skip = r.skip && (id < 0 || list[j].SameData(call.Inputs[0]))
	}
	for j, id := range s.out {
		switch {
		case id < 0:
		case r.skip:
			d.slots[id].place[turn], fr.base[id].a = list[j], list[j]
			d.slots[id].turned = d.slots[s.in[0]].turns()
		default:
			d.slots[id].whole, d.slots[id].apart = nil, true
			p.bytes = add(p.bytes, d.slots[id].bytes())
		}
	}
	if !r.skip {
		if d.steps[i].how = calling; err == nil && len(s.out) == 1 && s.out[0] >= 0 && !call.Inputs[0].IsZero() && list[0].Len() == call.Inputs[0].Len() {
			d.steps[i].how = reordering
		} else {
			p.slow = true
		}
		if p.limit > 0 && add(add(p.bytes, p.weights), p.kept) > p.limit {
			return errOther
		}
	}
	return nil
}
