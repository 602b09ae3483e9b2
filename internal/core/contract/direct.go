package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A direct convolution has vectors of output channels, whose weights lie side by side in a Filter. Each step of k multiplies them by elements of the
// input, which a list of offsets says: one for each (channel, kernel position). So any kernel, stride and dilation runs the same tiles, and
// the input may lie as it likes. Lines of the input with their padding are copied, unless there is none and channels are side by side.

// A tapper is a tiler that also takes elements of a where a list of offsets has them: see simd.Product.
type tapper[T num.Native] interface {
	Deep(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias []T, m, n int, mode simd.Mode)
	TapColumns() int
	TilesOfTaps(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias, next []T, m, n int, mode simd.Mode) []T
}

// strides are the strides of a tensor [N, C, H, W], or [N, C, W].
type strides struct{ n, c, y, x int }

// stridesOf returns the strides of a, and 0 for axes of one element, but 1 for a single channel. An empty tensor, of which
// a convolution reads the padding alone, has no strides.
func stridesOf(a *tensor.Any) (s strides) {
	if a.Len() == 0 {
		return s
	}
	lay := a.LayoutRef()
	of := func(axis int) int {
		if walk.Ref(lay).Dim(axis) < 2 {
			return 0
		}
		n, _ := walk.Ref(lay).Stride(axis)
		return n
	}
	rank := walk.Ref(lay).Rank()
	s = strides{n: of(0), c: of(1), x: of(rank - 1)}
	if rank > 3 {
		s.y = of(rank - 2)
	}
	if walk.Ref(lay).Dim(1) == 1 {
		s.c = 1
	}
	return s
}

// direct is a direct convolution, and where its operands lie.
type direct[T num.Native] struct {
	*Convolution
	exec.Job
	tiles    tapper[T]
	filter   *filter[T]
	outer    []Span // of the axes before the last two
	places   int    // outputs of these
	inner    int    // elements of the last two in the input
	y, x     Span   // of the last two axes
	in, to   strides
	src, dst []T
	bias     []T // or nil
	last     bool
	deep     bool // depthwise: a filter has rows of channels, and tiles are some of these
	copies   bool // lines are copies of patches, each of which is a pixel of K channels
	rectify  bool
	cg, mg   int // channels of a group; of a depthwise convolution, all

	from, onto strides // of the operands
	pieces     func(from, to int)
	strips     int // of lines, of an image and group,
	parts      int // each in so many parts of the channels

	lines, width int   // of outputs; of pointwise convolutions a line is a part of a plane, and the last one may be shorter
	made         bool  // lines of the input are copied with their padding,
	planes       bool  // so that elements of a channel follow each other
	pixel, line  int   // from one output to the next in what the tiles read, and from one line of the input to the next
	channel      int   // elements between channels there
	reach, wide  int   // lines and elements of the input that an output and a line of them meet
	tall         int   // lines of the input that a strip meets,
	room         int   // and how many elements of them it copies
	offs         []int // of each k
	most         int   // of them
}

// directly computes a convolution by Direct, Deep or Patches.
func directly[T num.Native](g *Convolution, to Route, j exec.Job, x, w, bias, dst *tensor.Any, rectify bool) {
	e, _ := g.kept.(*direct[T])
	if in, onto, last := stridesOf(x), stridesOf(dst), plan.LiesLast(dst); e == nil || e.from != in || e.onto != onto || e.last != last {
		e = directOf[T](g, to, in, onto, last)
		g.kept = e
	}
	e.Job, e.rectify, e.bias = j, rectify, nil
	data, at := reach.DataOf[T](x)
	e.src = data[at:]
	out, at := reach.MutableOf[T](dst)
	e.dst = out[at:]
	if bias != nil {
		data, at = reach.DataOf[T](bias)
		e.bias = data[at:][:g.M]
	}
	var p *Panels
	groups := g.Group
	if e.deep {
		groups = 1
	}
	if e.filter = nil; g.Filter != nil {
		e.filter = filterOf[T](g.Filter, groups, e.mg, g.K, e.deep)
	}
	if e.filter == nil {
		p = PanelsOf(g.M*g.K*dtype.Of[T]().Size() + 256)
		defer PanelPool.Put(p)
		data, at = reach.DataOf[T](w)
		rest := p.Bytes()
		e.filter = packed(j, conv.Carve[T](&rest, g.M*g.K), data[at:], groups, e.mg, g.K, e.deep)
	}
	e.split()
	e.src, e.dst, e.bias, e.filter = nil, nil, nil, nil
	runtime.KeepAlive(g)
	runtime.KeepAlive(p)
	runtime.KeepAlive(x)
	runtime.KeepAlive(w)
	runtime.KeepAlive(bias)
	runtime.KeepAlive(dst)
}

