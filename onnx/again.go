package onnx

import (
	"context"
	"errors"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A session prepares a run whose types and shapes it has seen before, as a Stream does: the results then have memory that
// they had before, whose pages the system needn't clear. The streams for it are in a pool, which the collector empties.

// again does a run by a stream that the session keeps. It reports false where none is prepared for the inputs, and nothing
// has run.
func (s *Session) again(ctx context.Context, inputs map[string]Value, o Options) (out map[string]Value, done bool, err error) {
	if !s.repeats(inputs, o) {
		return nil, false, nil
	}
	st, _ := s.streams.Get().(*Stream)
	if st == nil {
		if st, err = s.Stream(nil); err != nil {
			return nil, false, nil
		}
	}
	defer s.streams.Put(st)
	defer clear(st.now)
	st.o, st.under = o, ctx
	tensors := make(map[string]tensor.Any, len(inputs))
	for name, v := range inputs {
		tensors[name] = v.a
	}
	if st.describe(tensors) != nil || !st.known() || string(st.buf) == st.vain {
		return nil, false, nil
	}
	p, err := st.prepared(tensors)
	if p == nil || err != nil { // an error of the run, too
		return nil, false, nil
	}
	need := add(add(p.bytes, s.weights), p.kept)
	for _, a := range p.out[p.turn] {
		need = add(need, size(a))
	}
	if p.limit > 0 && need > p.limit {
		return nil, false, nil
	}
	turn := p.turn
	if err := p.perform(st); err != nil {
		if errors.Is(err, errOther) {
			st.vain = string(st.buf)
			if o.record != nil {
				o.Receipt.Nodes = nil
			}
			return nil, false, nil
		}
		return nil, true, err
	}
	p.turn = turn // the outputs of the last run are copies
	out = make(map[string]Value, len(p.out[turn]))
	for name, a := range p.out[turn] {
		if a, err = tensor.Clone(a); err != nil {
			return nil, true, err
		}
		out[name] = Value{a: a}
	}
	return out, true, st.drop(p)
}

// repeats reports whether runs like this one may be prepared. A program's own operators may do something that isn't to happen
// twice.
func (s *Session) repeats(inputs map[string]Value, o Options) bool {
	if s.fixed != dtype.Invalid || len(s.c.m.Operators) > 0 || o.Observe != nil || o.Progress != nil {
		return false
	}
	for _, v := range inputs {
		if !v.isTensor() || v.text != nil {
			return false
		}
	}
	for i := range s.c.g.Outputs {
		if t := &s.c.g.Outputs[i].Type; t.Kind != KindTensor || t.Elem == ElemString {
			return false
		}
	}
	return true
}

// known reports whether the inputs are like the inputs of the run before, or the stream is prepared for them.
func (st *Stream) known() bool {
	n := len(st.buf)
	if st.ready != nil {
		st.buf = st.elements(st.buf, st.ready.valued)
	}
	key := string(st.buf)
	st.buf = st.buf[:n]
	same := st.ready != nil && key == st.ready.key || key == st.seen
	st.seen = key
	return same
}
