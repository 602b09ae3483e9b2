package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// pooling is the geometry of a pool over [N, C, D1, …].
type pooling struct {
	exec.Job
	s      []contract.Span
	shape  []int // of the result
	planes int   // N·C
	last   bool  // x and the result lie channels last, whose strides are
	steps  [2][besideAxes]int
}

// poolOf checks a window that moves over x.
func poolOf(j exec.Job, x *tensor.Any, win contract.Window) *pooling {
	s := contract.SpansOf(&win, j.Name, plan.Spatial(j.Name, x.LayoutRef()))
	return &pooling{j, s, contract.OutShape(x.Dim(0), x.Dim(1), s), x.Dim(0) * x.Dim(1), false, [2][besideAxes]int{}}
}

// lies notes whether x and r lie channels last. A result of one element for each channel may lie so.
func (p *pooling) lies(x, r *tensor.Any) {
	if d := x.DType(); x.Rank() <= besideAxes && (plan.Bytes8 | 1<<dtype.Float32 | 1<<dtype.Float64).Has(d) && plan.LiesLast(x) && (plan.LiesLast(r) || r.Len() == p.planes && r.IsContiguous()) {
		p.last = true
		for k, a := range []*tensor.Any{x, r} {
			for i := range a.Rank() {
				step, _ := walk.Ref(a.LayoutRef()).Stride(i)
				p.steps[k][i] = step
			}
		}
	}
}

// storage returns the elements of a that are the pool's to read or write, from the first one on.
func storage[T num.Elem](a *tensor.Any) []T {
	data, at := reach.DataOf[T](a)
	return data[at:]
}

// plane returns the elements of a channel of x, and of the result.
func (p *pooling) plane() (in, out int) {
	in, out = 1, 1
	for i := range p.s {
		in *= p.s[i].In
		out *= p.s[i].Out
	}
	return in, out
}

// room returns how many elements a thread keeps at most: a window, or planes side by side where there are as many as least.
func (p *pooling) room(least int) float64 {
	window, turned := 1.0, 0.0
	for i := range p.s {
		window *= float64(min(p.s[i].Kernel, p.s[i].In))
	}
	if in, outs := p.plane(); p.planes >= least {
		turned = min(4*besideRoom, float64(p.planes+15)*(float64(in)+float64(outs)))
	}
	return max(window, turned)
}

// pooled calls f for every output of a pool over data, the elements of x in row-major order. f gets
// the elements of its window that lie inside, in that order, and how many
// window positions lie inside the padded input. It stores the result at dst[o].
// places, when wanted, is the position of each element in its plane.
func pooled[T any](p *pooling, data []T, places bool, f func(o int, window []T, place []int, padded int)) {
	s := p.s
	plane, out := p.plane()
	most := 1
	for i := range s {
		most *= min(s[i].Kernel, s[i].In)
	}
	rank := len(s)
	ext := make([]int, rank)
	for i := range s {
		ext[i] = s[i].Out
	}
	exec.Split(p.Name, p.Ctx, p.planes, out*most*max(p.Cost, 2), func(from, to int) {
		window, place := make([]T, 0, most), []int(nil)
		if places {
			place = make([]int, 0, most)
		}
		oc, kc := make([]int, rank), make([]int, rank)
		lo, hi := make([]int, rank), make([]int, rank)
		for c := from; c < to; c++ {
			src := data[c*plane : (c+1)*plane]
			clear(oc)
			for o := range out {
				window, place = window[:0], place[:0]
				padded, empty := 1, false
				for i := range s {
					var p int
					lo[i], hi[i], p = s[i].Reach(oc[i])
					padded *= p
					empty = empty || lo[i] == hi[i]
				}
				copy(kc, lo)
				for more := !empty; more; more = advance(kc, lo, hi) {
					at := 0
					for i := range s {
						at = at*s[i].In + s[i].At(oc[i], kc[i])
					}
					window = append(window, src[at])
					if places {
						place = append(place, at)
					}
				}
				f(c*out+o, window, place, padded)
				advance(oc, nil, ext)
			}
		}
	})
}

const (
	besidePlanes = 512      // most planes side by side
	besideAxes   = 8        // most axes of what lies channels last
	besideRoom   = 64 << 10 // about how many elements of them are turned at a time
)

