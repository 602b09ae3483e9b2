package onnx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Stream runs a session again and again, and carries state from one run to the next. The first run over inputs of some
// shapes prepares the common parts of all such runs: shapes and plans, memory for results, results of weights alone. A
// prepared run allocates no tensor. Of operators with a steady plan (op.Plan) it allocates nothing at all on one thread.
//
// Any model whose inputs and outputs are tensors of numbers runs in a Stream. Loops, operators of Model.Operators, and those whose
// result has a shape that follows from elements run as in Session.Run, and so do the readers of that result. Elements of small
// inputs that tell a shape, or choose a branch, count as part of the shapes. A Stream prepares anew where shapes change, and
// after Reset where it has a state. Nothing is prepared for Observe, Progress and sessions in fixed point. With ReceiptNodes it runs as
// the session does.
// Options.MaxMemory bounds each run, and the memory that the Stream keeps between runs; a run is not prepared where that takes more.
//
// A Stream is for one goroutine at a time; a session may have many. Its memory goes by Close, or when it is unreachable.
type Stream struct {
	s      *Session
	o      Options
	state  []carried
	in     map[string]Value // of a run that isn't prepared
	out    map[string]tensor.Any
	now    []tensor.Any // the inputs of the next run, by place in the graph; zero for one that is left out
	from   []coming     // where each comes from
	buf    []byte
	ready  *prepared       // the prepared run that the next run is tried with; may be nil
	last   *prepared       // the prepared run that gave the last outputs; nil if the last run wasn't prepared
	vain   string          // the key of runs that can't be prepared
	seen   string          // of a session's streams: the key of the last run
	ctx    context.Context // of the last run, where there is a bound on threads
	under  context.Context // the run's, with that bound
	closed bool
}

// carried is a state: an output that is an input of the next run.
type carried struct {
	from, to string
	out, in  int // their places in the graph
	value    tensor.Any
}

// A coming says where an input of a run comes from.
type coming byte

const (
	leftOut coming = iota
	isGiven
	carriedOn // the last run, or zeros
	isSpec    // given, as a description that has no elements
)

// StreamOptions is how a Stream runs.
type StreamOptions struct {
	Options

	// State has for each output that is carried on the input that it becomes in the next run.
	State map[string]string
}

