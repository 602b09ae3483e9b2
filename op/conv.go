package op

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Conv returns the convolution (as in ONNX: without flipping the kernel) of x
// [N, C, D1, …] with w [M, C/group, k1, …], plus bias [M] unless that is the
// zero Tensor: [N, M, out1, …]. Each output contracts over (channel in its
// group, kernel axes) in the weights' row-major order, in the fixed order of
// MatMul; padding is the value +0, multiplied like any other; the bias is added
// after, rounded for itself. Narrow floats are computed in float32 and rounded
// once. It panics when extents don't fit. ONNX Conv.
func Conv[T num.Float | num.Narrow](x, w, bias tensor.Tensor[T], win Window, group int, opts ...Option) tensor.Tensor[T] {
	s := read(opts)
	g := convOf("Conv", x, w, anyOrNil(bias), win, group)
	dst := target[T]("Conv", &s, g.shape)
	if dst.Len() == 0 {
		return dst
	}
	j := job{name: "Conv", ctx: s.ctx()}
	switch d := any(dst).(type) {
	case tensor.Tensor[float32]:
		convolve(j, g, any(x).(tensor.Tensor[float32]), any(w).(tensor.Tensor[float32]), any(bias).(tensor.Tensor[float32]), d)
	case tensor.Tensor[float64]:
		convolve(j, g, any(x).(tensor.Tensor[float64]), any(w).(tensor.Tensor[float64]), any(bias).(tensor.Tensor[float64]), d)
	default:
		wide := tensor.Empty[float32](g.shape...)
		var b tensor.Tensor[float32]
		if !bias.IsZero() {
			b = widened(bias)
		}
		convolve(j, g, widened(x), widened(w), b, wide)
		convertTo(dst, wide, narrowOf[T]())
	}
	return dst
}

