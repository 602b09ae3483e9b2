package tensor

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Slices are views. A selection by lists, by arrays of indices or by truth copies:
// its result has no strides. The Set form of each writes to the same places.

// Take returns a copy of the given positions along an axis, which may repeat and be
// negative, as np.take does:
//
//	Take(t, 1, 0, 2, -1) is NumPy's t[:, [0, 2, -1]]
//
// It panics when there is no such axis or position.
func Take[T num.Elem](t Tensor[T], axis int, at ...int) Tensor[T] {
	const op = "tensor.Take"
	t.a.pointer(op)
	p, shape, parts := taken(op, t.a.where, axis, at)
	c := create(op, t.a.st.dtype, shape, true)
	to := parts(c.where)
	copyPicked(&c, &t.a, &to, &p)
	return Tensor[T]{a: c}
}

// SetTake writes src, stretched if need be, to the given positions along an axis:
// NumPy's t[:, [0, 2, -1]] = src. Of a position that repeats the last one stays. src
// is as if it had been read in full first. It panics as Take does, and when src
// doesn't stretch to the shape that Take gives or t is read-only; then nothing is
// written.
func SetTake[T num.Elem](t Tensor[T], src Tensor[T], axis int, at ...int) {
	const op = "tensor.SetTake"
	t.a.check(op)
	p, shape, parts := taken(op, t.a.where, axis, at)
	stretchFor(op, &t.a, &src.a, shape)
	from := parts(src.a.where)
	copyPicked(&t.a, &src.a, &p, &from)
}

// taken returns the parts at positions of an axis, their shape together, and the
// function that finds them in a tensor of that shape.
func taken(op string, w where, axis int, at []int) (p picked, shape []int, parts func(w where) picked) {
	a := axisOf(op, axis, walk.Ref(&w.lay).Rank())
	shape = w.lay.Shape()
	shape[a] = len(at)
	moveAxis(op, &w.lay, a, 0)
	for _, i := range at {
		if n := walk.Ref(&w.lay).Dim(0); i < -n || i >= n {
			panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", i, axis, n), ErrIndex})
		}
	}
	p = partsAt(op, &w, 1, func(yield func([]int) bool) {
		for k := range at {
			if !yield(at[k : k+1]) {
				return
			}
		}
	})
	return p, shape, func(w where) picked {
		moveAxis(op, &w.lay, a, 0)
		return lead(op, &w, 1)
	}
}

// IndexBy returns a copy of the parts that the index arrays select on the first axes, one array
// per axis. The arrays stretch to a common shape, which stands for these axes in the
// result: it is NumPy's t[i, j] for arrays i and j. Indices may be negative. MoveAxis
// brings other axes to the front. It panics when there are more arrays than axes, they
// don't stretch to a common shape, or an index is outside its axis.
func IndexBy[T num.Elem](t Tensor[T], at ...Tensor[int64]) Tensor[T] {
	const op = "tensor.IndexBy"
	t.a.pointer(op)
	places := arrays(op, &t.a.where, at)
	if s := selects(op, &t.a, at, places); s != nil {
		late := s.elements()
		if !late {
			s.check(op)
		}
		rest := tail(op, &t.a.lay, len(at))
		c := create(op, t.a.st.dtype, append(places, rest.Shape()...), true)
		if late {
			s.take(op, c.st.bytes())
		} else {
			s.move(c.st.bytes(), false, 1)
		}
		runtime.KeepAlive(t.a.st)
		return Tensor[T]{a: c}
	}
	p, shape, n := indexed(op, &t.a.where, at, places)
	c := create(op, t.a.st.dtype, shape, true)
	to := lead(op, &c.where, n)
	copyPicked(&c, &t.a, &to, &p)
	return Tensor[T]{a: c}
}