// Stream returns a Stream of the session. A state that no call of Run gives begins with zeros of the shape that the graph
// declares, with dimensions that a name stands for as in the other inputs of the first run. It fails if State names
// outputs or inputs that there aren't, or ones of different types.
func (s *Session) Stream(opts *StreamOptions) (*Stream, error) {
	o := StreamOptions{}
	if opts != nil {
		o = *opts
	}
	st := &Stream{s: s, o: o.Options, in: make(map[string]Value), out: make(map[string]tensor.Any)}
	err := s.use(func() error {
		st.now, st.from = make([]tensor.Any, len(s.c.inputs)), make([]coming, len(s.c.inputs))
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
	clear(st.in)
	clear(st.out)
	st.Reset()
	return st.drop(nil)
}

// Kept returns how many bytes the Stream keeps until the next run: outputs of the last run that wasn't prepared, and all tensors
// of a prepared run. With the weights, which aren't among them, they are at most Options.MaxMemory. It is 0 before the first run and after
// Close.
func (st *Stream) Kept() int64 {
	if st == nil || st.closed {
		return 0
	}
	var n int64
	for _, a := range st.out {
		n = add(n, size(a))
	}
	for i, p := range []*prepared{st.ready, st.last} {
		if p != nil && (i == 0 || p != st.ready) {
			n = add(n, p.bytes)
		}
	}
	return n
}

// spare lets go of the inputs of a run. After a run that failed it also lets go of a prepared run that didn't come to its end, if both
// take too much.
func (st *Stream) spare() {
	clear(st.in)
	if limit := st.o.limit(); limit > 0 && st.ready != st.last && add(st.Kept(), st.s.weights) > limit {
		if st.ready != nil {
			_ = st.ready.close()
		}
		st.ready = st.last
	}
}

// drop gives the memory of prepared runs back, but for that of one.
func (st *Stream) drop(but *prepared) error {
	var err error
	if p := st.ready; p != nil && p != but && p != st.last {
		err = p.close()
	}
	if p := st.last; p != nil && p != but {
		err = errors.Join(err, p.close())
	}
	st.ready, st.last = but, but
	return err
}

// Run computes the outputs from inputs, by name; states may be left out, and are then the states that the last run gave. The map
// and its tensors are the Stream's: they are good until the next run returns without an error, and may be its inputs. Inputs
// are copied where a prepared run needs them elsewhere. It returns the errors of Session.Run. After an error all states are as before
// the run: the states that it was given have to be given again.
func (st *Stream) Run(ctx context.Context, inputs map[string]tensor.Any) (out map[string]tensor.Any, err error) {
	if st.closed {
		return nil, failf("%w: the stream is closed", tensor.ErrClosed)
	}
	defer st.spare()
	err = st.s.use(func() error {
		if ctx == nil {
			return noContext()
		}
		if st.s.check == nil {
			out, err = st.run(ctx, inputs)
			return err
		}
		if err = st.describe(inputs); err != nil {
			return err
		}
		_, err = st.s.agreeing(ctx, st.values(inputs), st.o, func() (map[string]Value, error) {
			out, err = st.run(ctx, inputs)
			return valuesOf(out), err
		})
		if err != nil {
			out = nil
		}
		return err
	})
	return out, err
}

func (st *Stream) run(ctx context.Context, inputs map[string]tensor.Any) (map[string]tensor.Any, error) {
	if st.o.Threads == 0 {
		st.under = ctx
	} else if !exec.Same(ctx, st.ctx) {
		st.ctx, st.under = ctx, op.WithThreads(ctx, st.o.Threads)
	}
	defer clear(st.now)
	if st.o.Receipt != nil {
		*st.o.Receipt = receipt.Receipt{}
	}
	if err := st.describe(inputs); err != nil {
		return nil, err
	}
	if st.o.Observe != nil || st.o.Progress != nil || st.o.Receipt != nil && st.o.ReceiptNodes || st.s.fixed != dtype.Invalid || string(st.buf) == st.vain {
		return st.plainly(inputs)
	}
	p, err := st.prepared(inputs)
	if err != nil {
		return nil, err
	}
	if p != nil {
		turn := p.turn
		var w *writer
		if st.o.Receipt != nil {
			w, err = st.s.receipt(st.under, st.o.Receipt, st.values(inputs)) // before the states become outputs
			if err = w.close(err); err != nil {
				return nil, err
			}
		}
		if err = p.perform(st); err == nil && w != nil {
			err = w.outputs(valuesOf(p.out[turn]))
		}
		if err == nil {
			for i := range st.state {
				st.state[i].value = p.out[turn][st.state[i].from]
			}
			clear(st.in)
			clear(st.out)
			return p.out[turn], st.drop(p) // not earlier, as its memory may hold the caller's inputs
		}
		if !errors.Is(err, errOther) {
			if w != nil {
				err = w.close(err)
			}
			return nil, err
		}
		st.vain = string(st.buf)
	}
	return st.plainly(inputs)
}

// prepared returns the prepared form of the next run, with the inputs in their places, nil where it can't be prepared.
func (st *Stream) prepared(inputs map[string]tensor.Any) (*prepared, error) {
	n := len(st.buf)
	if p := st.ready; p != nil {
		st.buf = st.elements(st.buf, p.valued)
		same := string(st.buf) == p.key
		if st.buf = st.buf[:n]; same && p.take(st) {
			return p, nil
		}
	}
	p, err := st.prepare(inputs)
	if err != nil {
		return nil, err
	}
	if p == nil {
		st.vain = string(st.buf)
		return nil, nil
	}
	if st.ready != nil && st.ready != st.last {
		_ = st.ready.close()
	}
	if st.ready = p; !p.take(st) {
		return nil, nil
	}
	return p, nil
}

// take gives the inputs of the next run their places. It reports false if one would have to be written over the outputs of the
// last run, or can't be read.
func (p *prepared) take(st *Stream) bool {
	for i := range st.now {
		to := &p.in[p.turn][i]
		if to.IsZero() || plan.Same(to, &st.now[i]) {
			continue
		}
		if p.swaps[i] && st.last == p || tensor.Copy(*to, st.now[i]) != nil {
			return false
		}
	}
	return true
}

// plainly does a run as a session does, which may prepare one that has the nodes in its receipt.
func (st *Stream) plainly(inputs map[string]tensor.Any) (map[string]tensor.Any, error) {
	out, err := st.s.runValues(st.under, st.values(inputs), st.o, st.o.Receipt != nil && st.o.ReceiptNodes)
	for name, v := range out {
		if !v.isTensor() || v.text != nil {
			err = inFile(st.s.c.m.file, in(fmt.Sprintf("output %q", name), noTensor(v)))
		}
	}
	if err != nil {
		return nil, err
	}
	clear(st.out)
	for name, v := range out {
		st.out[name] = v.a
	}
	for i := range st.state {
		st.state[i].value = st.out[st.state[i].from]
	}
	return st.out, st.drop(nil)
}

// values puts the inputs of the next run together.
func (st *Stream) values(inputs map[string]tensor.Any) map[string]Value {
	clear(st.in)
	for name, a := range inputs {
		st.in[name] = Value{a: a}
	}
	for i, from := range st.from {
		if from == carriedOn {
			st.in[st.s.c.g.Inputs[i].Name] = Value{a: st.now[i]}
		}
	}
	return st.in
}

// describe finds the inputs of the next run. It writes down their types and shapes, and the other facts that a prepared run depends on.
func (st *Stream) describe(inputs map[string]tensor.Any) error {
	key, found := append(binary.AppendVarint(st.buf[:0], st.o.limit()), byte(st.o.record.behind())), 0
	for i := range st.s.c.g.Inputs {
		a, ok := inputs[st.s.c.g.Inputs[i].Name]
		from := leftOut
		switch {
		case ok && a.IsSpec():
			from = isSpec
		case ok:
			from = isGiven
		}
		if ok {
			found++
		} else if k := slices.IndexFunc(st.state, func(c carried) bool { return c.in == i }); k >= 0 {
			from = carriedOn
			if a = st.state[k].value; a.IsZero() {
				var err error
				if a, err = st.zero(i, inputs); err != nil {
					return err
				}
			}
		}
		st.now[i], st.from[i] = a, from
		if key = append(key, byte(from)); !a.IsZero() {
			key = appendType(key, a)
		}
	}
	if st.buf = key; found < len(inputs) { // there is a name that there isn't
		st.buf = append(st.buf, 0xff)
	}
	return nil
}

// elements appends the elements of inputs, which are few, to a key.
func (st *Stream) elements(key []byte, inputs []int) []byte {
	for _, i := range inputs {
		if own, err := tensor.Contiguous(st.now[i]); err == nil {
			b, _ := tensor.Bytes(own)
			key = append(key, b...)
			runtime.KeepAlive(own)
		}
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
		n := int(min(dim.Value, math.MaxInt))
		if n < 0 {
			n = st.named(dim.Param, inputs)
		}
		if n < 0 {
			return tensor.Any{}, in(fmt.Sprintf("state %q", v.Name), failf("axis %d of %v isn't fixed: the first run has to give it", k, v.Type))
		}
		shape[k] = n
	}
	zero, err := tensor.Make(d, shape...)
	if err != nil {
		return tensor.Any{}, in(fmt.Sprintf("state %q", v.Name), err)
	}
	return zero, nil
}

// named returns the extent that a name of a dimension stands for in the inputs, -1 if in none.
func (st *Stream) named(name string, inputs map[string]tensor.Any) int {
	for i := range st.s.c.g.Inputs {
		v := &st.s.c.g.Inputs[i]
		a, ok := inputs[v.Name]
		for k, dim := range v.Type.Shape {
			if ok && name != "" && dim.Value < 0 && dim.Param == name && k < a.Rank() {
				return a.Dim(k)
			}
		}
	}
	return -1
}

// outlined outlines a run on shapes, and on the elements of as few inputs as tell the most.
func (st *Stream) outlined(vals []Value, limit int64) (z *outline, root *drawing, err error) {
	z = new(outline)
	for more := true; more; {
		asked := z.asked
		z.drop()
		if z, root, err = st.outline(vals, asked, limit); err != nil {
			z.drop()
			return nil, nil, err
		}
		more = len(z.asked) > len(asked)
	}
	return z, root, nil
}

// outline plans a run on shapes, and on the elements of the inputs at some places.
func (st *Stream) outline(vals []Value, valued []int, limit int64) (*outline, *drawing, error) {
	c := st.s.c
	z := &outline{ctx: st.under, f: new(inference), late: st.o.record.behind(), room: math.MaxInt64, asked: slices.Clone(valued), told: make(map[int]bool)}
	for _, i := range valued {
		z.told[i] = true
	}
	if limit > 0 {
		z.room = limit - st.s.weights
	}
	d := &drawing{c: c, vals: slices.Clone(vals), slots: make([]*slot, len(vals))}
	for i, id := range c.inputs {
		a := st.now[i]
		switch {
		case a.IsZero():
			continue
		case z.told[i]:
			own, err := tensor.Clone(a)
			if err != nil {
				return z, nil, err
			}
			z.own = append(z.own, own)
			d.vals[id] = Value{a: own}
			continue
		}
		v, err := d.vals[id].spec()
		if err != nil {
			return z, nil, err
		}
		d.vals[id], d.slots[id] = v, &slot{like: v.a}
		if a.DType().IsInteger() || a.DType() == dtype.Bool {
			if _, ok := tensor.Bytes(a); ok && hasValue(a) {
				d.slots[id].follows, d.slots[id].inputs = true, []int{i}
			}
		}
	}
	d.constants()
	return z, d, z.f.within(st.under, limit, func() error { return z.outline(d) })
}
