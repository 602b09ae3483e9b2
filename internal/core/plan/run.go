package plan

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// The run-time form: a Call is checked, and the body that the typed function has, too, does
// the rest. Panics with a *tensor.Error become errors.

// In returns input i, or the zero Any.
func (c *Use) In(i int) tensor.Any {
	if i >= len(c.Inputs) {
		return tensor.Any{}
	}
	return c.Inputs[i]
}

// complete sets the attributes that every operator may ask for.
func (c *Use) complete() {
	if c.Attrs == nil {
		c.Attrs = NoAttrs{}
	}
}

// Needs panics unless the first n inputs are there.
func Needs(name string, c *Use, n int) {
	for i := range n {
		if c.In(i).IsZero() {
			panic(Fail(name, tensor.ErrShape, "input %d is missing; it needs %d", i, n))
		}
	}
}

// Must panics unless the inputs at those places are there.
func (c *Use) Must(name string, at ...int) {
	for _, i := range at {
		if c.In(i).IsZero() {
			panic(Fail(name, tensor.ErrShape, "input %d is missing", i))
		}
	}
}

// Takes panics when there are more than n inputs, also where the others are absent.
func Takes(name string, c *Use, n int) {
	if len(c.Inputs) > n {
		panic(Fail(name, tensor.ErrShape, "it has %d inputs and takes %d at most", len(c.Inputs), n))
	}
}

// OneType panics unless all inputs that are there hold the same type.
func OneType(name string, ins ...tensor.Any) {
	for _, a := range ins {
		if !a.IsZero() && a.DType() != ins[0].DType() {
			panic(Fail(name, tensor.ErrDType, "operands hold %v and %v; convert one with op.Cast", ins[0].DType(), a.DType()))
		}
	}
}

// Or returns input i, or the zero Any.
func (c *Use) Or(i int) *tensor.Any {
	if i >= len(c.Inputs) {
		return new(tensor.Any)
	}
	return &c.Inputs[i]
}

// Like returns input i, which must have elements of the type of input k, or the zero Any when it is absent.
func (c *Use) Like(name string, i, k int) *tensor.Any {
	a := c.Or(i)
	if a.IsZero() {
		return a
	}
	if d := c.Inputs[k].DType(); a.DType() != d {
		panic(NotHeld(name, a, i, d))
	}
	return c.With(name, i)
}

// NotHeld is the error of input i, which holds another element type than want.
func NotHeld(name string, a *tensor.Any, i int, want dtype.DType) *tensor.Error {
	if a.DType() == want {
		return Fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), want)
	}
	return Fail(name, tensor.ErrDType, "input %d holds %v, want %v", i, a.DType(), want)
}

// Unknown is the error of input i, whose elements decide a shape and are missing.
func Unknown(name string, i int) *tensor.Error {
	return Fail(name, ErrUnknown, "the value of input %d is not known before the run", i)
}

// Values returns input i, whose elements are read before the run.
func (c *Use) Values(name string, i int) *tensor.Any {
	a := c.With(name, i)
	if a.IsSpec() || !c.Known(i) {
		panic(Unknown(name, i))
	}
	return a
}

// AsInt returns a number as an int; one that doesn't fit is as far away as an int can be, and
// no better an axis or extent.
func AsInt(v int64) int { return int(max(min(v, math.MaxInt), math.MinInt)) }

// AttrInt returns an attribute as an int.
func AttrInt(c *Use, name string, def int64) int { return AsInt(c.Attrs.Int(name, def)) }

// AttrInts returns an attribute of integers as ints.
func AttrInts(c *Use, name string) ([]int, bool) {
	v, ok := c.Attrs.Ints(name)
	if !ok {
		return nil, false
	}
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = AsInt(x)
	}
	return out, true
}

// Spec describes an output.
func Spec(name string, d dtype.DType, shape ...int) tensor.Any {
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		panic(Fail(name, tensor.ErrShape, "the result's shape: %v", err))
	}
	return s.Any()
}

// One is a list of a single output.
func One(a tensor.Any) []tensor.Any { return []tensor.Any{a} }

// Options returns the context and the flags of a call as options.
func Options(c *Use) []Option {
	var opts []Option
	if c.Context != nil {
		opts = append(opts, Under(c.Context))
	}
	if c.Flags != 0 {
		opts = append(opts, WithFlags(c.Flags))
	}
	return opts
}

// AxisOf resolves a possibly negative axis.
func AxisOf(name string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if uint(a) >= uint(rank) {
		panic(Fail(name, tensor.ErrAxis, "axis %d of a tensor of rank %d; axes are %d to %d", axis, rank, -rank, rank-1))
	}
	return a
}

// With returns input i, which a run reads the elements of.
func (c *Use) With(name string, i int) *tensor.Any {
	a := &c.Inputs[i]
	if a.Foreign() != nil {
		panic(Fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), a.DType()))
	}
	return a
}

// Stretched says the type of the only result, and that its shape is the one that the first n inputs stretch to together.
func (p *Draft) Stretched(d dtype.DType, c *Use, n int) {
	if !p.Brief {
		p.Gives(d, Stretch(p.Name(), c.Inputs[:n]...)...)
	}
}

// Stretch returns the shape that inputs stretch to together.
func Stretch(name string, ins ...tensor.Any) []int {
	ls := make([]*layout.Layout, len(ins))
	for i := range ins {
		ls[i] = ins[i].LayoutRef()
	}
	return BroadcastShape(name, nil, ls...)
}
