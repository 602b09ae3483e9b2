package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// DefaultMaxIterations is how often the bodies of loops may run in a run if Options doesn't say.
const DefaultMaxIterations = 1 << 24

// A storage is memory that one or more values of a run share. It goes when the last of them does.
type storage struct {
	refs  int
	bytes int64

	of  []*storage     // of an inference: storages that it keeps
	by  *storage       // of an inference: the latest one that keeps it
	lay *layout.Layout // of an inference: the layout of a tensor that isn't contiguous,
	odd bool           // which isn't known

	several bool // of an inference: it is of tensors each of which has memory of its own
}

// fresh marks tensors that a valueOp made, until own finds out whose memory they are in.
var fresh = new(storage)

// A run is the state of one Run.
type run struct {
	*Session
	ctx    context.Context
	text   *text.Table
	live   int64 // bytes of results
	limit  int64
	spare  int64               // bytes that the plan leaves of the limit, for prepared bodies of loops
	places map[*compiled]int64 // bytes that these take already, however often their loops run
	left   int64               // iterations that loops may still do

	record  *recorder // nil unless a receipt has the nodes
	observe func(*NodeRun)
	start   time.Time
	seen    NodeRun // the argument of observe; its slices are used again
}

// A frame is a graph that runs: the model's, or one inside a node of another frame's.
type frame struct {
	*run
	c     *compiled
	outer *frame // of the graph around; nil for the model's
	turn  int64  // the iteration of the loop around; negative outside of one
	depth int    // of graphs inside nodes
	vals  []Value
	plan  *Plan   // nil where nothing limits memory
	key   []byte  // see planned
	outs  []Value // of the step that ran last

	ready []ready // by step: the prepared part of it; nil where nothing is prepared
	base  []Value // of a prepared frame: the values that are the same in all its runs
	ends  []copied
	at    int // the step that is on its way

	turning *turning // of a loop's body: nil if it isn't prepared
	borrows bool     // values of the loop may be in the memory of a turning
}

// limit is the bound on memory; none if it isn't positive.
func (o *Options) limit() int64 {
	if o.MaxMemory == 0 {
		return DefaultMaxMemory
	}
	return o.MaxMemory
}

// iterations is the bound on iterations of loops.
func (o *Options) iterations() int64 {
	switch {
	case o.MaxIterations == 0:
		return DefaultMaxIterations
	case o.MaxIterations < 0:
		return math.MaxInt64
	}
	return o.MaxIterations
}

// begin binds the inputs of a run and plans it. It refuses one that needs more memory than the limit.
func (s *Session) begin(ctx context.Context, inputs map[string]Value, limit int64) ([]Value, *Plan, error) {
	vals, err := s.bind(inputs)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range s.c.inputs {
		if vals[id].isSpec() {
			return nil, nil, in(fmt.Sprintf("input %q", s.c.g.Inputs[i].Name), failf("it is a description without elements"))
		}
	}
	p, err := s.plan(ctx, inputs, vals, limit)
	if err == nil && limit > 0 {
		err = p.admits(limit)
	}
	return vals, p, err
}

// compute computes the outputs. It gives the results of all nodes to the recorder of o, unless that is nil.
func (s *Session) compute(ctx context.Context, inputs map[string]Value, o Options) (map[string]Value, error) {
	r := &run{Session: s, ctx: ctx, limit: o.limit(), left: o.iterations(), observe: o.Observe, record: o.record}
	if r.observe != nil {
		r.start = time.Now()
	}
	vals, p, err := s.begin(ctx, inputs, r.limit)
	if err != nil {
		return nil, err
	}
	r.text, r.spare = text.NewTable(s.c.text), p.spare(r.limit)
	fr := &frame{run: r, c: s.c, vals: vals, plan: p}
	for i, id := range s.c.inputs {
		if _, ok := inputs[s.c.g.Inputs[i].Name]; ok {
			if vals[id], err = vals[id].in(r.text); err != nil {
				return nil, err
			}
		}
	}
	err = fr.steps(o.Progress)
	if r.record != nil {
		err = r.record.finish(r, err)
	}
	if err != nil {
		fr.clear()
		return nil, err
	}
	return fr.outputs()
}

// isSpec reports whether a tensor of v is a description without elements.
func (v *Value) isSpec() bool {
	return v.a.IsSpec() || v.seq != nil && slices.ContainsFunc(v.seq.items, func(item *Value) bool { return item.a.IsSpec() })
}

