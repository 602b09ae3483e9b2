package judge

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/layout"
)

// MaxElements bounds the coordinates that this package enumerates.
const MaxElements = 1 << 22

// coordOf splits a linear coordinate into one for each mode.
func coordOf(shape []int, i int) []int {
	c := make([]int, len(shape))
	for k, e := range shape {
		if e > 0 {
			c[k] = i % e
			i /= e
		}
	}
	return c
}

// offsets returns the offsets of all linear coordinates. It fails if there are more than
// MaxElements, or one is negative.
func offsets(op string, l layout.Composed) ([]int, error) {
	n := l.Size()
	if n > MaxElements {
		return nil, fail(op, layout.ErrLimit, "%s has %d elements, more than %d", text(l), n, MaxElements)
	}
	in := l.Inner()
	c, err := layout.NewComposed(l.Outer(), l.Base(), in.Coalesce()) // the same offsets, without the work of modes of one coordinate
	if err != nil {
		return nil, err
	}
	offs := make([]int, n)
	for i := range offs {
		off, err := c.Offset(i)
		if err != nil {
			return nil, err
		}
		if off < 0 {
			return nil, fail(op, layout.ErrRange, "%s: coordinate %d has the offset %d; memory begins at 0, so add a base", text(l), i, off)
		}
		offs[i] = off
	}
	return offs, nil
}

// Plain returns a layout without a swizzle and an offset as a Composed.
func Plain(l layout.Layout) layout.Composed {
	c, err := layout.NewComposed(layout.Swizzle{}, 0, l)
	if err != nil {
		panic(err) // can't happen: nothing is added, so nothing overflows
	}
	return c
}

// text writes a layout, plainly if it has no swizzle and no offset.
func text(c layout.Composed) string {
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

func isPower(n int) bool { return n > 0 && n&(n-1) == 0 }

func log2(n int) int { return bits.Len(uint(n)) - 1 }
