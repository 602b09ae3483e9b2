package layout

import (
	"cmp"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// Complement returns the layout a* that fills the gaps between the offsets of a, up
// to n: its offsets increase, and a(c) + a*(c*) are all different except for leaves
// of a with stride 0. If the stride of each leaf of a is a multiple of the reach
// (extent times stride) of the one below it, they include 0, 1, …, n-1.
//
//	4:2 up to 24       → (2,3):(1,8)
//	(2,2):(1,6) to 24  → (3,2):(2,12)
//	(4,6):(1,4) to 24  → 1:0
//
// Leaves of extent 1 or stride 0 don't count; an empty a leaves n:1. n need not be
// a multiple of anything: the last mode is rounded up. The result is coalesced. It
// fails when a stride or n is negative, two leaves of a overlap or interleave, or
// an offset does not fit an int.
func Complement(a Layout, n int) (Layout, error) {
	if n < 0 {
		return Layout{}, fail("Complement", ErrRange, "%v up to %d; give a size", a, n)
	}
	var buf [modes.Inline]strip
	strips, err := ascending(buf[:0], "Complement", &a)
	if err != nil {
		return Layout{}, err
	}
	var p leaves
	reach := 1 // of the leaves and filled gaps so far
	for _, l := range strips {
		if l.str < reach {
			return Layout{}, overlap("Complement", &a, l)
		}
		if gap := l.str / reach; gap > 1 {
			p.merge(gap, reach)
		}
		var ok bool
		if reach, ok = modes.Mul(l.ext, l.str); !ok {
			return Layout{}, fail("Complement", ErrOverflow, "%v reaches further than an int counts", a)
		}
	}
	rest := n / reach
	if n%reach != 0 {
		rest++
	}
	switch {
	case rest == 0:
		p.reset()
		p.add(0, 0)
	case rest > 1:
		p.merge(rest, reach)
	case p.n == 0:
		p.add(1, 0)
	}
	ext, str := p.slices()
	return build("Complement", ext, str, nil)
}

// A strip is a leaf with its place in the colexicographic order: the linear
// coordinate of its second element.
type strip struct{ ext, str, place int }

// ascending appends the leaves that move, after coalescing, by increasing stride;
// of an empty layout none moves. Negative strides are refused.
func ascending(strips []strip, op string, a *Layout) ([]strip, error) {
	if a.Size() == 0 {
		return nil, nil
	}
	var p leaves
	p.coalesce(a.in.All())
	ext, str := p.slices()
	place := 1
	for k, e := range ext {
		if str[k] < 0 && e > 1 {
			return nil, fail(op, ErrRange, "leaf %d:%d of %v has a negative stride; reverse the mode by a slice first", e, str[k], *a)
		}
		if e > 1 && str[k] != 0 {
			strips = append(strips, strip{e, str[k], place})
		}
		place *= e
	}
	slices.SortStableFunc(strips, func(a, b strip) int { return cmp.Compare(a.str, b.str) })
	return strips, nil
}

func overlap(op string, a *Layout, l strip) error {
	return fail(op, ErrOverlap, "leaf %d:%d of %v overlaps or interleaves the leaves below it", l.ext, l.str, *a)
}
