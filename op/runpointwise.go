package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// The run-time form of the elementwise operators: a Call is checked, and call does the rest.

// inputs checks the number of inputs and that all have one type, which the operator supports.
func inputs(o Op, c *Call, n int) dtype.DType {
	needs(o.Name(), c, n)
	takes(o.Name(), c, n)
	oneType(o.Name(), c.Inputs[:n]...)
	d := c.in(0).DType()
	must(o.Name(), o.Supports(d), d)
	return d
}

// inferred is the body of Infer: f returns the type and shape of the only output.
func inferred(name string, f func() (d dtype.DType, shape []int)) (out []tensor.Any, err error) {
	err = tensor.Try(func() {
		d, shape := f()
		out = one(spec(name, d, shape...))
	})
	return out, err
}

// ran is the body of Run: f computes the only output.
func ran(f func(r *tensor.Any)) (out []tensor.Any, err error) {
	out = make([]tensor.Any, 1)
	if err = tensor.Try(func() { f(&out[0]) }); err != nil {
		return nil, err
	}
	return out, nil
}

// with returns input i, which must have elements.
func (c *Call) with(name string, i int) *tensor.Any {
	a := &c.Inputs[i]
	switch {
	case a.IsSpec():
		panic(unknown(name, i))
	case a.Foreign() != nil:
		panic(fail(name, tensor.ErrDType, "input %d is a %T of %v, whose elements can't be read; unpack it", i, a.Foreign(), a.DType()))
	}
	return a
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

// Infer returns the operand's type and shape.
func (o *op1) Infer(c *Call) ([]tensor.Any, error) {
	return inferred(o.name, func() (dtype.DType, []int) { return inputs(o, c, 1), c.in(0).Shape() })
}

// Run computes the operator.
func (o *op1) Run(c *Call) ([]tensor.Any, error) {
	return ran(func(r *tensor.Any) {
		inputs(o, c, 1)
		o.call(r, c.with(o.name, 0), options(c))
	})
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

// check looks at the inputs and returns the call in its later form, and how many there are.
func (o *op2) check(c *Call) (*Call, int) {
	c.complete(o.name)
	n := 2
	if o.fold {
		n = max(1, len(c.Inputs))
	}
	needs(o.name, c, n)
	takes(o.name, c, n)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	inputs(o, c, n)
	return c, n
}

// Infer returns the operands' type and the shape they stretch to together.
func (o *op2) Infer(c *Call) ([]tensor.Any, error) {
	return inferred(o.name, func() (dtype.DType, []int) {
		c, n := o.check(c)
		return c.in(0).DType(), stretch(o.name, c.Inputs[:n]...)
	})
}

// Run computes the operator.
func (o *op2) Run(c *Call) ([]tensor.Any, error) {
	return ran(func(r *tensor.Any) {
		c, n := o.check(c)
		if n == 1 {
			*r = c.in(0)
			return
		}
		if n > 2 && o.once {
			ts := make([]*tensor.Any, n)
			for i := range ts {
				ts[i] = c.with(o.name, i)
			}
			summed(r, ts, options(c))
			return
		}
		a := c.with(o.name, 0)
		for i := 1; i < n; i++ {
			var next tensor.Any
			o.call(&next, a, c.with(o.name, i), options(c))
			a, *r = &next, next
		}
	})
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

// check looks at the inputs and returns the call in its later form.
func (o *cmp2) check(c *Call) *Call {
	inputs(o, c, 2)
	if slices.Contains(o.attrs, "broadcast") {
		c = early(o.name, c)
	}
	return c
}

// Infer returns bool and the shape the operands stretch to together.
func (o *cmp2) Infer(c *Call) ([]tensor.Any, error) {
	return inferred(o.name, func() (dtype.DType, []int) {
		c = o.check(c)
		return dtype.Bool, stretch(o.name, c.Inputs[:2]...)
	})
}

// Run computes the operator.
func (o *cmp2) Run(c *Call) ([]tensor.Any, error) {
	return ran(func(r *tensor.Any) {
		c = o.check(c)
		o.call(r, c.with(o.name, 0), c.with(o.name, 1), options(c))
	})
}

// Supports reports whether the operand may hold d.
func (o *test1) Supports(d dtype.DType) bool { return floats.has(d) }

// Infer returns bool and the operand's shape.
func (o *test1) Infer(c *Call) ([]tensor.Any, error) {
	return inferred(o.name, func() (dtype.DType, []int) {
		inputs(o, c, 1)
		return dtype.Bool, c.in(0).Shape()
	})
}

// Run computes the operator.
func (o *test1) Run(c *Call) ([]tensor.Any, error) {
	return ran(func(r *tensor.Any) {
		inputs(o, c, 1)
		o.call(r, c.with(o.name, 0), options(c))
	})
}

// Supports reports whether the operand may hold d.
func (o *opP) Supports(d dtype.DType) bool { return floats.has(d) || d.IsFixed() && o.fixed != nil }

// Infer returns the operand's type and shape.
func (o *opP) Infer(c *Call) ([]tensor.Any, error) {
	return inferred(o.name, func() (dtype.DType, []int) { return inputs(o, c, 1), c.in(0).Shape() })
}

// Run computes the operator.
func (o *opP) Run(c *Call) ([]tensor.Any, error) {
	return ran(func(r *tensor.Any) {
		inputs(o, c, 1)
		v := o.def
		for i, name := range o.attrs {
			v[i] = c.Attrs.Float(name, v[i])
		}
		o.call(r, c.with(o.name, 0), float64(v[0]), float64(v[1]), options(c))
	})
}

// stretch returns the shape that inputs stretch to together.
func stretch(name string, ins ...tensor.Any) []int {
	ls := make([]*layout.Layout, len(ins))
	for i := range ins {
		ls[i] = ins[i].LayoutRef()
	}
	return broadcastShape(name, nil, ls...)
}
