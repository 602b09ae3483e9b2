package layout

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

var (
	long   = flag.Bool("long", false, "also try all small layouts and pairs of them, which takes minutes")
	random = flag.Int("random", 100_000_000, "with -long: how many random pairs to compose")
)

// table returns the offset of every linear coordinate, from the leaves alone.
func table(buf []int, leaves []node) []int {
	buf = append(buf[:0], 0)
	for _, l := range leaves {
		n := len(buf)
		for c := 1; c < l.ext; c++ {
			for _, off := range buf[:n] {
				buf = append(buf, off+c*l.str)
			}
		}
	}
	return buf
}

// TestAllLayouts compares the functions of one layout with their definitions, on all
// layouts of up to 3 modes with extents 1 to 8 and strides -8 to 8; without -long on
// those with extents to 3 and strides -2 to 3.
func TestAllLayouts(t *testing.T) {
	ext, lo, hi := 3, -2, 3
	if *long {
		ext, lo, hi = 8, -8, 8
	}
	var strides []int
	for s := lo; s <= hi; s++ {
		strides = append(strides, s)
	}
	count, refused := 0, 0
	var buf, back []int
	try := func(leaves []node) {
		l := flatOf(t, leaves)
		count++
		buf = table(buf, leaves)
		moving, still, reaches := 1, 1, make(map[int]bool)
		for _, x := range leaves {
			if x.str == 0 {
				still *= x.ext
			} else {
				moving *= x.ext
			}
		}
		for _, off := range buf {
			reaches[off] = true
		}
		c := l.Coalesce()
		for i, off := range buf {
			if got, err := c.Offset(i); err != nil || got != off {
				t.Fatalf("%v coalesces to %v: at %d %d, not %d", l, c, i, got, off)
			}
		}
		f := l.Filter()
		if f.Size() != moving || c.Size() != len(buf) {
			t.Fatalf("%v filters to %v", l, f)
		}
		for i := range f.Size() {
			if off, err := f.Offset(i); err != nil || !reaches[off] {
				t.Fatalf("%v filters to %v: offset %d", l, f, off)
			}
		}
		n := l.Nullspace()
		if n.Size() != still {
			t.Fatalf("%v has the nullspace %v", l, n)
		}
		for i := range n.Size() {
			if at, err := n.Offset(i); err != nil || buf[at] != 0 {
				t.Fatalf("%v has the nullspace %v: %d", l, n, at)
			}
		}
		r := RightInverse(l)
		for i := range r.Size() {
			if at, err := r.Offset(i); err != nil || buf[at] != i {
				t.Fatalf("%v has the right inverse %v: %d", l, r, i)
			}
		}
		inv, err := LeftInverse(l)
		if err != nil {
			refused++
		} else {
			for i, off := range buf {
				at, err := inv.Offset(off)
				if err != nil || buf[at] != off || still == 1 && at != i {
					t.Fatalf("%v has the left inverse %v: %d", l, inv, off)
				}
			}
		}
		comp, err := Complement(l, len(buf))
		if err != nil {
			refused++
			return
		}
		back = back[:0]
		last := -1
		for i := range comp.Size() {
			off, err := comp.Offset(i)
			if err != nil || off <= last {
				t.Fatalf("%v has the complement %v: it doesn't increase at %d", l, comp, i)
			}
			last = off
			back = append(back, off)
		}
		sums := make(map[int]bool, len(reaches)*len(back))
		for a := range reaches {
			for _, b := range back {
				sums[a+b] = true
			}
		}
		if len(sums) != moving*len(back) {
			t.Fatalf("%v and its complement %v meet", l, comp)
		}
	}
	// The lists of three are too many to hold.
	for _, two := range leafLists(2, ext, strides) {
		try(two)
		if len(two) < 2 {
			continue
		}
		for e := 1; e <= ext; e++ {
			for _, s := range strides {
				try(append(two[:2:2], node{ext: e, str: s}))
			}
		}
	}
	t.Logf("%d layouts, 0 wrong; %d inverses and complements refused", count, refused)
}

