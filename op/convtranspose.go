package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ConvTransposeWindow is how the kernel of a ConvTranspose moves: Strides and Dilations
// are for the axes of the result, Pads are cut off from it.
type ConvTransposeWindow struct {
	Window
	OutputPadding []int // more elements at the end of each spatial axis, fewer than the stride or the dilation; nil is 0
	OutputShape   []int // the spatial extents of the result, from which pads follow; nil computes them
}

// ConvTranspose spreads each element of x [N, C, D1, …] over the result with the
// kernels w [C, M/group, k1, …] and adds where they overlap. Then it adds bias [M]
// unless that is the zero Tensor. The result is [N, M, out1, …], where
//
//	out = stride·(D−1) + padding at the end + (k−1)·dilation + 1 − pads
//
// It is Col2Im of the matrix product wᵀ·x: each kernel position contracts over the
// channels of a group in the fixed order of MatMul, and the positions that meet in
// one element are added in row-major order, in float64, and rounded once; the bias
// is added after, rounded for itself. An element that no kernel reaches is the bias. Narrow
// floats are computed in float32 and rounded once. SAME_UPPER and SAME_LOWER make
// the result D·stride long; a given OutputShape cuts more off in front when an
// odd number is cut off, unless with SAME_UPPER. It panics when extents don't fit. ONNX
// ConvTranspose. The products of an image exist as a whole, k1·k2·… times as large
// as the result or so.
func ConvTranspose[T num.Floating](x, w, bias tensor.Tensor[T], win ConvTransposeWindow, group int, opts ...Option) (r tensor.Tensor[T]) {
	transposedConv(x.Any(), w.Any(), bias.Any(), win, group).Into(exec.Ref(&r), opts)
	return r
}

// transposedConv checks the operands of a transposed convolution; bias may be nil.
func transposedConv(x, w, bias tensor.Any, win ConvTransposeWindow, group int) *move.Transfer {
	const name = "ConvTranspose"
	plan.Present(name, &x, &w)
	plan.OneType(name, x, w, bias)
	in := plan.Spatial(name, x.LayoutRef())
	if w.Rank() != x.Rank() {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s, the weights %s; want the same rank", tensor.Describe(x), tensor.Describe(w)))
	}
	n, c := x.Dim(0), x.Dim(1)
	if group < 1 || c%group != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d groups don't divide %d input channels", group, c))
	}
	if w.Dim(0) != c {
		panic(plan.Fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", c, w.Dim(0)))
	}
	m := plan.Extent(name, 1, w.Dim(1), group)
	if !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != m) {
		panic(plan.Fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(bias), m))
	}
	s := win.reaches(name, in, w.Shape()[2:])
	shape := contract.OutShape(n, m, s)
	price := contract.PriceOf(x.DType(), s, float64(x.Len()), float64(w.Len()), float64(plan.FilterOf(w)), plan.BytesIn(1, shape))
	price.Takes(float64(max(4, x.DType().Size()))*plan.BytesIn(m, in)*plan.BytesIn(1, w.Shape()[2:]), 0) // the columns
	price.Costs(plan.WithBias(plan.ProductOfAll(2, plan.LengthOf(x), plan.FilterOf(w)), &bias, plan.Count(shape)))
	return &move.Transfer{Name: name, D: x.DType(), Shape: shape, In: move.OperandsOf(x, w, bias), Price: price, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		g := &spreading{n: n, c: c, m: m, group: group, s: s}
		inFloat(name, dst, in, func(d *tensor.Any, in []*tensor.Any) {
			g.spread(exec.Job{Name: name, Ctx: ctx}, in[0], in[1], in[2], d)
		})
	}}
}

// reaches checks a window against the spatial extents and returns one span per axis:
// of the result, whose windows lie at the elements of the input.
func (w *ConvTransposeWindow) reaches(name string, in, kernel []int) []contract.Span {
	n := len(in)
	check := contract.Checker(name, n)
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
		panic(plan.Fail(name, tensor.ErrValue, "auto_pad %q; want NOTSET, VALID, SAME_UPPER or SAME_LOWER", w.AutoPad))
	}
	at := func(v []int, i, def int) int {
		if v == nil {
			return def
		}
		return v[i]
	}
	out := make([]contract.Span, n)
	for i := range out {
		s := contract.Span{In: in[i], Kernel: kernel[i], Stride: at(w.Strides, i, 1), Dilation: at(w.Dilations, i, 1)}
		if k := at(w.Kernel, i, s.Kernel); k != s.Kernel {
			panic(plan.Fail(name, tensor.ErrShape, "kernel_shape is %s, the weights have %s", plan.ListText(w.Kernel), plan.ListText(kernel)))
		}
		more := at(w.OutputPadding, i, 0)
		if more > 0 && more >= max(s.Stride, s.Dilation) {
			panic(plan.Fail(name, tensor.ErrValue, "spatial axis %d: an output padding of %d; it must be less than the stride, %d, or the dilation, %d", i, more, s.Stride, s.Dilation))
		}
		full := int64(plan.Extent(name, i+2, max(s.In-1, 0), s.Stride))
		if s.In == 0 {
			full = -int64(s.Stride)
		}
		reach := int64(s.Kernel-1)*int64(s.Dilation) + 1 + int64(more) // each below 2^31
		if full > math.MaxInt-reach {
			panic(plan.Fail(name, tensor.ErrOverflow, "spatial axis %d: an input of %d with a stride of %d doesn't fit an int", i, s.In, s.Stride))
		}
		full += reach
		if same := w.AutoPad == "SAME_UPPER" || w.AutoPad == "SAME_LOWER"; same || w.OutputShape != nil {
			s.Out = at(w.OutputShape, i, 0)
			if w.OutputShape == nil {
				s.Out = plan.Extent(name, i+2, s.In, s.Stride)
			}
			cut := max(0, full-int64(s.Out))
			s.Begin, s.End = int(cut/2), int(cut-cut/2)
			if w.AutoPad != "SAME_UPPER" {
				s.Begin, s.End = s.End, s.Begin
			}
			out[i] = s
			continue
		}
		if w.AutoPad != "VALID" {
			s.Begin, s.End = at(w.Pads, i, 0), at(w.Pads, n+i, 0)
		}
		if full -= int64(s.Begin) + int64(s.End); full < 0 || full > math.MaxInt {
			panic(plan.Fail(name, tensor.ErrShape, "spatial axis %d: pads of %d and %d leave %d elements", i, s.Begin, s.End, full))
		}
		s.Out = int(full)
		out[i] = s
	}
	return out
}

