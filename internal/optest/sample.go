package optest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Sample is a call of an operator that is right most often: a case of the table, with other extents and numbers half
// of the time.
type Sample struct {
	Inputs  []SampleInput
	Attrs   op.AttrMap
	Opset   int // whose meaning the case has; 0 is any
	Outputs int // at least 1
}

// A SampleInput is an operand of a Sample.
type SampleInput struct {
	Value   tensor.Any // the zero Any where the input is absent
	Fixed   bool       // an axis, an index or a shape: another value is wrong most often
	Special bool       // NaN, infinities and the ends of the range are among the elements
	Nonzero bool       // integers aren't 0
}

// NewSample draws a call of o whose operands have type d where the case leaves the type open. Its first operand has the
// shape like where the case allows it, unless that is nil; else extents are below 1<<bits. It reports false where o has no
// case for d.
func NewSample(r *rand.Rand, o *op.Op, d dtype.DType, bits int, like []int) (s Sample, ok bool) {
	cs := casesOf(o)
	if len(cs) == 0 || !o.Supports(d) {
		return s, false
	}
	c := cs[r.IntN(len(cs))]
	if c.only != nil && !c.only(d) {
		return s, false
	}
	to := make(map[int64]int64)
	if like != nil && len(c.in) > 0 && len(like) == len(c.in[0].shape) {
		for i, e := range c.in[0].shape {
			if e > 1 && to[int64(e)] == 0 {
				to[int64(e)] = int64(like[i])
			}
		}
	}
	if len(to) > 0 || r.IntN(2) == 0 {
		c = other(r, c, bits, to)
	}
	s = Sample{Attrs: c.attrs, Opset: c.opset, Outputs: max(1, c.outputs)}
	for _, in := range c.in {
		of := d
		if in.dtype != dtype.Invalid {
			of = in.dtype
		}
		x := SampleInput{Fixed: in.values != nil, Special: !c.calm, Nonzero: in.nonzero}
		switch {
		case in.absent:
		case x.Fixed:
			x.Value = tensor.FromSlice(slices.Clone(in.values), slices.Concat([]int{}, in.shape)...).Any()
		case size(in.shape) > 1<<18:
			return s, false
		default:
			x.Value = Random(r, of, in.shape, x.Special, x.Nonzero)
		}
		s.Inputs = append(s.Inputs, x)
	}
	return s, true
}

// Random makes a contiguous tensor of random elements.
func Random(r *rand.Rand, d dtype.DType, shape []int, special, nonzero bool) tensor.Any {
	if special {
		return random(r, d, shape, wild, nonzero)
	}
	return random(r, d, shape, calm, nonzero)
}

// mostSize is how many elements an operand or a result has at most.
const mostSize = 1 << 20

// size returns the number of elements of a shape, or a number above mostSize.
func size(shape []int) int {
	n := 1
	for _, e := range shape {
		if n *= e; n > mostSize {
			return n
		}
	}
	return n
}

// other returns a case with other extents, each in all operands that have it, and other numbers for arguments. They are
// at most 1<<(bits-1), and those that to says.
func other(r *rand.Rand, c testCase, bits int, to map[int64]int64) testCase {
	number := func(v int64, odds int) int64 {
		if v > 1 && to[v] == 0 {
			to[v] = v
			if r.IntN(2) == 0 {
				to[v] = 1 + r.Int64N(1<<r.IntN(bits))
			}
		}
		switch {
		case odds > 0 && r.IntN(odds) == 0:
			return 1 + r.Int64N(1<<r.IntN(bits))
		case v > 1:
			return to[v]
		}
		return v
	}
	c.in = slices.Clone(c.in)
	for i := range c.in {
		in := &c.in[i]
		in.shape, in.values = slices.Clone(in.shape), slices.Clone(in.values)
		for k, e := range in.shape {
			if in.values == nil {
				in.shape[k] = int(number(int64(e), 0))
			}
		}
	}
	for i := range c.in {
		for k, v := range c.in[i].values {
			c.in[i].values[k] = number(v, 3)
		}
	}
	c.attrs = maps.Clone(c.attrs)
	for _, name := range slices.Sorted(maps.Keys(c.attrs)) {
		switch a := c.attrs[name].(type) {
		case int64:
			c.attrs[name] = number(a, 8)
		case []int64:
			list := slices.Clone(a)
			for k := range list {
				list[k] = number(list[k], 8)
			}
			c.attrs[name] = list
		}
	}
	return c
}