// directOf returns the direct form of a convolution, for operands that lie so.
func directOf[T num.Native](g *Convolution, to Route, in, onto strides, last bool) *direct[T] {
	one, rank := Span{In: 1, Out: 1, Kernel: 1, Stride: 1, Dilation: 1}, len(g.S)
	e := &direct[T]{Convolution: g, tiles: TilesOf[T]().(tapper[T]), from: in, onto: onto, in: in, to: onto, last: last,
		deep: to == Deep, copies: to == Patches, cg: g.C / g.Group, mg: g.M / g.Group, places: 1, y: one, x: g.S[rank-1]}
	switch {
	case e.copies: // one line of pixels
		e.x = one
		e.x.In, e.x.Out = g.Patch, g.Patch
		e.in.y, e.in.x = 0, 0
	case rank > 1 && e.x.In == 1 && e.x.Out == 1 && e.x.Kernel == 1 && e.x.Begin == 0: // lines of one element are elements of a line
		e.x, e.in.x, e.to.x, e.in.y, e.to.y = g.S[rank-2], in.y, onto.y, 0, 0
	case rank > 1:
		e.y = g.S[rank-2]
	}
	if !e.copies && rank > 2 {
		e.outer, e.inner = g.S[:rank-2], g.S[rank-2].In*g.S[rank-1].In
	}
	for i := range e.outer {
		e.places *= e.outer[i].Out
	}
	if e.deep {
		e.cg, e.mg = g.C, g.M
	}
	e.shape()
	e.list(0)
	e.pieces = e.some
	return e
}

// shape decides what the tiles read.
func (e *direct[T]) shape() {
	for _, a := range [...]struct {
		s    *Span
		step *int
	}{{&e.y, &e.in.y}, {&e.x, &e.in.x}} {
		if s := a.s; s.Kernel == 1 && s.Begin == 0 && s.End == 0 { // elements between are never read
			s.In, s.Stride, *a.step = s.Out, 1, *a.step*s.Stride
		}
	}
	e.made = e.in.c != 1 || e.y.Begin+e.y.End+e.x.Begin+e.x.End > 0 || e.outer != nil || e.copies
	e.planes = e.in.c != 1 && !e.deep && !e.copies
	if e.outer == nil && e.y.Kernel == 1 && e.x.Kernel == 1 && e.y.Stride == 1 && e.x.Stride == 1 && e.y.Begin+e.y.End+e.x.Begin+e.x.End == 0 &&
		e.in.y == e.x.In*e.in.x && (!e.last || e.to.y == e.x.Out*e.to.x) {
		e.x.In, e.x.Out = e.y.In*e.x.In, e.y.Out*e.x.Out
		e.y.In, e.y.Out = 1, 1
	}
	if e.last && e.x.Out == 1 {
		e.to.x = e.to.y
	}
	cg := e.cg
	if e.copies {
		cg = e.K
	}
	e.lines, e.width = e.y.Out, e.x.Out
	if e.single() {
		e.width = min(e.width, max(28, min(directLine/(cg*e.x.Stride+e.mg), (e.width+15)/16+27)/28*28))
		if e.copies {
			e.width = min(e.width, max(1, mostLines/cg))
		}
		e.lines = (e.x.Out + e.width - 1) / e.width
		e.in.y, e.to.y = e.width*e.x.Stride*e.in.x, e.width*e.to.x
	}
	e.reach, e.wide = (e.y.Kernel-1)*e.y.Dilation+1, (e.width-1)*e.x.Stride+(e.x.Kernel-1)*e.x.Dilation+1
	switch {
	case e.planes:
		e.pixel, e.channel, e.line = 1, e.wide, cg*e.wide
	case e.made:
		e.pixel, e.channel = pitchOf(cg), 1
		if e.deep {
			_, lanes := TilesOf[T]().Columns()
			tile := TileCols(cg, deepTile, lanes)
			if e.pixel = pitchOf(tile); tile == cg && e.in.c == 1 && e.in.x == cg { // lines are copied as they lie
				e.pixel = cg
			}
		}
		e.line = e.wide * e.pixel
	default:
		e.pixel, e.channel, e.line = e.in.x, 1, e.in.y
	}
	e.pixel *= e.x.Stride
}

