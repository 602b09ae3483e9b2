package layout

import (
	"sort"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// MaxCommonVector returns how many elements a and b have in common as one run of
// memory: the largest n so that, for R = RightInverse(b),
//
//	a(R(i)) = b(R(i)) = i for 0 ≤ i < n.
//
// A copy between tensors of these layouts can move n elements at a time.
//
//	(8,4):(1,8), (8,4):(1,16) → 8
//
// It is 1 when there is no such run, and 0 when a or b is empty.
func MaxCommonVector(a, b Layout) int { return commonRun(&a, RightInverse(b)) }

// MaxCommonLayout returns the first MaxCommonVector(a, b) elements of
// RightInverse(b): the coalesced layout R of that run, with a(R(i)) = b(R(i)) = i.
//
//	(4,8):(8,1), (4,8):(8,1) → (8,4):(4,1)
func MaxCommonLayout(a, b Layout) Layout {
	r := RightInverse(b)
	run := must(prefix(&r, commonRun(&a, r)))
	return run.Coalesce()
}

// commonRun returns the largest n with a(r(i)) = i for i < n, if a part of r of
// that size has a layout; else the largest size that has.
func commonRun(a *Layout, r Layout) int {
	if a.Size() == 0 || r.Size() == 0 {
		return 0
	}
	n := 1
	ext, _ := r.in.All()
	for _, e := range ext {
		// The runs of k = 1, 2, … slices are common up to some k, and not beyond.
		k := sort.Search(e, func(k int) bool { return !identity(a, &r, n*(k+1)) })
		if k == 0 {
			break
		}
		if n *= k; k < e {
			break
		}
	}
	return n
}

// identity reports whether a(r(i)) = i for i < n.
func identity(a, r *Layout, n int) bool {
	p, err := prefix(r, n)
	if err != nil || outside(a, &p) {
		return false
	}
	c, err := Compose(*a, p)
	if err != nil {
		return false
	}
	c = c.Coalesce()
	e, s := c.Leaf(0)
	return e == n && (s == 1 || n == 1)
}

// outside reports whether r reaches over the end of a.
func outside(a, r *Layout) bool {
	_, hi := r.Span()
	return hi >= a.Size()
}

// prefix returns the first n elements of r.
func prefix(r *Layout, n int) (Layout, error) {
	run := Layout{in: modes.Ref{N: 1, Modes: 1}}
	run.in.Ext[0], run.in.Str[0] = n, 1
	return Compose(*r, run)
}
