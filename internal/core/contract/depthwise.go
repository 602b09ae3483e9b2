package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// The sizes of channels side by side.
const (
	besideMost = 256      // of them
	besideLine = 16       // longest line of outputs: longer ones are rows of sums as they lie
	besideRoom = 64 << 10 // about how many elements of them are turned at a time
)

// side returns how many of the planes go side by side, for each elements of operand and result in a plane: whole vectors, of about the
// same number each, and some for each worker. It is 0 where lines are better.
func side(planes, each, workers int) int {
	const least = 64
	if planes < least || each > 4*besideRoom/least {
		return 0
	}
	most := min(planes, besideMost, max(least, besideRoom/each))
	strips := (planes + most - 1) / most
	if more := roundUp(strips, workers); planes/more >= least {
		strips = more
	}
	return roundUp((planes+strips-1)/strips, 16)
}

// A depthwise is a depthwise convolution of small planes. Some planes are turned, so that channels are side by side. Then each output is a
// row of chains.
type depthwise[T num.Native] struct {
	*patches[T]
	by     chainer[T]
	lines  []int // of each axis with its padding
	padded int   // elements of a plane with its padding
	n      int   // channels at a time
}

// depthwise computes a depthwise convolution of small planes, and reports whether it did.
func (p *patches[T]) depthwise(g *Contraction, e *Gemm[T], by chainer[T]) bool {
	last := &p.S[len(p.S)-1]
	if g.M != 1 || p.C != p.Group || g.K == 0 || g.K > GemmK || last.Out > besideLine {
		return false
	}
	s := depthwise[T]{patches: p, by: by, padded: 1}
	for i := range p.S {
		n := (p.S[i].Out-1)*p.S[i].Stride + (p.S[i].Kernel-1)*p.S[i].Dilation + 1
		if n > besideRoom/s.padded {
			return false
		}
		s.lines = append(s.lines, n)
		s.padded *= n
	}
	if s.n = side(p.C, s.padded+p.Patch, exec.Workers(g.Ctx)); s.n == 0 {
		return false
	}
	s.run(g, e)
	return true
}

// run computes it.
func (s depthwise[T]) run(g *Contraction, e *Gemm[T]) {
	h, d := *g, *e // as in split
	h.CAt = EntriesOf(g.CAt.Origin, Loop{s.N, s.C * s.Patch})
	h.Then.At = EntriesOf(g.Then.At.Origin, Loop{s.N, 0})
	h.M = s.C
	strips := (s.C + s.n - 1) / s.n
	canon := cast.CanonFor[T]()
	exec.Split(g.Name, g.Ctx, s.N*strips, s.n*s.Patch*(2+g.K/8), func(from, to int) {
		panel := PanelsOf((s.padded+s.Patch+h.K)*s.n*d.Size + 256)
		defer PanelPool.Put(panel)
		rest := panel.Bytes()
		x, sums, w := conv.Carve[T](&rest, s.padded*s.n), conv.Carve[T](&rest, s.Patch*s.n), conv.Carve[T](&rest, h.K*s.n)
		for u := from; u < to; u++ {
			image, c := u/strips, u%strips*s.n
			n := min(s.n, s.C-c)
			conv.Pack(w[:h.K*n], d.A, conv.Block{Off: h.AAt.At(c), Rows: h.K, Row: h.ACol, Cols: n, Col: h.AAt.At(1) - h.AAt.At(0)})
			s.turn(x[:s.padded*n], (image*s.C+c)*s.inPlane, n)
			to := sums[:s.Patch*n]
			s.chains(to, x, w, n)
			canon(to)
			conv.Copy2(d.C, sums, conv.Block{Off: h.CAt.At(image) + c*s.Patch, Rows: n, Row: s.Patch, Cols: s.Patch, Col: 1}, conv.Block{Rows: n, Row: 1, Cols: s.Patch, Col: n}, false)
			if d.after(&h) {
				d.finish(&h, image, c, n, 0, s.Patch)
			}
		}
		runtime.KeepAlive(panel)
	})
}

// turn makes the padded planes of n channels, the first of which is at src of x.
func (s *depthwise[T]) turn(dst []T, src, n int) {
	rank := len(s.S)
	last, width := &s.S[rank-1], s.lines[rank-1]
	cut := CutOf(width, -last.Begin, 1, last.In)
	clear(dst)
	for l := 0; l*width*n < len(dst) && cut.N > 0; l++ {
		at, step, inside := 0, last.In, true
		for i, rest := rank-2, l; i >= 0; i-- {
			y := rest%s.lines[i] - s.S[i].Begin
			rest /= s.lines[i]
			inside = inside && uint(y) < uint(s.S[i].In)
			at += y * step
			step *= s.S[i].In
		}
		if inside {
			conv.Pack(dst[(l*width+cut.Before)*n:][:cut.N*n], s.x, conv.Block{Off: src + at + cut.At, Rows: cut.N, Row: 1, Cols: n, Col: s.inPlane})
		}
	}
}

// chains sets dst to the sums of n channels: for each output a row.
func (s *depthwise[T]) chains(dst, x, w []T, n int) {
	rank := len(s.S)
	last, lines, line := &s.S[rank-1], 1, 0 // of the kernel along the last axis but one
	if rank > 1 {
		lines, line = s.S[rank-2].Kernel, s.S[rank-2].Dilation*n*s.lines[rank-1]
	}
	clear(dst)
	for o := 0; len(dst) > 0; o++ { // a line of outputs
		at, step := 0, n*s.lines[rank-1]
		for i, rest := rank-2, o; i >= 0; i-- {
			at += rest % s.S[i].Out * s.S[i].Stride * step
			rest /= s.S[i].Out
			step *= s.lines[i]
		}
		for range last.Out {
			for k := 0; k < s.K; k += lines * last.Kernel {
				off, step := 0, n*s.lines[rank-1]
				for i, rest := rank-2, k/last.Kernel; i >= 0 && rest > 0; i-- {
					off += rest % s.S[i].Kernel * s.S[i].Dilation * step
					rest /= s.S[i].Kernel
					step *= s.lines[i]
				}
				s.by.ChainLines(dst[:n], x[at+off:], line, last.Dilation*n, w[k*n:], n, lines, last.Kernel)
			}
			at, dst = at+last.Stride*n, dst[n:]
		}
	}
}
