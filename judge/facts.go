package judge

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// maxFacts is the most offsets that FactsOf enumerates for facts that no rule gives.
const maxFacts = 1 << 20

// Facts are the known facts about a layout.
type Facts struct {
	Layout     string `json:"layout"`
	Size       int    `json:"size"`
	Known      bool   `json:"known"` // whether Least and Most are known
	Least      int    `json:"least"` // Least is 0 and Most -1 for a layout without elements
	Most       int    `json:"most"`
	Injective  *bool  `json:"injective"` // nil: not known
	Contiguous *bool  `json:"contiguous"`
	Order      string `json:"order,omitempty"` // of a contiguous layout: row-major or column-major
}

// FactsOf finds the offsets that a layout reaches, whether no two coordinates share one
// (injective), and whether they leave none out (contiguous). It enumerates the offsets of
// up to 2^20 elements. For more elements it uses only the rules of the algebra.
func FactsOf(c layout.Composed) Facts {
	in := c.Inner()
	f := Facts{Layout: text(c), Size: in.Size(), Most: -1}
	w, _ := c.Outer().(layout.Swizzle)
	answer := func(b bool) *bool { return &b }
	switch {
	case f.Size == 0:
		f.Known, f.Injective, f.Contiguous = true, answer(true), answer(true)
		return f
	case f.Size <= maxFacts:
		offsets := make([]int, f.Size)
		for i := range offsets {
			offsets[i], _ = c.Offset(i) // i is inside
		}
		slices.Sort(offsets)
		f.Known, f.Least, f.Most = true, offsets[0], offsets[f.Size-1]
		f.Injective = answer(len(slices.Compact(offsets)) == f.Size)
	default:
		if w.Bits() == 0 {
			lo, hi := in.Span()
			f.Known, f.Least, f.Most = true, c.Base()+lo, c.Base()+hi
		}
		still := in.Filter() // a swizzle keeps different offsets apart
		switch _, err := layout.LeftInverse(in); {
		case still.Size() < f.Size, f.Known && uint(f.Most)-uint(f.Least) < uint(f.Size-1):
			f.Injective = answer(false)
		case err == nil:
			f.Injective = answer(true)
		}
	}
	if f.Known && uint(f.Most)-uint(f.Least) != uint(f.Size-1) {
		f.Contiguous = answer(false)
	} else if f.Known {
		f.Contiguous = f.Injective
	}
	if whole := in.Coalesce(); w.Bits() == 0 && f.Contiguous != nil && *f.Contiguous {
		_, step := whole.Leaf(0)
		switch {
		case in.IsRowMajor():
			f.Order = "row-major"
		case whole.Leaves() == 1 && step == 1:
			f.Order = "column-major"
		}
	}
	return f
}

// A Difference describes the difference of two layouts as functions of the linear
// coordinate, the first mode fastest.
type Difference struct {
	Size    [2]int    `json:"size"`
	Equal   int       `json:"equal"`           // coordinates with the same offset in both
	First   *Mismatch `json:"first,omitempty"` // the first coordinate that differs; nil: none does
	Offsets bool      `json:"offsets"`         // both reach the same offsets equally often
}

// Compare finds the difference of two layouts. It fails with layout.ErrLimit on more than
// MaxElements elements.
func Compare(a, b layout.Composed) (*Difference, error) {
	const op = "Compare"
	n := max(a.Size(), b.Size())
	if n > MaxElements {
		return nil, fail(op, layout.ErrLimit, "%d elements, more than %d", n, MaxElements)
	}
	d := &Difference{Size: [2]int{a.Size(), b.Size()}}
	both := min(a.Size(), b.Size())
	seen := make(map[int]int, both)
	in := a.Inner()
	for i := range both {
		x, err := a.Offset(i)
		if err != nil {
			return nil, err
		}
		y, err := b.Offset(i)
		if err != nil {
			return nil, err
		}
		if x == y {
			d.Equal++
		} else if d.First == nil {
			d.First = &Mismatch{op, i, coordOf(in.Shape(), i), x, y, fmt.Sprintf("the offsets are %d and %d", x, y)}
		}
		seen[x]++
		seen[y]--
	}
	d.Offsets = a.Size() == b.Size()
	for _, k := range seen {
		d.Offsets = d.Offsets && k == 0
	}
	if d.First == nil && a.Size() != b.Size() {
		d.First = &Mismatch{Op: op, Index: both, Reason: fmt.Sprintf("the sizes are %d and %d", a.Size(), b.Size())}
	}
	return d, nil
}

// Holders returns up to most of the linear coordinates that have an offset, and the number
// of all of them. It fails with layout.ErrLimit on more than MaxElements elements.
func Holders(c layout.Composed, offset, most int) (coords []int, count int, err error) {
	if n := c.Size(); n > MaxElements {
		return nil, 0, fail("Holders", layout.ErrLimit, "%s has %d elements, more than %d", text(c), n, MaxElements)
	}
	for i := range c.Size() {
		off, err := c.Offset(i)
		if err != nil {
			return nil, 0, err
		}
		if off == offset {
			if count++; count <= most {
				coords = append(coords, i)
			}
		}
	}
	return coords, count, nil
}
