package layout

import "github.com/ashlar-go/ashlar/internal/core/modes"

// Upcast returns the layout of elements n times as wide: strides are divided by n.
// A narrow leaf, whose stride d is smaller than n and divides it, counts only every
// n/d-th element. So the result U has
//
//	n · U(c) = l(c'), c' being c with those leaves multiplied by n/d,
//
// and the elements between c' and the next lie in the same wide element. The wide
// elements may be more memory than l reaches: Recast is for the same memory.
//
//	(4,3):(2,4) by 2 → (4,3):(1,2); by 4 → (2,3):(1,1)
//
// It fails when n isn't positive, or a stride and n don't divide each other. It
// also fails when a narrow leaf has a negative stride or an extent that isn't a
// multiple of n/d, or when the narrow leaves together reach over a wide element.
func (l Layout) Upcast(n int) (Layout, error) {
	if n <= 0 {
		return Layout{}, fail("Upcast", ErrRange, "%v by %d; give a positive number", l, n)
	}
	reach := 0 // of the narrow elements in a wide one
	return l.rescale("Upcast", func(e, s int) (int, int, error) {
		switch {
		case s%n == 0:
			return e, s / n, nil
		case n%s != 0:
			return 0, 0, fail("Upcast", ErrDivide, "%v by %d: stride %d and %d don't divide each other", l, n, s, n)
		case s < 0:
			return 0, 0, fail("Upcast", ErrDivide, "%v by %d: elements going down by %d don't begin at a wide element's start", l, n, -s)
		case e%(n/s) != 0:
			return 0, 0, fail("Upcast", ErrDivide, "%v by %d: leaf %d:%d fills no whole number of wide elements", l, n, e, s)
		}
		if reach += n - s; reach >= n { // (n/s - 1) steps of s
			return 0, 0, fail("Upcast", ErrOverlap, "%v by %d: leaf %d:%d and those before it reach over a wide element", l, n, e, s)
		}
		return e / (n / s), 1, nil
	})
}

// Downcast returns the layout of elements n times as narrow: strides are multiplied
// by n, and every leaf of stride 1 counts the narrow elements, n times as many. So
// the result D has
//
//	D(c') = n · l(c), c' being c with the leaves of stride 1 multiplied by n.
//
// With several leaves of stride 1, extents of 1 included, it counts some memory more
// than once: Recast is for the same memory.
//
//	(4,2):(2,1) by 4 → (4,8):(8,1)
//
// It fails when n isn't positive, a leaf has stride -1, or the size or an offset
// does not fit an int. It also fails when no leaf has stride 1: the narrow elements
// would need a mode of their own.
func (l Layout) Downcast(n int) (Layout, error) {
	if n <= 0 {
		return Layout{}, fail("Downcast", ErrRange, "%v by %d; give a positive number", l, n)
	}
	ones := 0
	out, err := l.rescale("Downcast", func(e, s int) (int, int, error) {
		var ok bool
		switch {
		case s == -1 && n > 1:
			return 0, 0, fail("Downcast", ErrDivide, "%v by %d: elements going down by 1 come in the wrong order", l, n)
		case s == 1:
			ones++
			e, ok = modes.Mul(e, n)
		case e == 1 && n > 1: // nothing moves, whatever the stride
			s, ok = 0, true
		default:
			s, ok = modes.Mul(s, n)
		}
		if !ok {
			return 0, 0, fail("Downcast", ErrOverflow, "%v by %d doesn't fit an int", l, n)
		}
		return e, s, nil
	})
	if err == nil && ones == 0 && n > 1 {
		return Layout{}, fail("Downcast", ErrDivide, "%v by %d: no leaf has stride 1; the narrow elements need a mode of their own", l, n)
	}
	return out, err
}

