package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TransposeWindow is how the kernel of a ConvTranspose moves: Strides and Dilations
// are those of the result, Pads are cut off from it.
type TransposeWindow struct {
	Window
	OutputPadding []int // more elements at the end of each spatial axis, fewer than the stride or the dilation; nil is 0
	OutputShape   []int // the spatial extents of the result, from which pads follow; nil computes them
}

// ConvTranspose spreads each element of x [N, C, D1, …] over the result with the
// kernels w [C, M/group, k1, …] and adds where they overlap, then adds bias [M]
// unless that is the zero Tensor: [N, M, out1, …], where
//
//	out = stride·(D−1) + padding at the end + (k−1)·dilation + 1 − pads
//
// It is Col2Im of the matrix product wᵀ·x: each kernel position contracts over the
// channels of a group in the fixed order of MatMul, and the positions that meet in
// one element are added in row-major order, in float64, and rounded once; the bias
// is added after, rounded for itself. What no kernel reaches is the bias. Narrow
// floats are computed in float32 and rounded once. SAME_UPPER and SAME_LOWER make
// the result D·stride long; a given OutputShape cuts more off in front when what is
// cut off is odd, unless with SAME_UPPER. It panics when extents don't fit. ONNX
// ConvTranspose. The products of an image exist as a whole, k1·k2·… times as large
// as the result or so.
func ConvTranspose[T num.Float | num.Narrow](x, w, bias tensor.Tensor[T], win TransposeWindow, group int, opts ...Option) (r tensor.Tensor[T]) {
	transposedConv(x.Any(), w.Any(), bias.Any(), win, group).into(exec.Ref(&r), opts)
	return r
}

// transposedConv checks the operands of a transposed convolution; bias may be nil.
func transposedConv(x, w, bias tensor.Any, win TransposeWindow, group int) *transfer {
	const name = "ConvTranspose"
	present(name, &x, &w)
	oneType(name, x, w, bias)
	in := spatial(name, x.LayoutRef())
	if w.Rank() != x.Rank() {
		panic(fail(name, tensor.ErrShape, "the input is %s, the weights %s; want the same rank", tensor.Describe(x), tensor.Describe(w)))
	}
	n, c := x.Dim(0), x.Dim(1)
	if group < 1 || c%group != 0 {
		panic(fail(name, tensor.ErrShape, "%d groups don't divide %d input channels", group, c))
	}
	if w.Dim(0) != c {
		panic(fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", c, w.Dim(0)))
	}
	m := extent(name, 1, w.Dim(1), group)
	if !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != m) {
		panic(fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(bias), m))
	}
	s := win.reaches(name, in, w.Shape()[2:])
	shape := outShape(n, m, s)
	return &transfer{name: name, d: x.DType(), shape: shape, in: operandsOf(x, w, bias), fill: func(ctx context.Context, dst words, in []words) {
		g := &spreading{n: n, c: c, m: m, group: group, s: s}
		inFloat(name, dst, in, func(d *tensor.Any, in []*tensor.Any) {
			g.spread(exec.Job{Name: name, Ctx: ctx}, in[0], in[1], in[2], d)
		})
	}}
}

// reaches checks a window against the spatial extents and returns one span per axis:
// of the result, whose windows lie at the elements of the input.
func (w *TransposeWindow) reaches(name string, in, kernel []int) []span {
	n := len(in)
	check := checker(name, n)
	check("kernel extents", w.Kernel, n, 1)
	check("kernel extents", kernel, n, 1)
	check("strides", w.Strides, n, 1)
	check("dilations", w.Dilations, n, 1)
	check("pads", w.Pads, 2*n, 0)
	check("output paddings", w.OutputPadding, n, 0)
	check("output extents", w.OutputShape, n, 0)
	switch w.AutoPad {
	case "", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER":
	default:
		panic(fail(name, tensor.ErrValue, "auto_pad %q; want NOTSET, VALID, SAME_UPPER or SAME_LOWER", w.AutoPad))
	}
	at := func(v []int, i, def int) int {
		if v == nil {
			return def
		}
		return v[i]
	}
	out := make([]span, n)
	for i := range out {
		s := span{in: in[i], kernel: kernel[i], stride: at(w.Strides, i, 1), dilation: at(w.Dilations, i, 1)}
		if k := at(w.Kernel, i, s.kernel); k != s.kernel {
			panic(fail(name, tensor.ErrShape, "kernel_shape is %s, the weights have %s", listText(w.Kernel), listText(kernel)))
		}
		more := at(w.OutputPadding, i, 0)
		if more > 0 && more >= max(s.stride, s.dilation) {
			panic(fail(name, tensor.ErrValue, "spatial axis %d: an output padding of %d; it must be less than the stride, %d, or the dilation, %d", i, more, s.stride, s.dilation))
		}
		full := int64(extent(name, i+2, max(s.in-1, 0), s.stride))
		if s.in == 0 {
			full = -int64(s.stride)
		}
		reach := int64(s.kernel-1)*int64(s.dilation) + 1 + int64(more) // each below 2^31
		if full > math.MaxInt-reach {
			panic(fail(name, tensor.ErrOverflow, "spatial axis %d: an input of %d with a stride of %d doesn't fit an int", i, s.in, s.stride))
		}
		full += reach
		if same := w.AutoPad == "SAME_UPPER" || w.AutoPad == "SAME_LOWER"; same || w.OutputShape != nil {
			s.out = at(w.OutputShape, i, 0)
			if w.OutputShape == nil {
				s.out = extent(name, i+2, s.in, s.stride)
			}
			cut := max(0, full-int64(s.out))
			s.begin, s.end = int(cut/2), int(cut-cut/2)
			if w.AutoPad != "SAME_UPPER" {
				s.begin, s.end = s.end, s.begin
			}
			out[i] = s
			continue
		}
		if w.AutoPad != "VALID" {
			s.begin, s.end = at(w.Pads, i, 0), at(w.Pads, n+i, 0)
		}
		if full -= int64(s.begin) + int64(s.end); full < 0 || full > math.MaxInt {
			panic(fail(name, tensor.ErrShape, "spatial axis %d: pads of %d and %d leave %d elements", i, s.begin, s.end, full))
		}
		s.out = int(full)
		out[i] = s
	}
	return out
}

