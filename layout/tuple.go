package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// A Tuple is an integer, a list of Tuples, or a hole: CuTe's IntTuple. Shapes,
// strides and coordinates are Tuples. Unlike a Layout it keeps a list of one entry
// apart from the entry. It is an immutable value; the zero value is the integer 0.
type Tuple struct {
	kind    tupleKind
	n       int
	entries []Tuple
}

type tupleKind uint8

const (
	intTuple tupleKind = iota
	listTuple
	holeTuple
)

// Int returns the integer n.
func Int(n int) Tuple { return Tuple{n: n} }

// Ints returns the list of the integers n.
func Ints(n ...int) Tuple {
	t := Tuple{kind: listTuple, entries: make([]Tuple, len(n))}
	for i, n := range n {
		t.entries[i] = Int(n)
	}
	return t
}

// List returns the list of the entries, which are copied.
func List(entries ...Tuple) Tuple { return Tuple{kind: listTuple, entries: slices.Clone(entries)} }

// Hole returns a hole, written _: in a coordinate, the mode that Fix keeps.
func Hole() Tuple { return Tuple{kind: holeTuple} }

// Int returns the integer, and false when the tuple isn't one.
func (t Tuple) Int() (int, bool) { return t.n, t.kind == intTuple }

// IsList reports whether the tuple is a list.
func (t Tuple) IsList() bool { return t.kind == listTuple }

// IsHole reports whether the tuple is a hole.
func (t Tuple) IsHole() bool { return t.kind == holeTuple }

// Rank returns the number of entries: 1 for an integer or a hole.
func (t Tuple) Rank() int {
	if t.kind != listTuple {
		return 1
	}
	return len(t.entries)
}

// Entry returns entry i: an integer or a hole is its own entry 0. It panics with
// an *Error unless 0 ≤ i < Rank.
func (t Tuple) Entry(i int) Tuple {
	if uint(i) >= uint(t.Rank()) {
		panic(fail("Tuple.Entry", ErrAxis, "entry %d of %v, which has %d", i, t, t.Rank()))
	}
	if t.kind != listTuple {
		return t
	}
	return t.entries[i]
}

// Depth returns how deep lists nest: 0 for an integer, 1 for a list of integers,
// and 1 more for each list around it.
func (t Tuple) Depth() int {
	if t.kind != listTuple {
		return 0
	}
	d := 0
	for _, e := range t.entries {
		d = max(d, e.Depth())
	}
	return d + 1
}

// Flatten returns the integers from left to right; it fails when there is a hole.
func (t Tuple) Flatten() ([]int, error) {
	v, ok := t.appendInts(nil)
	if !ok {
		return nil, fail("Tuple.Flatten", ErrShape, "%v has a hole", t)
	}
	return v, nil
}

func (t Tuple) appendInts(v []int) ([]int, bool) {
	switch t.kind {
	case intTuple:
		return append(v, t.n), true
	case holeTuple:
		return v, false
	}
	ok := true
	for _, e := range t.entries {
		if v, ok = e.appendInts(v); !ok {
			break
		}
	}
	return v, ok
}

// Product returns the product of the integers, 1 for (). It fails when there is a
// hole, or when the product doesn't fit an int.
func (t Tuple) Product() (int, error) {
	v, err := t.Flatten()
	if err != nil {
		return 0, err
	}
	if slices.Contains(v, 0) {
		return 0, nil
	}
	n := 1
	for _, x := range v {
		var ok bool
		if n, ok = modes.Mul(n, x); !ok {
			return 0, fail("Tuple.Product", ErrOverflow, "the product of %v doesn't fit an int", t)
		}
	}
	return n, nil
}

// Equal reports whether t and u are written alike.
func (t Tuple) Equal(u Tuple) bool {
	return t.kind == u.kind && t.n == u.n && slices.EqualFunc(t.entries, u.entries, Tuple.Equal)
}

// String writes the tuple without spaces: 4, (), ((2,3),_).
func (t Tuple) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t Tuple) write(b *strings.Builder) {
	switch t.kind {
	case intTuple:
		b.WriteString(strconv.Itoa(t.n))
	case holeTuple:
		b.WriteByte('_')
	default:
		b.WriteByte('(')
		for i, e := range t.entries {
			if i > 0 {
				b.WriteByte(',')
			}
			e.write(b)
		}
		b.WriteByte(')')
	}
}

// ParseTuple reads a tuple as String writes it; spaces may stand anywhere. The
// error names the place.
//
//	tuple = number | "_" | "(" [ tuple { "," tuple } ] ")"
func ParseTuple(s string) (Tuple, error) {
	p := parser{text: s, op: "ParseTuple"}
	left := maxRank
	t, err := p.nested(0, &left)
	if err != nil {
		return Tuple{}, err
	}
	if p.skip(); p.at < len(s) {
		return Tuple{}, p.fault("want the end")
	}
	return t, nil
}

// MustParseTuple is ParseTuple for constants: it panics on an error.
func MustParseTuple(s string) Tuple {
	t, err := ParseTuple(s)
	if err != nil {
		panic(err)
	}
	return t
}

// nested reads a tuple at a depth; left is how many more entries are accepted.
func (p *parser) nested(depth int, left *int) (Tuple, error) {
	if *left--; *left < 0 {
		return Tuple{}, p.fault("more than " + strconv.Itoa(maxRank) + " entries")
	}
	if p.take('_') {
		return Hole(), nil
	}
	if !p.take('(') {
		n, err := p.number()
		return Int(n), err
	}
	if depth == maxDepth {
		return Tuple{}, p.fault("brackets nest deeper than " + strconv.Itoa(maxDepth))
	}
	t := Tuple{kind: listTuple}
	if p.take(')') {
		return t, nil
	}
	for {
		e, err := p.nested(depth+1, left)
		if err != nil {
			return Tuple{}, err
		}
		t.entries = append(t.entries, e)
		if p.take(')') {
			return t, nil
		}
		if !p.take(',') {
			return Tuple{}, p.fault("want ',' or ')'")
		}
	}
}

