package layout

import (
	"cmp"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// RightInverse returns the layout R of offsets back to linear coordinates with
//
//	a(R(i)) = i for 0 ≤ i < Size(R)
//
// R consists of whole leaves of a, after coalescing, and is the longest such
// layout: from stride 1 on, each leaf begins where the one before it ends. If a
// fills memory without holes R has its size; with no leaf of stride 1 it is 1:0.
//
//	(8,4):(4,1) → (4,8):(8,1)
//	(2,4):(0,1) → 4:2
//
// An empty a gives 0:0.
func RightInverse(a Layout) Layout {
	if a.Size() == 0 {
		return must(build("RightInverse", []int{0}, []int{0}, nil))
	}
	var p leaves
	p.coalesce(a.in.All())
	ext, str := p.slices()
	type link struct{ ext, place, end int }
	best := make(map[int]link) // by stride: the leaf from which the longest chain begins
	strips := make([]strip, len(ext))
	for k, place := 0, 1; k < len(ext); k++ {
		strips[k] = strip{ext[k], str[k], place}
		place *= ext[k]
	}
	slices.SortStableFunc(strips, func(a, b strip) int { return cmp.Compare(b.str, a.str) })
	for _, l := range strips {
		next, fits := modes.Mul(l.ext, l.str)
		if l.str <= 0 || !fits {
			continue
		}
		end := max(next, best[next].end)
		if end > best[l.str].end {
			best[l.str] = link{l.ext, l.place, end}
		}
	}
	var w writer
	for at := 1; best[at].end > 0; at *= best[at].ext {
		w.leaf(best[at].ext, best[at].place)
	}
	out := must(w.layout("RightInverse"))
	return out.Coalesce()
}

// LeftInverse returns a layout R of offsets back to linear coordinates with
//
//	R(a(i)) = i for 0 ≤ i < Size(a), when a has no stride 0,
//	a(R(a(i))) = a(i) otherwise;
//
// for numbers that aren't offsets of a, R is unspecified. R takes each offset apart
// by division, so it needs strides that divide each other.
//
//	4:2         → (2,4):(0,1)
//	(4,2):(1,5) → (5,2):(1,4)
//
// It fails when a stride is negative, two leaves overlap or interleave, or a
// stride is no multiple of the next smaller one. An empty a gives 0:0.
func LeftInverse(a Layout) (Layout, error) {
	if a.Size() == 0 {
		return a.Coalesce(), nil
	}
	var buf [modes.Inline]strip
	strips, err := ascending(buf[:0], "LeftInverse", &a)
	if err != nil {
		return Layout{}, err
	}
	var w writer
	for k, l := range strips {
		if k == 0 {
			w.leaf(l.str, 0)
		}
		reach := l.ext
		if k+1 < len(strips) {
			next := strips[k+1]
			if reach = next.str / l.str; reach < l.ext {
				return Layout{}, overlap("LeftInverse", &a, next)
			}
			if next.str%l.str != 0 {
				return Layout{}, fail("LeftInverse", ErrDivide, "stride %d of %v is no multiple of stride %d", next.str, a, l.str)
			}
		}
		w.leaf(reach, l.place)
	}
	out, err := w.layout("LeftInverse")
	if err != nil {
		return Layout{}, err
	}
	return out.Coalesce(), nil
}
