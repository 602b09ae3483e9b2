package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// A direct convolution of bytes has panels of output channels, and rows of a tile are neighbouring outputs. The input is copied channels last, with its
// padding and in the elements that the tiles take. So the products of an output lie in runs: one for each kernel position, or for several that
// follow each other. Sums of integers are exact in any order.

// A ByteResult says where the sums of a convolution go.
type ByteResult[E uint8 | int32] struct {
	Dst  []E  // [N, M, …] in row-major order,
	Last bool // or channels last
	Bias []int32

	// Row makes elements of the sums of some channels, from one on, of an output, to each of which a number of plus is added. The channels of the next outputs
	// may follow, of BytesTogether outputs in all. It may change sums.
	Row func(dst []E, sums, plus []int32, channel int)
	// Emit takes sums of a channel of an image, from output at on, where the convolution isn't direct. See ByteProduct. It may change sums.
	Emit func(image, channel, at int, sums []int32, last bool)
}

// BytesDirect reports whether a convolution of bytes has a direct form.
func (g *Convolution) BytesDirect() bool {
	const most = 1 << 23 // elements that a line of outputs meets, or has
	if g.K < 1 || g.K > ByteExact || g.M/g.Group < byteChannels && !g.deepBytes() {
		return false
	}
	in, out := float64(g.C/g.Group), float64(roundUp(g.M/g.Group, simd.ByteColumns))
	for i, s := range byteSpans(g) {
		n := 0.
		if i > 0 {
			n = float64(float64(s.Out-1) * float64(s.Stride))
			out *= float64(s.Out)
		}
		in *= n + float64(float64(s.Kernel-1)*float64(s.Dilation)) + 1
	}
	return in <= most && out <= most
}

// deepBytes reports whether each output channel is of one input channel, so that a row of channels is a row of sums.
func (g *Convolution) deepBytes() bool { return g.M == g.Group && g.C == g.Group && g.K <= byteK }

// BytesTogether returns of how many outputs a row of sums may be, so that rows aren't short.
func (g *Convolution) BytesTogether() int {
	if g.Group > 1 && !g.deepBytes() {
		return 1
	}
	return max(1, byteTogether/max(1, g.M))
}

// byteSpans returns the axes. Axes that the kernel doesn't reach along are one, and axes of one element are none.
func byteSpans(g *Convolution) []Span {
	s := joined(g.S)
	for len(s) > 1 && s[0] == (Span{In: 1, Out: 1, Kernel: 1, Stride: s[0].Stride, Dilation: s[0].Dilation}) {
		s = s[1:]
	}
	return s
}

// ConvolveBytes computes a convolution of bytes, of x and w. There is one zero point of x, and one of w or one for each output channel. x lies channels last if last is
// true, which only a direct form takes.
func ConvolveBytes[E uint8 | int32](g *Convolution, j exec.Job, x ByteSide, last bool, w ByteSide, exact bool, to ByteResult[E]) {
	switch {
	case g.N == 0 || g.M == 0 || g.Patch == 0:
	case !g.BytesDirect():
		pad := byte(x.zero(0)) ^ x.flip()
		g.bytesByParts(ByteProduct{Job: j, M: g.M / g.Group, K: g.K, A: w, Exact: exact}, x, pad, to.Emit)
	case g.deepBytes():
		directBytes[int16](g, j, deepTiles{}, x, last, w, to)
	case byteQuads != nil:
		directBytes[uint8](g, j, byteQuads, x, last, w, to)
	case simd.DotProducts[cpu.Current()] != nil:
		directBytes[int8](g, j, simd.DotProducts[cpu.Current()], x, last, w, to)
	case simd.ByteProducts.Best() != nil:
		directBytes[int16](g, j, simd.ByteProducts.Best(), x, last, w, to)
	default:
		directBytes[int16](g, j, plainBytes{}, x, last, w, to)
	}
}

// byteShape is the places of a direct convolution of bytes in what the tiles read.
type byteShape struct {
	s           []Span
	last        bool
	step        []int // of each axis: from an element of the input to the next
	channel     int   // and between channels
	wide        []int // of each axis: elements that are copied; of the first one, that an output meets
	pitch, slab int   // between places, and between lines of the first axis
	lines       []int // where the lines of outputs of a slab begin
	width, row  int   // outputs of a line, and from one to the next
	affine      bool  // outputs of a slab follow those of the slab before
	runs        []int // where runs begin,
	most, run   int   // the last of them, and elements of a run
	taps        []int // of each run and element: its place in k, or -1
	deep        bool
	panels      int // of a group
}

