package tensor

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

// overlapSteps bounds the search of Overlaps. The views that programs make of tensors
// take a few dozen steps.
const overlapSteps = 4096

// Overlaps reports whether some element of a and some element of u are the same
// memory, whether or not they share a storage. Slices that interleave without
// meeting don't overlap. The answer is exact, but that in the general case takes
// time exponential in the rank; after 4096 steps of the search it is true.
func (a Any) Overlaps(u Any) bool { return overlaps("tensor.Overlaps", &a, &u) }

func overlaps(op string, t, u *Any) bool {
	t.pointer(op)
	u.pointer(op)
	a, b := t.reach(), u.reach()
	if !conv.Overlap(a, b) {
		return false
	}
	apart, size, other := int(uintptr(u.first())-uintptr(t.first())), t.st.dtype.Size(), u.st.dtype.Size()
	if size == other && apart%size == 0 {
		return meet(&t.lay, &u.lay, apart/size, 1, 1)
	}
	return meet(&t.lay, &u.lay, apart, size, other)
}

// first returns where element 0 is, of a tensor that has one.
func (a *Any) first() unsafe.Pointer {
	return unsafe.Pointer(&a.st.bytes()[a.origin()*a.st.dtype.Size()])
}

// A term is step·x with 0 ≤ x ≤ max and step > 0.
type term struct{ step, max int }

// meet reports whether a has a unit that is one of b's plus apart. An element of a has size units, one of b has other.
// That is Σ stepᵢ·xᵢ = target over the leaves of both, and over the units of an element of each.
func meet(a, b *layout.Layout, apart, size, other int) bool {
	var few [2*modes.Inline + 2]term
	terms, shift, target := few[:0], 0, apart
	for i := range walk.Ref(a).Leaves() {
		ext, str := walk.Ref(a).Leaf(i)
		terms, shift = put(terms, ext, str*size)
		target += shift
	}
	for i := range walk.Ref(b).Leaves() {
		ext, str := walk.Ref(b).Leaf(i)
		terms, shift = put(terms, ext, -str*other)
		target += shift
	}
	terms, _ = put(terms, size, 1)
	terms, shift = put(terms, other, -1)
	target += shift
	var some [2*modes.Inline + 3]span
	rest := some[:]
	if len(terms) >= len(some) {
		rest = make([]span, len(terms)+1)
	}
	for k := len(terms) - 1; k >= 0; k-- {
		t := terms[k]
		rest[k] = span{rest[k+1].sum + t.step*t.max, gcd(rest[k+1].gcd, t.step)}
	}
	s := search{terms, rest, overlapSteps}
	return s.find(0, target)
}

// put adds str·x with 0 ≤ x < ext to terms, which are in the order of their steps,
// the largest first. A negative one is counted from its other end: then the target
// grows by shift.
func put(terms []term, ext, str int) (_ []term, shift int) {
	if ext == 1 || str == 0 {
		return terms, 0
	}
	if str < 0 {
		str = -str
		shift = (ext - 1) * str
	}
	i := len(terms)
	for i > 0 && terms[i-1].step < str {
		i--
	}
	if i > 0 && terms[i-1].step == str {
		terms[i-1].max += ext - 1
		return terms, shift
	}
	terms = append(terms, term{})
	copy(terms[i+1:], terms[i:])
	terms[i] = term{str, ext - 1}
	return terms, shift
}

// A span is the sums that the terms from one on can make: multiples of gcd up to sum.
type span struct{ sum, gcd int }

type search struct {
	terms []term
	rest  []span // from each term on, and of none
	steps int    // left
}

// find reports whether the terms from k on can make target.
func (s *search) find(k, target int) bool {
	if target == 0 {
		return true
	}
	if k == len(s.terms) || target < 0 || target > s.rest[k].sum || target%s.rest[k].gcd != 0 {
		return false
	}
	if k == len(s.terms)-1 {
		return true // a multiple of the only step, within its reach
	}
	t := s.terms[k]
	least := 0
	if short := target - s.rest[k+1].sum; short > 0 {
		least = (short-1)/t.step + 1
	}
	for x := min(t.max, target/t.step); x >= least; x-- {
		if s.steps--; s.steps < 0 || s.find(k+1, target-x*t.step) {
			return true
		}
	}
	return false
}

func gcd(a, b int) int {
	for a != 0 {
		a, b = b%a, a
	}
	return b
}
