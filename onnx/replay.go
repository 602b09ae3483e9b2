package onnx

import (
	"context"
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A replay is a run made ready: its tensors have their places, in two turns. Each turn has memory of its own for the outputs,
// none of which is a view. So those of the last run stay as they are while the next one reads them as its inputs, and after
// one that fails or goes another way.
type replay struct {
	memory *mem.Buffer
	bytes  int64        // of memory and own
	own    []tensor.Any // of inputs and outputs
	trace  *trace       // holds what steps read that is the same in every run
	turns  [2][]action
	copies [2][]copied
	in     [2][]tensor.Any // by place among the graph's inputs; zero for one that the run doesn't take
	swaps  []bool          // by place among the graph's inputs: in a turn its memory is that of an output in the other one
	out    [2]map[string]tensor.Any
	state  [2][]tensor.Any // of each state what the next run begins with
	ran    bool            // a run has given the outputs of the turn before
	turn   int             // the next one
	at     int             // the step that is on its way
}

// A copied is an output that is a view, and the tensor that it is copied to when all steps are done.
type copied struct{ to, from tensor.Any }

// An action is a step of a replay. Just one of do and slow is set, or cond.
type action struct {
	c    *compiled
	i    int
	plan *op.Plan
	out  tensor.Any // of plan
	slow func(ctx context.Context) error
	cond Value
	yes  bool
}

func sameShape(a, b *tensor.Any) bool {
	if a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) {
			return false
		}
	}
	return true
}

// is reports whether two tensors are one: the same elements of a storage in the same layout.
func is(a, b *tensor.Any) bool {
	if !a.SameData(*b) || !a.LayoutRef().Same(b.LayoutRef()) {
		return false
	}
	_, i := a.Memory()
	_, j := b.Memory()
	return i == j
}

// moved moves a result of a step to its place. It reports false for a result of another type or shape.
func moved(to, a *tensor.Any) bool {
	if a.DType() != to.DType() || !sameShape(a, to) {
		return false
	}
	to.CopyFrom(*a)
	return true
}

// errOther ends a replay where the run would go another way than the one that was noted.
var errOther = errors.New("the run takes another way")

// take gives the inputs of the next run their places. It reports false if they aren't those that it was prepared for, or
// would have to be written over the outputs of the last run.
func (p *replay) take(st *Stream, inputs map[string]tensor.Any) bool {
	turn, given := p.turn, 0
	for i := range st.s.c.g.Inputs {
		v := &st.s.c.g.Inputs[i]
		to := &p.in[turn][i]
		a, ok := inputs[v.Name]
		state := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i })
		switch {
		case ok:
			given++
		case state >= 0:
			a = st.state[state].value // zero after Reset
		case to.IsZero():
			continue
		}
		if to.IsZero() || a.IsZero() || a.IsSpec() || a.DType() != to.DType() || !sameShape(&a, to) {
			return false
		}
		if !is(to, &a) {
			if p.swaps[i] && p.ran || tensor.Copy(*to, a) != nil {
				return false
			}
		}
	}
	return given == len(inputs) // else there is a name that there isn't
}

// run does a prepared run. It reports false if the inputs aren't those that it was prepared for, or the run went another way:
// nothing has changed then that another run reads.
func (p *replay) run(st *Stream, inputs map[string]tensor.Any) (done bool, err error) {
	if !p.take(st, inputs) {
		return false, nil
	}
	turn := p.turn
	p.at = 0
	if panicked := tensor.Try(func() { err = p.actions(st.under, turn) }); panicked != nil {
		err = panicked
	}
	if err == errOther {
		return false, nil
	}
	if err != nil {
		if list := p.turns[turn]; p.at < len(list) { // all may be views
			a := &list[p.at]
			err = in(a.c.label(&a.c.steps[a.i]), err)
		}
		return false, err
	}
	for _, c := range p.copies[turn] {
		c.to.CopyFrom(c.from)
	}
	for i := range st.state {
		st.state[i].value = p.state[turn][i]
	}
	p.turn, p.ran = 1-turn, true
	return true, nil
}