// Recast returns the layout of the same memory as elements of another width, both
// widths in one unit such as bits. It is exact: the result's elements are the bits
// of l's elements, each as often, and nothing else. One leaf is contiguous: its
// extent counts the new elements, and the strides of the others are rescaled. It is
// the last leaf of stride 1 with an extent above 1. Where there is none, a leaf of
// extent 1 will do, as its stride means nothing; so will any leaf of a layout
// without elements.
//
//	(8,4):(1,8) from 8 to 32 → (2,4):(1,2); from 8 to 4 → (16,4):(1,16)
//	(3,1):(1,1) from 32 to 8 → (12,1):(1,4)
//
// Upcast and Downcast rescale every leaf, which may reach other memory. Recast
// fails when a width isn't positive, no leaf is contiguous, or the size or an
// offset doesn't fit an int. It also fails when the contiguous leaf, or a step of
// another leaf, isn't a whole number of new elements.
func (l Layout) Recast(from, to int) (Layout, error) {
	if from <= 0 || to <= 0 {
		return Layout{}, fail("Recast", ErrRange, "%v from %d to %d; give positive widths", l, from, to)
	}
	d := gcd(from, to)
	wide, narrow := to/d, from/d // each wide old elements are narrow new ones
	if wide == narrow {
		return l, nil
	}
	k, empty := l.contiguous(), l.Size() == 0
	if k < 0 {
		return Layout{}, fail("Recast", ErrDivide, "%v from %d to %d: no leaf has stride 1; copy it to a row-major layout", l, from, to)
	}
	i := -1
	return l.rescale("Recast", func(e, s int) (int, int, error) {
		if i++; i == k {
			if e%wide != 0 {
				return 0, 0, fail("Recast", ErrDivide, "%v from %d to %d: leaf %d:%d fills no whole number of elements of %d", l, from, to, e, s, to)
			}
			n, ok := modes.Mul(e/wide, narrow)
			if !ok {
				return 0, 0, fail("Recast", ErrOverflow, "%v from %d to %d doesn't fit an int", l, from, to)
			}
			return n, 1, nil
		}
		still := e == 1 || empty
		if s%wide != 0 && !still {
			return 0, 0, fail("Recast", ErrDivide, "%v from %d to %d: steps of leaf %d:%d are no whole number of elements of %d", l, from, to, e, s, to)
		}
		str, ok := modes.Mul(s/wide, narrow)
		switch {
		case still && (!ok || s%wide != 0):
			str = 0 // nothing moves, whatever the stride
		case !ok:
			return 0, 0, fail("Recast", ErrOverflow, "%v from %d to %d doesn't fit an int", l, from, to)
		}
		return e, str, nil
	})
}

// contiguous returns the index of Recast's contiguous leaf, -1 for none.
func (l *Layout) contiguous() int {
	ext, str := l.in.All()
	empty, one := l.Size() == 0, -1
	for i := len(ext) - 1; i >= 0; i-- {
		switch {
		case str[i] == 1 && (ext[i] > 1 || empty):
			return i
		case one < 0 && (ext[i] == 1 || empty):
			one = i
		}
	}
	return one
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Spread returns l with every stride multiplied by n: elements are n times as far
// apart. It fails when an offset doesn't fit an int.
func (l Layout) Spread(n int) (Layout, error) {
	return l.rescale("Spread", func(e, s int) (int, int, error) {
		str, ok := modes.Mul(s, n)
		if !ok {
			return 0, 0, fail("Spread", ErrOverflow, "%v by %d: stride %d times %d doesn't fit an int", l, n, s, n)
		}
		return e, str, nil
	})
}

// rescale replaces every leaf.
func (l *Layout) rescale(op string, f func(e, s int) (int, int, error)) (Layout, error) {
	var w writer
	w.modes(l)
	ext, str := w.slices()
	for i := range ext {
		var err error
		if ext[i], str[i], err = f(ext[i], str[i]); err != nil {
			return Layout{}, err
		}
	}
	return w.layout(op)
}
