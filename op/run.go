package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/tensor"
)

// The run-time form: a Call is checked, and the body that the typed function has, too, does
// the rest. Panics with a *tensor.Error become errors.

// opN is an operator that plans its calls by hand in its file. Just one of planned and move is set.
type opN struct {
	about
	least   int   // how many inputs it needs
	most    int   // how many it takes, if not least; any number if negative
	by      int   // the input whose element type decides
	takes   types // what that input may hold; 0 is every type
	planned func(c *Call, p *Plan)
	move    func(c *Call) *transfer // instead, for those that move elements
	cell    *cell                   // of a recurrent network

	fast func(d dtype.DType, l cpu.Level) bool // whether package simd has rows for it; nil is no
}

// Supports reports whether the deciding input may hold d.
func (o *opN) Supports(d dtype.DType) bool {
	return int(d) < dtype.Count && (o.takes == 0 || o.takes.has(d))
}

func (o *opN) has(d dtype.DType, l cpu.Level) bool { return o.fast != nil && o.fast(d, l) }

func (o *opN) effort() flops { return flops{} }

func (o *opN) plan(c *Call, p *Plan) {
	needs(o.name, c, o.least)
	if o.most >= 0 {
		takes(o.name, c, max(o.least, o.most))
	}
	if o.least > 0 {
		d := c.in(o.by).DType()
		must(o.name, o.Supports(d), d)
	}
	if o.move != nil {
		planMove(p, c, o.move)
		return
	}
	o.planned(c, p)
}

// planMove plans the move of elements that move says.
func planMove(p *Plan, c *Call, move func(c *Call) *transfer) {
	m := move(c)
	m.orion, p.moved = c.orion(), m
	p.gives(m.d, m.shape...)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { m.write(r, opts) })
	if c.Fixed == nil {
		return
	}
	vague := *c // of the elements that change it knows nothing
	vague.Inputs = slices.Clone(c.Inputs)
	for i, a := range c.Inputs {
		if !a.IsZero() && !c.known(i) {
			vague.Inputs[i] = spec(m.name, a.DType(), a.Shape()...)
		}
	}
	var always *transfer
	if p.steady = tensor.Try(func() { always = move(&vague) }) == nil; p.steady {
		m.fill, m.shape = always.fill, always.shape
	}
}

// in returns input i, or the zero Any.
func (c *Call) in(i int) tensor.Any {
	if i >= len(c.Inputs) {
		return tensor.Any{}
	}
	return c.Inputs[i]
}

// complete panics when the call is nil, and sets the attributes that every operator may ask for.
func (c *Call) complete(name string) {
	if c == nil {
		panic(fail(name, tensor.ErrValue, "there is no call: it is nil"))
	}
	if c.Attrs == nil {
		c.Attrs = NoAttrs{}
	}
}

// needs panics unless the first n inputs are there.
func needs(name string, c *Call, n int) {
	c.complete(name)
	for i := range n {
		if c.in(i).IsZero() {
			panic(fail(name, tensor.ErrShape, "input %d is missing; it needs %d", i, n))
		}
	}
}

// must panics unless the inputs at those places are there.
func (c *Call) must(name string, at ...int) {
	for _, i := range at {
		if c.in(i).IsZero() {
			panic(fail(name, tensor.ErrShape, "input %d is missing", i))
		}
	}
}

// takes panics when there are more than n inputs, also where the others are absent.
func takes(name string, c *Call, n int) {
	if len(c.Inputs) > n {
		panic(fail(name, tensor.ErrShape, "it has %d inputs and takes %d at most", len(c.Inputs), n))
	}
}

// oneType panics unless all inputs that are there hold the same type.
func oneType(name string, ins ...tensor.Any) {
	for _, a := range ins {
		if !a.IsZero() && a.DType() != ins[0].DType() {
			panic(fail(name, tensor.ErrDType, "operands hold %v and %v; convert one with op.Cast", ins[0].DType(), a.DType()))
		}
	}
}

// or returns input i, or the zero Any.
func (c *Call) or(i int) *tensor.Any {
	if i >= len(c.Inputs) {
		return new(tensor.Any)
	}
	return &c.Inputs[i]
}

// like returns input i, which must have elements of the type of input k, or the zero Any when it is absent.
func (c *Call) like(name string, i, k int) *tensor.Any {
	a := c.or(i)
	if a.IsZero() {
		return a
	}
	if d := c.Inputs[k].DType(); a.DType() != d {
		panic(notHeld(name, a, i, d))
	}
	return c.with(name, i)
}

func notHeld(name string, a *tensor.Any, i int, want dtype.DType) *tensor.Error {
	if a.DType() == want {
		return fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), want)
	}
	return fail(name, tensor.ErrDType, "input %d holds %v, want %v", i, a.DType(), want)
}

func unknown(name string, i int) *tensor.Error {
	return fail(name, ErrUnknown, "the value of input %d is not known before the run", i)
}

// int64s returns the elements of an input of int64 or int32.
func int64s(name string, c *Call, i int) []int64 {
	a := c.values(name, i)
	wantInt(name, i, *a)
	return wordsOf(*a).int64s(name)
}

// values returns input i, whose elements are read before the run.
func (c *Call) values(name string, i int) *tensor.Any {
	a := c.with(name, i)
	if a.IsSpec() || !c.known(i) {
		panic(unknown(name, i))
	}
	return a
}

// ints returns the elements of an integer input in row-major order: int64 or
// int32, of any rank. ok is false when the input is absent.
func ints(name string, c *Call, i int) (v []int, ok bool) {
	if c.in(i).IsZero() {
		return nil, false
	}
	whole := int64s(name, c, i)
	v = make([]int, fits(name, len(whole), 8))
	for k, x := range whole {
		if v[k] = int(x); int64(v[k]) != x {
			panic(fail(name, tensor.ErrOverflow, "value %d of input %d doesn't fit an int", x, i))
		}
	}
	return v, true
}

// asInt returns a number as an int; one that doesn't fit is as far away as an int can be, and
// no better an axis or extent.
func asInt(v int64) int { return int(max(min(v, math.MaxInt), math.MinInt)) }

// attrInt returns an attribute as an int.
func attrInt(c *Call, name string, def int64) int { return asInt(c.Attrs.Int(name, def)) }

// attrInts returns an attribute of integers as ints.
func attrInts(c *Call, name string) ([]int, bool) {
	v, ok := c.Attrs.Ints(name)
	if !ok {
		return nil, false
	}
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = asInt(x)
	}
	return out, true
}

// spec describes an output.
func spec(name string, d dtype.DType, shape ...int) tensor.Any {
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		panic(fail(name, tensor.ErrShape, "the result's shape: %v", err))
	}
	return s.Any()
}

// one is a list of a single output.
func one(a tensor.Any) []tensor.Any { return []tensor.Any{a} }

func options(c *Call) []Option {
	var opts []Option
	if c.Context != nil {
		opts = append(opts, Context(c.Context))
	}
	if c.flags != 0 {
		opts = append(opts, Option{flags: c.flags})
	}
	return opts
}

// axisOf resolves a possibly negative axis.
func axisOf(name string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if uint(a) >= uint(rank) {
		panic(fail(name, tensor.ErrAxis, "axis %d of a tensor of rank %d; axes are %d to %d", axis, rank, -rank, rank-1))
	}
	return a
}
