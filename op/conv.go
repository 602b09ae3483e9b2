package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
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
func Conv[T num.Float | num.Narrow | num.Fixed](x, w, bias tensor.Tensor[T], win Window, group int, opts ...Option) tensor.Tensor[T] {
	s := read(opts)
	g := convOf("Conv", x.Any(), w.Any(), anyOrNil(bias), win, group)
	if dtype.Of[T]().IsFixed() {
		return rectified(&s, asFixed(x,
			func(x tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return convFixed(g, x, as1[num.FP8x23](w), as1[num.FP8x23](bias), opts)
			},
			func(x tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return convFixed(g, x, as1[num.FP16x16](w), as1[num.FP16x16](bias), opts)
			},
			func(x tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return convFixed(g, x, as1[num.FP32x32](w), as1[num.FP32x32](bias), opts)
			},
			func(x tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return convFixed(g, x, as1[num.FP64x64](w), as1[num.FP64x64](bias), opts)
			}))
	}
	dst := target[T]("Conv", &s, g.shape)
	if dst.Len() == 0 {
		return dst
	}
	j := exec.Job{Name: "Conv", Ctx: s.ctx()}
	switch d := any(dst).(type) {
	case tensor.Tensor[float32]:
		convolve(j, g, any(x).(tensor.Tensor[float32]), any(w).(tensor.Tensor[float32]), any(bias).(tensor.Tensor[float32]), d, s.rectify)
	case tensor.Tensor[float64]:
		convolve(j, g, any(x).(tensor.Tensor[float64]), any(w).(tensor.Tensor[float64]), any(bias).(tensor.Tensor[float64]), d, s.rectify)
	default:
		wide := tensor.Empty[float32](g.shape...)
		var b tensor.Tensor[float32]
		if !bias.IsZero() {
			b = widened(bias)
		}
		convolve(j, g, widened(x), widened(w), b, wide, s.rectify)
		convertTo(dst, wide, narrowFor[T]())
	}
	return dst
}

func anyOrNil[T num.Elem](t tensor.Tensor[T]) tensor.Any {
	if t.IsZero() {
		return tensor.Any{}
	}
	return t.Any()
}

// convolution is the geometry of a Conv.
type convolution struct {
	shape    []int // of the result
	s        []span
	group    int
	n, c, m  int
	patch, k int // outputs per channel and image; elements that go into each
}

// convOf checks the operands of a convolution; bias may be nil.
func convOf(name string, x, w, bias tensor.Any, win Window, group int) convolution {
	lx, lw := x.Layout(), w.Layout()
	in := spatial(name, &lx)
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
	g := convolution{group: group, n: lx.Dim(0), c: lx.Dim(1), m: lw.Dim(0)}
	if group < 1 || g.m%group != 0 || g.c%group != 0 {
		panic(fail(name, tensor.ErrShape, "%d groups don't divide %d input and %d output channels", group, g.c, g.m))
	}
	if want := g.c / group; lw.Dim(1) != want {
		if group == 1 {
			panic(fail(name, tensor.ErrShape, "input has %d channels, kernel wants %d", g.c, lw.Dim(1)))
		}
		panic(fail(name, tensor.ErrShape, "input has %d channels in %d groups, kernel wants %d in each", g.c, group, lw.Dim(1)))
	}
	if !bias.IsZero() && (bias.Rank() != 1 || bias.Dim(0) != g.m) {
		panic(fail(name, tensor.ErrShape, "the bias is %s; want one number for each of %d output channels", tensor.Describe(bias), g.m))
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

// afterConv adds the bias, one number for each output channel, to the result of a product
// that has a batch entry for each group, for each image if there are several.
func afterConv[T num.Native](e *gemm[T], g *convolution, bias tensor.Tensor[T], rectify bool) {
	var plus []T
	if !bias.IsZero() {
		bias = bias.Contiguous()
		plus = tensor.Run[T](exec.Ref(&bias), exec.Ref(&bias).LayoutRef())
	}
	e.then = after[T]{plus, entriesOf(0, loop{e.batch / g.group, 0}, loop{g.group, g.m / g.group}), 1, 0, rectify}
}

// convolve computes a convolution as a contraction whose right side, the patches
// of x, is packed panel by panel and never exists whole.
func convolve[T num.Native](j exec.Job, g convolution, x, w, bias, dst tensor.Tensor[T], rectify bool) {
	x, w = x.Contiguous(), w.Contiguous()
	out := dst
	if !dst.IsContiguous() || dst.Any().Overlaps(x.Any()) || dst.Any().Overlaps(w.Any()) || !bias.IsZero() && dst.Any().Overlaps(bias.Any()) {
		out = tensor.Empty[T](g.shape...)
	}
	xd, x0 := x.Data()
	wd, w0 := w.Data()
	cd, c0 := out.Mutable()
	mg, cg := g.m/g.group, g.c/g.group
	e := gemm[T]{Job: j, batch: g.n * g.group, m: mg, n: g.patch, k: g.k, tiles: tilesOf[T](),
		a: wd, aRow: g.k, aCol: 1, aAt: entriesOf(w0, loop{g.n, 0}, loop{g.group, mg * g.k}),
		c: cd, cRow: g.patch, cCol: 1, cAt: entriesOf(c0, loop{g.n, g.m * g.patch}, loop{g.group, mg * g.patch}),
	}
	if g.pointwise() {
		e.b, e.bRow, e.bCol, e.bAt = xd, g.patch, 1, entriesOf(x0, loop{g.n, g.c * g.patch}, loop{g.group, cg * g.patch})
	} else {
		e.from = patchesOf(&g, xd[x0:])
	}
	afterConv(&e, &g, bias, rectify)
	if p, ok := e.from.(*patches[T]); !ok || !p.few(&e) {
		e.run()
	}
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	runtime.KeepAlive(x)
	runtime.KeepAlive(w)
	runtime.KeepAlive(bias)
	runtime.KeepAlive(out)
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

var convOp = opN{about: about{name: "Conv", onnx: []int{1, 11, 22}, attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, least: 2, most: 3, fast: productFast,
	infer: func(c *Call) []tensor.Any {
		oneType("Conv", c.Inputs...)
		g := convOf("Conv", c.in(0), c.in(1), c.in(2), windowOf(c), int(c.Attrs.Int("group", 1)))
		return one(spec("Conv", c.in(0).DType(), g.shape...))
	},
	typed: perType{dtype.Float8E4M3: runConv[num.F8E4M3], dtype.Float8E5M2: runConv[num.F8E5M2], dtype.Float16: runConv[num.F16],
		dtype.BFloat16: runConv[num.BF16], dtype.Float32: runConv[float32], dtype.Float64: runConv[float64],
		dtype.FP8x23: runConv[num.FP8x23], dtype.FP16x16: runConv[num.FP16x16], dtype.FP32x32: runConv[num.FP32x32], dtype.FP64x64: runConv[num.FP64x64]}}

func runConv[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	return one(Conv(as[T]("Conv", c, 0), as[T]("Conv", c, 1), as[T]("Conv", c, 2), windowOf(c), int(c.Attrs.Int("group", 1)), options(c)...).Any())
}
