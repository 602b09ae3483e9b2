package tensor

import (
	"runtime"

	"github.com/ashlar-go/ashlar/layout"
)

// AsyncCopy says how CopyFromAsync copies. The zero value copies everything.
type AsyncCopy struct {
	Masked  bool           // copy only elements of the source whose offset from its element 0 is below Bound
	Bound   int            // for Masked
	Keep    bool           // leave the places of elements at or beyond Bound as they are, instead of setting them to 0
	Swizzle layout.Swizzle // where elements go: see CopyFromAsync
	Base    int            // added to offsets for Swizzle
}

// A CopyGroup is the copies that Wait waits for. The zero value is ready.
type CopyGroup struct{}

// Wait returns when all copies of the group are complete. Here CopyFromAsync itself
// does that, and Wait returns at once; code that is to run where copies overlap with
// other work calls it before it reads what was copied.
func (g *CopyGroup) Wait() {}

// CopyFromAsync copies as CopyColex does, within the limits of o, as part of a group
// that may be nil; on this implementation the copy is complete when it returns. An
// element whose offset from t's first would be d goes to
//
//	w(Base + d mod n) + (d − d mod n) − Base
//
// instead, where w is the Swizzle and n its size. It panics as CopyColex does; and
// with a Swizzle when t isn't compact, Base is negative, or an element would leave t.
func (t Tensor[T]) CopyFromAsync(g *CopyGroup, src Tensor[T], o AsyncCopy) {
	const op = "tensor.CopyFromAsync"
	if !o.Masked && o.Swizzle == (layout.Swizzle{}) {
		t.copyInOrder(op, src, false)
		return
	}
	t.writable(op)
	src.data(op)
	checkSizesMatch(op, &t.lay, &src.lay)
	to := swizzled(op, &t.lay, &o)
	if t.Overlaps(src) {
		src.snapshot(op)
	}
	data, from := t.st.data, src.st.data
	for i := range src.Len() {
		s, _ := src.lay.Offset(i)
		d, _ := t.lay.Offset(i)
		if to != nil {
			d = to[i]
		}
		switch {
		case !o.Masked || s < o.Bound:
			data[t.origin()+d] = from[src.origin()+s]
		case !o.Keep:
			var zero T
			data[t.origin()+d] = zero
		}
	}
	runtime.KeepAlive(t.st)
	runtime.KeepAlive(src.st)
}

// swizzled returns where each element goes, in colexicographic order; nil when
// nothing moves.
func swizzled(op string, lay *layout.Layout, o *AsyncCopy) []int {
	w := o.Swizzle
	if w == (layout.Swizzle{}) {
		return nil
	}
	lo, hi := lay.Span()
	if !lay.IsCompact() || lo < 0 || o.Base < 0 || o.Base > maxInt-w.Size() {
		panic(&Error{op, sprintf("%v with base %d; a swizzle needs a compact layout and a base from 0 on", *lay, o.Base), ErrView})
	}
	to := make([]int, lay.Size())
	for i := range to {
		d, _ := lay.Offset(i)
		in := d % w.Size()
		to[i] = w.At(o.Base+in) + (d - in) - o.Base
		if to[i] < 0 || to[i] > hi {
			panic(&Error{op, sprintf("%v with base %d moves offset %d to %d, outside %v", w, o.Base, d, to[i], *lay), ErrIndex})
		}
	}
	return to
}

// snapshot gives t a copy of the storage that it reaches.
func (t *Tensor[T]) snapshot(op string) {
	lo, _ := t.lay.Span()
	r := t.reach()
	c := create[T](op, []int{len(r)}, true)
	copy(c.st.data, r)
	runtime.KeepAlive(t.st)
	t.st, t.off = c.st, -lo
}
