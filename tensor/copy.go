package tensor

import (
	"cmp"
	"runtime"
	"slices"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Contiguous returns t itself when it is contiguous, else a row-major copy.
func (t Tensor[T]) Contiguous() Tensor[T] {
	contiguous(&t.a)
	return t
}

func contiguous(a *Any) {
	a.pointer("tensor.Contiguous")
	if !walk.Ref(&a.lay).IsRowMajor() {
		compact(a, "tensor.Contiguous")
	}
}

// MakeContiguous makes t itself contiguous: if it isn't, t gets a storage of its
// own with a row-major copy, and tensors that shared its elements before keep the old
// ones.
func MakeContiguous[T num.Elem](t *Tensor[T]) { contiguous(&t.a) }

// compact makes a a row-major copy of itself and counts it.
func compact(a *Any, op string) {
	a.pointer(op)
	c := create(op, a.st.dtype, a.lay.Shape(), true)
	copyElems(&c, a)
	ram.Copied.Add(int64(len(c.st.bytes())))
	*a = c
}

// Clone returns a copy with a storage of its own, which holds no more than the
// elements: so t.Slice(…).Clone() keeps a part and lets go of the rest. A layout
// that covers its elements densely, permuted or nested, is kept. Of another flat
// one the order of the axes in memory is kept; repeated axes (stride 0) keep their
// place in row-major order. Another nested one becomes row-major.
func (t Tensor[T]) Clone() Tensor[T] {
	t.a = clone(&t.a)
	return t
}

func clone(a *Any) Any {
	a.pointer("tensor.Clone")
	c := emptyLike("tensor.Clone", a.st.dtype, &a.lay)
	if a.lay.IsCompact() {
		conv.Copy(c.st.bytes(), a.reach(), conv.Streams[byte](walk.Ref(&a.lay).Size()*a.st.dtype.Size()))
		simd.Fence()
	} else {
		copyElems(&c, a)
	}
	runtime.KeepAlive(a.st)
	return c
}

// EmptyLike returns a tensor of unspecified elements, of another type if need be,
// with the shape of t and the layout that Clone gives.
func EmptyLike[To, From num.Elem](t Tensor[From]) Tensor[To] {
	t.a.pointer("tensor.EmptyLike")
	return Tensor[To]{a: emptyLike("tensor.EmptyLike", dtype.Of[To](), &t.a.lay)}
}

func emptyLike(op string, d dtype.DType, lay *layout.Layout) Any {
	c := create(op, d, []int{walk.Ref(lay).Size()}, true)
	c.lay = cloned(lay)
	return c
}

// cloned is the layout that a clone has.
func cloned(lay *layout.Layout) layout.Layout {
	if lay.IsCompact() {
		return *lay
	}
	return dense(lay)
}

// dense returns the layout without holes of l's shape whose axes stand in memory
// in the order of l's strides; of nested layouts the row-major one.
func dense(l *layout.Layout) layout.Layout {
	shape := l.Shape()
	order := make([]int, len(shape)) // the fastest axis first
	for i := range order {
		order[i] = len(shape) - 1 - i
	}
	if walk.Ref(l).Flat() {
		stride := func(axis int) int {
			s, _ := walk.Ref(l).Stride(axis)
			return max(s, -s)
		}
		var slots, axes []int // of the axes that say something about order
		for i, axis := range order {
			if shape[axis] > 1 && stride(axis) > 0 {
				slots, axes = append(slots, i), append(axes, axis)
			}
		}
		slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(stride(a), stride(b)) })
		for i, axis := range axes {
			order[slots[i]] = axis
		}
	}
	str, step := make([]int, len(shape)), 1
	for _, axis := range order {
		str[axis] = step
		step *= max(shape[axis], 1)
	}
	d, err := layout.New(shape, str)
	if err != nil {
		panic(Wrap("tensor.Clone", err)) // the size is l's, which fits
	}
	return d
}