// shapeBytes plans the places, for tiles that take groups of k in elements of a size.
func shapeBytes(g *Convolution, last bool, group, size int) *byteShape {
	e := &byteShape{s: byteSpans(g), last: last, deep: g.deepBytes()}
	cg := g.C / g.Group
	e.panels = (g.M/g.Group + simd.ByteColumns - 1) / simd.ByteColumns
	if e.deep {
		cg, e.panels = g.C, (g.C+simd.ByteColumns-1)/simd.ByteColumns
	}
	rank := len(e.s)
	e.step, e.wide = make([]int, rank), make([]int, rank)
	e.channel = g.Plane()
	unit := 1
	if last {
		e.channel, unit = 1, g.C
	}
	for i := rank - 1; i >= 0; i-- {
		s := &e.s[i]
		e.step[i], unit = unit, unit*s.In
		if s.Kernel == 1 && s.Begin == 0 && s.End == 0 { // elements between are never read
			e.step[i] *= s.Stride
			s.In, s.Stride = s.Out, 1
		}
		e.wide[i] = (s.Kernel-1)*s.Dilation + 1
		if i > 0 {
			e.wide[i] += (s.Out - 1) * s.Stride
		}
	}
	switch e.pitch = cg; {
	case e.deep:
		e.pitch = e.panels * simd.ByteColumns
	case cg*size%1024 == 0: // these lines of the cache would push each other out
		e.pitch += 64 / size
	}
	steps, at := make([]int, rank), e.pitch
	for i := rank - 1; i >= 0; i-- {
		if steps[i] = at; i > 0 {
			at *= e.wide[i]
		}
	}
	e.slab = steps[0]
	// Lines of outputs.
	e.width, e.row, e.lines = 1, e.slab*e.s[0].Stride, []int{0}
	if rank > 1 {
		s := &e.s[rank-1]
		e.width, e.row = s.Out, e.pitch*s.Stride
		for i := 1; i < rank-1; i++ {
			var more []int
			for _, from := range e.lines {
				for o := range e.s[i].Out {
					more = append(more, from+o*e.s[i].Stride*steps[i])
				}
			}
			e.lines = more
		}
	}
	e.affine = len(e.lines) == 1 && e.slab*e.s[0].Stride == e.width*e.row
	// Runs of k.
	places := []int{0}
	for i := range e.s {
		var more []int
		for _, from := range places {
			for k := range e.s[i].Kernel {
				more = append(more, from+k*e.s[i].Dilation*steps[i])
			}
		}
		places = more
	}
	if e.deep {
		e.most = places[len(places)-1]
		if e.runs = places; len(places)%2 != 0 {
			e.runs = append(places, 0) // whose weights are 0
		}
		return e
	}
	merged := 1 // kernel positions in a run
	for n := 2; n <= len(places) && places[n-1] == (n-1)*cg; n++ {
		if len(places)%n == 0 {
			merged = n
		}
	}
	for i, at := range places {
		if at != places[i/merged*merged]+i%merged*cg {
			merged = 1
			break
		}
	}
	parts := (merged*cg + byteK - 1) / byteK
	e.run = roundUp((merged*cg+parts-1)/parts, group)
	for i := 0; i < len(places); i += merged {
		for p := range parts {
			e.runs = append(e.runs, places[i]+p*e.run)
			for at := p * e.run; at < (p+1)*e.run; at++ {
				if at < merged*cg {
					e.taps = append(e.taps, at%cg*len(places)+i+at/cg)
				} else {
					e.taps = append(e.taps, -1)
				}
			}
		}
	}
	e.most = slices.Max(e.runs)
	return e
}

// directByte is a direct convolution of bytes.
type directByte[T int8 | int16 | uint8, E byte | int32] struct {
	*Convolution
	*byteShape
	exec.Job
	tiles   byteTiles[T]
	x       ByteSide
	weights *byteWeights[T]
	to      ByteResult[E]
	plus    []int32
	less    T // subtracted from elements of the input
	pad     T
	made    bool
	per     int // outputs of a line of the first axis
	cols    int // of panels
	strips  int // of lines, of an image and group,
	parts   int // each in so many parts of the panels
}