func anyOrNil[T num.Elem](t tensor.Tensor[T]) tensor.Any {
	if t.IsZero() {
		return nil
	}
	return t
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
	if bias != nil && (bias.Rank() != 1 || bias.Dim(0) != g.m) {
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

// convolve computes a convolution as a contraction whose right side, the patches
// of x, is packed panel by panel and never exists whole.
func convolve[T num.Float](j job, g convolution, x, w, bias, dst tensor.Tensor[T]) {
	x, w = x.Contiguous(), w.Contiguous()
	out := dst
	if !dst.IsContiguous() || dst.Overlaps(x) || dst.Overlaps(w) || !bias.IsZero() && dst.Overlaps(bias) {
		out = tensor.Empty[T](g.shape...)
	}
	xd, x0 := x.Data()
	wd, w0 := w.Data()
	cd, c0 := out.Mutable()
	mg, cg := g.m/g.group, g.c/g.group
	batch := []int{g.n, g.group}
	e := gemm[T]{job: j, batch: g.n * g.group, m: mg, n: g.patch, k: g.k, tiles: tilesOf[T](),
		a: wd, aRow: g.k, aCol: 1, aAt: entries{w0, batch, []int{0, mg * g.k}},
		c: cd, cRow: g.patch, cCol: 1, cAt: entries{c0, batch, []int{g.m * g.patch, mg * g.patch}},
	}
	if g.pointwise() {
		e.b, e.bRow, e.bCol, e.bAt = xd, g.patch, 1, entries{x0, batch, []int{g.c * g.patch, cg * g.patch}}
	} else {
		e.from = patchesOf(&g, e.tiles, xd[x0:])
	}
	if !bias.IsZero() {
		canon := canonOf[T]()
		e.finish = func(b, r, m, n0, nn int) {
			for i := r; i < r+m; i++ {
				v, at := bias.At(b%g.group*mg+i), c0+(b*mg+i)*g.patch+n0
				row := cd[at : at+nn]
				for p := range row {
					row[p] += v
				}
				canon(row)
			}
		}
	}
	e.run()
	if !out.SameData(dst) {
		dst.CopyFrom(out)
	}
	runtime.KeepAlive(x)
	runtime.KeepAlive(w)
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

// patchesOf returns the matrix of patches of x: row k is one (channel, kernel
// position), column n one output position.
func patchesOf[T num.Float](g *convolution, tiles tiler[T], x []T) source[T] {
	plane := 1
	for i := range g.s {
		plane *= g.s[i].in
	}
	p := &patches[T]{convolution: g, tiles: tiles, x: x, inPlane: plane}
	if p.plan() {
		return p
	}
	return &anyPatches[T]{g, x, plane}
}

// patches makes a block of the matrix in two steps. First it copies the lines of
// the input that the block's outputs meet, for the channels of its rows, with their
// padding, so that the elements which a kernel position picks for neighbouring outputs
// are adjacent. For that a line of the last axis is kept as one line for each
// remainder of the stride that the kernel meets: the elements from it on, a stride
// apart. Then it gathers rows from there.
type patches[T num.Float] struct {
	*convolution
	tiles   tiler[T]
	x       []T
	inPlane int // elements of a channel of x

	lines  []int // of each axis with its padding; of the last 1
	phases []int // the remainders
	width  int   // of a line of one remainder
	line   int   // of all its remainders
	plane  int   // lines of a channel
	taps   []int // of each kernel position, from the output's position
	reach  int   // lines that the kernel spans, less one
}

// plan reports whether the copies are not much larger than what is computed with
// them.
func (p *patches[T]) plan() bool {
	rank := len(p.s)
	last := &p.s[rank-1]
	most := 4*(p.inPlane+p.patch) + 1<<16
	var phase, shift []int                  // of each kernel position along the last axis
	for k := range min(last.kernel, most) { // at most: then it isn't ok
		at := k * last.dilation
		i := slices.Index(p.phases, at%last.stride)
		if i < 0 {
			i = len(p.phases)
			p.phases = append(p.phases, at%last.stride)
		}
		phase, shift = append(phase, i), append(shift, at/last.stride)
	}
	p.width = last.out + (last.kernel-1)*last.dilation/last.stride
	p.line, p.plane = p.width*len(p.phases), 1
	if p.width > most || p.line > most {
		return false
	}
	for i := range p.s {
		s, n := &p.s[i], 1
		if i < rank-1 {
			n = (s.out-1)*s.stride + (s.kernel-1)*s.dilation + 1
		}
		if n > most/(p.plane*max(p.line, 1)) {
			return false
		}
		p.plane *= n
		p.lines = append(p.lines, n)
	}
	volume := 1
	for i := range p.s {
		volume *= p.s[i].kernel
	}
	p.taps = make([]int, volume)
	for k := range p.taps {
		c, off, step := k/last.kernel, phase[k%last.kernel]*p.width+shift[k%last.kernel], p.line
		for i := rank - 2; i >= 0; i-- {
			s := &p.s[i]
			c, off = c/s.kernel, off+c%s.kernel*s.dilation*step
			step *= p.lines[i]
		}
		p.taps[k] = off
		p.reach = max(p.reach, off/max(p.line, 1))
	}
	return true
}

// lineOf returns the line of output n in a channel with its padding.
func (p *patches[T]) lineOf(n int) int {
	rank := len(p.s)
	at, step := 0, 1
	n /= p.s[rank-1].out
	for i := rank - 2; i >= 0; i-- {
		s := &p.s[i]
		at += n % s.out * s.stride * step
		n /= s.out
		step *= p.lines[i]
	}
	return at
}

// span returns the lines that outputs [n0, n0+nn) meet.
func (p *patches[T]) span(n0, nn int) (from, n int) {
	from = p.lineOf(n0)
	return from, p.lineOf(n0+nn-1) + p.reach + 1 - from
}

func (p *patches[T]) room(n0, nn int) int {
	_, lines := p.span(n0, nn)
	return min((min(p.k, gemmK)-1)/len(p.taps)+2, p.c/p.group) * lines * p.line
}

func (p *patches[T]) ready(b *blockOfB[T]) {
	from, lines := p.span(b.n0, b.nn)
	size, first, past := lines*p.line, b.k0/len(p.taps), (b.k0+b.kn-1)/len(p.taps)+1
	b.origin = from * p.line
	for c := first; c < past; c++ {
		p.pad(b.scratch[(c-first)*size:(c-first+1)*size], from, (b.batch*(p.c/p.group)+c)*p.inPlane)
	}
	for i, k := 0, b.k0-first*len(p.taps); i < b.kn; i, k = i+1, k+1 {
		b.offs[i] = k/len(p.taps)*size + p.taps[k%len(p.taps)]
	}
	b.most = slices.Max(b.offs[:b.kn])
}

// pad copies lines of a channel of the input, which is at src in x, from line first
// on, with the padding.
func (p *patches[T]) pad(dst []T, first, src int) {
	rank := len(p.s)
	last := &p.s[rank-1]
	for l := first; len(dst) > 0; l++ {
		line := dst[:p.line]
		dst = dst[p.line:]
		at, step, inside := src, last.in, true
		rest := l
		for i := rank - 2; i >= 0; i-- {
			s := &p.s[i]
			y := rest%p.lines[i] - s.begin
			rest /= p.lines[i]
			inside = inside && uint(y) < uint(s.in)
			at += y * step
			step *= s.in
		}
		if !inside {
			clear(line)
			continue
		}
		for i, phase := range p.phases {
			packLine(line[i*p.width:(i+1)*p.width], p.x[at:at+last.in], phase-last.begin, last.stride)
		}
	}
}

func (p *patches[T]) pack(dst []T, b *blockOfB[T], n0, nn int) {
	last := &p.s[len(p.s)-1]
	for n := n0; n < n0+nn; {
		// A piece of one line of outputs along the last axis.
		x := n % last.out
		w := min(last.out-x, n0+nn-n)
		p.tiles.Gather(dst[n-n0:], nn, b.scratch[p.lineOf(n)*p.line-b.origin+x:], b.offs[:b.kn], b.most, w)
		n += w
	}
}

// anyPatches makes the matrix of patches without a copy of the input, and is much
// slower than patches.
type anyPatches[T num.Float] struct {
	*convolution
	x     []T
	plane int
}

func (p *anyPatches[T]) room(n0, nn int) int  { return 0 }
func (p *anyPatches[T]) ready(b *blockOfB[T]) {}

func (p *anyPatches[T]) pack(dst []T, b *blockOfB[T], n0, nn int) {
	cg := p.c / p.group
	packPatches(p.convolution, dst, p.x[b.batch*cg*p.plane:(b.batch+1)*cg*p.plane], p.plane, b.k0, b.kn, n0, nn)
}

// packPatches fills rows [k0, k0+kn) and columns [n0, n0+nn) of the matrix of
// patches. src holds the channels of one image and group, one plane after the other.
func packPatches[T num.Float](g *convolution, dst, src []T, plane, k0, kn, n0, nn int) {
	rank := len(g.s)
	last := &g.s[rank-1]
	var fewK, fewO [4]int
	kc, oc := append(fewK[:0], make([]int, rank)...), append(fewO[:0], make([]int, rank)...)
	for k := range kn {
		channel := k0 + k
		for i := rank - 1; i >= 0; i-- {
			kc[i] = channel % g.s[i].kernel
			channel /= g.s[i].kernel
		}
		row := dst[k*nn : (k+1)*nn]
		for n := n0; len(row) > 0; {
			// One line of outputs along the last axis.
			rest := n
			for i := rank - 1; i >= 0; i-- {
				oc[i] = rest % g.s[i].out
				rest /= g.s[i].out
			}
			m := min(last.out-oc[rank-1], len(row))
			base, inside := channel*plane, true
			step := 1
			for i := rank - 1; i >= 0; i-- {
				s := &g.s[i]
				if i < rank-1 {
					at := s.at(oc[i], kc[i])
					inside = inside && uint(at) < uint(s.in)
					base += at * step
				}
				step *= s.in
			}
			if inside {
				packLine(row[:m], src[base:base+last.in], last.at(oc[rank-1], kc[rank-1]), last.stride)
			} else {
				clear(row[:m])
			}
			row, n = row[m:], n+m
		}
	}
}

// packLine sets dst[i] to src[from + i·step], or to 0 outside of src.
func packLine[T num.Float](dst, src []T, from, step int) {
	before := 0
	if from < 0 {
		before = min(len(dst), (-from+step-1)/step)
	}
	clear(dst[:before])
	dst, from = dst[before:], from+before*step
	inside := 0
	if from < len(src) {
		inside = min(len(dst), (len(src)-from+step-1)/step)
	}
	clear(dst[inside:])
	if inside == 0 {
		return
	}
	if step == 1 {
		copy(dst[:inside], src[from:])
		return
	}
	for i := range inside {
		dst[i] = src[from]
		from += step
	}
}

var convOp = opN{about: about{name: "Conv", onnx: []int{1, 11, 22}, attrs: []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}, least: 2, fast: productFast,
	infer: func(c *Call) []tensor.Any {
		oneType("Conv", c.Inputs...)
		g := convOf("Conv", c.in(0), c.in(1), c.in(2), windowOf(c), int(c.Attrs.Int("group", 1)))
		return one(spec("Conv", c.in(0).DType(), g.shape...))
	},
	run: perType{dtype.Float8E4M3: runConv[num.F8E4M3], dtype.Float8E5M2: runConv[num.F8E5M2], dtype.Float16: runConv[num.F16],
		dtype.BFloat16: runConv[num.BF16], dtype.Float32: runConv[float32], dtype.Float64: runConv[float64]}}

func runConv[T num.Float | num.Narrow](c *Call) []tensor.Any {
	return one(Conv(as[T]("Conv", c, 0), as[T]("Conv", c, 1), as[T]("Conv", c, 2), windowOf(c), int(c.Attrs.Int("group", 1)), options(c)...))
}