// Congruent reports whether a and b nest alike.
func Congruent(a, b Tuple) bool {
	return a.IsList() == b.IsList() && slices.EqualFunc(a.entries, b.entries, Congruent)
}

// Compatible reports whether coordinates of shape a are coordinates of shape b: a
// is coarser, each of its integers being the product of b's part there.
//
//	24 and (4,6) are coarser than ((2,2),6); (4,6) isn't coarser than 24
func Compatible(a, b Tuple) bool {
	return coarser(a, b, func(n, part int) bool { return n == part })
}

// WeaklyCompatible is Compatible with each integer of a dividing b's part there.
func WeaklyCompatible(a, b Tuple) bool {
	return coarser(a, b, func(n, part int) bool { return n != 0 && part%n == 0 || part == 0 })
}

func coarser(a, b Tuple, fits func(n, part int) bool) bool {
	if n, ok := a.Int(); ok {
		part, err := b.Product()
		return err == nil && fits(n, part)
	}
	return a.IsList() && b.IsList() && slices.EqualFunc(a.entries, b.entries, func(a, b Tuple) bool { return coarser(a, b, fits) })
}

// PrefixProduct returns the products of the integers before each one, nested as t:
// the strides of a dense layout whose first mode is fastest.
//
//	((2,3),4) → ((1,2),6)
//
// It fails when there is a hole, or when a product doesn't fit an int.
func PrefixProduct(t Tuple) (Tuple, error) {
	next, fits := 1, true
	return mapInts("PrefixProduct", t, func(n int) (int, bool) {
		p, ok := next, fits // the product of all of them isn't needed
		next, fits = modes.Mul(next, n)
		return p, ok
	})
}

// mapInts replaces every integer, from left to right; ok is false on overflow.
func mapInts(op string, t Tuple, f func(int) (int, bool)) (Tuple, error) {
	switch t.kind {
	case holeTuple:
		return Tuple{}, fail(op, ErrShape, "a hole stands where an integer is wanted")
	case intTuple:
		n, ok := f(t.n)
		if !ok {
			return Tuple{}, fail(op, ErrOverflow, "a product doesn't fit an int")
		}
		return Int(n), nil
	}
	out := Tuple{kind: listTuple, entries: make([]Tuple, len(t.entries))}
	for i, e := range t.entries {
		var err error
		if out.entries[i], err = mapInts(op, e, f); err != nil {
			return Tuple{}, err
		}
	}
	return out, nil
}

// InnerProduct returns the sum of the products of the integers of a and b. It
// fails when they aren't congruent, have a hole, or the sum doesn't fit an int.
//
//	((2,3),4) · ((2,1),2) = 4 + 3 + 8 = 15
func InnerProduct(a, b Tuple) (int, error) {
	if !Congruent(a, b) {
		return 0, fail("InnerProduct", ErrShape, "%v and %v don't nest alike", a, b)
	}
	v, err := a.Flatten()
	if err != nil {
		return 0, err
	}
	w, err := b.Flatten()
	if err != nil {
		return 0, err
	}
	sum := 0
	for i := range v {
		p, ok := modes.Mul(v[i], w[i])
		if ok {
			sum, ok = add(sum, p)
		}
		if !ok {
			return 0, fail("InnerProduct", ErrOverflow, "%v · %v doesn't fit an int", a, b)
		}
	}
	return sum, nil
}

// ShapeDiv divides shape a by b. Of integers it is a/b rounded up, and one must
// divide the other. A list is divided by an integer from its first entry on, each
// entry using up its part; two lists are divided entry by entry; an integer is
// divided by the product of a list.
//
//	(3,4)/6 → (1,2)   ((3,4),6)/36 → ((1,1),2)   (6,4)/(3,2) → (2,2)
//
// It fails when neither of two integers divides the other, one isn't positive, or
// two lists differ in rank.
func ShapeDiv(a, b Tuple) (Tuple, error) {
	switch {
	case a.IsHole() || b.IsHole():
		return Tuple{}, fail("ShapeDiv", ErrShape, "%v / %v: a hole stands where an integer is wanted", a, b)
	case a.IsList() && b.IsList():
		if len(a.entries) != len(b.entries) {
			return Tuple{}, fail("ShapeDiv", ErrShape, "%v / %v: %d entries and %d", a, b, len(a.entries), len(b.entries))
		}
		out := Tuple{kind: listTuple, entries: make([]Tuple, len(a.entries))}
		for i := range out.entries {
			var err error
			if out.entries[i], err = ShapeDiv(a.entries[i], b.entries[i]); err != nil {
				return Tuple{}, err
			}
		}
		return out, nil
	case a.IsList():
		out, left := Tuple{kind: listTuple, entries: make([]Tuple, len(a.entries))}, b
		for i, e := range a.entries {
			var err error
			if out.entries[i], err = ShapeDiv(e, left); err != nil {
				return Tuple{}, err
			}
			n, err := e.Product()
			if err != nil {
				return Tuple{}, err
			}
			if left, err = ShapeDiv(left, Int(n)); err != nil {
				return Tuple{}, err
			}
		}
		return out, nil
	}
	n, err := b.Product()
	if err != nil {
		return Tuple{}, err
	}
	if a.n <= 0 || n <= 0 || a.n%n != 0 && n%a.n != 0 {
		return Tuple{}, fail("ShapeDiv", ErrDivide, "%v / %v: %d and %d don't divide each other", a, b, a.n, n)
	}
	return Int((a.n-1)/n + 1), nil
}
