package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// blockOfB is b[k0:k0+kn, n0:n0+nn] of a batch entry, and the state that its source keeps.
type blockOfB[T any] struct {
	batch, k0, kn, n0, nn int

	scratch []T
	offs    []int  // one for each k
	most    int    // of them
	of      [4]int // the place and extents of the block that offs is of
	origin  int
	halves  []T // room for every second element of some lines
}

// madeIn returns the block that a source made last with these panels, or an empty one.
func madeIn[T any](p *Panels) *blockOfB[T] {
	b, _ := p.made.(*blockOfB[T])
	if b == nil {
		b = new(blockOfB[T])
		p.made = b
	}
	return b
}

// patchesOf returns the matrix of patches of x: row k is one (channel, kernel
// position), column n one output position.
func patchesOf[T num.Native](g *Convolution, x []T) (made source[T]) {
	if made, ok := g.kept.(source[T]); ok {
		return made
	}
	if g.Keeps {
		defer func() { g.kept = made }()
	}
	h := *g
	h.S = joined(g.S)
	p := &patches[T]{Convolution: &h, x: x, inPlane: g.Plane(), tiles: TilesOf[T]()}
	if p.straight() {
		return p
	}
	return &anyPatches[T]{g, x, p.inPlane}
}

// patches makes a block of the matrix of copies of the lines of the input that the block's
// outputs meet, for the channels of its rows, with their padding. In the copies the elements
// which a kernel position picks for neighbouring outputs are adjacent. For that a line of the last
// axis is kept as one line for each remainder of the stride that the kernel meets: the
// elements from it on, a stride apart.
type patches[T num.Native] struct {
	*Convolution
	x       []T
	inPlane int // elements of a channel of x

	lines  []int // of each axis with its padding; of the last 1
	phases []int // the remainders
	width  int   // of a line of one remainder
	line   int   // of all its remainders
	plane  int   // lines of a channel
	taps   []int // of each kernel position, from the output's position
	reach  int   // lines that the kernel spans, less one

	tiles Tiler[T]
	apart [manyLines]int // where each of some lines of x begins; of half a line with a stride of 2
}

// manyLines is how many lines are copied at a time.
const manyLines = 64

// straight reports whether the copies are not much larger than the input and the
// result of a channel.
func (p *patches[T]) straight() bool {
	rank := len(p.S)
	last := &p.S[rank-1]
	most := 4*(p.inPlane+p.Patch) + 1<<16
	var phase, shift []int                  // of each kernel position along the last axis
	for k := range min(last.Kernel, most) { // at most: then it isn't ok
		at := k * last.Dilation
		i := slices.Index(p.phases, at%last.Stride)
		if i < 0 {
			i = len(p.phases)
			p.phases = append(p.phases, at%last.Stride)
		}
		phase, shift = append(phase, i), append(shift, at/last.Stride)
	}
	p.width = last.Out + (last.Kernel-1)*last.Dilation/last.Stride
	p.line, p.plane = p.width*len(p.phases), 1
	if p.width > most || p.line > most {
		return false
	}
	for i := range p.S {
		s, n := &p.S[i], 1
		if i < rank-1 {
			n = (s.Out-1)*s.Stride + (s.Kernel-1)*s.Dilation + 1
		}
		if n > most/(p.plane*max(p.line, 1)) {
			return false
		}
		p.plane *= n
		p.lines = append(p.lines, n)
	}
	volume := 1
	for i := range p.S {
		volume *= p.S[i].Kernel
	}
	p.taps = make([]int, volume)
	for k := range p.taps {
		c, off, step := k/last.Kernel, phase[k%last.Kernel]*p.width+shift[k%last.Kernel], p.line
		for i := rank - 2; i >= 0; i-- {
			s := &p.S[i]
			c, off = c/s.Kernel, off+c%s.Kernel*s.Dilation*step
			step *= p.lines[i]
		}
		p.taps[k] = off
		p.reach = max(p.reach, off/max(p.line, 1))
	}
	for i := range p.apart {
		p.apart[i] = i * last.In
		if last.Stride == 2 {
			p.apart[i] /= 2
		}
	}
	return rank == 1 || p.channels()*(p.reach+2) <= longLines/max(p.line, 1) // outputs of two lines meet whole ones
}

// longLines is how many elements whole lines of the input may take that outputs meet.
const longLines = 8 << 20

// lineOf returns the line of output n in a channel with its padding.
func (p *patches[T]) lineOf(n int) int {
	rank := len(p.S)
	at, step := 0, 1
	n /= p.S[rank-1].Out
	for i := rank - 2; i >= 0; i-- {
		s := &p.S[i]
		at += n % s.Out * s.Stride * step
		n /= s.Out
		step *= p.lines[i]
	}
	return at
}