// list makes the list of offsets, of strips of so many lines of the input.
func (e *direct[T]) list(lines int) {
	e.offs = make([]int, e.K)
	if e.copies {
		for k := range e.offs {
			e.offs[k] = k
		}
		e.most, e.tall, e.room = e.K-1, lines, lines*e.line
		return
	}
	taps := e.y.Kernel * e.x.Kernel
	planes := e.K / taps / (e.C / e.Group)
	for k := range e.offs {
		c, p, y, x := k/taps/planes, k/taps%planes, k%taps/e.x.Kernel, k%e.x.Kernel
		e.offs[k] = c*e.channel + (p*lines+y*e.y.Dilation)*e.line + x*e.x.Dilation*e.pixel/e.x.Stride
	}
	e.most = e.offs[e.K-1]
	e.tall, e.room = lines, planes*lines*e.line
}

// single reports whether the outputs are one line: it may be cut anywhere, and its parts are lines.
func (e *direct[T]) single() bool {
	return e.y.Out == 1 && e.y.Kernel == 1 && e.y.Begin+e.y.End == 0
}

// pitchOf returns how far apart elements with c channels are copied: whole lines of the cache, but no multiple of 512 bytes, whose lines would
// push each other out of it.
func pitchOf(c int) int {
	n := roundUp(c, 4)
	if c >= 16 {
		n = roundUp(c, 16)
	}
	if n%128 == 0 {
		n += 16
	}
	return n
}

// split computes the convolution, by strips of lines and by tiles of channels.
func (e *direct[T]) split() {
	room := directRoom
	mg, tiles := e.mg, len(e.filter.tiles)-1
	second := 2 * blocks().a / dtype.Of[T]().Size()
	far := mg*e.K > second && !e.deep // each strip reads all weights again, from beyond the second-level cache
	if far {
		room = max(room, second/2)
	}
	rows := e.width * mg
	if e.made {
		rows += e.y.Stride * e.line
	} else {
		rows += e.y.Stride * e.wide * e.cg
	}
	strips := (e.lines + max(1, room/rows) - 1) / max(1, room/rows)
	cost, parts := max(1, e.K/20), tiles // additions for an output
	if e.Tail != nil {
		cost += 2
	}
	all, images := float64(e.N)*float64(e.Patch)*float64(e.M)*float64(cost), e.N*e.places*(e.C/e.cg)
	switch {
	case e.deep:
		strips, _ = divide(e.Job, all, images*tiles, e.lines, strips, 1)
	case far:
		strips, parts = divide(e.Job, all, images, strips, strips, tiles)
	default:
		strips, parts = divide(e.Job, all, images, e.lines, strips, tiles)
	}
	each, count := (e.lines+strips-1)/strips, images*strips*parts
	e.strips, e.parts = strips, parts
	if lines := (each-1)*e.y.Stride + e.reach; lines != e.tall {
		e.list(lines)
	}
	if count == 1 && exec.Goes(e.Ctx) {
		e.some(0, 1)
	} else {
		exec.Split(e.Name, e.Ctx, count, int(min(all/float64(count), 1<<30)), e.pieces)
	}
}

// divide returns in how many strips images of so many lines are computed, and in how many parts of their tiles of channels, so that all workers
// have as much to do. It is given the strips that fit the caches, and the cost in additions.
func divide(j exec.Job, cost float64, images, lines, strips, tiles int) (int, int) {
	workers := exec.Workers(j.Ctx)
	if cost < float64(exec.Least()) || images*strips%workers == 0 {
		return strips, 1
	}
	if more := roundUp(strips, workers); more <= lines && roundUp(lines, workers)*5 <= lines*6 {
		return more, 1
	}
	return strips, min(workers, tiles)
}

// stripOf returns the first line of strip i, and its number of lines, where lines are divided among strips as evenly as they can be.
func stripOf(i, lines, strips int) (first, n int) {
	n, more := lines/strips, lines%strips // i times lines may be no int
	if first = i*n + min(i, more); i < more {
		n++
	}
	return first, n
}