// Flatten returns a copy of rank 1 in row-major order, or in the order given. It
// always copies, so Flatten(t).View(shape...) is the reshape that shares nothing;
// Reshape(-1) is the form that shares where it can. ONNX's Flatten, which makes a
// matrix, is op.Flatten.
func Flatten[T num.Elem](t Tensor[T], order ...Order) Tensor[T] {
	flatten("tensor.Flatten", &t.a, order)
	return t
}

func flatten(op string, a *Any, order []Order) {
	a.pointer(op)
	orderAxes(op, &a.lay, order)
	c := create(op, a.st.dtype, a.lay.Shape(), true)
	copyElems(&c, a)
	viewAs(op, &c.lay, []int{walk.Ref(&c.lay).Size()})
	*a = c
}

// orderAxes turns a layout so that its row-major order is the order given.
func orderAxes(op string, lay *layout.Layout, order []Order) {
	if len(order) > 0 && order[0] == OrderF {
		transpose(lay)
	} else if len(order) > 0 && order[0] != OrderC {
		panic(&Error{op, sprintf("no order %d; there are OrderC and OrderF", order[0]), ErrValue})
	}
}

// CopyFrom copies src, stretched to t's shape if need be, to t's elements. Where
// the two overlap it is as if src had been read in full first. It panics when
// src doesn't stretch to t's shape or t is read-only.
func (t Tensor[T]) CopyFrom(src Tensor[T]) { copyFrom(&t.a, &src.a) }

// copyFrom copies src to dst, of one element type.
func copyFrom(dst, src *Any) {
	const op = "tensor.CopyFrom"
	dst.check(op)
	src.pointer(op)
	from := *src
	if overlaps(op, dst, &from) {
		compact(&from, op)
	}
	if !sameShape(&dst.lay, &from.lay) {
		stretchTo(op, &from.lay, dst.lay.Shape())
	}
	copyElems(dst, &from)
}

func sameShape(a, b *layout.Layout) bool {
	if walk.Ref(a).Rank() != walk.Ref(b).Rank() {
		return false
	}
	for i := range walk.Ref(a).Rank() {
		if walk.Ref(a).Dim(i) != walk.Ref(b).Dim(i) {
			return false
		}
	}
	return true
}

// reach returns the stretch of the storage from the tensor's first to its last
// element in memory.
func (a *Any) reach() []byte {
	lo, hi := a.lay.Span()
	size := a.st.dtype.Size()
	return a.st.bytes()[(a.origin()+lo)*size : (a.origin()+hi+1)*size]
}

// Fill sets every element to v, and returns t. It panics when t is read-only.
func (t Tensor[T]) Fill(v T) Tensor[T] {
	const op = "tensor.Fill"
	t.a.check(op)
	if t.a.lay.IsCompact() {
		conv.Fill(typed[T](t.a.reach()), v)
		runtime.KeepAlive(t.a.st)
		return t
	}
	spread(op, &t.a, newStorage([]T{v}))
	return t
}

// spread copies the one element of st to all of a.
func spread(op string, a *Any, st *storage) {
	one := Any{st: st}
	stretchTo(op, &one.lay, a.lay.Shape()) // a scalar stretches to any shape that exists
	copyElems(a, &one)
}

// CopyColex copies element i of src to element i of t, both counted in
// colexicographic order, the first axis fastest: Mojo's copy_from, and CuTe's copy.
// The shapes may differ. Where the two overlap it is as if src had been read in full
// first. It panics when their numbers of elements differ, or t is read-only.
func CopyColex[T num.Elem](t, src Tensor[T]) {
	copyInOrder("tensor.CopyColex", &t.a, src.a, false)
}

// CopyLogical is CopyColex with both counted in row-major order, the last axis
// fastest: as CopyFrom of src.Reshape(t.Shape()...).
func CopyLogical[T num.Elem](t, src Tensor[T]) {
	copyInOrder("tensor.CopyLogical", &t.a, src.a, true)
}