func directBytes[T int8 | int16 | uint8, E byte | int32](g *Convolution, j exec.Job, t byteTiles[T], x ByteSide, last bool, w ByteSide, to ByteResult[E]) {
	size := 1
	if _, wide := any(T(0)).(int16); wide {
		size = 2
	}
	shape, ok := g.kept.(*byteShape)
	if !ok || shape.last != last {
		shape = shapeBytes(g, last, t.Group(), size)
		g.kept = shape
	}
	e := directByte[T, E]{Convolution: g, byteShape: shape, Job: j, tiles: t, x: x, to: to}
	z := x.zero(0)
	less := bytesLess[T](z, false)
	e.less, e.pad = T(less), T(z-less)
	e.weights = weightsOf(&e, &w)
	left := int32(z - less)
	e.cols = e.panels
	if e.weights.zeros != nil {
		e.cols++ // a panel of ones
	}
	e.plus = make([]int32, g.M*g.BytesTogether())
	copy(e.plus, e.to.Bias)
	for c := range g.M {
		e.plus[c] -= left * e.weights.sums[c]
		if e.weights.zeros != nil {
			e.plus[c] += left * e.weights.zeros[c] * int32(g.K)
		}
	}
	for i := g.M; i < len(e.plus); i += g.M {
		copy(e.plus[i:], e.plus[:g.M])
	}
	e.made = !(size == 1 && less == 0 && x.flip() == 0 && last && len(e.runs)*e.run == g.K && g.K == g.C && g.Group == 1 && !e.padded())
	if !e.made {
		in := *shape
		e.byteShape = &in
		e.slab, e.row = e.step[0], e.step[len(e.s)-1]
		if e.affine = len(e.s) == 1 || len(e.s) == 2 && e.slab == e.width*e.row; !e.affine && len(e.s) > 2 {
			e.made, e.byteShape = true, shape
		}
	}
	e.per = e.width * len(e.lines)
	e.split()
	runtime.KeepAlive(g)
}

// padded reports whether the input has padding.
func (e *byteShape) padded() bool {
	return slices.ContainsFunc(e.s, func(s Span) bool { return s.Begin+s.End > 0 || s.At(s.Out-1, s.Kernel-1) >= s.In })
}

// block returns the number of runs of a block.
func (e *byteShape) block() int { return max(1, byteK/e.run) }

// split computes the convolution, by strips of lines of the first axis and by panels.
func (e *directByte[T, E]) split() {
	groups, cg, rate := e.Group, e.C/e.Group, byteRate
	if e.deep {
		groups, cg = 1, e.C
	}
	if _, quads := any(T(0)).(uint8); quads {
		rate = quadRate
	}
	out := e.s[0].Out
	row := e.s[0].Stride*e.slab + 4*e.per*e.cols*simd.ByteColumns
	if !e.made {
		row = e.per*cg + 4*e.per*e.cols*simd.ByteColumns
	}
	strips := (out + max(1, byteRoom/row) - 1) / max(1, byteRoom/row)
	cost := float64(e.N) * float64(e.Patch) * float64(e.M) * float64(max(1, e.K/rate)+2)
	tiles := 1
	if e.weights.zeros == nil && !e.deep {
		tiles = (e.panels + 1) / 2
	}
	e.strips, e.parts = divide(e.Job, cost, e.N*groups, out, strips, tiles)
	count := e.N * groups * e.strips * e.parts
	exec.Split(e.Name, e.Ctx, count, int(min(cost/float64(count), 1<<30)), func(from, to int) {
		for u := from; u < to; u++ {
			part, s, group := u%e.parts, u/e.parts%e.strips, u/e.parts/e.strips
			pairs := (e.cols + 1) / 2
			first, n := stripOf(s, out, e.strips)
			e.strip(group/groups, group%groups, first, n, 2*(part*pairs/e.parts), min(e.cols, 2*((part+1)*pairs/e.parts)))
		}
	})
}

