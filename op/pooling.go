package op

import (
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// pooling is the geometry of a pool over [N, C, D1, …].
type pooling struct {
	exec.Job
	s      []contract.Span
	shape  []int // of the result
	planes int   // N·C
}

// poolOf checks a window that moves over x.
func poolOf(j exec.Job, x *tensor.Any, win Window) *pooling {
	s := contract.SpansOf(&win, j.Name, plan.Spatial(j.Name, x.LayoutRef()))
	return &pooling{j, s, contract.OutShape(x.Dim(0), x.Dim(1), s), x.Dim(0) * x.Dim(1)}
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

// pooled calls f for every output of a pool over data, the elements of x in row-major order, with
// the elements of its window that lie inside, in that order, and how many
// window positions lie inside the padded input. f stores the result at dst[o].
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
		window, place := make([]T, 0, most), make([]int, 0, most)
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