func copyInOrder(op string, dst *Any, src Any, rowMajor bool) {
	dst.check(op)
	src.pointer(op)
	checkSizesMatch(op, &dst.lay, &src.lay)
	if overlaps(op, dst, &src) {
		compact(&src, op)
	}
	a, b := dst.where, src.where
	if !sameShape(&a.lay, &b.lay) {
		inOneAxis(op, &a.lay, rowMajor)
		inOneAxis(op, &b.lay, rowMajor)
	}
	copyAt(dst.st, src.st, &a, &b)
}

func checkSizesMatch(op string, dst, src *layout.Layout) {
	if walk.Ref(dst).Size() != walk.Ref(src).Size() {
		panic(&Error{op, sprintf("%s has %d elements, %s has %d", src.ShapeString(), walk.Ref(src).Size(), dst.ShapeString(), walk.Ref(dst).Size()), ErrShape})
	}
}

// inOneAxis makes lay one axis, which goes through the elements in row-major or in
// colexicographic order.
func inOneAxis(op string, lay *layout.Layout, rowMajor bool) {
	if rowMajor {
		transpose(lay)
	}
	if walk.Ref(lay).Rank() == 0 {
		*lay = leaf(op, 1, 0)
	}
	*lay = join(op, []layout.Layout{lay.Flatten()}) // several leaves become one nested axis
}

// copyElems copies src to dst of the same element type and shape, which don't overlap.
func copyElems(dst, src *Any) { copyAt(dst.st, src.st, &dst.where, &src.where) }

// copyAt is copyElems of the tensors at those places of the storages.
func copyAt(dst, src *storage, to, from *where) {
	// Elements of one size and alignment are moved by the same code.
	d, s := dst.bytes(), src.bytes()
	switch size := dst.dtype.Size(); {
	case size == 1:
		copyWords[uint8](d, s, to, from)
	case size == 2:
		copyWords[uint16](d, s, to, from)
	case size == 4:
		copyWords[uint32](d, s, to, from)
	case size == 8 && alignOf(dst.dtype) == int(unsafe.Alignof(uint64(0))):
		copyWords[uint64](d, s, to, from)
	case size == 8:
		copyWords[[2]uint32](d, s, to, from)
	default:
		copyWords[[2]uint64](d, s, to, from)
	}
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
}

// copyLarge is the size in bytes of an operand that may not stay in the second-level cache. There a copy of runs goes in the order of that side
// which leaves the other fewer places to go through in turns: a processor follows some at a time, not many.
const copyLarge = 1 << 18

func copyWords[T any](dst, src []byte, to, from *where) {
	n := walk.Ref(&to.lay).Size()
	d, s, stream := typed[T](dst), typed[T](src), conv.Streams[T](n)
	if walk.Ref(&to.lay).IsRowMajor() && walk.Ref(&from.lay).IsRowMajor() {
		conv.Copy(d[to.origin():][:n], s[from.origin():][:n], stream)
		simd.Fence()
		return
	}
	lead, other, di, si := &to.lay, &from.lay, 0, 1
	if !walk.Ref(other).Flat() { // of tiles, going through the tiled side in order is worth more than writing in order
		lead, other, di, si = other, lead, 1, 0
	}
	p := walk.New(lead, other)
	if di == 0 && n >= copyLarge/int(unsafe.Sizeof(d[0])) && p.Loops[0].Str[0] == 1 && p.Loops[0].Str[1] == 1 {
		q := walk.New(other, lead)
		if q.Loops[1].Ext < p.Loops[1].Ext {
			p, q, di, si = q, p, 1, 0
		}
		q.Free()
	}
	in, mid := &p.Loops[0], &p.Loops[1]
	db := conv.Block{Rows: mid.Ext, Row: mid.Str[di], Cols: in.Ext, Col: in.Str[di]}
	sb := conv.Block{Rows: mid.Ext, Row: mid.Str[si], Cols: in.Ext, Col: in.Str[si]}
	for k := range p.Outer() {
		db.Off, sb.Off = to.origin()+p.At(di, k), from.origin()+p.At(si, k)
		conv.Copy2(d, s, db, sb, stream)
	}
	p.Free()
	simd.Fence()
}
