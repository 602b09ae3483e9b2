package layout

import (
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// A Map takes offsets to offsets: a Layout, as a function of its linear coordinate
// in colexicographic order, its last leaf going on past the end, or a Swizzle.
type Map interface {
	String() string
	// reach returns an error unless the map is defined from lo to hi.
	reach(lo, hi int) error
	at(x int) int
}

func (l Layout) reach(lo, hi int) error {
	if lo < 0 {
		return fail("NewComposed", ErrRange, "the inner offsets begin at %d; coordinates of %v aren't negative", lo, l)
	}
	size := l.Size()
	if size == 0 {
		return fail("NewComposed", ErrRange, "the outer layout %v is empty, the inner isn't", l)
	}
	ext, str := l.in.All()
	if n := len(ext) - 1; hi >= size && n >= 0 { // the last leaf goes on
		ext = slices.Clone(ext)
		ext[n] = hi/modes.Product(ext[:n]) + 1
		if _, _, fits := span(ext, str); !fits {
			return fail("NewComposed", ErrOverflow, "an offset of %v at %d doesn't fit an int", l, hi)
		}
	}
	return nil
}

func (l Layout) at(x int) int {
	ext, str := l.in.All()
	return offsetAt(ext, str, x)
}

func (w Swizzle) reach(lo, hi int) error { return nil }

func (w Swizzle) at(x int) int { return w.At(x) }

// Composed is the function
//
//	c → outer(offset + inner(c))
//
// kept as its three parts: for compositions that Compose can't write as one layout,
// and for swizzled layouts. Its coordinates are the inner layout's. To rearrange
// them (Compose on the right, divide, product, coalesce), rearrange Inner and make
// a new Composed. The zero value is the identity of rank 0.
type Composed struct {
	outer  Map
	offset int
	inner  Layout
}

// NewComposed returns outer(offset + inner(c)). It fails when outer is a layout and
// an offset of inner plus offset is negative, or when an offset doesn't fit an int,
// or outer is nil.
func NewComposed(outer Map, offset int, inner Layout) (Composed, error) {
	if p, ok := outer.(*Layout); outer == nil || ok && p == nil {
		return Composed{}, fail("NewComposed", ErrShape, "there is no outer map: it is nil; Swizzle{} maps offsets to themselves")
	}
	if inner.Size() > 0 {
		lo, hi := inner.Span()
		from, ok1 := add(offset, lo)
		to, ok2 := add(offset, hi)
		if !ok1 || !ok2 {
			return Composed{}, fail("NewComposed", ErrOverflow, "%v from %d doesn't fit an int", inner, offset)
		}
		if err := outer.reach(from, to); err != nil {
			return Composed{}, err
		}
	}
	return Composed{outer, offset, inner}, nil
}

// Outer returns the function applied last.
func (c Composed) Outer() Map {
	if c.outer == nil {
		return Swizzle{}
	}
	return c.outer
}

// Base returns the offset added between the two.
func (c Composed) Base() int { return c.offset }

// Inner returns the layout applied first.
func (c Composed) Inner() Layout { return c.inner }

// Size returns the number of coordinates.
func (c Composed) Size() int { return c.inner.Size() }

// Offset returns the offset of linear coordinate i in colexicographic order. It
// fails unless 0 ≤ i < Size.
func (c Composed) Offset(i int) (int, error) {
	off, err := c.inner.Offset(i)
	if err != nil {
		return 0, renamed("Composed.Offset", err)
	}
	return c.Outer().at(c.offset + off), nil
}

// OffsetAt returns the offset of a coordinate, as Layout.OffsetAt takes it.
func (c Composed) OffsetAt(coord Tuple) (int, error) {
	off, err := c.inner.OffsetAt(coord)
	if err != nil {
		return 0, renamed("Composed.OffsetAt", err)
	}
	return c.Outer().at(c.offset + off), nil
}

// Fix fixes the integers of coord, as Layout.Fix does: the modes at its holes are
// left, and the offset of the integers is added to the base.
func (c Composed) Fix(coord Tuple) (Composed, error) {
	kept, off, err := c.inner.Fix(coord)
	if err != nil {
		return Composed{}, renamed("Composed.Fix", err)
	}
	return Composed{c.outer, c.offset + off, kept}, nil
}

// String writes the parts, as in
//
//	Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1)
func (c Composed) String() string {
	return c.Outer().String() + " ∘ " + strconv.Itoa(c.offset) + " ∘ " + c.inner.String()
}
