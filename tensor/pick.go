package tensor

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Slices are views. What selects by lists, by arrays of indices or by truth copies:
// its result has no strides. The Set form of each writes to the same places.

// Take returns a copy of the given positions along an axis, which may repeat and be
// negative: t.Take(1, 0, 2, -1) is NumPy's t[:, [0, 2, -1]] and np.take. It panics
// when there is no such axis or position.
func (t Tensor[T]) Take(axis int, at ...int) Tensor[T] {
	const op = "tensor.Take"
	p := t.onAxis(op, axis, at)
	shape := t.lay.Shape()
	a := t.axis(op, axis)
	shape[a] = len(at)
	c := create[T](op, shape, true)
	copyPicked(&c, &t, c.MoveAxis(a, 0).lead(op, 1), p)
	return c
}

// SetTake writes src, stretched if need be, to the given positions along an axis:
// NumPy's t[:, [0, 2, -1]] = src. Of a position that repeats the last one stays. src
// is as if it had been read in full first. It panics as Take does, and when src
// doesn't stretch to the shape that Take gives or t is read-only; then nothing is
// written.
func (t Tensor[T]) SetTake(src Tensor[T], axis int, at ...int) {
	const op = "tensor.SetTake"
	t.writable(op)
	p := t.onAxis(op, axis, at)
	a := t.axis(op, axis)
	shape := t.lay.Shape()
	shape[a] = len(at)
	src = t.stretched(op, src, shape)
	copyPicked(&t, &src, p, src.MoveAxis(a, 0).lead(op, 1))
}

// Index returns a copy of what the index arrays select on the first axes, one array
// per axis. The arrays stretch to a common shape, which stands for these axes in the
// result: it is NumPy's t[i, j] for arrays i and j. Indices may be negative. MoveAxis
// brings other axes to the front. It panics when there are more arrays than axes, they
// don't stretch to a common shape, or an index is outside its axis.
func (t Tensor[T]) Index(at ...Tensor[int64]) Tensor[T] {
	const op = "tensor.Index"
	lead, p := t.indexed(op, at)
	c := create[T](op, append(lead, p.rest.Shape()...), true)
	copyPicked(&c, &t, c.lead(op, len(lead)), p)
	return c
}

// SetIndex writes src, stretched if need be, to what the index arrays select: NumPy's
// t[i, j] = src. Of a place that repeats the last one, in row-major order, stays. src
// is as if it had been read in full first. It panics as Index does, and when src
// doesn't stretch to the shape that Index gives or t is read-only; then nothing is
// written.
func (t Tensor[T]) SetIndex(src Tensor[T], at ...Tensor[int64]) {
	const op = "tensor.SetIndex"
	t.writable(op)
	lead, p := t.indexed(op, at)
	src = t.stretched(op, src, append(slices.Clone(lead), p.rest.Shape()...))
	copyPicked(&t, &src, p, src.lead(op, len(lead)))
}

// Mask returns a copy of the parts of t where mask is true, one after the other in
// row-major order of the mask: NumPy's t[mask]. The mask has the extents of t's first
// axes, and the result one axis in their place. It panics when the shapes don't fit.
func (t Tensor[T]) Mask(mask Tensor[bool]) Tensor[T] {
	const op = "tensor.Mask"
	p := t.masked(op, mask)
	c := create[T](op, append([]int{len(p.offs)}, p.rest.Shape()...), true)
	copyPicked(&c, &t, c.lead(op, 1), p)
	return c
}

// SetMask writes src, stretched if need be, to the parts of t where mask is true:
// NumPy's t[mask] = src. tensor.Scalar(v) as src sets them all to v. src is as if it
// had been read in full first. It panics as Mask does, and when src doesn't stretch to
// the shape that Mask gives or t is read-only; then nothing is written.
func (t Tensor[T]) SetMask(src Tensor[T], mask Tensor[bool]) {
	const op = "tensor.SetMask"
	t.writable(op)
	p := t.masked(op, mask)
	src = t.stretched(op, src, append([]int{len(p.offs)}, p.rest.Shape()...))
	copyPicked(&t, &src, p, src.lead(op, 1))
}

// picked is parts of a tensor: they begin at offs, counted in the storage, and have
// the layout rest.
type picked struct {
	offs []int
	rest layout.Layout
}

// partsAt returns the parts at the given indices of the first axes, n indices for each.
func (t *Tensor[T]) partsAt(op string, n int, parts func(yield func(at []int) bool)) picked {
	idx := make([]Index, n)
	p := picked{rest: t.tail(op, n)}
	if t.lay.Size() == 0 { // the indices are still to be checked
		for at := range parts {
			for k, i := range at {
				if e := t.lay.Dim(k); i < -e || i >= e {
					panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", i, k, e), ErrIndex})
				}
			}
			p.offs = append(p.offs, t.origin())
		}
		return p
	}
	for at := range parts {
		for k, i := range at {
			idx[k] = I(i)
		}
		_, off, err := t.lay.Slice(idx...)
		if err != nil {
			panic(wrap(op, err))
		}
		p.offs = append(p.offs, t.origin()+off)
	}
	return p
}