// TestAllPairs composes, divides and multiplies all pairs of two sets of small layouts,
// and random pairs of up to 3 modes with extents 1 to 8 and strides -8 to 8.
func TestAllPairs(t *testing.T) {
	if !*long {
		t.Skip("13 million pairs and more; run with -long. TestComposeAll has a smaller set")
	}
	for _, set := range [][][]node{leafLists(2, 4, seqTo(6)), leafLists(3, 3, seqTo(4))} {
		layouts := make([]Layout, len(set))
		for i, leaves := range set {
			layouts[i] = flatOf(t, leaves)
		}
		var n answers
		for i := range layouts {
			for k := range layouts {
				n.add(t, &layouts[i], &layouts[k], set[i], set[k])
			}
		}
		t.Log(&n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() []node {
		leaves := make([]node, r.IntN(4))
		for i := range leaves {
			leaves[i] = node{ext: 1 + r.IntN(8), str: r.IntN(17) - 8}
		}
		return leaves
	}
	var n answers
	for range *random {
		a, b := draw(), draw()
		la, lb := flatOf(t, a), flatOf(t, b)
		n.add(t, &la, &lb, a, b)
	}
	t.Log("random:", &n)
}

// answers counts pairs, and those that a function has a layout for.
type answers struct{ pairs, composed, divided, multiplied int }

func (n *answers) String() string {
	return fmt.Sprintf("%d pairs, 0 wrong: %d composed, %d divided, %d multiplied, the rest refused", n.pairs, n.composed, n.divided, n.multiplied)
}

func (n *answers) add(t *testing.T, a, b *Layout, an, bn []node) {
	n.pairs++
	if pairHolds(t, a, b, an, bn) {
		n.composed++
	}
	if quotientHolds(t, a, b, an) {
		n.divided++
	}
	if productHolds(t, a, b) {
		n.multiplied++
	}
}

// seqTo is 0, 1, … n.
func seqTo(n int) (s []int) {
	for i := range n + 1 {
		s = append(s, i)
	}
	return s
}

var pairBuf []int

// pairHolds reports whether a ∘ b has a layout, and fails when it is a wrong one.
func pairHolds(t *testing.T, a, b *Layout, an, bn []node) bool {
	r, err := Compose(*a, *b)
	if err != nil {
		return false
	}
	pairBuf = table(pairBuf, bn)
	for i, x := range pairBuf {
		if got, err := r.Offset(i); err != nil || got != extended(an, x) {
			t.Fatalf("%v ∘ %v = %v: at %d %d, not %d", a, b, r, i, got, extended(an, x))
		}
	}
	return true
}

// quotientHolds reports whether a / b has a layout, and fails when it isn't
// a ∘ (b, b*).
func quotientHolds(t *testing.T, a, b *Layout, an []node) bool {
	r, err := LogicalDivide(*a, *b)
	if err != nil {
		return false
	}
	rest, err := Complement(*b, a.Size())
	if err != nil {
		t.Fatalf("%v / %v = %v, and %v has no complement", a, b, r, b)
	}
	tile := b.Size()
	for i := range tile * rest.Size() {
		x, errX := b.Offset(i % tile)
		y, errY := rest.Offset(i / tile)
		got, err := r.Offset(i)
		if err := errors.Join(err, errX, errY); err != nil || got != extended(an, x+y) {
			t.Fatalf("%v / %v = %v: at %d %d, not %d: %v", a, b, r, i, got, extended(an, x+y), err)
		}
	}
	return true
}

// productHolds reports whether a times b has a layout, and fails when it isn't
// (a, a* ∘ b).
func productHolds(t *testing.T, a, b *Layout) bool {
	r, err := LogicalProduct(*a, *b)
	if err != nil {
		return false
	}
	most := 0
	for i := range b.Size() {
		x, _ := b.Offset(i)
		most = max(most, x)
	}
	rest, err := Complement(*a, a.Size()*(most+1))
	if err != nil {
		t.Fatalf("%v times %v = %v, and %v has no complement", a, b, r, a)
	}
	gaps := leavesOf(&rest)
	for i := range a.Size() * b.Size() {
		x, errX := a.Offset(i % a.Size())
		y, errY := b.Offset(i / a.Size())
		got, err := r.Offset(i)
		if err := errors.Join(err, errX, errY); err != nil || got != x+extended(gaps, y) {
			t.Fatalf("%v times %v = %v: at %d %d, not %d: %v", a, b, r, i, got, x+extended(gaps, y), err)
		}
	}
	return true
}

// leavesOf returns the leaves of a flat layout.
func leavesOf(l *Layout) (leaves []node) {
	for i := range l.Rank() {
		str, _ := l.Stride(i)
		leaves = append(leaves, node{ext: l.Dim(i), str: str})
	}
	return leaves
}