// beside computes a pool over many planes by rows: some lines of some planes are turned, so that elements of one place are side by
// side, and work is called for each output of these planes. It sets dst from the rows of near that are the places of its window
// inside, in row-major order: window says where they begin, from place at on. padded is as in pooled. begin returns work for one goroutine. It reports false where there are
// fewer than least planes or lines are too long; then nothing is done. Its results must not depend on how many planes there are.
func beside[T num.Elem](p *pooling, x, res []T, least int, begin func() func(dst, near []T, at int, window *exec.Sequence, padded int)) bool {
	plane, outs := p.plane()
	if plane == 0 || outs == 0 {
		return false
	}
	if p.last {
		besideLast(p, x, res, begin)
		return true
	}
	if p.planes < least {
		return false
	}
	first, rank := &p.s[0], len(p.s)
	in, out := plane/first.In, outs/first.Out // elements of a line along all axes but the first
	wide := min(p.planes, besidePlanes, max(besidePlanes/2, besideRoom/(plane+outs)))
	strips := (p.planes + wide - 1) / wide
	wide = (p.planes + strips - 1) / strips
	wide += -wide & 15
	reach := min(first.In, (first.Kernel-1)*first.Dilation+1)
	if reach > besideRoom/in || out > besideRoom || first.Stride > besideRoom {
		return false
	}
	lines := min(first.Out, max(1, (besideRoom/wide-reach*in)/(min(first.Stride, first.In)*in+out)))
	bands := (first.Out + lines - 1) / lines
	lines = (first.Out + bands - 1) / bands
	bands = (first.Out + lines - 1) / lines
	most := min(first.In, (lines-1)*first.Stride+reach)
	if most*in+lines*out > 4*besideRoom/wide { // even one line is too much
		return false
	}
	volume := 1
	for i := range p.s {
		volume = min(volume*min(p.s[i].Kernel, p.s[i].In), 1<<20)
	}
	size := dtype.Of[T]().Size()
	exec.Split(p.Name, p.Ctx, bands*strips, min(lines*out, 1<<16)*wide*(volume+8)/8, func(from, to int) {
		panel := contract.PanelsOf((most*in+lines*out)*wide*size + 256)
		defer contract.PanelPool.Put(panel)
		rest := panel.Bytes()
		near, far := conv.Carve[T](&rest, most*in*wide), conv.Carve[T](&rest, lines*out*wide)
		oc := make([]int, rank)
		var window exec.Sequence
		work := begin()
		for u := from; u < to; u++ {
			c, o := u/bands*wide, u%bands*lines
			n, end := min(wide, p.planes-c), min(o+lines, first.Out)
			y := max(0, first.At(o, 0))
			if high := min(first.In, first.At(end-1, first.Kernel-1)+1) - y; high > 0 {
				conv.Pack(near[:high*in*n], x, conv.Block{Off: c*plane + y*in, Rows: high * in, Row: 1, Cols: n, Col: plane})
			}
			clear(oc)
			oc[0] = o
			for dst := far[:(end-o)*out*n]; len(dst) > 0; dst = dst[n:] {
				window.Clear()
				place, step, padded := 0, n, 1
				for i := rank - 1; i >= 0; i-- {
					axis := &p.s[i]
					lo, hi, is := axis.Reach(oc[i])
					window.Around(hi-lo, axis.Dilation*step)
					padded *= is
					if lo < hi {
						place += axis.At(oc[i], lo) * step
					}
					step *= axis.In
				}
				work(dst[:n], near, place-y*in*n, &window, padded)
				for i := rank - 1; i >= 0; i-- {
					if oc[i]++; oc[i] < p.s[i].Out || i == 0 {
						break
					}
					oc[i] = 0
				}
			}
			conv.Copy2(res, far, conv.Block{Off: c*outs + o*out, Rows: n, Row: outs, Cols: (end - o) * out, Col: 1}, conv.Block{Rows: n, Row: 1, Cols: (end - o) * out, Col: n}, false)
		}
		runtime.KeepAlive(panel)
	})
	return true
}

// besideLast is beside for elements that lie so: x and res begin with the first ones.
func besideLast[T num.Elem](p *pooling, x, res []T, begin func() func(dst, near []T, at int, window *exec.Sequence, padded int)) {
	in, out := &p.steps[0], &p.steps[1]
	rank, channels := len(p.s), p.shape[1]
	lines, volume := p.shape[0], 1
	for i := range p.s {
		volume = min(volume*min(p.s[i].Kernel, p.s[i].In), 1<<20)
		if i < rank-1 {
			lines *= p.s[i].Out
		}
	}
	width := p.s[rank-1].Out
	exec.Split(p.Name, p.Ctx, lines, min(width, 1<<16)*channels*(volume+8)/8, func(from, to int) {
		oc := make([]int, rank)
		var window exec.Sequence
		work := begin()
		for l := from; l < to; l++ {
			image := l
			for i := rank - 2; i >= 0; i-- {
				oc[i], image = image%p.s[i].Out, image/p.s[i].Out
			}
			for oc[rank-1] = range width {
				window.Clear()
				place, at, padded := image*in[0], image*out[0], 1
				for i := rank - 1; i >= 0; i-- {
					axis := &p.s[i]
					lo, hi, is := axis.Reach(oc[i])
					window.Around(hi-lo, axis.Dilation*in[2+i])
					padded *= is
					if lo < hi {
						place += axis.At(oc[i], lo) * in[2+i]
					}
					at += oc[i] * out[2+i]
				}
				for c := 0; c < channels; c += besidePlanes {
					work(res[at+c:][:min(besidePlanes, channels-c)], x, place+c, &window, padded)
				}
			}
		}
	})
}

// advance moves coord to the next coordinate of the box from lo, or 0 where that
// is nil, up to hi, in row-major order; false after the last.
func advance(coord, lo, hi []int) bool {
	for i := len(coord) - 1; i >= 0; i-- {
		if coord[i]++; coord[i] < hi[i] {
			return true
		}
		coord[i] = 0
		if lo != nil {
			coord[i] = lo[i]
		}
	}
	return false
}
