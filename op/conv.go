package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Conv returns the convolution (as in ONNX: without flipping the kernel) of x
// [N, C, D1, …] with w [M, C/group, k1, …], plus bias [M] unless that is the
// zero Tensor: [N, M, out1, …]. Each output contracts over (channel in its
// group, kernel axes) in the weights' row-major order, in the fixed order of
// MatMul; padding is the value +0, multiplied like any other; the bias is added
// after, rounded for itself. Narrow floats are computed in float32 and rounded
// once, and so is fixed point, from exact sums with the bias. It panics when extents don't fit. ONNX Conv.
func Conv[T num.Fractional](x, w, bias tensor.Tensor[T], win Window, group int, opts ...Option) (r tensor.Tensor[T]) {
	convolved(exec.Ref(&r), exec.Ref(&x), exec.Ref(&w), exec.Ref(&bias), contract.Window(win), group, opts)
	return r
}

// convolved is Conv for operands of one run-time element type.
func convolved(r, x, w, bias *tensor.Any, win contract.Window, group int, opts []Option) {
	plan.Present("Conv", x, w)
	convolveBy(contract.ConvOf("Conv", x, w, bias, win, group), r, x, w, bias, opts)
}

// convolveBy computes a convolution into r.
func convolveBy(g *contract.Convolution, r, x, w, bias *tensor.Any, opts []Option) {
	g.Rows = &afterProduct
	const name = "Conv"
	d, s := x.DType(), plan.Read(name, opts)
	plan.AimShape(r, name, &s, d, g.Shape)
	if r.Len() == 0 {
		return
	}
	if bias.IsZero() {
		bias = nil
	}
	j := exec.Job{Name: name, Ctx: s.Ctx()}
	if d.IsNarrow() {
		f := singlesFor(j, x, w, bias, r)
		wide, wx, ww := f.empty(g.Shape...), f.widened(x), f.widened(w)
		if bias != nil {
			wb := f.widened(bias)
			bias = &wb
		}
		g.Convolve(j, &wx, &ww, bias, &wide, s.Rectify, nil)
		f.done(r, &wide)
		return
	}
	e := contract.Exactly(&s, d, 1, 1)
	out := plan.Beside(r, e != nil && s.Into != nil || !r.IsContiguous() && !g.LaysLast(x, r), x, w, bias)
	g.Convolve(j, x, w, bias, out, s.Rectify && e == nil, e)
	e.Check(name, g.Shape)
	plan.Put(r, out)
	if e != nil {
		rectified(&s, r)
	}
}

var convOp = plan.Operator{About: plan.About{Kept: keepInput, Weights: 1, Name: "Conv", Convolves: true, Rectifies: true, Leads: true, Versions: []int{1, 11, 22}, Attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, Least: 2, Most: 3,
	Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("Conv", c.Inputs...)
		x, w, bias := c.Like("Conv", 0, 0), c.Like("Conv", 1, 0), c.Like("Conv", 2, 0)
		g := contract.ConvOf("Conv", x, w, bias, contract.WindowOf(c), plan.AttrInt(c, "group", 1))
		g.Tail = c.Tail
		if last, planes, byInput := g.Packs(x.DType()); last > 0 {
			if p.Last, p.ByInput = true, byInput; keptInput(c, 1) != nil {
				g.Filter, p.Keeps, p.Planes = keptInput(c, 1), last, planes
			}
		} else {
			p.Stays = g.Stays(x.DType())
		}
		p.Gives(x.DType(), g.Shape...)
		if !p.Brief {
			p.Price = g.Price(x, w, bias)
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) {
			convolveBy(g, r, x, w, bias, opts)
		})
	}}

// keepInput is WithWeights of a product or a convolution of bytes, or of a convolution of float32 or float64.
func keepInput(o *plan.Op, c *plan.Call) (form *plan.Op, bytes int64) {
	i := plan.AboutOf(o).Weights
	if i >= len(c.Inputs) {
		return o, 0
	}
	w := c.Inputs[i]
	if w.IsZero() || w.IsSpec() || !w.IsContiguous() || w.Len() == 0 || !(plan.Bytes8 | 1<<dtype.Float32 | 1<<dtype.Float64).Has(w.DType()) {
		return o, 0
	}
	return plan.Keeping(o, &contract.Filter{W: w}), 0
}

// keptInput returns the packed weights of a form, which input i of a call is: nil if it has others, or they may change.
func keptInput(c *plan.Use, i int) *contract.Filter {
	if f, ok := c.Kept.(*contract.Filter); ok && c.Fixed != nil && c.Known(i) && f.Of(&c.Inputs[i]) {
		return f
	}
	return nil
}
