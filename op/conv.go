package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
func Conv[T num.Float | num.Narrow | num.Fixed](x, w, bias tensor.Tensor[T], win Window, group int, opts ...Option) (r tensor.Tensor[T]) {
	convolved(exec.Ref(&r), exec.Ref(&x), exec.Ref(&w), exec.Ref(&bias), win, group, opts)
	return r
}

// convolved is Conv for operands of one run-time element type.
func convolved(r, x, w, bias *tensor.Any, win Window, group int, opts []Option) {
	present("Conv", x, w)
	convOf("Conv", x, w, bias, win, group).call(r, x, w, bias, opts)
}

// call computes a convolution.
func (g *convolution) call(r, x, w, bias *tensor.Any, opts []Option) {
	const name = "Conv"
	d, s := x.DType(), read(opts)
	aimShape(r, name, &s, d, g.shape)
	if r.Len() == 0 {
		return
	}
	if bias.IsZero() {
		bias = nil
	}
	j := exec.Job{Name: name, Ctx: s.ctx()}
	if d.IsNarrow() {
		wide := tensor.EmptyOf(dtype.Float32, g.shape...)
		wx, ww := inSingle(name, x), inSingle(name, w)
		if bias != nil {
			wb := inSingle(name, bias)
			bias = &wb
			defer wb.Close()
		}
		g.convolve(j, &wx, &ww, bias, &wide, s.rectify, nil)
		wx.Close()
		ww.Close()
		narrowInto(name, r, &wide)
		return
	}
	e := s.exactly(d, 1, 1)
	out := beside(r, e != nil && s.into != nil || !r.IsContiguous(), x, w, bias)
	g.convolve(j, x, w, bias, out, s.rectify && e == nil, e)
	e.check(name, g.shape)
	put(r, out)
	if e != nil {
		s.rectified(r)
	}
}

// convolution is the geometry of a Conv.
type convolution struct {
	shape    []int // of the result
	s        []span
	group    int
	n, c, m  int
	patch, k int  // outputs per channel and image; elements that go into each
	keeps    bool // the next call is of the same tensors
	kept     any  // what the last one made of them, if keeps is set
}

// convOf checks the operands of a convolution; bias may be nil or the zero Any.
func convOf(name string, x, w, bias *tensor.Any, win Window, group int) *convolution {
	lx, lw := x.LayoutRef(), w.LayoutRef()
	in := spatial(name, lx)
	if lw.Rank() != lx.Rank() {
		panic(fail(name, tensor.ErrShape, "the input has shape %s, the weights %s; want the same rank", lx.ShapeString(), lw.ShapeString()))
	}
	kernel := lw.Shape()[2:]
	if win.Kernel == nil {
		win.Kernel = kernel
	}
	for i, k := range win.Kernel {
		if i < len(kernel) && k != kernel[i] {
			panic(fail(name, tensor.ErrShape, "kernel_shape is %v, the weights have %v", win.Kernel, kernel))
		}
	}
	g := &convolution{group: group, n: lx.Dim(0), c: lx.Dim(1), m: lw.Dim(0)}
	if group < 1 || g.m%group != 0 || g.c%group != 0 {
		panic(fail(name, tensor.ErrShape, "%d groups don't divide %d input and %d output channels", group, g.c, g.m))
	}
	if want := g.c / group; lw.Dim(1) != want {
		if group == 1 {
			panic(fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", g.c, lw.Dim(1)))
		}
		panic(fail(name, tensor.ErrShape, "input has %d channels in %d groups, kernel wants %d in each", g.c, group, lw.Dim(1)))
	}
	if bias != nil && !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != g.m) {
		panic(fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(*bias), g.m))
	}
	g.s = win.spans(name, in)
	g.shape = outShape(g.n, g.m, g.s)
	g.patch, g.k = 1, lw.Dim(1)
	for i := range g.s {
		g.patch *= g.s[i].out
		g.k *= g.s[i].kernel
	}
	return g
}

// plane returns the number of elements of a channel of the input.
func (g *convolution) plane() int {
	n := 1
	for i := range g.s {
		n *= g.s[i].in
	}
	return n
}

// contraction returns the product of the weights with images patches, for each image and group,
// which may have a bias for each output channel. b is still to be said.
func (g *convolution) contraction(j exec.Job, images int, rectify bool, e *exactness) contraction {
	mg := g.m / g.group
	return contraction{Job: j, batch: images * g.group, m: mg, n: g.patch, k: g.k,
		aRow: g.k, aCol: 1, aAt: entriesOf(0, loop{images, 0}, loop{g.group, mg * g.k}),
		cRow: g.patch, cCol: 1, cAt: entriesOf(0, loop{images, g.m * g.patch}, loop{g.group, mg * g.patch}),
		then: after{entriesOf(0, loop{images, 0}, loop{g.group, mg}), 1, 0, rectify}, exact: e}
}

// convolve computes a convolution as a contraction whose right side, the patches
// of x, is packed panel by panel and never exists whole. dst is row-major and overlaps no
// operand; bias may be nil.
func (g *convolution) convolve(j exec.Job, x, w, bias, dst *tensor.Any, rectify bool, e *exactness) {
	xc, wc := x.Contiguous(), w.Contiguous()
	if bias != nil {
		b := bias.Contiguous()
		bias = &b
	}
	c := g.contraction(j, g.n, rectify, e)
	from := g
	if g.pointwise() {
		c.bRow, c.bCol, c.bAt, from = g.patch, 1, entriesOf(0, loop{g.n, g.c * g.patch}, loop{g.group, g.c / g.group * g.patch}), nil
	}
	c.run(&wc, &xc, dst, bias, from)
	drop(&xc, x)
	drop(&wc, w)
}

// pointwise reports whether every patch is one element.
func (g *convolution) pointwise() bool {
	for i := range g.s {
		if s := &g.s[i]; s.kernel != 1 || s.stride != 1 || s.begin != 0 || s.end != 0 {
			return false
		}
	}
	return true
}

var convOp = opN{about: about{name: "Conv", takesUp: inBlocks, flops: flops{rule: convFLOPs}, rectifies: true, onnx: []int{1, 11, 22}, attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, least: 2, most: 3, fast: productFast,
	takes: floats | fixeds,
	planned: func(c *Call, p *Plan) {
		oneType("Conv", c.Inputs...)
		x, w, bias := c.like("Conv", 0, 0), c.like("Conv", 1, 0), c.like("Conv", 2, 0)
		g := convOf("Conv", x, w, bias, windowOf(c), attrInt(c, "group", 1))
		p.gives(x.DType(), g.shape...)
		p.by(c, 0, func(r *tensor.Any, opts []Option) {
			g.keeps = opts[0].into != nil && x.IsContiguous() && !x.DType().IsNarrow() // else each call makes a copy of it
			g.call(r, x, w, bias, opts)
		})
	}}

func convFLOPs(c *Call, out []tensor.Any) int64 {
	return withBias(productOfAll(2, lengthOf(nth(out, 0)), filterOf(c.in(1))), c, 2, out)
}
