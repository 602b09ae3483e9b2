package onnx

import (
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A turning is the body of a Loop or Scan made ready for values of some types and shapes: its steps are planned, and its tensors have their
// places. An iteration copies its arguments to their places. Its results are good until the next one.
type turning struct {
	prepared
	fr      *frame
	threads int
	slots   []*slot      // of the body's inputs, then of its captures that aren't constants
	from    []int        // of these captures: the values in the graph around
	tensors []tensor.Any // by slot
	results []Value
	given   []Value // those of the last iteration: callers change them
}

const (
	turnsBefore = 2       // iterations that run before a body is prepared
	largestTurn = 1 << 20 // bytes that it may take: beyond, the elements take the time
)

// turns says that the results of a frame's iterations are copied before the next one. So its body may be prepared.
func (fr *frame) turns() *frame {
	fr.turning = new(turning)
	return fr
}

// repeated runs an iteration by a prepared body. It reports false where there is none, or it doesn't fit; then nothing has changed but args, which
// may have other memory. The places are beside the memory that the plan of the run counts, so the limit must leave them.
func (fr *frame) repeated(around, args []Value) (outs []Value, done bool, err error) {
	t := fr.turning
	if t == nil || fr.record != nil || fr.observe != nil {
		return nil, false, nil
	}
	if t.fr == nil {
		if t, _ = fr.c.turning.Swap((*turning)(nil)).(*turning); t == nil || !t.fits(fr, around, args) {
			if fr.turn < turnsBefore {
				return nil, false, nil
			}
			if t = fr.prepare(around, args); t == nil || !t.fits(fr, around, args) {
				fr.turning = nil
				return nil, false, nil
			}
		}
		need := 2 * (t.bytes + t.kept) // for places, and for copies of results
		more := need - fr.places[fr.c]
		if fr.spare < more {
			fr.c.turning.Store(t)
			fr.turning = nil
			return nil, false, nil
		}
		if fr.places == nil {
			fr.run.places = map[*compiled]int64{}
		}
		fr.places[fr.c] = need
		fr.spare -= more
		fr.turning = t
		for k, id := range t.from {
			t.tensors[len(args)+k].CopyFrom(around[id].a)
		}
	}
	for k := range args {
		if !likeTensor(&args[k], &t.tensors[k]) {
			fr.turning = nil
			return nil, false, nil
		}
	}
	for k := range args {
		t.tensors[k].CopyFrom(args[k].a)
	}
	t.run, fr.borrows = *fr.run, true
	err = t.fr.again(around)
	other := errors.Is(err, errOther)
	if fr.run.spare, fr.run.places = t.spare, t.places; !other {
		fr.run.left = t.left
	}
	if err == nil {
		t.given = append(t.given[:0], t.results...)
		outs = t.given
	}
	t.fr.clear()
	fr.run.live = t.live
	fr.releaseAll(args)
	if other {
		for k := range args {
			args[k] = Value{a: t.tensors[k]}
		}
		fr.turning = nil
		return nil, false, nil
	}
	return outs, true, err
}

// settled gives values that a loop carried memory of their own, and keeps the prepared body for the next run.
func (fr *frame) settled(state []Value) error {
	for k := range state {
		if v := &state[k]; fr.borrows && v.isTensor() && v.own == nil {
			a, err := tensor.Clone(v.a)
			if err != nil {
				return err
			}
			v.a = a
			fr.store(v)
		}
	}
	if t := fr.turning; t != nil && t.fr != nil {
		t.run, t.given = run{}, nil // state may be a part of the list
		fr.c.turning.Store(t)
		fr.turning = new(turning)
	}
	return nil
}

// likeTensor reports whether a value is a tensor of the type and shape of a.
func likeTensor(v *Value, a *tensor.Any) bool {
	if !v.isTensor() || v.text != nil || v.a.DType() != a.DType() || v.a.Rank() != a.Rank() {
		return false
	}
	for i := range a.Rank() {
		if v.a.Dim(i) != a.Dim(i) {
			return false
		}
	}
	return true
}

// fits reports whether a body is prepared for arguments and for the values around, and has room.
func (t *turning) fits(fr *frame, around, args []Value) bool {
	if t.threads != op.Threads(fr.ctx) {
		return false
	}
	for k := range args {
		if !likeTensor(&args[k], &t.tensors[k]) {
			return false
		}
	}
	for k, id := range t.from {
		if !likeTensor(&around[id], &t.tensors[len(args)+k]) {
			return false
		}
	}
	return true
}

// prepare makes the body of a frame ready for arguments. It returns nil where that can't be done.
func (fr *frame) prepare(around, args []Value) *turning {
	c := fr.c
	if c.fixed != dtype.Invalid || len(c.m.Operators) > 0 {
		return nil
	}
	t := &turning{threads: op.Threads(fr.ctx)}
	z := &outline{ctx: fr.ctx, f: &inference{depth: fr.depth}, room: largestTurn}
	d := &drawing{c: c, vals: slices.Clone(c.vals), slots: make([]*slot, len(c.vals))}
	d.constants()
	input := func(id int, v *Value) bool {
		if !v.isTensor() || v.text != nil {
			return false
		}
		w, err := v.spec()
		if err != nil {
			return false
		}
		s := &slot{like: w.a, apart: true}
		d.vals[id], d.slots[id] = w, s
		t.slots, t.bytes = append(t.slots, s), add(t.bytes, s.bytes())
		return true
	}
	for k, id := range c.formals {
		if !input(id, &args[k]) {
			return nil
		}
	}
	for _, o := range c.captures {
		v := &around[o.from]
		if k := &c.vals[o.id]; k.known() {
			if k.isTensor() && v.isTensor() && v.a.SameData(k.a) {
				continue
			}
			return nil
		}
		if !input(o.id, v) {
			return nil
		}
		t.from = append(t.from, o.from)
	}
	if t.bytes > largestTurn || z.f.within(fr.ctx, fr.limit, func() error { return z.outline(d) }) != nil {
		z.drop()
		return nil
	}
	t.run, t.root, t.own = *fr.run, d, z.own
	var err error
	if panicked := tensor.Try(func() { err = t.assigned(z) }); panicked != nil || err != nil {
		_ = t.close()
		return nil
	}
	return t
}

// assigned gives the values of a body their places.
func (t *turning) assigned(z *outline) error {
	d := t.root
	for _, id := range d.c.outputs {
		s := d.slots[id]
		switch {
		case s == nil || s.loose:
			return errOther
		case s.fixed:
		case s.made == 0 || s.whole != nil || s.apart: // an input, a view, or an output twice
			from := s
			s = &slot{like: s.like, apart: true}
			d.ends = append(d.ends, moving{s, from})
		default:
			s.apart = true
		}
		if t.outs = append(t.outs, s); !s.fixed {
			t.bytes = add(t.bytes, s.bytes())
		}
	}
	common := z.places()
	if t.bytes = add(t.bytes, int64(common)); t.bytes > largestTurn {
		return errOther
	}
	var err error
	if t.memory, err = mem.Alloc(max(common, 1)); err != nil {
		return err
	}
	for _, s := range t.slots {
		a, err := t.place(s, 0)
		if err != nil {
			return err
		}
		t.tensors = append(t.tensors, a)
	}
	for _, s := range t.outs {
		a, err := t.place(s, 0)
		if err != nil {
			return err
		}
		t.results = append(t.results, Value{a: a})
	}
	t.fr, err = t.build(d, 0, 1, nil)
	return err
}