// tail returns the layout of the axes from n on.
func (t *Tensor[T]) tail(op string, n int) layout.Layout {
	modes := make([]layout.Layout, 0, t.lay.Rank())
	for k := n; k < t.lay.Rank(); k++ {
		modes = append(modes, t.lay.Mode(k))
	}
	return t.join(op, modes)
}

// lead returns the parts at all indices of the first n axes.
func (t Tensor[T]) lead(op string, n int) picked {
	return t.partsAt(op, n, positions(t.lay.Shape()[:n]))
}

func (t *Tensor[T]) onAxis(op string, axis int, at []int) picked {
	t.data(op)
	first := t.MoveAxis(t.axis(op, axis), 0)
	for _, i := range at {
		if n := first.lay.Dim(0); i < -n || i >= n {
			panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", i, axis, n), ErrIndex})
		}
	}
	return first.partsAt(op, 1, func(yield func([]int) bool) {
		for k := range at {
			if !yield(at[k : k+1]) {
				return
			}
		}
	})
}

func (t *Tensor[T]) indexed(op string, at []Tensor[int64]) (lead []int, p picked) {
	t.data(op)
	if len(at) > t.Rank() {
		panic(&Error{op, sprintf("%d index arrays for the %d axes of %s", len(at), t.Rank(), t.lay.ShapeString()), ErrAxis})
	}
	if len(at) == 0 {
		panic(&Error{op, "no index array; give one per axis, beginning with axis 0", ErrAxis})
	}
	for _, a := range at {
		a.data(op)
		lead = longer(lead, a.lay.Shape())
	}
	var lists [][]int64
	for _, a := range at {
		lay, err := a.lay.BroadcastTo(lead...)
		if err != nil {
			panic(wrap(op, err))
		}
		a.lay = lay
		lists = append(lists, slices.Collect(a.Values()))
	}
	p = t.partsAt(op, len(at), func(yield func([]int) bool) {
		idx := make([]int, len(at))
		for i := range lists[0] {
			for k, l := range lists {
				if idx[k] = int(l[i]); int64(idx[k]) != l[i] {
					panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", l[i], k, t.lay.Dim(k)), ErrIndex})
				}
			}
			if !yield(idx) {
				return
			}
		}
	})
	return lead, p
}

// longer returns the shape that both shapes stretch to, if there is one.
func longer(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	a = slices.Clone(a)
	for i, e := range b {
		if k := len(a) - len(b) + i; a[k] == 1 {
			a[k] = e
		}
	}
	return a
}

func (t *Tensor[T]) masked(op string, mask Tensor[bool]) picked {
	t.data(op)
	n := mask.Rank()
	fits := n <= t.Rank()
	for k := 0; fits && k < n; k++ {
		fits = mask.lay.Dim(k) == t.lay.Dim(k)
	}
	if !fits {
		panic(&Error{op, sprintf("a mask of shape %s for %s; it has the extents of the first axes", mask.lay.ShapeString(), t.lay.ShapeString()), ErrShape})
	}
	mask.data(op)
	return t.partsAt(op, n, func(yield func([]int) bool) {
		for i, ok := range mask.All() {
			if ok && !yield(i) {
				return
			}
		}
	})
}

// stretched returns src in the given shape, and as a copy where t overlaps it.
func (t *Tensor[T]) stretched(op string, src Tensor[T], shape []int) Tensor[T] {
	src.data(op)
	lay, err := src.lay.BroadcastTo(shape...)
	if err != nil {
		panic(wrap(op, err))
	}
	if t.Overlaps(src) {
		src = src.compact(op)
		if lay, err = src.lay.BroadcastTo(shape...); err != nil {
			panic(wrap(op, err))
		}
	}
	src.lay = lay
	return src
}

// copyPicked copies parts of src to as many parts of dst, in order.
func copyPicked[T num.Elem](dst, src *Tensor[T], to, from picked) {
	if n := to.rest.Size(); n == 1 {
		d, s := dst.st.data, src.st.data
		for k, off := range from.offs {
			d[to.offs[k]] = s[off]
		}
	} else if n > 1 {
		for k, off := range from.offs {
			a, b := Tensor[T]{st: dst.st, off: to.offs[k], lay: to.rest}, Tensor[T]{st: src.st, off: off, lay: from.rest}
			copyElems(&a, &b)
		}
	}
	runtime.KeepAlive(dst.st)
	runtime.KeepAlive(src.st)
}
