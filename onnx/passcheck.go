package onnx

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync"
)

// A passCheck compares the runs of a session with the runs of one without passes.
type passCheck struct {
	once sync.Once // of bare and err
	bare *Session
	err  error
}

// sums are the digests of outputs.
type sums map[string][sha256.Size]byte

func sumsOf(out map[string]Value) (sums, error) {
	s := make(sums, len(out))
	for name, v := range out {
		var err error
		if s[name], err = v.Digest(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// differs returns the first name of another output, "" if there is none.
func (s sums) differs(other sums) string {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if s[name] != other[name] {
			return name
		}
	}
	return ""
}

// agreeing does a run, and again without passes. Where an output differs it looks for the pass that changes it. Inputs are copied first: a
// stream may overwrite them.
func (s *Session) agreeing(ctx context.Context, inputs map[string]Value, o Options, run func() (map[string]Value, error)) (map[string]Value, error) {
	o.Observe, o.Progress, o.Receipt, o.ReceiptNodes, o.record = nil, nil, nil, false, nil
	inputs = maps.Clone(inputs)
	for name, v := range inputs {
		if v.isTensor() && v.text == nil {
			inputs[name] = Value{a: v.a.Clone()}
		}
	}
	check := s.check
	check.once.Do(func() { check.bare, check.err = s.c.m.sessionBy(form{fixed: s.fixed, integers: s.integers}, 0) })
	plain := func() (sums, error) {
		if check.err != nil {
			return nil, check.err
		}
		out, err := check.bare.runValues(ctx, inputs, o, false)
		if err != nil {
			return nil, failf("ASHLAR_PASSES: without passes the run fails: %w", err)
		}
		return sumsOf(out)
	}
	want, failure := plain()
	out, err := run()
	if err != nil {
		return out, err
	}
	got, err := sumsOf(out)
	if failure != nil || err != nil {
		return nil, errors.Join(failure, err)
	}
	name := want.differs(got)
	if name == "" {
		return out, nil
	}
	if again, err := plain(); err != nil || want.differs(again) != "" { // numbers are drawn at random
		return out, err
	}
	for i, p := range passes {
		if s.passes>>i&1 == 0 {
			continue
		}
		by, err := s.c.m.sessionBy(form{fixed: s.fixed, integers: s.integers}, 1<<i)
		for range 2 { // the second run is prepared
			if err == nil {
				out, err = by.runValues(ctx, inputs, o, true)
			}
		}
		if err == nil {
			got, err = sumsOf(out)
		}
		if err != nil {
			return nil, failf("ASHLAR_PASSES: with pass %q alone the run fails: %w", p.name, err)
		}
		if name := want.differs(got); name != "" {
			return nil, failf("ASHLAR_PASSES: pass %q changes output %q; ASHLAR_PASSES=-%[1]s leaves it out", p.name, name)
		}
	}
	return nil, failf("ASHLAR_PASSES: the passes change output %q together, and none of them alone; ASHLAR_PASSES=none leaves them out", name)
}
