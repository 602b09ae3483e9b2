package optest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A run is one case for one element type, with its operands in contiguous memory.
type run struct {
	op    *op.Op
	name  string
	c     testCase
	in    []tensor.Any
	moved []int           // the operands that may have other layouts
	unfit bool            // the result is an error about the numbers
	ctx   context.Context // of its calls; may be nil
	turn  int             // in the order of cases and types
}

func newRun(o *op.Op, i int, c testCase, d dtype.DType) *run {
	r := &run{op: o, name: fmt.Sprintf("case %d of %v", i, d), c: c, turn: i + int(d)}
	h := fnv.New64a()
	fmt.Fprint(h, o.Name(), r.name)
	rng := rand.New(rand.NewPCG(1, h.Sum64()))
	for k, in := range c.in {
		if in.absent {
			r.in = append(r.in, tensor.Any{})
			continue
		}
		if in.values != nil {
			r.in = append(r.in, tensor.FromSlice(slices.Clone(in.values), slices.Concat([]int{}, in.shape)...).Any())
			continue
		}
		special := wild
		if c.calm {
			special = calm
		}
		of := d
		if in.dtype != dtype.Invalid {
			of = in.dtype
		}
		r.in = append(r.in, random(rng, of, in.shape, special, in.nonzero))
		r.moved = append(r.moved, k)
	}
	return r
}

// random makes a contiguous tensor of random elements.
func random(rng *rand.Rand, d dtype.DType, shape []int, special int, nonzero bool) tensor.Any {
	a, err := tensor.Make(d, shape...)
	if err != nil {
		panic(err)
	}
	fill(rng, a, special, nonzero)
	return a
}

func (r *run) call(in []tensor.Any) *op.Call {
	c := &op.Call{Inputs: in, Attrs: r.c.attrs, Opset: r.c.opset, Outputs: r.c.outputs, Context: r.ctx}
	if v := r.op.Versions(); c.Opset == 0 && len(v) > 0 {
		c.Opset = slices.Max(v)
	}
	return c
}

// result returns the types, shapes and bits of the outputs.
func (r *run) result(in []tensor.Any) (out []tensor.Any, bits [][]byte, err error) {
	out, err = r.op.Run(r.call(in))
	if errors.Is(err, fixed.ErrOverflow) || errors.Is(err, fixed.ErrDomain) { // the error is the result
		r.unfit = true
		text := []byte(err.Error())
		out, err = []tensor.Any{tensor.FromSlice(text, len(text)).Any()}, nil
	}
	for _, a := range out {
		bits = append(bits, content(a))
	}
	return out, bits, err
}

// casesOf returns the cases of an operator. An operator without cases of its own gets
// the cases of operators of one, two or three operands, by the number of its operands.
func casesOf(o *op.Op) []testCase {
	if cs := cases(key(o)); cs != nil || reasons[o.Name()] != "" {
		return cs
	}
	for _, d := range dtype.All() {
		if !o.Supports(d) {
			continue
		}
		for _, cs := range [][]testCase{unary(nil), binary(nil), ternary(false)} {
			r := newRun(o, 0, cs[1], d)
			if _, err := r.op.Run(r.call(r.in)); err == nil {
				return cs
			}
		}
	}
	return nil
}

// pointwise reports whether each element of an operator's outputs depends on one
// element of each operand, at the same place. c is a case with operands of one shape,
// of rank 1 or 2.
func pointwise(o *op.Op) (c testCase, ok bool) {
	cs := casesOf(o)
	switch name := o.Name(); {
	case name == "Shape" || name == "Size" || name == "Softmax" || name == "LogSoftmax" || name == "Hardmax":
		return c, false
	case len(cs) >= len(shapes) && slices.Equal(cs[3].in[0].shape, shapes[3]):
		return cs[3], true
	case len(cs) >= len(pairs) && slices.Equal(cs[1].in[0].shape, pairs[1][0]):
		return cs[1], true
	case name == "Cast":
		return cs[2], true
	}
	return c, false
}

// shaped returns c with operands of one shape.
func shaped(c testCase, shape ...int) testCase {
	c.in = slices.Clone(c.in)
	for i := range c.in {
		c.in[i].shape = shape
	}
	return c
}
