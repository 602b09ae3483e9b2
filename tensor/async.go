package tensor

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
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
// other work calls it before it reads the copied elements.
func (g *CopyGroup) Wait() {}

// CopyFromAsync copies as CopyColex does, within the limits of o, as part of a group
// that may be nil; on this implementation the copy is complete when it returns. An
// element whose offset from t's first would be d goes to
//
//	w(Base + d mod n) + (d − d mod n) − Base
//
// instead, where w is the Swizzle and n its size. It panics as CopyColex does; and
// with a Swizzle when t isn't compact, Base is negative, or an element would leave t.
func CopyFromAsync[T num.Elem](t Tensor[T], g *CopyGroup, src Tensor[T], o AsyncCopy) {
	copyAsync("tensor.CopyFromAsync", &t.a, src.a, &o)
}

func copyAsync(op string, dst *Any, src Any, o *AsyncCopy) {
	if !o.Masked && o.Swizzle == (layout.Swizzle{}) {
		copyInOrder(op, dst, src, false)
		return
	}
	dst.check(op)
	src.pointer(op)
	checkSizesMatch(op, &dst.lay, &src.lay)
	to := swizzled(op, &dst.lay, o)
	if overlaps(op, dst, &src) {
		snapshot(&src, op)
	}
	data, from, size := dst.st.bytes(), src.st.bytes(), src.st.dtype.Size()
	o.each(&dst.lay, &src.lay, to, func(d, s int, copied bool) {
		place := data[(dst.origin()+d)*size:][:size]
		if copied {
			copy(place, from[(src.origin()+s)*size:])
		} else {
			clear(place)
		}
	})
	runtime.KeepAlive(dst.st)
	runtime.KeepAlive(src.st)
}

// each calls f for the elements that are written, in colexicographic order: the offset
// in t, the one in src, and whether that is copied, instead of 0.
func (o *AsyncCopy) each(t, src *layout.Layout, to []int, f func(d, s int, copied bool)) {
	for i := range walk.Ref(src).Size() {
		s, _ := src.Offset(i)
		d, _ := t.Offset(i)
		if to != nil {
			d = to[i]
		}
		if copied := !o.Masked || s < o.Bound; copied || !o.Keep {
			f(d, s, copied)
		}
	}
}

// Moves calls f for each element that CopyFromAsync writes from a tensor of layout src to
// one of layout t, in colexicographic order: the offset in t, the one in src, and whether
// the element is copied, instead of set to 0. It is for copies between tensors that aren't
// both the host's. It fails where CopyFromAsync panics about the layouts, before f is called.
func (o AsyncCopy) Moves(t, src layout.Layout, f func(to, from int, copied bool)) error {
	const op = "tensor.CopyFromAsync"
	if f == nil {
		return &Error{op, "there is nothing to call: f is nil", ErrValue}
	}
	var to []int
	err := Try(func() {
		checkSizesMatch(op, &t, &src)
		to = swizzled(op, &t, &o)
	})
	if err == nil {
		o.each(&t, &src, to, f)
	}
	return err
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
	to := make([]int, walk.Ref(lay).Size())
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

// snapshot gives a a copy of the storage that it reaches.
func snapshot(a *Any, op string) {
	lo, _ := a.lay.Span()
	r := a.reach()
	c := create(op, a.st.dtype, []int{len(r) / a.st.dtype.Size()}, true)
	copy(c.st.bytes(), r)
	runtime.KeepAlive(a.st)
	a.st, a.off = c.st, -lo
}