// spreading is the geometry of a transposed convolution.
type spreading struct {
	n, c, m, group int
	s              []span
}

// spread computes a transposed convolution, image by image. Operands are contiguous; bias may be nil.
func (g *spreading) spread(j exec.Job, x, w, bias, dst *tensor.Any) {
	places, volume := 1, 1
	for i := range g.s {
		places *= g.s[i].in
		volume *= g.s[i].kernel // both are of tensors that exist
	}
	if dst.Len() == 0 {
		return
	}
	mg, cg := g.m/g.group, g.c/g.group
	rows := mg * volume
	cols := tensor.EmptyOf(dst.DType(), g.group, rows, places)
	for n := range g.n {
		e := contraction{Job: j, batch: g.group, m: rows, n: places, k: cg,
			aRow: 1, aCol: rows, aAt: entriesOf(0, loop{g.group, cg * rows}),
			bRow: places, bCol: 1, bAt: entriesOf(n*g.c*places, loop{g.group, cg * places}),
			cRow: places, cCol: 1, cAt: entriesOf(0, loop{g.group, rows * places})}
		e.run(w, x, &cols, nil, nil)
		if dst.DType() == dtype.Float64 {
			overlay[float64](j, g, n, volume*places, &cols, bias, dst)
		} else {
			overlay[float32](j, g, n, volume*places, &cols, bias, dst)
		}
	}
	cols.Close()
}

// overlay computes image n of the result from the products, so many of each channel.
func overlay[T num.Float](j exec.Job, g *spreading, n, products int, cols, bias, dst *tensor.Any) {
	area := 1
	for i := range g.s {
		area *= g.s[i].out
	}
	src, res := elemsOf[T](cols), elemsOf[T](dst)
	var plus []T
	if bias != nil {
		plus = elemsOf[T](bias)
	}
	canon := canonFor[T]()
	exec.Split(j.Name, j.Ctx, g.m, max(products, 1)+area, func(from, to int) {
		sums := make([]float64, area)
		for m := from; m < to; m++ {
			clear(sums)
			overlaid(sums, src[m*products:][:products], g.s)
			row := res[(n*g.m+m)*area:][:area]
			for i, v := range sums {
				row[i] = T(v)
			}
			if plus != nil {
				for i := range row {
					row[i] += plus[m]
				}
			}
			canon(row)
		}
	})
	runtime.KeepAlive(cols)
	runtime.KeepAlive(bias)
	runtime.KeepAlive(dst)
}

// overlaid adds the products of a channel, for each kernel position those of all
// places in the input, to where they go.
func overlaid[T num.Float](sums []float64, cols []T, s []span) {
	rank := len(s)
	last := &s[rank-1]
	kernel, lines := make([]int, rank), make([]int, rank-1)
	for i := range s {
		kernel[i] = s[i].kernel
		if i < rank-1 {
			lines[i] = s[i].in
		}
	}
	if len(cols) == 0 {
		return
	}
	k, l := make([]int, rank), make([]int, rank-1)
	for more := true; more; more = advance(k, nil, kernel) {
		first := k[rank-1]*last.dilation - last.begin // where the first of a line goes
		lo := 0
		if first < 0 {
			lo = min(last.in, (-first+last.stride-1)/last.stride)
		}
		hi := lo
		if first < last.out {
			hi = max(lo, min(last.in, (last.out-first+last.stride-1)/last.stride))
		}
		clear(l)
		for again := true; again; again = advance(l, nil, lines) {
			at, inside := 0, true
			for i := range l {
				p := l[i]*s[i].stride + k[i]*s[i].dilation - s[i].begin
				inside = inside && uint(p) < uint(s[i].out)
				at = at*s[i].out + p
			}
			if inside {
				at = at*last.out + first
				for i := lo; i < hi; i++ {
					sums[at+i*last.stride] += float64(cols[i])
				}
			}
			cols = cols[last.in:]
		}
	}
}

var convTranspose = opN{about: about{name: "ConvTranspose", takesUp: inBlocks | inColumns, flops: flops{rule: transposedFLOPs}, onnx: []int{1, 11, 22},
	attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"}}, least: 2, most: 3, takes: floats, fast: productFast,
	move: func(c *Call) *transfer {
		w := TransposeWindow{Window: windowOf(c)}
		w.OutputPadding, _ = attrInts(c, "output_padding")
		w.OutputShape, _ = attrInts(c, "output_shape")
		return transposedConv(c.in(0), c.in(1), c.in(2), w, attrInt(c, "group", 1))
	}}

// transposedFLOPs counts the products of each element of the data with a filter, which go into the result.
func transposedFLOPs(c *Call, out []tensor.Any) int64 {
	return withBias(productOfAll(2, lengthOf(c.in(0)), filterOf(c.in(1))), c, 2, out)
}
