package layout

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// Slices of nested modes and compositions take every step-th element of a layout A.
// The question behind both is: is j ↦ A(start + j·step) a layout?
//
// Let A be coalesced, with leaves e₀:d₀, e₁:d₁, … and P_k = e₀·…·e_{k-1}. Then
//
//	A(x) = d₀·x + Σ_{k≥1} w_k·⌊x/P_k⌋,  w_k = d_k − e_{k-1}·d_{k-1} ≠ 0,
//
// so the function is a layout if each staircase ⌊(start + j·step)/P_k⌋ is one and
// the places where they have to be cut divide each other; and only then, but for
// terms that cancel.

// progression sets p to the coalesced layout of j ↦ A(start+j·step) − A(start) for
// 0 ≤ j < n. A has the coalesced leaves ext:str, and past its end its last leaf
// goes on; n ≥ 2, start ≥ 0, step ≥ 0. If there is no such layout, bad is the leaf
// of A whose end is crossed unevenly; else it is -1. start+(n-1)·step must fit an
// int, and so must all offsets.
//
// For composition, where start is 0, progressions are added to each other. room[k]
// is P_k − 1 less the largest remainders by P_k of the progressions so far, and
// shrinks by the largest remainder of this one. If it is too small, carry is true
// and bad the leaf whose end would be crossed.
func (p *leaves) progression(ext, str []int, room []uint, start, n, step int) (bad int, carry bool) {
	var buf [2*modes.Inline + 2]int
	cuts := append(buf[:0], 1, n)
	size := 1
	for k := 1; k < len(ext); k++ {
		size *= ext[k-1]
		first, last, peak, ok := stairs(uint(start%size), uint(step%size), uint(size), uint(n))
		if !ok {
			return k - 1, false
		}
		if room != nil {
			if peak > room[k] {
				return k - 1, true
			}
			room[k] -= peak
		}
		if first > 0 {
			if cuts, ok = addCut(cuts, int(first)); ok {
				cuts, ok = addCut(cuts, int(last))
			}
			if !ok {
				return k - 1, false
			}
		}
	}
	p.reset()
	origin := offsetAt(ext, str, start)
	for i, c := range cuts[:len(cuts)-1] {
		p.merge(cuts[i+1]/c, offsetAt(ext, str, start+c*step)-origin)
	}
	return -1, false
}

// addCut inserts c into numbers that divide each other in order; false when it
// doesn't fit there.
func addCut(cuts []int, c int) ([]int, bool) {
	i, found := slices.BinarySearch(cuts, c)
	if found {
		return cuts, true
	}
	if i == len(cuts) || c%cuts[i-1] != 0 || cuts[i]%c != 0 {
		return cuts, false
	}
	return slices.Insert(cuts, i, c), true
}

// stairs tells where the staircase ⌊(a + j·r)/p⌋, 0 ≤ j < n, has to be cut to be
// a layout; a, r < p and n ≥ 2. q is the first place, 0 when it is linear; g, which
// is q or 2q, the last. When a = 0 and ok, peak is the largest remainder of j·r by
// p. Nothing wraps if p ≤ MaxInt/2, or if a is 0 and (n-1)·r fits an int, since a
// larger p then has one rise at most.
//
// Why there are no other places: a layout that begins with q zeros and a one has q
// as its first extent, so every rise is at a multiple of q. Gaps between the rises
// of a staircase differ by one at most, so they are all the same multiple g of q.
// These are the staircases:
//
//	g = q           ⌊j/q⌋
//	g = 2q, q = 1   0 1 1 2 2 3, which is (2,3):(1,1)
//	larger g        0 1 1 1 …, which is no layout
func stairs(a, r, p, n uint) (q, g, peak uint, ok bool) {
	if a+r >= p { // count the difference to j: j − ⌊(a + j·r)/p⌋ is a staircase too
		a, r = p-1-a, p-r
	}
	if r == 0 || (p-1-a)/r >= n-1 {
		return 0, 0, (n - 1) * r, true
	}
	q = (p-1-a)/r + 1
	s := a + q*r - p // the remainder at the first rise, less than r
	for g = q; g <= 2*q && n%g == 0; g += q {
		rises := (n - 1 - q) / g // after the first
		left, fits := s, true
		switch {
		case rises == 0:
		case g*r >= p:
			d := g*r - p // each rise leaves d more than the one before
			if fits = d == 0 || rises <= (r-1-s)/d; fits {
				left += rises * d
			}
		default:
			d := p - g*r
			if fits = rises <= s/d; fits {
				left -= rises * d
			}
		}
		if fits && left+(q-1)*r < p { // no rise before the end
			return q, g, left + (q-1)*r, true
		}
	}
	return 0, 0, 0, false
}

// offsetAt is the offset of linear coordinate x, the first leaf fastest. Past the
// end the last leaf goes on.
func offsetAt(ext, str []int, x int) int {
	off := 0
	for k, e := range ext {
		if k == len(ext)-1 {
			return off + x*str[k]
		}
		off += x % e * str[k]
		x /= e
	}
	return off
}