// spreading is the geometry of a transposed convolution.
type spreading struct {
	n, c, m, group int
	s              []contract.Span
}

// spread computes a transposed convolution, image by image. Operands are contiguous; bias may be nil.
func (g *spreading) spread(j exec.Job, x, w, bias, dst *tensor.Any) {
	places, volume := 1, 1
	for i := range g.s {
		places *= g.s[i].In
		volume *= g.s[i].Kernel // both are of tensors that exist
	}
	if dst.Len() == 0 {
		return
	}
	mg, cg := g.m/g.group, g.c/g.group
	rows := mg * volume
	cols := tensor.EmptyOf(dst.DType(), g.group, rows, places)
	for n := range g.n {
		e := contract.Contraction{Job: j, Batch: g.group, M: rows, N: places, K: cg,
			ARow: 1, ACol: rows, AAt: contract.EntriesOf(0, contract.Loop{Ext: g.group, Str: cg * rows}),
			BRow: places, BCol: 1, BAt: contract.EntriesOf(n*g.c*places, contract.Loop{Ext: g.group, Str: cg * places}),
			CRow: places, CCol: 1, CAt: contract.EntriesOf(0, contract.Loop{Ext: g.group, Str: rows * places})}
		e.Run(w, x, &cols, nil)
		if dst.DType() == dtype.Float64 {
			overlay[float64](j, g, n, volume*places, &cols, bias, dst)
		} else {
			overlay[float32](j, g, n, volume*places, &cols, bias, dst)
		}
	}
	cols.Close()
}

// overlay computes image n of the result from cols, products numbers of each channel.
func overlay[T num.Float](j exec.Job, g *spreading, n, products int, cols, bias, dst *tensor.Any) {
	area := 1
	for i := range g.s {
		area *= g.s[i].Out
	}
	src, res := move.ElemsOf[T](cols), move.ElemsOf[T](dst)
	var plus []T
	if bias != nil {
		plus = move.ElemsOf[T](bias)
	}
	canon := cast.CanonFor[T]()
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

// overlaid adds the products of a channel, for each kernel position the products of
// all places in the input, to where they go.
func overlaid[T num.Float](sums []float64, cols []T, s []contract.Span) {
	rank := len(s)
	last := &s[rank-1]
	kernel, lines := make([]int, rank), make([]int, rank-1)
	for i := range s {
		kernel[i] = s[i].Kernel
		if i < rank-1 {
			lines[i] = s[i].In
		}
	}
	if len(cols) == 0 {
		return
	}
	k, l := make([]int, rank), make([]int, rank-1)
	for more := true; more; more = advance(k, nil, kernel) {
		first := k[rank-1]*last.Dilation - last.Begin // where the first of a line goes
		lo := 0
		if first < 0 {
			lo = min(last.In, (-first+last.Stride-1)/last.Stride)
		}
		hi := lo
		if first < last.Out {
			hi = max(lo, min(last.In, (last.Out-first+last.Stride-1)/last.Stride))
		}
		clear(l)
		for again := true; again; again = advance(l, nil, lines) {
			at, inside := 0, true
			for i := range l {
				p := l[i]*s[i].Stride + k[i]*s[i].Dilation - s[i].Begin
				inside = inside && uint(p) < uint(s[i].Out)
				at = at*s[i].Out + p
			}
			if inside {
				at = at*last.Out + first
				for i := lo; i < hi; i++ {
					sums[at+i*last.Stride] += float64(cols[i])
				}
			}
			cols = cols[last.In:]
		}
	}
}

var convTranspose = plan.Operator{About: plan.About{Name: "ConvTranspose", Convolves: true, Versions: []int{1, 11, 22},
	Attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"}}, Least: 2, Most: 3, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		w := ConvTransposeWindow{Window: Window(contract.WindowOf(c))}
		w.OutputPadding, _ = plan.AttrInts(c, "output_padding")
		w.OutputShape, _ = plan.AttrInts(c, "output_shape")
		return transposedConv(c.In(0), c.In(1), c.In(2), w, plan.AttrInt(c, "group", 1))
	}}