// steps runs the nodes of the frame.
func (fr *frame) steps(progress func(done, total int, n *Node)) error {
	done, total := 0, 0
	skip := func(i int) bool {
		if fr.ready != nil {
			return fr.ready[i].skip && (fr.record == nil || fr.ready[i].tick == 0)
		}
		return fr.c.idle(i, fr.vals) || fr.c.steps[i].folded && fr.observe == nil && fr.record == nil
	}
	for i := range fr.c.steps {
		if !skip(i) {
			total++
		}
	}
	for i := range fr.c.steps {
		if skip(i) {
			if s := &fr.c.steps[i]; s.folded { // of a value whose shape is known it may be the last reader
				fr.let(s)
			}
			continue
		}
		fr.at = i
		err := fr.ctx.Err()
		if err == nil {
			err = fr.step(i)
		}
		if err != nil {
			return fr.c.blamed(&fr.c.steps[i], err)
		}
		if done++; progress != nil {
			progress(done, total, fr.c.steps[i].node)
		}
	}
	return fr.ctx.Err() // a program's own operator may have given up
}

// runs reports whether step i does something in a run: a Constant doesn't.
func (c *compiled) runs(i int) bool { return c.ops[i] != nil || c.steps[i].value != nil }

// step runs step i and lets go of the values that it was the last to need.
func (fr *frame) step(i int) error {
	s := &fr.c.steps[i]
	var to []tensor.Any
	tick := 0
	if fr.ready != nil {
		r := &fr.ready[i]
		to, tick = r.to, r.tick
		if fr.record != nil {
			if err := fr.record.before(fr.run, tick); err != nil {
				return err
			}
		}
		if r.skip || r.plan != nil || r.ways[0] != nil || !r.copy.to.IsZero() {
			err := fr.do(i, r)
			if err == nil && fr.record != nil {
				fr.outs = fr.outs[:0]
				for _, id := range s.out {
					fr.outs = append(fr.outs, fr.value(id))
				}
				err = fr.record.node(fr, s, tick, fr.outs)
			}
			fr.let(s)
			return err
		}
	}
	var start time.Duration
	if fr.observe != nil {
		start = time.Since(fr.start)
	}
	outs, err := fr.results(i)
	if err != nil {
		return err
	}
	if fr.observe != nil {
		fr.tell(s, start, outs)
	}
	if fr.record != nil {
		err = fr.record.node(fr, s, tick, outs)
	}
	for j, id := range s.out {
		switch {
		case id < 0:
		case j >= len(outs) || !outs[j].known():
			err = failf("the operator gave no output %d", j)
		case to != nil && !to[j].IsZero():
			if err == nil && !moved(&to[j], &outs[j]) {
				err = errOther
			}
			fr.release(&outs[j])
			fr.vals[id] = Value{a: to[j]}
		default:
			fr.vals[id] = outs[j]
		}
	}
	for j := range outs { // the results that nobody wants
		if j >= len(s.out) || s.out[j] < 0 {
			fr.release(&outs[j])
		}
	}
	fr.let(s)
	if err == nil && fr.limit > 0 {
		err = fr.room(0)
	}
	return err
}

// value is a value of the frame; the zero Value for a negative id.
func (fr *frame) value(id int) Value {
	if id < 0 {
		return Value{}
	}
	return fr.vals[id]
}

// let lets go of the values that a step was the last to need.
func (fr *frame) let(s *step) {
	for _, id := range s.drop {
		fr.release(&fr.vals[id])
		fr.vals[id] = Value{}
	}
}

// tell calls the observer with the results of a step.
func (fr *frame) tell(s *step, start time.Duration, outs []Value) {
	r := &fr.seen
	*r = NodeRun{Node: s.node, Index: s.index, Depth: fr.depth, Start: start, Time: time.Since(fr.start) - start,
		Names: r.Names[:0], Values: append(r.Values[:0], outs...)}
	for j := range outs {
		r.Bytes = add(r.Bytes, max(outs[j].size(), 0))
		name := ""
		if j < len(s.out) && s.out[j] >= 0 {
			name = fr.c.names[s.out[j]]
		}
		r.Names = append(r.Names, name)
	}
	fr.observe(r)
	clear(r.Values)
}

