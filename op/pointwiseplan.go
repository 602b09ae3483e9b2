package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// How the elementwise operators plan a call.

// inputs checks the number of inputs and that all have one type, which the operator supports.
func inputs(t table, c *Call, n int) dtype.DType {
	name := t.say().name
	needs(name, c, n)
	takes(name, c, n)
	oneType(name, c.Inputs[:n]...)
	d := c.in(0).DType()
	must(name, t.Supports(d), d)
	return d
}

// with returns input i, which a run reads the elements of.
func (c *Call) with(name string, i int) *tensor.Any {
	a := &c.Inputs[i]
	if a.Foreign() != nil {
		panic(fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), a.DType()))
	}
	return a
}

// stretched says the type of the only result, and that its shape is the one that the first n inputs stretch to together.
func (p *Plan) stretched(d dtype.DType, c *Call, n int) {
	if !p.brief {
		p.gives(d, stretch(p.op.name, c.Inputs[:n]...)...)
	}
}

// Supports reports whether the operand may hold d.
func (o *op1) Supports(d dtype.DType) bool {
	switch {
	case d.IsFixed():
		return o.fixed != nil
	case d.IsNarrow():
		return o.rows.F32 != nil
	}
	return exec.One(&o.rows, d) != nil
}

func (o *op1) has(d dtype.DType, l cpu.Level) bool {
	return o.fast != nil && exec.One(o.fast[l], computedIn(d)) != nil
}

func (o *op1) effort() flops { return flops{each: 1} }

func (o *op1) plan(c *Call, p *Plan) {
	p.stretched(inputs(o, c, 1), c, 1)
	a := c.with(o.name, 0)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, a, opts) })
}

// Supports reports whether the operands may hold d.
func (o *op2) Supports(d dtype.DType) bool {
	switch {
	case d.IsFixed():
		return o.fixed != nil
	case d.IsNarrow():
		d = dtype.Float32
	}
	return exec.Two(&o.rows, d) != nil
}

func (o *op2) has(d dtype.DType, l cpu.Level) bool {
	return o.fast != nil && exec.Two(o.fast[l], computedIn(d)) != nil
}

func (o *op2) effort() flops { return flops{rule: foldFLOPs} }

func (o *op2) plan(c *Call, p *Plan) {
	n := 2
	if o.fold {
		n = max(1, len(c.Inputs))
	}
	needs(o.name, c, n)
	takes(o.name, c, n)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	p.stretched(inputs(o, c, n), c, n)
	ins := make([]*tensor.Any, n)
	for i := range ins {
		ins[i] = c.with(o.name, i)
	}
	switch {
	case n == 1:
		p.view(func() tensor.Any { return *ins[0] })
	case n == 2:
		p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, ins[0], ins[1], opts) })
	case o.once:
		p.by(c, 0, func(r *tensor.Any, opts []Option) { summed(r, ins, opts) })
	default:
		p.by(c, 0, func(r *tensor.Any, opts []Option) {
			a, way := ins[0], withoutInto(opts)
			for i := 1; i < n-1; i++ {
				next := new(tensor.Any)
				o.call(next, a, ins[i], way)
				a = next
			}
			o.call(r, a, ins[n-1], opts)
		})
	}
}

// Supports reports whether the operands may hold d.
func (o *cmp2) Supports(d dtype.DType) bool {
	switch {
	case d.IsFixed():
		return o.order != nil
	case d.IsNarrow():
		d = dtype.Float32
	}
	return exec.Compare(&o.rows, d) != nil
}

func (o *cmp2) has(d dtype.DType, l cpu.Level) bool {
	return o.fast != nil && exec.Compare(o.fast[l], computedIn(d)) != nil
}

func (o *cmp2) effort() flops { return flops{each: 1} }

func (o *cmp2) plan(c *Call, p *Plan) {
	inputs(o, c, 2)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	p.stretched(dtype.Bool, c, 2)
	a, b := c.with(o.name, 0), c.with(o.name, 1)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, a, b, opts) })
}

// Supports reports whether the operand may hold d.
func (o *test1) Supports(d dtype.DType) bool { return floats.has(d) }

func (o *test1) has(dtype.DType, cpu.Level) bool { return false }

func (o *test1) effort() flops { return flops{each: 1} }

func (o *test1) plan(c *Call, p *Plan) {
	inputs(o, c, 1)
	p.stretched(dtype.Bool, c, 1)
	a := c.with(o.name, 0)
	p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, a, opts) })
}

// Supports reports whether the operand may hold d.
func (o *opP) Supports(d dtype.DType) bool { return floats.has(d) || d.IsFixed() && o.fixed != nil }

func (o *opP) has(d dtype.DType, l cpu.Level) bool {
	return o.fast != nil && rowSetP(o.fast[l], computedIn(d))
}

func (o *opP) effort() flops { return flops{each: 1} }

func (o *opP) plan(c *Call, p *Plan) {
	p.stretched(inputs(o, c, 1), c, 1)
	a, v := c.with(o.name, 0), o.def
	for i, name := range o.attrs {
		v[i] = c.Attrs.Float(name, v[i])
	}
	p.by(c, 0, func(r *tensor.Any, opts []Option) { o.call(r, a, float64(v[0]), float64(v[1]), opts) })
}

// computedIn returns the type that elements of type d are computed in.
func computedIn(d dtype.DType) dtype.DType {
	if d.IsNarrow() {
		return dtype.Float32
	}
	return d
}

// stretch returns the shape that inputs stretch to together.
func stretch(name string, ins ...tensor.Any) []int {
	ls := make([]*layout.Layout, len(ins))
	for i := range ins {
		ls[i] = ins[i].LayoutRef()
	}
	return broadcastShape(name, nil, ls...)
}
