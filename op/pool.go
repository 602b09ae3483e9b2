package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// pooled calls f for every output of a pool over x [N, C, D1, …] with the
// elements of its window that lie inside, in row-major order, and how many
// window positions lie inside the padded input. f stores the result at dst[o].
// places, when wanted, is the position of each element in its plane.
func pooled[T num.Elem](j exec.Job, x tensor.Tensor[T], s []span, places bool, f func(o int, window []T, place []int, padded int)) {
	x = x.Contiguous()
	data, x0 := x.Data()
	n, plane, out, most := x.Dim(0)*x.Dim(1), 1, 1, 1
	for i := range s {
		plane *= s[i].in
		out *= s[i].out
		most *= min(s[i].kernel, s[i].in)
	}
	rank := len(s)
	ext := make([]int, rank)
	for i := range s {
		ext[i] = s[i].out
	}
	exec.Split(j.Name, j.Ctx, n, out*most*max(j.Cost, 2), func(from, to int) {
		window, place := make([]T, 0, most), make([]int, 0, most)
		oc, kc := make([]int, rank), make([]int, rank)
		lo, hi := make([]int, rank), make([]int, rank)
		for c := from; c < to; c++ {
			src := data[x0+c*plane : x0+(c+1)*plane]
			clear(oc)
			for o := range out {
				window, place = window[:0], place[:0]
				padded, empty := 1, false
				for i := range s {
					var p int
					lo[i], hi[i], p = s[i].reach(oc[i])
					padded *= p
					empty = empty || lo[i] == hi[i]
				}
				copy(kc, lo)
				for more := !empty; more; more = advance(kc, lo, hi) {
					at := 0
					for i := range s {
						at = at*s[i].in + s[i].at(oc[i], kc[i])
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
	runtime.KeepAlive(x)
}

// reach returns which kernel steps [lo, hi) of output o lie inside the input, and
// how many lie inside the padded input.
func (s *span) reach(o int) (lo, hi, padded int) {
	below := func(end int) int { // how many steps lie before a position
		if end -= s.at(o, 0); end <= 0 {
			return 0
		}
		return min(s.kernel, (end-1)/s.dilation+1)
	}
	hi = below(s.in)
	return min(below(0), hi), hi, below(s.in + s.end)
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