// strip computes panels [p0, p1) of a group in n lines of an image from line l0 on.
func (e *directByte[T, E]) strip(image, group, l0, n, p0, p1 int) {
	const cols = simd.ByteColumns
	mg, cg := e.M/e.Group, e.C/e.Group
	if e.deep {
		mg, cg = e.C, e.C
	}
	lines, pixels, ldc := (n-1)*e.s[0].Stride+e.wide[0], n*e.per, (p1-p0)*cols
	m0, m := p0*cols, min(p1*cols, mg)-p0*cols
	elems := 0
	if e.made {
		elems = lines*e.slab + len(e.taps) + 64
	}
	line := e.wide[len(e.wide)-1]
	if len(e.s) == 1 {
		line = lines
	}
	p := PanelsOf(2*elems + line*cg + 4*pixels*ldc + 4*pixels*m + 1024)
	defer PanelPool.Put(p)
	rest := p.Bytes()
	var a []T
	if e.made {
		a = conv.Carve[T](&rest, elems)
		from := image*e.C*e.Plane() + group*cg*e.channel
		e.copyLines(a, e.x.Mem[from:], conv.Carve[byte](&rest, line*cg), l0*e.s[0].Stride-e.s[0].Begin, lines, cg)
	} else {
		a = any(e.x.Mem[image*e.C*e.Plane()+l0*e.step[0]:]).([]T)
	}
	sums := conv.Carve[int32](&rest, pixels*ldc)
	if e.deep {
		e.eachLine(n, func(from, at, count int) {
			deepLine(sums[at*ldc:], any(a[from:]).([]int16), e.row, e.runs, e.most, any(e.weights.panels).([]int16), count, e.panels)
		})
	} else {
		e.multiply(sums, ldc, a, e.weights.panels[group*e.cols*len(e.taps)*cols:], n, p0, p1)
	}
	if e.weights.zeros != nil {
		zeros := e.weights.zeros[group*mg:][:mg]
		for i := range pixels {
			row, of := sums[i*ldc:][:mg], sums[i*ldc+e.panels*cols]
			for c, zero := range zeros {
				row[c] -= of * zero
			}
		}
	}
	channel := group*mg + m0
	to, next := e.to.Dst, e.M
	if first := l0 * e.per; e.to.Last {
		to = to[(image*e.Patch+first)*e.M+channel:]
	} else {
		to, next = conv.Carve[E](&rest, pixels*m), m
	}
	together := 1
	if m == e.M {
		together = e.BytesTogether()
	}
	if together > 1 && m < ldc { // so that the sums of outputs follow each other
		for i := 1; i < pixels; i++ {
			copy(sums[i*m:(i+1)*m], sums[i*ldc:])
		}
		ldc = m
	}
	for i := 0; i < pixels; i += together {
		n := min(together, pixels-i) * m
		e.to.Row(to[i*next:][:n], sums[i*ldc:][:n], e.plus[channel:][:n], channel)
	}
	if !e.to.Last {
		conv.Copy2(e.to.Dst, to, conv.Block{Off: (image*e.M+channel)*e.Patch + l0*e.per, Rows: m, Row: e.Patch, Cols: pixels, Col: 1}, conv.Block{Rows: m, Row: 1, Cols: pixels, Col: m}, false)
	}
	runtime.KeepAlive(p)
}

// eachLine calls f for runs of count outputs at the same distance in n lines: where the first reads, and its number.
func (e *directByte[T, E]) eachLine(n int, f func(from, at, count int)) {
	if e.affine {
		f(0, 0, n*e.width)
		return
	}
	for l := range n {
		for i, from := range e.lines {
			f(l*e.s[0].Stride*e.slab+from, l*e.per+i*e.width, e.width)
		}
	}
}

// multiply makes the sums of panels [p0, p1) of n lines.
func (e *directByte[T, E]) multiply(sums []int32, ldc int, a, weights []T, n, p0, p1 int) {
	const cols = simd.ByteColumns
	block := e.block()
	for p := p0; p < p1; p += 2 {
		count := min(2, p1-p)
		for r := 0; r < len(e.runs); r += block {
			exec.Look(e.Name, e.Ctx)
			runs := e.runs[r:min(r+block, len(e.runs))]
			k := len(runs) * e.run
			b := weights[r*e.run*e.cols*cols+p*k*cols:][:count*k*cols]
			e.eachLine(n, func(from, at, m int) {
				e.tiles.Tiles(sums[at*ldc+(p-p0)*cols:], ldc, a[from:], e.row, runs, e.most, b, m, count, e.run, r > 0)
			})
		}
	}
}

// copyLines copies n lines of the first axis of the input with their padding, of cg channels, from line y on, which may lie in the padding.
func (e *directByte[T, E]) copyLines(dst []T, src, room []byte, y, n, cg int) {
	rank := len(e.s)
	if rank == 1 {
		e.copyLine(dst, src, room, CutOf(n, y, 1, e.s[0].In), 0, cg)
		return
	}
	inner := e.s[rank-1]
	cut := CutOf(e.wide[rank-1], -inner.Begin, 1, inner.In)
	line := e.wide[rank-1] * e.pitch
	at := make([]int, rank-1)
	for i := 0; i*line < n*e.slab; i++ {
		split(at, i, func(axis int) int {
			if axis == 0 {
				return n
			}
			return e.wide[axis]
		})
		from, inside := 0, true
		for axis, v := range at {
			if v -= e.s[axis].Begin; axis == 0 {
				v = y + at[0]
			}
			inside = inside && uint(v) < uint(e.s[axis].In)
			from += v * e.step[axis]
		}
		if to := dst[i*line : (i+1)*line]; inside {
			e.copyLine(to, src, room, cut, from, cg)
		} else {
			conv.Fill(to, e.pad)
		}
	}
}

