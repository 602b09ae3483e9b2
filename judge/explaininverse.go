package judge

import (
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// rightInverse explains the chain of leaves.
func (x *explainer) rightInverse(a layout.Layout) {
	x.coalesce(a)
	whole := layout.RightInverse(a)
	list := ascending(a)
	at := 1
	var chain [][3]int
	for at < whole.Size() {
		// Of the leaves of this stride, the one that the answer has: its place is A's coordinate of offset at.
		place, err := whole.Offset(at)
		k := slices.IndexFunc(list, func(l [3]int) bool { return l[1] == at && l[2] == place })
		if err != nil || k < 0 {
			return
		}
		l := list[k]
		chain = append(chain, [3]int{l[0], l[2]})
		x.add("chain", a.String(), leavesText(chain), []int{l[0], l[1], l[2]}, "leaf %d:%d has stride %d, and counts coordinates by %d: a mode %d:%d; the next begins at %d", l[0], l[1], at, l[2], l[0], l[2], at*l[0])
		at *= l[0]
	}
	x.add("inverse", a.String(), whole.String(), nil, "no leaf goes on at stride %d: %v", at, whole)
	x.blame(rightInverse(a), a)
}

// leftInverse explains the division of an offset by one stride after the other.
func (x *explainer) leftInverse(a layout.Layout) {
	x.coalesce(a)
	list := ascending(a)
	var parts, done [][3]int
	var places []int
	for k, l := range list {
		e, s, place := l[0], l[1], l[2]
		if s < 0 {
			x.add("place", "", "", []int{e, s}, "leaf %d:%d has a negative stride", e, s)
			return
		}
		if k == 0 {
			if s > 1 {
				parts = append(parts, [3]int{s, 0})
			}
		}
		reach := e
		if k+1 < len(list) {
			next := list[k+1][1]
			if reach = next / s; reach < e {
				x.add("place", "", "", []int{s, next}, "leaf %d:%d reaches %d, past the next stride %d: they overlap or interleave", e, s, e*s, next)
				return
			}
			if next%s != 0 {
				x.add("place", "", "", []int{s, next}, "the next stride %d is no multiple of %d", next, s)
				return
			}
		}
		done, places = append(done, l), append(places, place)
		parts = append(parts, [3]int{reach, place})
		x.add("place", leavesText(done), leavesText(parts), slices.Clone(places), "an offset divided by %d is the place in leaf %d:%d, which counts coordinates by %d: a mode %d:%d", s, e, s, place, reach, place)
	}
	if r, err := layout.LeftInverse(a); err == nil {
		x.add("inverse", a.String(), r.String(), nil, "together %v", r)
		x.blame(leftInverse(a), a)
	}
}

// swizzle explains the bits that a swizzle flips.
func (x *explainer) swizzle(w, l string) {
	c, err := layout.Eval(w + " o " + l)
	if err != nil {
		return
	}
	s, ok := c.Outer().(layout.Swizzle)
	if !ok {
		return
	}
	if c.Base() != 0 {
		x.add("offset", "", "", []int{c.Base()}, "%d is added to each offset of %s first", c.Base(), l)
	}
	if s.Bits() == 0 {
		x.add("swizzle", l, c.String(), []int{0, 0, 0}, "%v flips no bits", s)
		return
	}
	to, from := s.Base()+max(0, -s.Shift()), s.Base()+max(0, s.Shift())
	x.add("swizzle", l, c.String(), []int{to, from, s.Bits()}, "bits %d to %d of an offset are flipped by its bits %d to %d, so that each block of %d offsets is permuted", to, to+s.Bits()-1, from, from+s.Bits()-1, s.Size())
	if n := c.Size(); n > 0 && n <= maxShort {
		in := c.Inner()
		moved := -1
		for i := range n {
			if off, _ := in.Offset(i); s.At(off+c.Base()) != off+c.Base() {
				moved = i
				break
			}
		}
		if moved < 0 {
			x.add("still", "", "", nil, "no offset of %s has one of the bits %d to %d, so none moves", l, from, from+s.Bits()-1)
		} else {
			off, _ := in.Offset(moved)
			off += c.Base()
			x.add("moves", "", "", []int{moved, off, s.At(off)}, "the first that moves is coordinate %d: its offset %b in bits becomes %b, %d becomes %d", moved, off, s.At(off), off, s.At(off))
		}
	}
}