// span returns the lines that outputs [n0, n0+nn) meet.
func (p *patches[T]) span(n0, nn int) (from, n int) {
	from = p.lineOf(n0)
	return from, p.lineOf(n0+nn-1) + p.reach + 1 - from
}

// window returns the part of a line of one remainder that outputs [n0, n0+nn) meet: all of it, unless they are a small part
// of one line.
func (p *patches[T]) window(n0, nn int) (from, width int) {
	out := p.S[len(p.S)-1].Out
	if x := n0 % out; nn < out/2 && x+nn <= out {
		return x, p.width - out + nn
	}
	return 0, p.width
}

// channels is how many channels of the input a block meets at most.
func (p *patches[T]) channels() int { return min((min(p.K, GemmK)-1)/len(p.taps)+2, p.C/p.Group) }

func (p *patches[T]) Room(n0, nn int) int {
	_, lines := p.span(n0, nn)
	_, width := p.window(n0, nn)
	return p.channels() * lines * len(p.phases) * width
}

func (p *patches[T]) ready(b *blockOfB[T]) {
	from, lines := p.span(b.n0, b.nn)
	x, width := p.window(b.n0, b.nn)
	line := len(p.phases) * width
	size, first, past := lines*line, b.k0/len(p.taps), (b.k0+b.kn-1)/len(p.taps)+1
	b.origin = from*p.line + x
	var few [4]Cut
	cuts := few[:0]
	last := &p.S[len(p.S)-1]
	for _, phase := range p.phases {
		cuts = append(cuts, CutOf(width, x*last.Stride+phase-last.Begin, last.Stride, last.In))
	}
	for c := first; c < past; c++ {
		p.pad(b.scratch[(c-first)*size:(c-first+1)*size], from, (b.batch*(p.C/p.Group)+c)*p.inPlane, width, cuts, b)
	}
	if key := [4]int{b.k0, b.kn, b.n0, b.nn}; key == b.of {
		return
	} else {
		b.of = key
	}
	k, channel := b.k0-first*len(p.taps), 0
	b.most = 0
	for i := range b.offs[:b.kn] {
		tap := p.taps[k]
		if width < p.width {
			tap = tap/p.line*line + tap%p.line/p.width*width + tap%p.width
		}
		b.offs[i] = channel + tap
		b.most = max(b.most, channel+tap)
		if k++; k == len(p.taps) {
			k, channel = 0, channel+size
		}
	}
}

// pad copies lines of a channel of the input, which is at src in x, from line first on, with the padding: of each
// remainder the cut of it, in width elements.
func (p *patches[T]) pad(dst []T, first, src, width int, cuts []Cut, b *blockOfB[T]) {
	rank := len(p.S)
	last := &p.S[rank-1]
	in, begin, lines := 1, 0, 1 // of the last axis but one
	if rank > 1 {
		in, begin, lines = p.S[rank-2].In, p.S[rank-2].Begin, p.lines[rank-2]
	}
	clear(dst) // many lines at once in less time than their ends
	for l := first; len(dst) > 0; {
		at, step, inside := src, in*last.In, true
		rest := l / lines
		for i := rank - 3; i >= 0; i-- {
			s := &p.S[i]
			y := rest%p.lines[i] - s.Begin
			rest /= p.lines[i]
			inside = inside && uint(y) < uint(s.In)
			at += y * step
			step *= s.In
		}
		y := l%lines - begin
		many := min(lines-begin-y, len(dst)/(len(p.phases)*width))
		if from, to := max(y, 0), min(y+many, in); inside && from < to && last.In > 0 {
			p.fill(dst[(from-y)*len(p.phases)*width:], width, p.x[at+from*last.In:][:(to-from)*last.In], cuts, b)
		}
		dst, l = dst[many*len(p.phases)*width:], l+many
	}
}

// fill copies lines of the input to padded ones: all of them at once where they are short, and after elements of even and odd places have been
// parted if the stride is 2.
func (p *patches[T]) fill(dst []T, width int, src []T, cuts []Cut, b *blockOfB[T]) {
	last := &p.S[len(p.S)-1]
	line, n := len(cuts)*width, len(src)/last.In
	cols, _ := p.tiles.Columns()
	for i := range cuts {
		c, from := &cuts[i], src
		if c.N <= 0 {
			continue
		}
		if n == 1 || c.N > cols || last.Stride > 2 || last.In%last.Stride != 0 {
			for l := range n {
				conv.Every(dst[l*line+i*width+c.Before:][:c.N], src[l*last.In+c.At:], last.Stride)
			}
			continue
		}
		at := c.At / last.Stride
		if last.Stride == 2 {
			b.halves = slices.Grow(b.halves[:0], len(src)/2)[:len(src)/2]
			conv.Every(b.halves, src[c.At%2:], 2)
			from = b.halves
		}
		for l := 0; l < n; l += manyLines {
			offs := p.apart[:min(manyLines, n-l)]
			p.tiles.Gather(dst[l*line+i*width+c.Before:], line, from[p.apart[1]*l+at:], offs, offs[len(offs)-1], c.N)
		}
	}
}