// SetIndexBy writes src, stretched if need be, to the parts that the index arrays select: NumPy's
// t[i, j] = src. Of a place that repeats the last one, in row-major order, stays. src and
// the arrays are as if they had been read in full first. It panics as IndexBy does, and when src
// doesn't stretch to the shape that IndexBy gives or t is read-only; then nothing is
// written.
func SetIndexBy[T num.Elem](t Tensor[T], src Tensor[T], at ...Tensor[int64]) {
	const op = "tensor.SetIndexBy"
	t.a.check(op)
	places := arrays(op, &t.a.where, at)
	if s := selects(op, &t.a, at, places); s != nil {
		s.keep(op, &t.a)
		s.check(op)
		rest := tail(op, &t.a.lay, len(at))
		shape := append(places, rest.Shape()...)
		stretchFor(op, &t.a, &src.a, shape)
		mem, step := source(op, &src.a, s.row > s.size)
		s.move(mem, true, step)
		runtime.KeepAlive(t.a.st)
		runtime.KeepAlive(src.a.st)
		return
	}
	p, shape, n := indexed(op, &t.a.where, at, places)
	stretchFor(op, &t.a, &src.a, shape)
	from := lead(op, &src.a.where, n)
	copyPicked(&t.a, &src.a, &p, &from)
}

// Mask returns a copy of the parts of t where mask is true, one after the other in
// row-major order of the mask: NumPy's t[mask]. The mask has the extents of t's first
// axes, and the result one axis in their place. It panics when the shapes don't fit.
func Mask[T num.Elem](t Tensor[T], mask Tensor[bool]) Tensor[T] {
	const op = "tensor.Mask"
	t.a.pointer(op)
	if truth, row, ok := maskOf(&t.a, &mask); ok {
		c := filtered(op, &t.a, truth, row, mask.Rank())
		runtime.KeepAlive(mask.a.st)
		return Tensor[T]{a: c}
	}
	p, shape := masked(op, &t.a.where, mask)
	c := create(op, t.a.st.dtype, shape, true)
	to := lead(op, &c.where, 1)
	copyPicked(&c, &t.a, &to, &p)
	return Tensor[T]{a: c}
}

// SetMask writes src, stretched if need be, to the parts of t where mask is true:
// NumPy's t[mask] = src. tensor.Scalar(v) as src sets them all to v. src and the mask are
// as if they had been read in full first. It panics as Mask does, and when src doesn't stretch to
// the shape that Mask gives or t is read-only; then nothing is written.
func SetMask[T num.Elem](t Tensor[T], src Tensor[T], mask Tensor[bool]) {
	const op = "tensor.SetMask"
	t.a.check(op)
	if truth, row, ok := maskOf(&t.a, &mask); ok {
		if overlaps(op, &t.a, &mask.a) {
			truth = slices.Clone(truth)
		}
		rest := tail(op, &t.a.lay, mask.Rank())
		shape := append([]int{conv.True(truth)}, rest.Shape()...)
		stretchFor(op, &t.a, &src.a, shape)
		if shape[0] > 0 {
			from, step := source(op, &src.a, row > t.a.st.dtype.Size())
			replaced(&t.a, truth, row, from, step)
		}
		runtime.KeepAlive(mask.a.st)
		runtime.KeepAlive(t.a.st)
		runtime.KeepAlive(src.a.st)
		return
	}
	p, shape := masked(op, &t.a.where, mask)
	stretchFor(op, &t.a, &src.a, shape)
	from := lead(op, &src.a.where, 1)
	copyPicked(&t.a, &src.a, &p, &from)
}

// picked is parts of a tensor: they begin at offs, counted in the storage, and have
// the layout rest.
type picked struct {
	offs []int
	rest layout.Layout
}

// partsAt returns the parts at the given indices of the first axes, n indices for each.
func partsAt(op string, w *where, n int, parts func(yield func(at []int) bool)) picked {
	idx := make([]Index, n)
	p := picked{rest: tail(op, &w.lay, n)}
	if walk.Ref(&w.lay).Size() == 0 { // the indices are still to be checked
		for at := range parts {
			for k, i := range at {
				if e := walk.Ref(&w.lay).Dim(k); i < -e || i >= e {
					panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", i, k, e), ErrIndex})
				}
			}
			p.offs = append(p.offs, w.origin())
		}
		return p
	}
	for at := range parts {
		for k, i := range at {
			idx[k] = I(i)
		}
		_, off, err := w.lay.Slice(idx...)
		if err != nil {
			panic(Wrap(op, err))
		}
		p.offs = append(p.offs, w.origin()+off)
	}
	return p
}

// tail returns the layout of the axes from n on.
func tail(op string, lay *layout.Layout, n int) layout.Layout {
	modes := make([]layout.Layout, 0, walk.Ref(lay).Rank())
	for k := n; k < walk.Ref(lay).Rank(); k++ {
		modes = append(modes, lay.Mode(k))
	}
	return join(op, modes)
}