// copyLine copies a cut of a line that begins at from, with its padding.
func (e *directByte[T, E]) copyLine(dst []T, src, room []byte, cut Cut, from, cg int) {
	step := e.step[len(e.step)-1]
	if cut.N <= 0 {
		conv.Fill(dst, e.pad)
		return
	}
	conv.Fill(dst[:cut.Before*e.pitch], e.pad)
	from += cut.At * step
	to := dst[cut.Before*e.pitch:]
	if e.channel != 1 {
		room = room[:cut.N*cg]
		const few = 4 // channels, which have no squares to turn
		if cg > few {
			conv.Pack(room, src, conv.Block{Off: from, Rows: cut.N, Row: step, Cols: cg, Col: e.channel})
		}
		for c := 0; c < cg && cg <= few; c++ {
			line := src[from+c*e.channel:]
			for i, at := 0, c; i < cut.N; i, at = i+1, at+cg {
				room[at] = line[i*step]
			}
		}
		src, from, step = room, 0, cg
	}
	if step == cg && e.pitch == cg {
		e.tiles.Widen(to[:cut.N*cg], src[from:], e.x.flip(), e.less)
	} else {
		for i := range cut.N {
			e.tiles.Widen(to[i*e.pitch:][:cg], src[from+i*step:], e.x.flip(), e.less)
		}
	}
	if rest := (cut.Before + cut.N) * e.pitch; rest < len(dst) {
		conv.Fill(dst[rest:], e.pad)
	}
}

// bytesByParts makes the patches of some outputs at a time.
func (g *Convolution) bytesByParts(p ByteProduct, x ByteSide, pad byte, emit func(image, channel, at int, sums []int32, last bool)) {
	if g.K == 0 { // all sums are 0
		none := make([]int32, g.Patch)
		for u := range g.N * g.M {
			clear(none)
			emit(u/g.M, u%g.M, 0, none, true)
		}
		return
	}
	rank, plane := len(g.S), g.Plane()
	volume := g.K / (g.C / g.Group)
	rows := g.C * volume
	most := min(g.Patch, max(8, (1<<20)/rows)) // bytes as many as in the int64s of the weights, or 1 MiB
	b := make([]byte, most*rows)
	p.Batch, p.Step = g.Group, most
	p.B = ByteSide{Mem: b, Signed: x.Signed, Zero: x.Zero}
	p.Row = func(group int) int { return group * p.M }
	p.First = func(group int) int { return group * g.K * most }
	oc, kc := make([]int, rank), make([]int, rank)
	for n := range g.N {
		for first := 0; first < g.Patch; first += most {
			p.N = min(most, g.Patch-first)
			for k := range rows {
				exec.Look(p.Name, p.Ctx)
				src := x.Mem[(n*g.C+k/volume)*plane:][:plane]
				split(kc, k%volume, func(i int) int { return g.S[i].Kernel })
				row := b[k*most:][:p.N]
				for len(row) > 0 {
					split(oc, first+p.N-len(row), func(i int) int { return g.S[i].Out })
					line, within := 0, true
					for i := range rank - 1 {
						at := g.S[i].At(oc[i], kc[i])
						within = within && at >= 0 && at < g.S[i].In
						line = line*g.S[i].In + at
					}
					s := &g.S[rank-1]
					m := min(len(row), s.Out-oc[rank-1])
					if within {
						paddedLine(row[:m], src[line*s.In:(line+1)*s.In], s.At(oc[rank-1], kc[rank-1]), s.Stride, pad)
					} else {
						conv.Fill(row[:m], pad)
					}
					row = row[m:]
				}
			}
			p.Emit = func(group, i, at int, sums []int32, last bool) { emit(n, group*p.M+i, first+at, sums, last) }
			p.Run()
		}
	}
}

// paddedLine sets dst[i] to src[from + i·step], or to pad outside of src.
func paddedLine(dst, src []byte, from, step int, pad byte) {
	c := CutOf(len(dst), from, step, len(src))
	conv.Fill(dst[:c.Before], pad)
	conv.Fill(dst[c.Before+max(0, c.N):], pad)
	if c.N > 0 {
		conv.Every(dst[c.Before:c.Before+c.N], src[c.At:], step)
	}
}

// split writes a number as coordinates, the last of which is the fastest.
func split(at []int, n int, ext func(i int) int) {
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = n % ext(i)
		n /= ext(i)
	}
}
