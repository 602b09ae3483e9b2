package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// windowed computes a convolution with few output channels in a group. Lines of the padded input go into lines of sums as
// they stand, so weights are read one by one. Operands and dst are row-major; bias may be nil.
func windowed[T num.Native](g *Convolution, j exec.Job, x, w, bias, dst *tensor.Any, rectify bool) {
	c := g.Contraction(j, g.N, rectify, nil)
	e := Gemm[T]{Tiles: TilesOf[T](), Size: dtype.Of[T]().Size(), A: dataOf[T](w, &c.AAt), C: mutableOf[T](dst, &c.CAt)}
	if bias != nil {
		e.Plus = dataOf[T](bias, &c.Then.At)
	}
	data, at := reach.DataOf[T](x)
	p, _ := g.kept.(*windows[T])
	if p == nil {
		p = windowsOf[T](g)
		g.kept = p
	}
	p.x = data[at:]
	p.run(&c, &e)
	p.x = nil
	runtime.KeepAlive(x)
	runtime.KeepAlive(w)
	runtime.KeepAlive(bias)
	runtime.KeepAlive(dst)
}

// windows copies the lines of the input that some outputs meet, for the channels of a block of k, with their padding. In the
// copies the elements which a kernel position picks for neighbouring outputs are adjacent. For that a line of the last
// axis is kept as one line for each remainder of the stride that the kernel meets: the
// elements from it on, a stride apart.
type windows[T num.Native] struct {
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

// copied are the lines for k in [k0, k0+kn) and outputs [n0, n0+nn) of a batch entry.
type copied[T any] struct {
	batch, k0, kn, n0, nn int

	scratch []T
	offs    []int  // one for each k
	most    int    // of them
	of      [4]int // the place and extents of the block that offs is of
	origin  int
	halves  []T // room for every second element of some lines
}

// madeIn returns the lines that were copied last with these panels, or an empty one.
func madeIn[T any](p *Panels) *copied[T] {
	b, _ := p.made.(*copied[T])
	if b == nil {
		b = new(copied[T])
		p.made = b
	}
	return b
}

// windowsOf returns the windows of a convolution that is lined.
func windowsOf[T num.Native](g *Convolution) *windows[T] {
	h := *g
	h.S = joined(g.S)
	p := &windows[T]{Convolution: &h, inPlane: g.Plane(), tiles: TilesOf[T](), plane: 1}
	rank := len(p.S)
	last := &p.S[rank-1]
	var phase, shift []int // of each kernel position along the last axis
	for k := range last.Kernel {
		at := k * last.Dilation
		i := slices.Index(p.phases, at%last.Stride)
		if i < 0 {
			i = len(p.phases)
			p.phases = append(p.phases, at%last.Stride)
		}
		phase, shift = append(phase, i), append(shift, at/last.Stride)
	}
	p.width = last.Out + (last.Kernel-1)*last.Dilation/last.Stride
	p.line = p.width * len(p.phases)
	volume := last.Kernel
	for i := range p.S {
		s, n := &p.S[i], 1
		if i < rank-1 {
			n = (s.Out-1)*s.Stride + (s.Kernel-1)*s.Dilation + 1
			volume *= s.Kernel
		}
		p.plane *= n
		p.lines = append(p.lines, n)
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
	return p
}

// lineOf returns the line of output n in a channel with its padding.
func (p *windows[T]) lineOf(n int) int {
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
func (p *windows[T]) span(n0, nn int) (from, n int) {
	from = p.lineOf(n0)
	return from, p.lineOf(n0+nn-1) + p.reach + 1 - from
}

// window returns the part of a line of one remainder that outputs [n0, n0+nn) meet: all of it, unless they are a small part
// of one line.
func (p *windows[T]) window(n0, nn int) (from, width int) {
	out := p.S[len(p.S)-1].Out
	if x := n0 % out; nn < out/2 && x+nn <= out {
		return x, p.width - out + nn
	}
	return 0, p.width
}

// channels is how many channels of the input a block meets at most.
func (p *windows[T]) channels() int { return min((min(p.K, GemmK)-1)/len(p.taps)+2, p.C/p.Group) }

func (p *windows[T]) room(n0, nn int) int {
	_, lines := p.span(n0, nn)
	_, width := p.window(n0, nn)
	return p.channels() * lines * len(p.phases) * width
}

func (p *windows[T]) ready(b *copied[T]) {
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
func (p *windows[T]) pad(dst []T, first, src, width int, cuts []Cut, b *copied[T]) {
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
func (p *windows[T]) fill(dst []T, width int, src []T, cuts []Cut, b *copied[T]) {
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

// run computes the contraction.
func (p *windows[T]) run(g *Contraction, e *Gemm[T]) {
	s := e.Tiles.(streamer[T])
	out := p.S[len(p.S)-1].Out
	lines := g.N / out
	most := max(1, windowStrip/p.line/p.S[max(len(p.S)-2, 0)].Stride)
	most = min(most, lines)
	pieces := (lines + most - 1) / most
	room := 0
	for l := 0; l < lines; l += most {
		room = max(room, p.room(l*out, min(most, lines-l)*out))
	}
	exec.Split(g.Name, g.Ctx, g.Batch*pieces, g.M*most*out*g.K, func(from, to int) {
		panel := PanelsOf((room+g.M*most*p.line)*e.Size + 256)
		defer PanelPool.Put(panel)
		rest := panel.Bytes()
		b := madeIn[T](panel)
		*b = copied[T]{scratch: conv.Carve[T](&rest, room), offs: panel.offs[:], halves: b.halves}
		acc := conv.Carve[T](&rest, g.M*most*p.line)
		for u := from; u < to; u++ {
			l := u % pieces * most
			n := min(most, lines-l)
			b.batch, b.n0, b.nn = u/pieces, l*out, n*out
			p.some(g, e, s, b, acc, l, n)
		}
		runtime.KeepAlive(panel)
	})
}

// some computes n lines of outputs of a block, from line l on. acc is room for sums.
func (p *windows[T]) some(g *Contraction, e *Gemm[T], s streamer[T], b *copied[T], acc []T, l, n int) {
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
func (p *windows[T]) windows(g *Contraction, e *Gemm[T], b *copied[T], l, n int) bool {
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
