package optest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A run is one case for one element type, with its operands in contiguous memory.
type run struct {
	op    op.Op
	name  string
	c     testCase
	in    []tensor.Any
	moved []int // the operands that may be laid out in other ways
	unfit bool  // the result is an error about the numbers
}

func newRun(o op.Op, i int, c testCase, d dtype.DType) *run {
	r := &run{op: o, name: fmt.Sprintf("case %d of %v", i, d), c: c}
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
	switch a.DType() {
	case dtype.Bool:
		fill(rng, tensor.Run[bool](&a, a.LayoutRef()), special, nonzero)
	case dtype.Int8:
		fill(rng, tensor.Run[int8](&a, a.LayoutRef()), special, nonzero)
	case dtype.Int16:
		fill(rng, tensor.Run[int16](&a, a.LayoutRef()), special, nonzero)
	case dtype.Int32:
		fill(rng, tensor.Run[int32](&a, a.LayoutRef()), special, nonzero)
	case dtype.Int64:
		fill(rng, tensor.Run[int64](&a, a.LayoutRef()), special, nonzero)
	case dtype.Uint8:
		fill(rng, tensor.Run[uint8](&a, a.LayoutRef()), special, nonzero)
	case dtype.Uint16:
		fill(rng, tensor.Run[uint16](&a, a.LayoutRef()), special, nonzero)
	case dtype.Uint32:
		fill(rng, tensor.Run[uint32](&a, a.LayoutRef()), special, nonzero)
	case dtype.Uint64:
		fill(rng, tensor.Run[uint64](&a, a.LayoutRef()), special, nonzero)
	case dtype.Float8E4M3:
		fill(rng, tensor.Run[num.F8E4M3](&a, a.LayoutRef()), special, nonzero)
	case dtype.Float8E5M2:
		fill(rng, tensor.Run[num.F8E5M2](&a, a.LayoutRef()), special, nonzero)
	case dtype.Float16:
		fill(rng, tensor.Run[num.F16](&a, a.LayoutRef()), special, nonzero)
	case dtype.BFloat16:
		fill(rng, tensor.Run[num.BF16](&a, a.LayoutRef()), special, nonzero)
	case dtype.Float32:
		fill(rng, tensor.Run[float32](&a, a.LayoutRef()), special, nonzero)
	case dtype.Float64:
		fill(rng, tensor.Run[float64](&a, a.LayoutRef()), special, nonzero)
	case dtype.Complex64:
		fill(rng, tensor.Run[complex64](&a, a.LayoutRef()), special, nonzero)
	case dtype.Complex128:
		fill(rng, tensor.Run[complex128](&a, a.LayoutRef()), special, nonzero)
	case dtype.FP8x23:
		fill(rng, tensor.Run[num.FP8x23](&a, a.LayoutRef()), special, nonzero)
	case dtype.FP16x16:
		fill(rng, tensor.Run[num.FP16x16](&a, a.LayoutRef()), special, nonzero)
	case dtype.FP32x32:
		fill(rng, tensor.Run[num.FP32x32](&a, a.LayoutRef()), special, nonzero)
	case dtype.FP64x64:
		fill(rng, tensor.Run[num.FP64x64](&a, a.LayoutRef()), special, nonzero)
	}
	return a
}

func (r *run) call(in []tensor.Any) *op.Call {
	c := &op.Call{Inputs: in, Attrs: r.c.attrs, Opset: r.c.opset, Outputs: r.c.outputs}
	if v := r.op.Versions(); c.Opset == 0 && len(v) > 0 {
		c.Opset = slices.Max(v)
	}
	return c
}

// result is the types, shapes and bits of the outputs.
func (r *run) result(in []tensor.Any) (out []tensor.Any, bits [][]byte, err error) {
	out, err = r.op.Run(r.call(in))
	if errors.Is(err, num.ErrFixedOverflow) || errors.Is(err, num.ErrFixedDomain) { // the error is the result
		r.unfit = true
		text := []byte(err.Error())
		out, err = []tensor.Any{tensor.FromSlice(text, len(text)).Any()}, nil
	}
	for _, a := range out {
		bits = append(bits, content(a))
	}
	return out, bits, err
}

// casesOf returns the cases of an operator; one that isn't known by name gets those
// of operators of one, two or three operands, as many as it takes.
func casesOf(o op.Op) []testCase {
	if cs := cases(o.Name()); cs != nil || reasons[o.Name()] != "" {
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

// pointwise are the operators whose outputs' elements depend each on one element
// of each operand, in one place; and a case with operands of one shape and rank 1
// or 2.
func pointwise(o op.Op) (c testCase, ok bool) {
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