func (p *patches[T]) part(b *blockOfB[T], n int) ([]T, int) {
	out := p.S[len(p.S)-1].Out
	x := n % out
	return b.scratch[p.lineOf(n)*p.line-b.origin+x:], out - x
}

// few computes the contraction where patches are read once or twice alone, and reports whether it did.
func (e *Gemm[T]) few(g *Contraction) bool {
	p, ok := e.from.(*patches[T])
	return ok && p.few(g, e)
}

// few computes a convolution with few output channels in a group, a depthwise one
// before all, and reports whether it did: packing patches that are read once or
// twice would take longer than the sums. Lines of the padded input go into lines
// of sums as they stand; lines that follow each other go as one, with the
// elements between the end of the one and the beginning of the next.
func (p *patches[T]) few(g *Contraction, e *Gemm[T]) bool {
	s, ok := e.Tiles.(streamer[T])
	if !ok || g.M > FewRows || g.K == 0 || g.N == 0 {
		return false
	}
	if by, ok := e.Tiles.(chainer[T]); ok && p.depthwise(g, e, by) {
		return true
	}
	const strip = 4096 // sums that stay in the first-level cache
	out := p.S[len(p.S)-1].Out
	if p.Room(0, out) > longLines {
		return false
	}
	lines := g.N / out
	most := max(1, strip/p.line/p.S[max(len(p.S)-2, 0)].Stride)
	most = min(most, lines)
	pieces := (lines + most - 1) / most
	room := 0
	for l := 0; l < lines; l += most {
		room = max(room, p.Room(l*out, min(most, lines-l)*out))
	}
	h, d := *g, *e // as in split
	exec.Split(g.Name, g.Ctx, g.Batch*pieces, g.M*most*out*g.K, func(from, to int) {
		panel := PanelsOf((room+h.M*most*p.line)*d.Size + 256)
		defer PanelPool.Put(panel)
		rest := panel.Bytes()
		b := madeIn[T](panel)
		*b = blockOfB[T]{scratch: conv.Carve[T](&rest, room), offs: panel.offs[:], halves: b.halves}
		acc := conv.Carve[T](&rest, h.M*most*p.line)
		for u := from; u < to; u++ {
			l := u % pieces * most
			n := min(most, lines-l)
			b.batch, b.n0, b.nn = u/pieces, l*out, n*out
			p.fewLines(&h, &d, s, b, acc, l, n)
		}
		runtime.KeepAlive(panel)
	})
	return true
}

// fewLines computes n lines of outputs of a block, from line l on. acc is room for sums.
func (p *patches[T]) fewLines(g *Contraction, e *Gemm[T], s streamer[T], b *blockOfB[T], acc []T, l, n int) {
	rank := len(p.S)
	out := p.S[rank-1].Out
	n0, nn, batch := b.n0, b.nn, b.batch
	canon := cast.CanonFor[T]()
	for k0 := 0; k0 < g.K; k0 += GemmK {
		b.k0, b.kn = k0, min(GemmK, g.K-k0)
		p.ready(b)
		if g.K <= GemmK && p.windows(g, e, b, l, n) {
			break
		}
		clear(acc[:g.M*n*p.line])
		for i := 0; i < n; {
			// Lines along the last axis but one follow each other if its stride is 1.
			at, run := p.lineOf(n0+i*out), 1
			if rank > 1 && p.S[rank-2].Stride == 1 {
				run = min(n-i, p.S[rank-2].Out-(l+i)%p.S[rank-2].Out)
			}
			src := b.scratch[at*p.line-b.origin:]
			for k := 0; k < b.kn; k += 8 {
				for r := range g.M {
					sums := acc[(r*n+i)*p.line:][:(run-1)*p.line+out]
					s.AddRows(sums, e.A[g.AAt.At(batch)+r*g.ARow+k0+k:], 1, src, b.offs[k:min(k+8, b.kn)], b.most)
				}
			}
			i += run
		}
		for r := range g.M {
			rows := e.C[g.CAt.At(batch)+r*g.CRow+n0:][:nn]
			for i := range n {
				row, sums := rows[i*out:(i+1)*out], acc[(r*n+i)*p.line:]
				if k0 == 0 {
					copy(row, sums)
				} else {
					for j := range row {
						row[j] += sums[j]
					}
				}
			}
			if k0+GemmK >= g.K {
				canon(rows)
			}
		}
	}
	if e.after(g) {
		e.finish(g, batch, 0, g.M, n0, nn)
	}
}

