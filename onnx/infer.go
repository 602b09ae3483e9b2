package onnx

import (
	"context"
	"errors"
	"slices"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// While shapes are inferred, values of up to small elements that follow from others like them are computed, because the
// graph may use them as shapes; all together up to evaluated bytes.
const (
	small     = 1024
	evaluated = 4 << 20
)

// call is step i applied to values, of which absent inputs are nil.
func (c *compiled) call(i int, vals []tensor.Any, ctx context.Context) (*op.Call, *attrs) {
	s := &c.steps[i]
	a := &attrs{node: s.node, tensors: c.attrs[i]}
	call := &op.Call{Attrs: a, Opset: int(c.opset), Outputs: len(s.out), Context: ctx, Inputs: make([]tensor.Any, len(s.in))}
	for j, id := range s.in {
		if id >= 0 {
			call.Inputs[j] = vals[id]
		}
	}
	return call, a
}

// infer fills in vals, which holds what is known of inputs and constants: tensors, or Specs; nil is unknown. A value goes
// after its last use. after is called for each step once its outputs are known, or known to be unknown; failed for each
// operator's error, and ends the inference by returning one itself. Both may be nil.
func (c *compiled) infer(vals []tensor.Any, after func(i int), failed func(i int, err error) error) error {
	left := evaluated
	for i := range c.steps {
		s := &c.steps[i]
		if c.ops[i] != nil {
			outs, err := c.inferStep(i, vals, &left)
			if n := len(outs); err == nil && n > 0 && slices.ContainsFunc(s.out[min(n, len(s.out)):], func(id int) bool { return id >= 0 }) {
				err = failf("it names %d outputs, the operator gives %d", len(s.out), n)
			}
			if err != nil && !errors.Is(err, op.ErrUnknown) && failed != nil {
				if err := failed(i, err); err != nil {
					return err
				}
			}
			for j, id := range s.out {
				if id >= 0 && j < len(outs) {
					vals[id] = outs[j]
				}
			}
		}
		if after != nil {
			after(i)
		}
		for _, id := range s.drop {
			vals[id] = nil
		}
	}
	return nil
}

// inferStep returns what is known about the outputs of step i, nothing if an input is unknown.
func (c *compiled) inferStep(i int, vals []tensor.Any, left *int) ([]tensor.Any, error) {
	s := &c.steps[i]
	known := true
	for _, id := range s.in {
		if id < 0 {
			continue
		}
		if vals[id] == nil {
			return nil, nil
		}
		known = known && hasValue(vals[id])
	}
	call, a := c.call(i, vals, nil)
	outs, err := c.ops[i].Infer(call)
	if a.wrong != nil {
		return nil, a.wrong
	}
	if err != nil || !known {
		return outs, err
	}
	bytes, done := 0, true
	for _, o := range outs {
		if o == nil {
			continue
		}
		done = done && hasValue(o)
		if tensor.Len(o) > small {
			return outs, nil
		}
		bytes += tensor.Len(o) * o.DType().Size()
	}
	if done || bytes > *left {
		return outs, nil
	}
	*left -= bytes
	if ran, err := c.ops[i].Run(call); err == nil {
		return ran, nil
	}
	return outs, nil // the run will say what is wrong
}

// hasValue reports whether a is a tensor small enough to compute with, not only a description.
func hasValue(a tensor.Any) bool {
	_, spec := a.(tensor.Spec)
	return !spec && tensor.Len(a) <= small
}