// actions does the steps of a turn.
func (p *replay) actions(ctx context.Context, turn int) error {
	for i := range p.turns[turn] {
		a := &p.turns[turn][i]
		p.at = i
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case a.plan != nil:
			a.plan.Under(ctx)
			if list := a.plan.Do(); !list[0].SameData(a.out) {
				if !moved(&a.out, &list[0]) {
					return errOther
				}
				list[0].Close()
			}
		case a.slow != nil:
			if err := a.slow(ctx); err != nil {
				return err
			}
		default:
			if yes, err := truth(&a.cond); err != nil || yes != a.yes {
				return errOther
			}
		}
	}
	return ctx.Err()
}

// close gives the memory back.
func (p *replay) close() error {
	var err error
	if p.memory != nil {
		err = p.memory.Close()
	}
	for _, a := range p.own {
		a.Close()
	}
	p.trace.release()
	return err
}

// newReplay makes a run ready as t noted it. It returns nil where that can't be, or takes more than the limit on memory.
func newReplay(st *Stream, t *trace, inputs map[string]tensor.Any) *replay {
	p := &replay{trace: t}
	err := errOther
	if !t.broken {
		if panicked := tensor.Try(func() { err = p.build(st, t, inputs) }); panicked != nil {
			err = panicked
		}
	}
	if err != nil {
		_ = p.close() // of memory that nothing has been mapped to
		return nil
	}
	return p
}

func (p *replay) build(st *Stream, t *trace, inputs map[string]tensor.Any) error {
	c := st.s.c
	apart := make(map[*slot]bool)         // has memory of its own
	outs := make([]*slot, len(t.outputs)) // of the outputs' memory
	for i, s := range t.outputs {
		if !s.fixed && (s.made < 0 || s.whole != nil || apart[s]) { // a view, or an output twice
			s = &slot{tensor: s.tensor}
		}
		outs[i], apart[s] = s, !s.fixed
	}
	size := t.places(apart)
	p.bytes = int64(size)
	limit := st.o.MaxMemory
	if limit == 0 {
		limit = DefaultMaxMemory
	}
	places := make(map[*slot][2]tensor.Any)
	var err error
	own := func(s *slot) (a tensor.Any) {
		p.bytes = add(p.bytes, s.bytes())
		if limit > 0 && add(p.bytes, st.s.weights) > limit {
			err = errOther
		}
		if err == nil {
			if a, err = tensor.Make(s.tensor.DType(), s.tensor.Shape()...); err == nil {
				p.own = append(p.own, a)
			}
		}
		return a
	}
	for i, s := range outs {
		at := [2]tensor.Any{own(s)}
		if err != nil {
			return err
		}
		if s.fixed { // a weight, maybe, which nobody may write to or close
			at[0].CopyFrom(s.tensor)
			at[0] = at[0].ReadOnly()
			outs[i], at[1] = &slot{tensor: at[0]}, at[0]
		} else {
			at[1] = own(s)
		}
		places[outs[i]] = at
	}
	p.swaps = make([]bool, len(t.inputs))
	for i, s := range t.inputs {
		if s == nil {
			continue
		}
		// A state changes places with the input that it becomes, unless that is one of those that the program gives.
		if k := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i }); k >= 0 {
			from := outs[st.state[k].out]
			_, given := inputs[st.state[k].to]
			if p.swaps[i] = !given && apart[from] && tensor.Describe(from.tensor) == tensor.Describe(s.tensor); p.swaps[i] {
				places[s] = [2]tensor.Any{places[from][1], places[from][0]}
				continue
			}
		}
		a := own(s)
		places[s] = [2]tensor.Any{a, a}
	}
	if err != nil {
		return err
	}
	if p.memory, err = mem.Alloc(max(size, 1)); err != nil {
		return err
	}
	for turn := range 2 {
		p.in[turn] = make([]tensor.Any, len(t.inputs))
		for i, s := range t.inputs {
			if s != nil {
				p.in[turn][i] = places[s][turn]
			}
		}
		if p.turns[turn], err = p.steps(t, turn, places); err != nil {
			return err
		}
		p.out[turn] = make(map[string]tensor.Any)
		for i, id := range c.outputs {
			to := places[outs[i]][turn]
			p.out[turn][c.names[id]] = to
			if from := t.outputs[i]; from != outs[i] && !from.fixed {
				p.copies[turn] = append(p.copies[turn], copied{to, p.place(from, turn, places)})
			}
		}
		for _, s := range st.state {
			p.state[turn] = append(p.state[turn], places[outs[s.out]][turn])
		}
	}
	return nil
}

