// Package modes has the fields of a layout.Layout, with the questions that the engine asks a layout by its address. Methods of Layout
// take a value, so that they chain. A Layout has 144 bytes, too many to copy for code that asks it dozens of times in a call.
package modes

import "math/bits"

// Inline is how many leaves a Ref holds without allocating.
const Inline = 8

// A Ref is the modes of a layout. It is never changed once built. A method means the same as the method of Layout with its name.
type Ref struct {
	Ext, Str [Inline]int // the leaves in order; flat when N == Modes
	Deep     *Deep       // the leaves when they are more than Inline
	N, Modes uint8       // leaves and modes when Deep is nil
	Nest     uint32      // how leaves group into modes when N != Modes; see nest.go
}

// Deep holds the modes that don't fit inline. It is never changed once built.
type Deep struct {
	Ext, Str []int
	Rank     int
	Nest     []byte // tokens of nest.go; nil when flat
	Modes    []Mark // where each mode begins, and the end; nil when flat
}

// A Mark is a place between two modes.
type Mark struct{ Leaf, Token int }

// Refuse panics with the error of package layout for an axis or a leaf that isn't there. That package sets it.
var Refuse func(op, text string, args ...any)

// Rank is [Layout.Rank].
func (r *Ref) Rank() int {
	if r.Deep != nil {
		return r.Deep.Rank
	}
	return int(r.Modes)
}

// Leaves is [Layout.Leaves].
func (r *Ref) Leaves() int {
	if r.Deep != nil {
		return len(r.Deep.Ext)
	}
	return int(r.N)
}

// Flat is [Layout.Flat].
func (r *Ref) Flat() bool { return r.Leaves() == r.Rank() }

// Leaf is [Layout.Leaf].
func (r *Ref) Leaf(i int) (ext, str int) {
	if uint(i) < uint(r.N) { // N is 0 where there is deep
		return r.Ext[i], r.Str[i]
	}
	return r.leaf(i)
}

// Dim is [Layout.Dim].
func (r *Ref) Dim(i int) int {
	if r.N == r.Modes && uint(i) < uint(r.N) {
		return r.Ext[i]
	}
	return r.dim(i)
}

// Stride is [Layout.Stride].
func (r *Ref) Stride(i int) (int, bool) {
	if r.N == r.Modes && uint(i) < uint(r.N) {
		return r.Str[i&7], true
	}
	r.CheckMode("Stride", i)
	ext, str := r.RunOf(i)
	if len(ext) == 1 {
		return str[0], true
	}
	if Product(ext) == 0 {
		return 0, true
	}
	step, count := 0, 1
	for k, e := range ext {
		switch {
		case e == 1:
			continue
		case count == 1:
			step = str[k]
		case !Follows(count, step, str[k]):
			return 0, false
		}
		count *= e
	}
	return step, true
}

// Size is [Layout.Size].
func (r *Ref) Size() int {
	ext, _ := r.All()
	return Product(ext)
}

// IsRowMajor is [Layout.IsRowMajor].
func (r *Ref) IsRowMajor() bool {
	want := 1
	if r.Deep == nil && r.N == r.Modes {
		for i := int(r.N) - 1; i >= 0; i-- {
			e := r.Ext[i&7]
			if e == 0 {
				return true
			}
			if e != 1 && r.Str[i&7] != want {
				return r.Size() == 0
			}
			want *= e
		}
		return true
	}
	if r.Size() == 0 {
		return true
	}
	for i := r.Rank() - 1; i >= 0; i-- {
		lo, hi := r.ModeLeaves(i)
		for k := lo; k < hi; k++ {
			e, s := r.Leaf(k)
			if e != 1 && s != want {
				return false
			}
			want *= e
		}
	}
	return true
}

// Equal is [Layout.Equal]. No layout equals nil.
func (r *Ref) Equal(m *Ref) bool {
	if m == nil {
		return false
	}
	if r.Deep == nil && m.Deep == nil {
		return r.N == m.N && r.Modes == m.Modes && r.Nest == m.Nest && r.Ext == m.Ext && r.Str == m.Str
	}
	if r.Rank() != m.Rank() || r.Leaves() != m.Leaves() || string(r.Tokens(nil)) != string(m.Tokens(nil)) {
		return false
	}
	for i := range r.Leaves() {
		e, s := r.Leaf(i)
		if f, t := m.Leaf(i); e != f || s != t {
			return false
		}
	}
	return true
}

// Plain returns the leaves of a flat layout of 1 to Inline modes, and their number, for
// code that can't afford a call; the arrays must not be changed. For other layouts rank
// is 0 or more than Inline, and the arrays say nothing.
func (r *Ref) Plain() (ext, str *[Inline]int, rank int) {
	return &r.Ext, &r.Str, int(r.N) + int(r.N^r.Modes)<<8 // N is 0 where there is deep
}

//go:noinline
func (r *Ref) leaf(i int) (ext, str int) {
	if uint(i) >= uint(r.Leaves()) {
		Refuse("Leaf", "leaf %d of a layout of %d leaves", i, r.Leaves())
	}
	e, s := r.All()
	return e[i], s[i]
}

// All returns the leaves' extents and strides; the caller must not change them.
func (r *Ref) All() (ext, str []int) {
	if r.Deep != nil {
		return r.Deep.Ext, r.Deep.Str
	}
	return r.Ext[:r.N], r.Str[:r.N]
}

// RunOf returns the leaves of mode i; the caller must not change them.
func (r *Ref) RunOf(i int) (ext, str []int) {
	lo, hi := r.ModeLeaves(i)
	ext, str = r.All()
	return ext[lo:hi:hi], str[lo:hi:hi]
}

//go:noinline
func (r *Ref) dim(i int) int {
	r.CheckMode("Dim", i)
	ext, _ := r.RunOf(i)
	return Product(ext)
}

// CheckMode panics unless there is a mode i.
func (r *Ref) CheckMode(op string, i int) {
	if uint(i) >= uint(r.Rank()) {
		Refuse(op, "mode %d of a layout of rank %d", i, r.Rank())
	}
}

// Product returns the product of extents whose product fits an int, extents of 0 aside.
func Product(ext []int) int {
	n := 1
	for _, e := range ext {
		n *= e // fits: check has multiplied the extents that aren't 0
		if n == 0 {
			return 0
		}
	}
	return n
}

// Mul returns a·b, and whether it fits an int.
func Mul(a, b int) (int, bool) {
	neg := (a < 0) != (b < 0)
	hi, lo := bits.Mul(magnitude(a), magnitude(b))
	if hi != 0 {
		return 0, false
	}
	if neg {
		return -int(lo), lo <= 1<<(bits.UintSize-1)
	}
	return int(lo), lo < 1<<(bits.UintSize-1)
}

func magnitude(a int) uint {
	if a < 0 {
		return -uint(a)
	}
	return uint(a)
}

// Follows reports whether a leaf of stride next continues the leaf e:s.
func Follows(e, s, next int) bool {
	end, ok := Mul(e, s)
	return ok && end == next
}
