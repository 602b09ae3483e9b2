package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Stream runs a session again and again, and carries state from one run to the next. What runs over inputs of the same
// shapes have in common it does once: shapes and plans, memory for all results, what follows from weights alone. Such a run
// allocates no tensor; of operators with a prepared form (op.Turn) it allocates nothing at all on one thread. Any model
// whose inputs and outputs are tensors of numbers runs in a Stream: a loop, or a shape that changes, makes a run as
// expensive as Session.Run, and so does the first run of a shape and the second.
//
// A Stream is for one goroutine at a time; a session may have many. Its memory goes by Close, or when it is unreachable.
type Stream struct {
	s      *Session
	o      Options
	state  []carried
	in     map[string]Value // of the next run that isn't prepared
	out    map[string]tensor.Any
	shapes []byte // of the inputs of the last run
	buf    []byte
	ready  *replay // nil if the last run wasn't one that can be done again
	ctx    context.Context
	under  context.Context // ctx with the bound on threads
	closed bool
}

// carried is a state: an output that is an input of the next run.
type carried struct {
	from, to string
	out, in  int // their places in the graph
	value    tensor.Any
}

// StreamOptions is how a Stream runs.
type StreamOptions struct {
	Options

	// State has for each output that is carried on the input that it becomes in the next run.
	State map[string]string
}