// place returns the tensor of a slot in a turn.
func (p *replay) place(s *slot, turn int, places map[*slot][2]tensor.Any) tensor.Any {
	if s == nil {
		return tensor.Any{}
	}
	if s.fixed {
		return s.tensor
	}
	return places[s][turn]
}

// steps makes the steps of a turn, and finds the places of results.
func (p *replay) steps(t *trace, turn int, places map[*slot][2]tensor.Any) ([]action, error) {
	list := make([]action, 0, len(t.records))
	for k := range t.records {
		r := &t.records[k]
		do := action{c: r.c, i: r.i}
		if r.op == nil {
			do.cond, do.yes = Value{a: p.place(r.in[0], turn, places)}, r.yes
			list = append(list, do)
			continue
		}
		call, fixed := *r.call, make([]bool, len(r.in))
		call.Inputs = make([]tensor.Any, len(r.in))
		for j, s := range r.in {
			call.Inputs[j], fixed[j] = p.place(s, turn, places), s == nil || s.fixed
		}
		if !slices.ContainsFunc(r.out, func(s *slot) bool { return s != nil && !s.fixed }) {
			continue
		}
		if r.views {
			outs, err := r.op.Run(&call)
			if err != nil {
				return nil, err
			}
			for j, s := range r.out {
				if s == nil {
					continue
				}
				if s.whole == nil || !outs[j].SameData(call.Inputs[0]) {
					return nil, errOther
				}
				at := places[s]
				at[turn] = outs[j]
				places[s] = at
			}
			continue
		}
		outs := make([]tensor.Any, len(r.out))
		for j, s := range r.out {
			if s == nil {
				continue
			}
			at := places[s]
			if at[turn].IsZero() {
				lay, err := layout.RowMajor(s.tensor.Shape()...)
				if err == nil {
					at[turn], err = tensor.FromBytes(s.tensor.DType(), p.memory, s.at, lay)
				}
				if err != nil {
					return nil, err
				}
				places[s] = at
			}
			outs[j] = at[turn]
		}
		if len(outs) == 1 {
			call.Fixed = fixed
			plan, err := r.op.Plan(&call)
			if err != nil && !errors.Is(err, op.ErrUnknown) {
				return nil, err
			}
			if err == nil && plan.Steady() {
				plan.Into(outs[0])
				do.plan, do.out = plan, outs[0]
				list = append(list, do)
				continue
			}
			call.Fixed = nil
		}
		o := r.op
		do.slow = func(ctx context.Context) error {
			call := call
			call.Context = ctx
			list, err := o.Run(&call)
			if err != nil {
				return err
			}
			for j, a := range outs {
				if a.IsZero() {
					continue
				}
				if j >= len(list) || !moved(&a, &list[j]) {
					return errOther
				}
			}
			for _, a := range list { // results may share memory
				if !a.IsZero() && !slices.ContainsFunc(call.Inputs, a.SameData) {
					a.Close()
				}
			}
			return nil
		}
		list = append(list, do)
	}
	return list, nil
}