// some computes pieces [from, to).
func (e *direct[T]) some(from, to int) {
	tiles, groups := len(e.filter.tiles)-1, e.C/e.cg
	for u := from; u < to; u++ {
		part, s, group := u%e.parts, u/e.parts%e.strips, u/e.parts/e.strips
		first, n := stripOf(s, e.lines, e.strips)
		e.strip(group/groups, group%groups, first, n, part*tiles/e.parts, (part+1)*tiles/e.parts)
	}
}

// strip computes the channels of tiles [t0, t1) of a group in n lines from line l0 on, at a place of an image.
func (e *direct[T]) strip(at, group, l0, n, t0, t1 int) {
	mg, cg, image, place := e.mg, e.cg, at/e.places, at%e.places
	m0 := e.filter.tiles[t0]
	m := e.filter.tiles[t1] - m0
	area := e.y.Out * e.x.Out
	pixels := min(n*e.width, area-l0*e.width)
	room, lines := 0, (n-1)*e.y.Stride+e.reach
	if e.made {
		room += e.room
	}
	aside := !e.last || e.Tail != nil && m != e.to.x // the sums lie in scratch: a Tail takes long for a short row
	if aside {
		room += pixels * m
	}
	var p *Panels
	src := e.src[image*e.in.n+group*cg*e.in.c:]
	dst, ldc := e.dst[image*e.to.n+(group*mg+m0)*e.to.c:], e.to.x
	step := e.y.Stride * e.line // from a line of outputs to the next
	if room > 0 {
		p = PanelsOf(room*dtype.Of[T]().Size() + 256)
		defer PanelPool.Put(p)
	}
	to := dst
	var rest []byte
	if p != nil {
		rest = p.Bytes()
	}
	if e.made {
		from := src
		if e.deep {
			from = from[m0*e.in.c:]
		}
		src = conv.Carve[T](&rest, e.room)
		e.copyPlanes(src, from, place, l0*e.y.Stride-e.y.Begin, lines, l0, e.copied(m))
	} else {
		src = src[l0*step:]
		if e.deep {
			src = src[m0:]
		}
	}
	next := e.to.y // from a line of sums to the next
	if aside {
		to, ldc, next = conv.Carve[T](&rest, pixels*m), m, e.width*m
	} else {
		to = dst[l0*e.to.y:]
	}
	weights := e.filter.panels[group*mg*e.K:]
	if e.deep {
		mode := simd.StoreSums
		var bias []T
		if e.bias != nil {
			mode |= simd.PlusBias
			bias = e.bias[m0:]
		}
		if e.rectify {
			mode |= simd.Rectify
		}
		some := max(8, 1<<22/(m*e.K)) // outputs, between looks at the context
		for l := range n {
			for i, of := 0, min(e.width, pixels-l*e.width); i < of; i += some {
				exec.Look(e.Name, e.Ctx)
				e.tiles.Deep(to[l*next+i*ldc:], ldc, src[l*step+i*e.pixel:], e.pixel, e.offs, e.most, weights[m0:], e.M, bias, min(some, of-i), m, mode)
			}
		}
	}
	for t := t0; t < t1 && !e.deep; t++ {
		j, w := e.filter.tiles[t], e.filter.tiles[t+1]-e.filter.tiles[t]
		for k0 := 0; k0 < e.K; k0 += GemmK {
			kn, mode := min(GemmK, e.K-k0), simd.StoreSums
			if k0 > 0 {
				mode = simd.AddSums
			}
			var bias []T
			if k0+kn == e.K && e.bias != nil {
				mode |= simd.PlusBias
				bias = e.bias[group*mg+j:]
			}
			if k0+kn == e.K && e.rectify {
				mode |= simd.Rectify
			}
			exec.Look(e.Name, e.Ctx)
			panel := weights[j*e.K+k0*w:]
			ahead := panel[kn*w:]
			ahead = ahead[:min(GemmK*w, len(ahead))]
			for l := range n {
				ahead = e.tiles.TilesOfTaps(to[j-m0+l*next:], ldc, src[l*step:], e.pixel, e.offs[k0:k0+kn], e.most, panel, w, bias, ahead, min(e.width, pixels-l*e.width), w, mode)
			}
		}
	}
	channel, from := group*mg+m0, place*area+l0*e.width
	if !e.last {
		conv.Copy2(dst, to, conv.Block{Off: from, Rows: m, Row: e.to.c, Cols: pixels, Col: 1}, conv.Block{Rows: m, Row: 1, Cols: pixels, Col: m}, false)
		if e.Tail != nil {
			e.finish(dst[from:], m, e.to.c, pixels, (image*e.M+channel)*e.Patch+from, e.Patch)
		}
	} else if e.Tail != nil {
		e.finish(to, pixels, ldc, m, (image*area+from)*e.M+channel, e.M)
		if aside {
			conv.Copy2(dst, to, conv.Block{Off: from * e.to.x, Rows: pixels, Row: e.to.x, Cols: m, Col: 1}, conv.Block{Rows: pixels, Row: m, Cols: m, Col: 1}, false)
		}
	}
	runtime.KeepAlive(p)
}

