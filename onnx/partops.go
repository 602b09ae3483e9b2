package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// widened is a tensor in float32 if its floats are narrower.
func widened(k *valueCall) (Value, error) {
	a, err := k.tensor(0)
	if err != nil || a.DType() != dtype.Float16 && a.DType() != dtype.BFloat16 {
		return k.in[0], err
	}
	like := tensor.Scalar[float32](0).Any()
	o, _ := op.Lookup("CastLike")
	call := &op.Call{Inputs: []tensor.Any{a, like}, Attrs: op.AttrMap(nil), Opset: 19, Outputs: 1}
	run := o.Run
	if a.IsSpec() {
		run = o.Infer
	}
	out, err := run(call)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(out[0]), nil
}

func checkApply(s *step) error {
	b := s.bodies[0]
	switch {
	case len(b.formals) != len(s.in):
		return b.wants("it has %d inputs; the operator gives it %d", len(b.formals), len(s.in))
	case len(b.outputs) != len(s.out):
		return b.wants("it has %d outputs; the operator takes %d", len(b.outputs), len(s.out))
	}
	return nil
}

func inferApply(f *inference, k *valueCall) ([]Value, account, error) {
	args, err := k.starts(0, len(k.in))
	if err != nil {
		return nil, account{}, err
	}
	outs, inside := f.body(k.s.bodies[0], k.around, args)
	return outs, inside, nil
}

func runApply(k *valueCall) ([]Value, error) {
	b := k.s.bodies[0]
	outs, err := k.fr.inside(b).call(k.around, heldAll(k.in))
	if err != nil {
		err = inAttr(b.attr, err)
	}
	return outs, err
}

// turned is a view of a tensor, one axis of which has moved.
func turned(k *valueCall, from, to int) (Value, error) {
	a, err := k.tensor(0)
	if err != nil {
		return Value{}, err
	}
	if a.Rank() < 3 {
		return Value{}, input(0, failf("%w: it is %v; want an axis of batches, axes of space, and one of channels", tensor.ErrShape, k.in[0]))
	}
	order := make([]int, a.Rank())
	for i := range order {
		order[i] = i
	}
	at := func(axis int) int { return (axis + len(order)) % len(order) }
	order = slices.Insert(slices.Delete(order, at(from), at(from)+1), at(to), at(from))
	if a.IsSpec() {
		shape := make([]int, len(order))
		for i, axis := range order {
			shape[i] = a.Dim(axis)
		}
		return describedAs(k.in[0].elem(), shape...), nil
	}
	if a, err = tensor.Permute(a, order...); err != nil {
		return Value{}, err
	}
	return k.fresh(a), nil
}

// addedSame is the sum of two tensors of one shape.
func addedSame(k *valueCall) (Value, error) {
	a, err := k.tensor(0)
	if err != nil {
		return Value{}, err
	}
	b, err := k.tensor(1)
	if err != nil {
		return Value{}, err
	}
	if !slices.Equal(a.Shape(), b.Shape()) {
		return Value{}, input(1, failf("%w: Z is %v, the convolution %v; they have one shape", tensor.ErrShape, k.in[1], k.in[0]))
	}
	o, _ := op.Lookup("Add")
	call := &op.Call{Inputs: []tensor.Any{a, b}, Attrs: op.AttrMap(nil), Opset: 14, Outputs: 1}
	run := o.Run
	if a.IsSpec() || b.IsSpec() {
		run = o.Infer
	} else if k.fr != nil {
		call.Context = k.fr.ctx
		if err := k.fr.room(size(a)); err != nil {
			return Value{}, err
		}
	}
	out, err := run(call)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(out[0]), nil
}