// results runs step i and returns its results, held.
func (fr *frame) results(i int) ([]Value, error) {
	s := &fr.c.steps[i]
	if f := s.form(fr.vals); f != nil {
		a := attrs{node: s.node, tensors: fr.c.attrs[i]}
		outs, err := f.run(&valueCall{c: fr.c, i: i, s: s, attrs: &a, in: s.values(fr.vals), around: fr.vals, fr: fr})
		if err == nil {
			err = a.wrong
		}
		return outs, err
	}
	if err := s.noStrings(fr.vals); err != nil {
		return nil, err
	}
	call, a, err := fr.c.call(i, fr.vals, fr.ctx)
	if err != nil {
		return nil, err
	}
	if err := checkAxes(s.node, fr.c.ops[i], call.Inputs); err != nil {
		return nil, err
	}
	if fr.limit > 0 {
		if err := fr.roomFor(i, call); err != nil {
			return nil, err
		}
	}
	list, err := fr.c.ops[i].Run(call)
	if err == nil {
		err = a.wrong
	}
	if err == nil {
		err = checkRanks(list)
	}
	if err != nil {
		return nil, err
	}
	fr.outs = slices.Grow(fr.outs[:0], len(list))
	for _, a := range list {
		fr.outs = append(fr.outs, Value{a: a})
		if !a.IsZero() {
			fr.keep(&fr.outs[len(fr.outs)-1], fr.outs[:len(fr.outs)-1], s)
		}
	}
	return fr.outs, nil
}

// roomFor fails if step i would take more than the limit with its results and its scratch. The plan has
// counted both where it knew the results, unless operands are views of which the operator makes copies. An operator whose
// results can't be inferred says it better itself.
func (fr *frame) roomFor(i int, call *op.Call) error {
	planned := !slices.ContainsFunc(fr.c.steps[i].out, func(id int) bool { return id >= 0 && fr.plan.sizes[id] < 0 })
	if planned && !slices.ContainsFunc(call.Inputs, func(a tensor.Any) bool { return !a.IsZero() && !a.IsContiguous() }) {
		return nil
	}
	p, err := fr.c.ops[i].Plan(call)
	if err != nil {
		return nil
	}
	outs, err := p.Results()
	if err != nil {
		return nil
	}
	if p.Views() {
		if lay := call.Inputs[0].Layout(); draftOf(p).Laid(&lay) != nil {
			return nil
		}
	}
	need := p.Scratch()
	for _, o := range outs {
		need = add(need, max(size(o), 0))
	}
	err = fr.room(need)
	var more *MemoryError
	if errors.As(err, &more) && op.Threads(fr.ctx) > 1 {
		alone := *call
		alone.Context = op.WithThreads(fr.ctx, 1)
		if one, err := fr.c.ops[i].Plan(&alone); err == nil && one.Scratch() < p.Scratch() {
			more.Alone = more.Need - p.Scratch() + one.Scratch()
		}
	}
	return err
}

// keep gives a new tensor its storage: that of an earlier result or an input of the step that it shares elements with, or
// one of its own. It holds the tensor.
func (fr *frame) keep(out *Value, earlier []Value, s *step) {
	for j := range earlier {
		if earlier[j].isTensor() && out.a.SameData(earlier[j].a) {
			out.own = earlier[j].own
			hold(out)
			return
		}
	}
	for _, id := range s.in {
		if id >= 0 && fr.vals[id].isTensor() && out.a.SameData(fr.vals[id].a) {
			out.own = fr.vals[id].own
			hold(out)
			return
		}
	}
	fr.store(out)
}

// store gives a new tensor a storage of its own, and holds it.
func (r *run) store(out *Value) {
	out.own = &storage{refs: 1, bytes: size(out.a)}
	r.live = add(r.live, out.own.bytes)
}

// own gives each tensor in v that is marked fresh its storage: that of an input, or of the item before, that it shares
// elements with, or one of its own. It holds v.
func (k *valueCall) own(v *Value) {
	one := func(out, before *Value) {
		if out.own != fresh {
			hold(out)
			return
		}
		found := before != nil && out.a.SameData(before.a)
		if found {
			out.own = before.own
		} else {
			k.tensors(func(in *Value) bool {
				if found = in.isTensor() && out.a.SameData(in.a); found {
					out.own = in.own
				}
				return !found
			})
		}
		if !found {
			k.fr.store(out)
			return
		}
		hold(out)
	}
	if v.seq == nil {
		one(v, nil)
		return
	}
	var before *Value
	v.seq.tensors(func(item *Value) bool {
		one(item, before)
		before = item
		return true
	})
}