// copied returns how many channels a strip copies that computes m.
func (e *direct[T]) copied(m int) int {
	if e.deep {
		return m
	}
	return e.cg
}

// finish gives the Tail rows of n elements, which are step elements apart. The first is element at of the result, and others follow after next.
func (e *direct[T]) finish(lines []T, rows, step, n, at, next int) {
	if n == step && n == next { // they follow each other
		rows, n = 1, rows*n
	}
	for i := range rows {
		e.Tail(exec.RunOf(lines[i*step:][:n]), at+i*next, e.last)
	}
}

// copyPlanes copies lines for a place, of each plane of the axes before the last two that it meets: see copyLines.
func (e *direct[T]) copyPlanes(dst, src []T, place, y, n, l, cg int) {
	if e.copies {
		for i := range n {
			for p := range min(e.width, e.Patch-(l+i)*e.width) {
				patch(e.Convolution, dst[i*e.line+p*e.pixel:][:e.K], src, (l+i)*e.width+p)
			}
		}
		return
	}
	planes := e.K / (e.y.Kernel * e.x.Kernel) / (e.C / e.Group)
	for k := range planes {
		at, step, inside := 0, e.inner, true
		for i, o, r := len(e.outer)-1, place, k; i >= 0; i-- {
			s := &e.outer[i]
			z := s.At(o%s.Out, r%s.Kernel)
			inside = inside && uint(z) < uint(s.In)
			at += z * step
			step *= s.In
			o /= s.Out
			r /= s.Kernel
		}
		if to := dst[k*e.tall*e.line:]; inside {
			e.copyLines(to, src[at:], y, n, l, cg)
		} else {
			clear(to[:n*e.line])
		}
	}
}

// copyLines copies n lines of cg channels of the input, from line y on, which may lie in the padding, for outputs from line l on.
func (e *direct[T]) copyLines(dst, src []T, y, n, l, cg int) {
	padded := CutOf(e.wide, -e.x.Begin, 1, e.x.In)
	for i := range n {
		line, cut, inside, at := dst[i*e.line:(i+1)*e.line], padded, uint(y+i) < uint(e.y.In), (y+i)*e.in.y
		if e.single() {
			cut, inside, at = CutOf(e.wide, (l+i)*e.width*e.x.Stride-e.x.Begin, 1, e.x.In), true, 0
		}
		at += cut.At * e.in.x
		switch {
		case !inside || cut.N <= 0:
			clear(line)
		case e.planes:
			for c := range cg {
				row, from := line[c*e.wide:(c+1)*e.wide], src[at+c*e.in.c:]
				clear(row[:cut.Before])
				clear(row[cut.Before+cut.N:])
				if row = row[cut.Before:][:cut.N]; e.in.x == 1 {
					copy(row, from)
				} else {
					conv.Every(row, from, e.in.x)
				}
			}
		default:
			pitch := e.line / e.wide
			clear(line[:cut.Before*pitch])
			clear(line[(cut.Before+cut.N)*pitch:])
			if e.in.c == 1 && e.in.x == pitch && cg == pitch {
				copy(line[cut.Before*pitch:][:cut.N*pitch], src[at:])
				continue
			}
			conv.Copy2(line, src, conv.Block{Off: cut.Before * pitch, Rows: cut.N, Row: pitch, Cols: cg, Col: 1}, conv.Block{Off: at, Rows: cut.N, Row: e.in.x, Cols: cg, Col: e.in.c}, false)
		}
	}
}