// windows computes n lines of outputs, from line l on, straight from the padded input of a block that has all of k. It reports false where there
// is no kernel for that.
func (p *patches[T]) windows(g *Contraction, e *Gemm[T], b *blockOfB[T], l, n int) bool {
	by, ok := e.Tiles.(windower[T])
	if !ok {
		return false
	}
	rank := len(p.S)
	out, lines, stride := p.S[rank-1].Out, 1, 1 // of the last axis but one
	if rank > 1 {
		lines, stride = p.S[rank-2].Out, p.S[rank-2].Stride
	}
	const strip = 4096 // columns at a time: nothing interrupts a kernel
	canon := cast.CanonFor[T]()
	for i, run := 0, 0; i < n; i += run {
		run = min(n-i, lines-(l+i)%lines)
		src := b.scratch[p.lineOf((l+i)*out)*p.line-b.origin:]
		for r := range g.M {
			dst := e.C[g.CAt.At(b.batch)+r*g.CRow+(l+i)*out:][:run*out]
			for x := 0; x < out; x += strip {
				if !by.Windows(dst[x:], out, src[x:], stride*p.line, e.A[g.AAt.At(b.batch)+r*g.ARow:], b.offs[:b.kn], b.most, run, min(strip, out-x)) {
					return false
				}
			}
			canon(dst)
		}
	}
	return true
}

// anyPatches makes the matrix of patches without a copy of the input, and is much
// slower than patches.
type anyPatches[T any] struct {
	*Convolution
	x     []T
	plane int
}

func (p *anyPatches[T]) Room(n0, nn int) int { return min(p.K, GemmK) * nn }

func (p *anyPatches[T]) part(b *blockOfB[T], n int) ([]T, int) {
	return b.scratch[n-b.n0:], b.n0 + b.nn - n
}

func (p *anyPatches[T]) ready(b *blockOfB[T]) {
	g, k0, plane := p.Convolution, b.k0, p.plane
	cg := g.C / g.Group
	src := p.x[b.batch*cg*plane : (b.batch+1)*cg*plane]
	rank := len(g.S)
	last := &g.S[rank-1]
	var fewK, fewO [4]int
	kc, oc := append(fewK[:0], make([]int, rank)...), append(fewO[:0], make([]int, rank)...)
	b.most = (b.kn - 1) * b.nn
	for k := range b.kn {
		b.offs[k] = k * b.nn
		channel := k0 + k
		for i := rank - 1; i >= 0; i-- {
			kc[i] = channel % g.S[i].Kernel
			channel /= g.S[i].Kernel
		}
		row := b.scratch[k*b.nn : (k+1)*b.nn]
		for n := b.n0; len(row) > 0; {
			// One line of outputs along the last axis.
			rest := n
			for i := rank - 1; i >= 0; i-- {
				oc[i] = rest % g.S[i].Out
				rest /= g.S[i].Out
			}
			m := min(last.Out-oc[rank-1], len(row))
			base, inside := channel*plane, true
			step := 1
			for i := rank - 1; i >= 0; i-- {
				s := &g.S[i]
				if i < rank-1 {
					at := s.At(oc[i], kc[i])
					inside = inside && uint(at) < uint(s.In)
					base += at * step
				}
				step *= s.In
			}
			if inside {
				c := CutOf(m, last.At(oc[rank-1], kc[rank-1]), last.Stride, last.In)
				cutLine(row[:m], src[base:base+last.In], &c)
			} else {
				clear(row[:m])
			}
			row, n = row[m:], n+m
		}
	}
}

// A Cut is N elements of a line that a run of windows sees, from At on and a stride apart, with the padding before and after them.
type Cut struct{ Before, At, N, stride int }

// CutOf returns the cut of width elements from one on, which may lie outside of the line.
func CutOf(width, from, stride, line int) Cut {
	before := 0
	if from < 0 {
		before = min(width, (-from+stride-1)/stride)
	}
	from += before * stride
	n := 0
	if from < line {
		n = min(width-before, (line-from+stride-1)/stride)
	}
	return Cut{before, from, n, stride}
}

// cutLine copies a cut of src to dst, with zeros for the padding.
func cutLine[T any](dst, src []T, c *Cut) {
	clear(dst[:c.Before])
	clear(dst[c.Before+c.N:])
	if c.N > 0 {
		conv.Every(dst[c.Before:c.Before+c.N], src[c.At:], c.stride)
	}
}