// hold counts one more value that needs the memory of v.
func hold(v *Value) {
	if v.own != nil {
		v.own.refs++
	}
	if v.seq != nil {
		for _, item := range v.seq.items {
			hold(item)
		}
	}
}

// release undoes hold, and gives memory back of which v was the last value.
func (r *run) release(v *Value) {
	if own := v.own; own != nil {
		if own.refs--; own.refs == 0 {
			v.a.Close()
			r.live -= own.bytes
		}
	}
	if v.seq != nil {
		for _, item := range v.seq.items {
			r.release(item)
		}
	}
}

// releaseAll releases values.
func (r *run) releaseAll(vals []Value) {
	for i := range vals {
		r.release(&vals[i])
		vals[i] = Value{}
	}
}

// clear lets go of all values of the frame.
func (fr *frame) clear() { fr.releaseAll(fr.vals) }

// room fails if the results would take more than the limit with need bytes more, also when none waits to be hashed.
func (r *run) room(need int64) error {
	for total := r.total(need); r.limit > 0 && total > r.limit; total = r.total(need) {
		if r.record != nil && len(r.record.late) > 0 {
			if err := r.record.settle(r, 1); err != nil {
				return err
			}
			continue
		}
		what := fmt.Sprintf("weights %s, results so far %s, this node's %s", amount(r.weights), amount(add(r.live, r.text.Bytes)), amount(need))
		return &MemoryError{Need: total, Limit: r.limit, What: what}
	}
	return nil
}

// total is how many bytes weights and results take with need bytes more.
func (r *run) total(need int64) int64 { return add(add(add(r.weights, r.live), r.text.Bytes), need) }

// outputs returns the graph's outputs, each with memory of its own.
func (fr *frame) outputs() (map[string]Value, error) {
	out := make(map[string]Value, len(fr.c.outputs))
	own := func(v *Value) (*Value, error) {
		a := v.a
		if v.own == nil || v.own.refs > 1 {
			n := size(a)
			err := fr.room(n)
			if err == nil {
				a, err = tensor.Clone(a)
			}
			if err != nil {
				return nil, err
			}
			if fr.live = add(fr.live, n); v.own != nil {
				v.own.refs--
			}
		}
		return &Value{a: a, text: v.text}, nil
	}
	var owned func(v *Value) (*Value, error)
	owned = func(v *Value) (*Value, error) {
		switch {
		case v.isTensor():
			return own(v)
		case v.seq == nil || v.seq == nothing:
			return v, nil
		}
		items := make([]*Value, len(v.seq.items))
		for i, item := range v.seq.items {
			var err error
			if items[i], err = owned(item); err != nil {
				return v, err
			}
		}
		return &Value{seq: &sequence{v.seq.kind, items, v.seq.elem}}, nil
	}
	for _, id := range fr.c.outputs {
		name := fr.c.names[id]
		if _, ok := out[name]; ok {
			continue
		}
		v := fr.vals[id]
		w, err := owned(&v)
		if err != nil {
			return nil, in(fmt.Sprintf("output %q", name), err)
		}
		out[name] = *w
	}
	return out, nil
}

// inside opens a frame for a graph inside a node of this one.
func (fr *frame) inside(b *compiled) *frame {
	return &frame{run: fr.run, c: b, outer: fr, turn: -1, depth: fr.depth + 1, vals: make([]Value, len(b.vals))}
}

// call runs the frame's graph on args, which are the frame's from here on, and the values around. It returns the outputs,
// held, and leaves the frame empty.
func (fr *frame) call(around, args []Value) ([]Value, error) {
	copy(fr.vals, fr.c.vals)
	for k, id := range fr.c.formals {
		fr.vals[id] = args[k]
	}
	for _, o := range fr.c.captures {
		fr.vals[o.id] = around[o.from]
		hold(&fr.vals[o.id])
	}
	defer fr.clear()
	if fr.limit > 0 {
		fr.plan = fr.planned()
		if err := fr.room(fr.plan.Live); err != nil {
			return nil, err
		}
	}
	if err := fr.steps(nil); err != nil {
		return nil, err
	}
	outs := make([]Value, len(fr.c.outputs))
	for k, id := range fr.c.outputs {
		outs[k] = fr.vals[id]
		hold(&outs[k])
	}
	return outs, nil
}
