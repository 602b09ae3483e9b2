package onnx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Stream runs a session again and again, and carries state from one run to the next. What runs over inputs of the same
// shapes have in common it does once: shapes and plans, memory for all results, what follows from weights alone. Such a run
// allocates no tensor; of operators with a steady plan (op.Plan) it allocates nothing at all on one thread. Any model
// whose inputs and outputs are tensors of numbers runs in a Stream: a loop, or a shape that changes, makes a run as
// expensive as Session.Run, and so is the first run of a shape and the second, the first after Reset, and each that calls an
// operator of Model.Operators. Options.MaxMemory bounds each run, and what the Stream keeps between runs.
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
	ready  *replay         // nil if the last run wasn't one that can be done again
	vain   bool            // a run of these shapes can't be
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
	clear(st.in)
	clear(st.out)
	st.Reset()
	return st.drop()
}

// Kept returns how many bytes the Stream keeps until the next run: inputs and outputs of the last run that wasn't prepared,
// and all tensors of a prepared run. The weights aren't among them. It is 0 before the first run and after Close.
func (st *Stream) Kept() int64 {
	if st == nil || st.closed {
		return 0
	}
	var n int64
	for _, v := range st.in {
		n = add(n, v.size())
	}
	for _, a := range st.out {
		n = add(n, size(a))
	}
	if st.ready != nil {
		n = add(n, st.ready.bytes)
	}
	return n
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
// and its tensors are the Stream's: they are good until the next run returns without an error, and may be its inputs. Inputs
// are copied where a prepared run needs them elsewhere. Errors are those of Session.Run. After one, all states are as before
// the run: those that it was given have to be given again.
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
	if st.o.Threads == 0 {
		st.under = ctx
	} else if !exec.Same(ctx, st.ctx) {
		st.ctx, st.under = ctx, op.WithThreads(ctx, st.o.Threads)
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
		a, err := c.value, error(nil)
		if a.IsZero() {
			if a, err = st.zero(c.in, inputs); err != nil {
				return nil, err
			}
		}
		st.in[c.to] = Value{a: a}
	}
	shapes := st.describe()
	same := string(shapes) == string(st.shapes)
	st.vain = st.vain && same
	var t *trace
	if same && !st.vain && st.s.fixed == dtype.Invalid && st.o.Observe == nil && st.o.Progress == nil {
		t = new(trace)
	}
	st.shapes, st.buf = shapes, st.shapes
	out, err := st.s.run(st.under, st.in, st.o, t)
	for name, v := range out {
		if !v.isTensor() || v.text != nil {
			err = inFile(st.s.c.m.file, in(fmt.Sprintf("output %q", name), noTensor(v)))
		}
	}
	if err != nil {
		if t != nil {
			t.release()
		}
		return nil, err
	}
	clear(st.out)
	for name, v := range out {
		st.out[name] = v.a
	}
	for i := range st.state {
		st.state[i].value = st.out[st.state[i].from]
	}
	if err := st.drop(); err != nil { // not earlier, as its memory may be what the caller gave as inputs
		return nil, err
	}
	if t != nil {
		st.ready = newReplay(st, t, inputs)
		st.vain = st.ready == nil
	}
	return st.out, nil
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
			if ok && name != "" && dim.Param == name && k < a.Rank() {
				return a.Dim(k)
			}
		}
	}
	return -1
}
