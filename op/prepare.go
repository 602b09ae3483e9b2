package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Turn runs calls that were prepared again and again, in one goroutine at a time. Most of them allocate nothing then,
// on one thread.
type Turn struct{ more more }

// Under sets the context of the calls from now on.
func (t *Turn) Under(ctx context.Context) { t.more.ctx = ctx }

// Prepare returns a function that runs o's call and writes its only result to out, which must have the result's type and
// shape, be row-major and overlap no operand. The operands' types, shapes and layouts, the attributes, and the elements of
// operands that fixed says stay as they are, are read once; other elements each time. The function panics as the typed form
// of the operator does. ok is false for operators without such a form, and where the result's shape follows from elements
// that aren't fixed. The error is the one that Run would return for the call.
func (t *Turn) Prepare(o Op, c *Call, fixed []bool, out tensor.Any) (run func(), ok bool, err error) {
	err = tensor.Try(func() { run, ok = t.prepare(o, c, fixed, &out) })
	return run, ok && err == nil, err
}

func (t *Turn) prepare(o Op, c *Call, fixed []bool, out *tensor.Any) (run func(), ok bool) {
	opts := []Option{{into: out, more: &t.more}}
	r := new(tensor.Any)
	rectify := false
	if x, ok := o.(rectifiedOp); ok {
		o, rectify = x.Op, true
		opts = append(opts, Rectify())
	}
	switch o := o.(type) {
	case *op1:
		inputs(o, c, 1)
		a := c.with(o.name, 0)
		return func() { o.call(r, a, opts) }, true
	case *op2:
		c, n := o.check(c)
		if n != 2 {
			return nil, false
		}
		a, b := c.with(o.name, 0), c.with(o.name, 1)
		return func() { o.call(r, a, b, opts) }, true
	case *cmp2:
		c = o.check(c)
		a, b := c.with(o.name, 0), c.with(o.name, 1)
		return func() { o.call(r, a, b, opts) }, true
	case *test1:
		inputs(o, c, 1)
		a := c.with(o.name, 0)
		return func() { o.call(r, a, opts) }, true
	case *opP:
		inputs(o, c, 1)
		a, v := c.with(o.name, 0), o.def
		for i, name := range o.attrs {
			v[i] = c.Attrs.Float(name, v[i])
		}
		return func() { o.call(r, a, float64(v[0]), float64(v[1]), opts) }, true
	case *liner:
		axis, tail := o.lines(c)
		a := c.with(o.name, 0)
		return func() { o.call(r, a, axis, tail, opts) }, true
	case *reduction:
		if slices.Contains(fixed[min(1, len(fixed)):], false) {
			return nil, false
		}
		axes, keep := o.args(c)
		p := 0.0
		if o.param != nil {
			p = o.param(c)
		}
		if keep {
			opts = append(opts, KeepDims())
		}
		a := c.with(o.name, 0)
		return func() { o.call(r, a, axes, p, opts) }, true
	case *opN:
		o.check(c)
		if o.move != nil {
			return t.transfer(o, c, fixed, out)
		}
		switch o {
		case &matMul:
			oneType(o.name, c.Inputs...)
			a, b := c.with(o.name, 0), c.with(o.name, 1)
			return func() { matrixProduct(r, a, b, opts) }, true
		case &gemmOp:
			a, b, plus := c.like(o.name, 0, 0), c.like(o.name, 1, 0), c.like(o.name, 2, 0)
			alpha, beta, transA, transB := c.Attrs.Float("alpha", 1), c.Attrs.Float("beta", 1), c.Attrs.Int("transA", 0) != 0, c.Attrs.Int("transB", 0) != 0
			return func() { generalProduct(r, a, b, plus, alpha, beta, transA, transB, opts) }, true
		case &convOp:
			return t.convolution(c, out, rectify)
		case &maxPool:
			return t.maxPool(c, out)
		}
	}
	return nil, false
}

// transfer is prepare for an operator that moves elements.
func (t *Turn) transfer(o *opN, c *Call, fixed []bool, out *tensor.Any) (run func(), ok bool) {
	vague := *c // of the elements that change it knows nothing
	vague.Inputs = slices.Clone(c.Inputs)
	for i, a := range c.Inputs {
		if !a.IsZero() && (i >= len(fixed) || !fixed[i]) {
			vague.Inputs[i] = spec(o.name, a.DType(), a.Shape()...)
		}
	}
	var always *transfer
	if tensor.Try(func() { always = o.move(&vague) }) != nil {
		return nil, false
	}
	m := o.move(c)
	m.fill, m.shape = always.fill, always.shape
	for _, a := range m.in {
		if !a.IsZero() && !a.IsContiguous() {
			return nil, false // the copy would be of today's elements
		}
	}
	checkTarget(m.name, out.LayoutRef(), out.IsReadOnly(), m.shape)
	if m.idle() {
		return func() {}, true
	}
	to := wordsOf(*out)
	in, _ := m.operands(to)
	return func() { m.compute(t.more.ctx, to, in) }, true
}

// convolution is prepare for a Conv of float32 or float64.
func (t *Turn) convolution(c *Call, out *tensor.Any, rectify bool) (run func(), ok bool) {
	const name = "Conv"
	x, w, bias := c.like(name, 0, 0), c.like(name, 1, 0), c.like(name, 2, 0)
	if d := x.DType(); !floats.has(d) || d.IsNarrow() {
		return nil, false
	}
	g := convOf(name, x, w, bias, windowOf(c), attrInt(c, "group", 1))
	checkTarget(name, out.LayoutRef(), out.IsReadOnly(), g.shape)
	if g.keeps = x.IsContiguous(); bias.IsZero() { // else each call makes a copy of it
		bias = nil
	}
	if out.Len() == 0 {
		return func() {}, true
	}
	return func() {
		g.convolve(exec.Job{Name: name, Ctx: t.more.ctx}, x, w, bias, out, rectify, nil)
	}, true
}

// maxPool is prepare for a MaxPool of types that it doesn't widen.
func (t *Turn) maxPool(c *Call, out *tensor.Any) (run func(), ok bool) {
	const name = "MaxPool"
	x := c.with(name, 0)
	if x.DType().IsNarrow() || !x.IsContiguous() {
		return nil, false
	}
	p := poolOf(exec.Job{Name: name}, x, windowOf(c))
	checkTarget(name, out.LayoutRef(), out.IsReadOnly(), p.shape)
	if out.Len() == 0 {
		return func() {}, true
	}
	return func() {
		p.Ctx = t.more.ctx
		p.maxima(x, out, nil)
	}, true
}