// lead returns the parts at all indices of the first n axes.
func lead(op string, w *where, n int) picked {
	return partsAt(op, w, n, positions(w.lay.Shape()[:n]))
}

// arrays returns the common shape of index arrays for the first axes.
func arrays(op string, w *where, at []Tensor[int64]) (shape []int) {
	if len(at) > walk.Ref(&w.lay).Rank() {
		panic(&Error{op, sprintf("%d index arrays for the %d axes of %s", len(at), walk.Ref(&w.lay).Rank(), w.lay.ShapeString()), ErrAxis})
	}
	if len(at) == 0 {
		panic(&Error{op, "no index array; give one per axis, beginning with axis 0", ErrAxis})
	}
	for _, a := range at {
		a.a.pointer(op)
		shape = longer(shape, a.a.lay.Shape())
	}
	return shape
}

// indexed returns the parts that index arrays of a common shape select, and their shape
// together, whose first n axes are the axes of the arrays.
func indexed(op string, w *where, at []Tensor[int64], places []int) (p picked, shape []int, n int) {
	shape = places
	var lists [][]int64
	for _, a := range at {
		stretchTo(op, &a.a.lay, shape)
		lists = append(lists, slices.Collect(a.Values()))
	}
	p = partsAt(op, w, len(at), func(yield func([]int) bool) {
		idx := make([]int, len(at))
		for i := range lists[0] {
			for k, l := range lists {
				if idx[k] = int(l[i]); int64(idx[k]) != l[i] {
					panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", l[i], k, walk.Ref(&w.lay).Dim(k)), ErrIndex})
				}
			}
			if !yield(idx) {
				return
			}
		}
	})
	return p, append(shape, p.rest.Shape()...), len(shape)
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

// masked returns the parts where mask is true, and their shape together.
func masked(op string, w *where, mask Tensor[bool]) (p picked, shape []int) {
	n := mask.Rank()
	fits := n <= walk.Ref(&w.lay).Rank()
	for k := 0; fits && k < n; k++ {
		fits = walk.Ref(&mask.a.lay).Dim(k) == walk.Ref(&w.lay).Dim(k)
	}
	if !fits {
		panic(&Error{op, sprintf("a mask of shape %s for %s; it has the extents of the first axes", mask.a.lay.ShapeString(), w.lay.ShapeString()), ErrShape})
	}
	mask.a.pointer(op)
	p = partsAt(op, w, n, func(yield func([]int) bool) {
		for i, ok := range mask.All() {
			if ok && !yield(i) {
				return
			}
		}
	})
	return p, append([]int{len(p.offs)}, p.rest.Shape()...)
}

// stretchFor gives src the shape, and makes it a copy where dst overlaps it.
func stretchFor(op string, dst, src *Any, shape []int) {
	src.pointer(op)
	lay := src.lay
	stretchTo(op, &lay, shape)
	if overlaps(op, dst, src) {
		compact(src, op)
		lay = src.lay
		stretchTo(op, &lay, shape)
	}
	src.lay = lay
}

// copyPicked copies parts of src to as many parts of dst, in order.
func copyPicked(dst, src *Any, to, from *picked) {
	if n := walk.Ref(&to.rest).Size(); n == 1 {
		d, s, size := dst.st.bytes(), src.st.bytes(), src.st.dtype.Size()
		switch size {
		case 1:
			moveWords[uint8](d, s, to.offs, from.offs)
		case 2:
			moveWords[uint16](d, s, to.offs, from.offs)
		case 4:
			moveWords[uint32](d, s, to.offs, from.offs)
		default: // of elements that may stand at multiples of 4
			for k, off := range from.offs {
				copy(d[to.offs[k]*size:][:size], s[off*size:])
			}
		}
	} else if n > 1 {
		for k, off := range from.offs {
			copyAt(dst.st, src.st, &where{to.offs[k], to.rest}, &where{off, from.rest})
		}
	}
	runtime.KeepAlive(dst.st)
	runtime.KeepAlive(src.st)
}

func moveWords[T any](dst, src []byte, to, from []int) {
	d, s := typed[T](dst), typed[T](src)
	for k, off := range from {
		d[to[k]] = s[off]
	}
}