// Stream returns a Stream of the session. A state that no call of Run gives begins with zeros of the shape that the graph
// declares, with dimensions that a name stands for as in the other inputs of the first run. It fails if State names
// outputs or inputs that there aren't, or ones of different types.
func (s *Session) Stream(o StreamOptions) (*Stream, error) {
	st := &Stream{s: s, o: o.Options, in: make(map[string]Value), out: make(map[string]tensor.Any)}
	err := s.use(func() error {
		if o.Threads < 0 {
			return failf("%w: Options.Threads is %d; 0 is as many as there are", tensor.ErrValue, o.Threads)
		}
		for from, to := range o.State {
			c := carried{from: from, to: to,
				out: slices.IndexFunc(s.c.g.Outputs, func(v ValueInfo) bool { return v.Name == from }),
				in:  slices.IndexFunc(s.c.g.Inputs, func(v ValueInfo) bool { return v.Name == to })}
			switch {
			case c.out < 0:
				return failf("%w: State: there is no output %q", tensor.ErrValue, from)
			case c.in < 0:
				return failf("%w: State: there is no input %q", tensor.ErrValue, to)
			}
			a, b := &s.c.g.Outputs[c.out].Type, &s.c.g.Inputs[c.in].Type
			if a.Kind == KindTensor && b.Kind == KindTensor && a.Elem != b.Elem {
				return failf("%w: State: output %q is %v, input %q is %v", tensor.ErrDType, from, *a, to, *b)
			}
			if slices.ContainsFunc(st.state, func(d carried) bool { return d.to == to }) {
				return failf("%w: State: two outputs become input %q", tensor.ErrValue, to)
			}
			st.state = append(st.state, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// Reset makes the next run begin with the states that the first one began with by itself: zeros.
func (st *Stream) Reset() {
	for i := range st.state {
		st.state[i].value = tensor.Any{}
	}
}

// Close gives the memory of the Stream back. Results of its runs must not be used afterwards.
func (st *Stream) Close() error {
	st.closed = true
	st.Reset()
	return st.drop()
}

func (st *Stream) drop() error {
	p := st.ready
	st.ready = nil
	if p == nil {
		return nil
	}
	return p.close()
}

// Run computes the outputs from inputs, by name; states may be left out, and are then those that the last run gave. The map
// and its tensors are the Stream's: they are good until the next run. Inputs are copied where a prepared run needs them
// elsewhere. Errors are those of Session.Run; after one the states are as before the run.
func (st *Stream) Run(ctx context.Context, inputs map[string]tensor.Any) (out map[string]tensor.Any, err error) {
	if st.closed {
		return nil, failf("%w: the stream is closed", tensor.ErrClosed)
	}
	err = st.s.use(func() error {
		if ctx == nil {
			return failf("%w: the context is nil; context.Background() is one without an end", tensor.ErrValue)
		}
		out, err = st.run(ctx, inputs)
		return err
	})
	return out, err
}

func (st *Stream) run(ctx context.Context, inputs map[string]tensor.Any) (map[string]tensor.Any, error) {
	if ctx != st.ctx {
		if st.ctx, st.under = ctx, ctx; st.o.Threads > 0 {
			st.under = op.WithThreads(ctx, st.o.Threads)
		}
	}
	if p := st.ready; p != nil && st.o.Observe == nil && st.o.Progress == nil {
		turn := p.turn
		done, err := p.run(st, inputs)
		switch {
		case err != nil:
			return nil, err
		case done:
			return p.out[turn], nil
		}
	}
	return st.again(inputs)
}

// again does a run as a session does, and prepares the next one if the shapes are those of the last.
func (st *Stream) again(inputs map[string]tensor.Any) (map[string]tensor.Any, error) {
	clear(st.in)
	for name, a := range inputs {
		st.in[name] = Value{a: a}
	}
	for i := range st.state {
		c := &st.state[i]
		if _, ok := inputs[c.to]; ok {
			continue
		}
		if c.value.IsZero() {
			zero, err := st.zero(c.in, inputs)
			if err != nil {
				return nil, err
			}
			c.value = zero
		}
		st.in[c.to] = Value{a: c.value}
	}
	shapes := st.describe()
	var t *trace
	if string(shapes) == string(st.shapes) && st.s.fixed == dtype.Invalid && st.o.Observe == nil {
		t = new(trace)
	}
	st.shapes, st.buf = shapes, st.shapes
	out, err := st.s.run(st.under, st.in, st.o, t)
	if err != nil {
		return nil, err
	}
	old := st.ready // its memory may hold what the caller gave as inputs, until now
	st.ready = nil
	clear(st.out)
	for name, v := range out {
		if !v.isTensor() || v.text != nil {
			return nil, inFile(st.s.c.m.file, in(fmt.Sprintf("output %q", name), noTensor(v)))
		}
		st.out[name] = v.a
	}
	for i := range st.state {
		st.state[i].value = st.out[st.state[i].from]
	}
	if t != nil && !t.broken {
		if st.ready, err = newReplay(st, t); err != nil {
			return nil, err
		}
	}
	if old != nil {
		err = old.close()
	}
	return st.out, err
}

// describe writes down the types and shapes of the inputs of the next run.
func (st *Stream) describe() []byte {
	key := st.buf[:0]
	for i := range st.s.c.g.Inputs {
		v, ok := st.in[st.s.c.g.Inputs[i].Name]
		if !ok || v.a.IsZero() {
			key = append(key, 0)
			continue
		}
		key = appendType(append(key, 1), v.a)
	}
	return key
}

// zero returns the state that input i begins with.
func (st *Stream) zero(i int, inputs map[string]tensor.Any) (tensor.Any, error) {
	v := &st.s.c.g.Inputs[i]
	d, ok := v.Type.Elem.DType()
	if !ok || v.Type.Kind != KindTensor || !v.Type.HasShape {
		return tensor.Any{}, in(fmt.Sprintf("state %q", v.Name), failf("its shape isn't declared: the first run has to give it"))
	}
	shape := make([]int, len(v.Type.Shape))
	for k, dim := range v.Type.Shape {
		n := int(dim.Value)
		if n < 0 {
			n = st.named(dim.Param, inputs)
		}
		if n < 0 {
			return tensor.Any{}, in(fmt.Sprintf("state %q", v.Name), failf("axis %d of %v isn't fixed: the first run has to give it", k, v.Type))
		}
		shape[k] = n
	}
	return tensor.Make(d, shape...)
}

// named returns the extent that a name of a dimension stands for in the inputs, -1 if in none.
func (st *Stream) named(name string, inputs map[string]tensor.Any) int {
	for i := range st.s.c.g.Inputs {
		v := &st.s.c.g.Inputs[i]
		a, ok := inputs[v.Name]
		for k, dim := range v.Type.Shape {
			if ok && name != "" && dim.Param == name && k < a.Rank() {
				return a.Dim(k)
			}
		}
	}
	return -1
}

// A replay is a run made ready: its tensors have their places, in two turns between which states change theirs.
type replay struct {
	memory *mem.Buffer
	own    []tensor.Any // of states and outputs
	kept   []Value
	turns  [2][]action
	in     [2][]tensor.Any // by place among the graph's inputs; zero for one that the run doesn't take
	out    [2]map[string]tensor.Any
	state  [2][]tensor.Any // of each state what the next run begins with
	turn   int             // the next one
	at     int             // the step that is on its way
	with   op.Turn
}

// An action is a step of a replay. Just one of do and slow is set, or cond.
type action struct {
	c    *compiled
	i    int
	do   func()
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

// errOther ends a replay where the run would go another way than the one that was noted.
var errOther = errors.New("the run takes another way")

// run does a prepared run. It reports false if the inputs aren't those that it was prepared for, or the run went another way.
func (p *replay) run(st *Stream, inputs map[string]tensor.Any) (done bool, err error) {
	turn := p.turn
	given := 0
	for i := range st.s.c.g.Inputs {
		v := &st.s.c.g.Inputs[i]
		to := &p.in[turn][i]
		a, ok := inputs[v.Name]
		state := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i })
		switch {
		case ok:
			given++
		case state >= 0 && st.state[state].value.IsZero(): // after Reset
			if b, ok := tensor.Bytes(*to); ok {
				clear(b)
			}
			continue
		case state >= 0:
			if a = st.state[state].value; to.SameData(a) {
				continue
			}
		case to.IsZero():
			continue
		default:
			return false, nil
		}
		if to.IsZero() || a.IsZero() || a.IsSpec() || a.DType() != to.DType() || !sameShape(&a, to) {
			return false, nil
		}
		if !to.SameData(a) {
			to.CopyFrom(a)
		}
		if state >= 0 { // its old place may be written before the run is done
			st.state[state].value = *to
		}
	}
	if given != len(inputs) {
		return false, nil // a name that there isn't
	}
	p.with.Under(st.under)
	p.at = 0
	if panicked := tensor.Try(func() { err = p.actions(st.under, turn) }); panicked != nil {
		err = panicked
	}
	if err == errOther {
		return false, nil
	}
	if err != nil {
		a := &p.turns[turn][p.at]
		return false, in(a.c.label(&a.c.steps[a.i]), err)
	}
	for i := range st.state {
		st.state[i].value = p.state[turn][i]
	}
	p.turn = 1 - turn
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
		case a.do != nil:
			a.do()
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
	return nil
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
	for i := range p.kept {
		if v := &p.kept[i]; v.own != nil {
			if v.own.refs--; v.own.refs == 0 {
				v.a.Close()
			}
		}
	}
	return err
}

// newReplay makes a run ready as t noted it. It returns nil, and no error, if that can't be done within the limit on memory.
func newReplay(st *Stream, t *trace) (p *replay, err error) {
	p = &replay{kept: t.kept}
	if panicked := tensor.Try(func() { err = p.build(st, t) }); panicked != nil {
		err = panicked
	}
	if err != nil || p.turns[0] == nil {
		closed := p.close()
		if errors.Is(err, errOther) {
			err = nil
		}
		if err == nil {
			err = closed
		}
		return nil, err
	}
	return p, nil
}

func (p *replay) build(st *Stream, t *trace) error {
	c := st.s.c
	// States that are results of their own change places with the inputs they become.
	swaps := make([]bool, len(st.state))
	apart := make(map[*slot]bool) // has memory of its own
	var bytes int64
	for k, s := range st.state {
		from := t.outputs[s.out]
		swaps[k] = from.made >= 0 && !from.fixed && from.whole == nil && !apart[from] && t.inputs[s.in] != nil &&
			tensor.Describe(from.tensor) == tensor.Describe(t.inputs[s.in].tensor)
		apart[from] = apart[from] || swaps[k]
	}
	size := t.places(apart)
	places := make(map[*slot][2]tensor.Any)
	var failed error
	own := func(s *slot) tensor.Any {
		a, err := tensor.Make(s.tensor.DType(), s.tensor.Shape()...)
		if failed = errors.Join(failed, err); err == nil {
			p.own, bytes = append(p.own, a), add(bytes, s.bytes())
		}
		return a
	}
	for _, s := range t.inputs {
		if s != nil {
			a := own(s)
			places[s] = [2]tensor.Any{a, a}
		}
	}
	for k, s := range st.state {
		if swaps[k] {
			first, second := places[t.inputs[s.in]][0], own(t.outputs[s.out])
			places[t.inputs[s.in]] = [2]tensor.Any{first, second}
			places[t.outputs[s.out]] = [2]tensor.Any{second, first}
		}
	}
	if failed != nil {
		return failed
	}
	limit := st.o.MaxMemory
	if limit == 0 {
		limit = DefaultMaxMemory
	}
	if total := add(add(bytes, int64(size)), st.s.weights); limit > 0 && total > limit {
		return errOther
	}
	var err error
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
			p.out[turn][c.names[id]] = p.place(t.outputs[i], turn, places)
		}
		for _, s := range st.state {
			p.state[turn] = append(p.state[turn], p.place(t.outputs[s.out], turn, places))
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
	list := make([]action, 0, len(t.records)) // not nil
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
			run, ok, err := p.with.Prepare(r.op, &call, fixed, outs[0])
			if err != nil {
				return nil, err
			}
			if ok {
				do.do = run
				list = append(list, do)
				continue
			}
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
				if j >= len(list) || list[j].DType() != a.DType() || !sameShape(&list[j], &a) {
					return errOther
				}
				a.CopyFrom(list[j])
				if !slices.ContainsFunc(call.Inputs, list[j].SameData) {
					list[j].Close()
				}
			}
			return nil
		}
		list = append(list, do)
	}
	return list, nil
}
