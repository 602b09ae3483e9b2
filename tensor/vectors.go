package tensor

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// Vectors is a tensor whose elements are vectors: blocks of T that Vectorize cut
// out, each laid out as ElemLayout says around the vector's first element. It shares
// the elements with the tensor it is of. Where a block crosses the edge of that
// tensor the vector has missing lanes: they load as 0, and stores pass them over.
//
// The lanes of a vector are counted from 0 to ElemLen-1 in the colexicographic order
// of the block, the first axis fastest, but for one: an axis of the block with
// stride 1, the first if there are several, is fastest of all. So lanes of a dense
// block are in memory order.
type Vectors[T num.Elem] struct {
	_    [0]func()
	grid Tensor[T]     // of the vectors' first elements
	elem layout.Layout // from a vector's first element to its lanes
	edge []int         // the extents of the last vector along each axis; nil: no lane is missing
}

// Vectorize returns the tensor of the blocks of the given shape that t is made of,
// as vectors: of (16,16), t.Vectorize(4, 4) has shape (4,4) and vectors of 16
// lanes. Blocks at the edge of t lack the lanes outside it. It panics when there
// isn't one extent per axis, one isn't positive, or blocks of a nested axis cross
// its leaves unevenly.
func (t Tensor[T]) Vectorize(shape ...int) Vectors[T] {
	const op = "tensor.Vectorize"
	checkSizes(op, &t.lay, shape)
	var starts, lanes []layout.Layout
	v := Vectors[T]{}
	for i, n := range shape {
		start, lane, err := blocks(&t.lay, i, n)
		if err != nil {
			panic(wrap(op, err))
		}
		starts, lanes = append(starts, start), append(lanes, lane)
		if rest := t.lay.Dim(i) % n; rest != 0 {
			if v.edge == nil {
				v.edge = slices.Clone(shape)
			}
			v.edge[i] = rest
		}
	}
	v.grid = t.like(t.join(op, starts), 0)
	v.elem = t.join(op, lanes)
	return v
}

// blocks cuts axis i into blocks of n, the last of which may cross the edge: where
// they start, and their elements. All blocks of an axis must be alike.
func blocks(lay *layout.Layout, i, n int) (start, lane layout.Layout, err error) {
	dim := lay.Dim(i)
	count := ceilDiv(dim, n)
	if s, ok := lay.Stride(i); ok {
		if lane, err = layout.New([]int{n}, []int{s}); err != nil || count <= 1 {
			start, _ = layout.New([]int{count}, []int{0})
			return start, lane, err
		}
		start, err = layout.New([]int{count}, []int{n * s}) // within the axis, so it fits
		return start, lane, err
	}
	cut, err := layout.New([]int{n, count}, []int{1, n})
	if err != nil {
		return start, lane, err
	}
	both, err := layout.Compose(lay.Mode(i), cut)
	if err != nil {
		return start, lane, err
	}
	return both.Mode(1), both.Mode(0), nil
}

// FromVectors returns vectors over data itself: coordinate c of lay is the place of
// a vector's first element, and elem that of its lanes from there. The smallest
// offset counts from data[0]. It panics when they reach beyond data.
func FromVectors[T num.Elem](data []T, lay, elem layout.Layout) Vectors[T] {
	const op = "tensor.FromVectors"
	both := Tensor[T]{}
	all := fromLayout(op, data, both.join(op, lanes(&lay, &elem)))
	return Vectors[T]{grid: all.like(lay, 0), elem: elem}
}

// lanes returns the modes of both.
func lanes(lay, elem *layout.Layout) []layout.Layout {
	var modes []layout.Layout
	for _, l := range []*layout.Layout{lay, elem} {
		for i := range l.Rank() {
			modes = append(modes, l.Mode(i))
		}
	}
	return modes
}

// Rank returns the number of axes of the tensor of vectors.
func (v Vectors[T]) Rank() int { return v.grid.lay.Rank() }

// Dim returns how many vectors there are along an axis. Negative axes count from
// the end. It panics when there is no such axis.
func (v Vectors[T]) Dim(axis int) int { return v.grid.Dim(axis) }

// Shape returns how many vectors there are along each axis in a new slice.
func (v Vectors[T]) Shape() []int { return v.grid.Shape() }

// Len returns the number of vectors.
func (v Vectors[T]) Len() int { return v.grid.lay.Size() }

// Layout returns how coordinates map to the storage offsets of the vectors' first
// elements, counted from that of vector 0.
func (v Vectors[T]) Layout() layout.Layout { return v.grid.lay }

// ElemLayout returns where the lanes of a vector are, counted from its first
// element, missing ones included.
func (v Vectors[T]) ElemLayout() layout.Layout { return v.elem }

// ElemLen returns the number of lanes of a vector.
func (v Vectors[T]) ElemLen() int { return v.elem.Size() }

// Clipped reports whether some vector lacks lanes.
func (v Vectors[T]) Clipped() bool { return v.edge != nil && v.Len() > 0 }

// Full reports whether the vector at idx has all its lanes. It panics as Load does.
func (v Vectors[T]) Full(idx ...int) bool {
	v.offset("tensor.Vectors.Full", idx)
	for i := range v.edge {
		if v.extent(idx, i) < v.elem.Dim(i) {
			return false
		}
	}
	return true
}

// extent returns how many lanes the vector at idx has along axis i of its block.
func (v *Vectors[T]) extent(idx []int, i int) int {
	if v.edge != nil && idx[i] == v.grid.lay.Dim(i)-1 {
		return v.edge[i]
	}
	return v.elem.Dim(i)
}

// offset returns where in the storage the vector at idx begins.
func (v *Vectors[T]) offset(op string, idx []int) int {
	off, axis := v.grid.lay.At(idx)
	if axis >= 0 {
		panic(v.grid.badIndex(op, slices.Clone(idx), axis))
	}
	return v.grid.origin() + off
}

// fastest returns the axis of the block that is fastest among the lanes.
func (v *Vectors[T]) fastest() int {
	for i := range v.elem.Rank() {
		if s, ok := v.elem.Stride(i); ok && s == 1 && v.elem.Dim(i) > 1 {
			return i
		}
	}
	return 0
}

// each calls f with every lane of the vector at idx that isn't missing and its
// offset from the vector's first element.
func (v *Vectors[T]) each(idx []int, f func(lane, off int)) {
	rank := v.elem.Rank()
	var few [layout.Inline]int
	at := few[:0]
	for range rank {
		at = append(at, 0)
	}
	fast := v.fastest()
	for lane := range v.elem.Size() {
		here := true
		for i := range v.edge {
			here = here && at[i] < v.extent(idx, i)
		}
		if here {
			off, _ := v.elem.At(at)
			f(lane, off)
		}
		for k := range rank { // the fastest axis, then the others from the first on
			i := k - 1
			if k == 0 {
				i = fast
			} else if i >= fast {
				i = k
			}
			if at[i]++; at[i] < v.elem.Dim(i) {
				break
			}
			at[i] = 0
		}
	}
}

// Load copies the lanes of the vector at idx to dst, which has ElemLen elements,
// and 0 for missing ones; it returns how many weren't missing. It panics when dst
// has another length, the number of indices isn't the rank, or an index is outside
// its axis.
func (v Vectors[T]) Load(dst []T, idx ...int) int {
	const op = "tensor.Vectors.Load"
	data, from := v.grid.data(op), v.offset(op, idx)
	v.checkLanes(op, len(dst))
	clear(dst)
	n := 0
	v.each(idx, func(lane, off int) {
		dst[lane] = data[from+off]
		n++
	})
	runtime.KeepAlive(v.grid.st)
	return n
}

// At returns the lanes of the vector at idx in a new slice, as Load gives them.
func (v Vectors[T]) At(idx ...int) []T {
	lanes := make([]T, v.ElemLen())
	v.Load(lanes, idx...)
	return lanes
}

// Store sets the lanes of the vector at idx to src, which has ElemLen elements;
// missing lanes are passed over. It returns how many weren't missing. It panics as
// Load does, and when the tensor is read-only.
func (v Vectors[T]) Store(src []T, idx ...int) int {
	const op = "tensor.Vectors.Store"
	data, from := v.grid.writable(op), v.offset(op, idx)
	v.checkLanes(op, len(src))
	n := 0
	v.each(idx, func(lane, off int) {
		data[from+off] = src[lane]
		n++
	})
	runtime.KeepAlive(v.grid.st)
	return n
}

func (v *Vectors[T]) checkLanes(op string, n int) {
	if want := v.elem.Size(); n != want {
		panic(&Error{op, sprintf("%d elements for vectors of %d lanes", n, want), ErrShape})
	}
}

// Fill sets every lane of every vector to x, and returns v. It panics when the
// tensor is read-only.
func (v Vectors[T]) Fill(x T) Vectors[T] {
	v.grid.writable("tensor.Vectors.Fill")
	lanes := slices.Repeat([]T{x}, v.ElemLen())
	for idx := range positions(v.Shape()) {
		v.Store(lanes, idx...)
	}
	return v
}

// CopyFrom copies vector i of src to vector i of v and lane i to lane i, the vectors
// counted in colexicographic order, the first axis fastest. Missing lanes are copied
// as 0, and not written. Where the two overlap it is as if src had been read in full
// first. It panics when their numbers of vectors or lanes differ, or v is read-only.
func (v Vectors[T]) CopyFrom(src Vectors[T]) {
	const op = "tensor.Vectors.CopyFrom"
	v.grid.writable(op)
	src.grid.data(op)
	n := v.ElemLen()
	if v.Len() != src.Len() || n != src.ElemLen() {
		panic(&Error{op, sprintf("%d vectors of %d lanes into %d of %d", src.Len(), src.ElemLen(), v.Len(), n), ErrShape})
	}
	all := make([]T, v.Len()*n)
	for i := range src.Len() {
		idx, _ := src.grid.lay.Coord(i)
		src.Load(all[i*n:(i+1)*n], idx...)
	}
	for i := range v.Len() {
		idx, _ := v.grid.lay.Coord(i)
		v.Store(all[i*n:(i+1)*n], idx...)
	}
}

// Lanes returns the view of all lanes as a tensor of rank Rank plus that of
// ElemLayout: the axes of the vectors, and behind them those of the block. It panics
// when a vector lacks lanes.
func (v Vectors[T]) Lanes() Tensor[T] {
	const op = "tensor.Vectors.Lanes"
	if v.Clipped() {
		panic(&Error{op, "vectors at the edge lack lanes; Tile cuts them off", ErrShape})
	}
	return v.grid.like(v.grid.join(op, lanes(&v.grid.lay, &v.elem)), 0)
}

// pick is Tensor.pick of the vectors.
func (v Vectors[T]) pick(op string, s []stretch) Vectors[T] {
	grid := v.grid.pick(op, s)
	return v.part(grid, func(axis int) (start, step int) { return s[axis].start, s[axis].step })
}

// part returns the vectors that stand in grid, which along each axis is those from
// start by step.
func (v Vectors[T]) part(grid Tensor[T], from func(axis int) (start, step int)) Vectors[T] {
	out := Vectors[T]{grid: grid, elem: v.elem}
	for i := range v.edge {
		start, step := from(i)
		n := grid.lay.Dim(i)
		if n == 0 || v.edge[i] == v.elem.Dim(i) || start+(n-1)*step < v.grid.lay.Dim(i)-1 {
			continue
		}
		if out.edge == nil {
			out.edge = v.elem.Shape()
		}
		out.edge[i] = v.edge[i]
	}
	return out
}

// Tile is Tensor.Tile of the vectors.
func (v Vectors[T]) Tile(size []int, coord ...int) Vectors[T] {
	const op = "tensor.Vectors.Tile"
	var few stretches
	return v.pick(op, tile(few[:0], op, &v.grid.lay, size, coord))
}

// Split is Tensor.Split of the vectors.
func (v Vectors[T]) Split(axis, count int) []Vectors[T] {
	const op = "tensor.Vectors.Split"
	axis = v.grid.axis(op, axis)
	checkParts(op, count)
	var parts []Vectors[T]
	for i := range max(count, 1) {
		var few stretches
		parts = append(parts, v.pick(op, part(few[:0], op, &v.grid.lay, axis, count, i, 1)))
	}
	return parts
}

// Distribute is Tensor.Distribute of the vectors; Swizzled counts offsets in
// vectors.
func (v Vectors[T]) Distribute(threads layout.Layout, thread int, opts ...DistributeOption) Vectors[T] {
	const op = "tensor.Vectors.Distribute"
	d := newDistribution(op, &v.grid.lay, &threads, thread, opts)
	for i, n := range v.edge {
		if n < v.elem.Dim(i) && d.alike(&v.grid.lay, i) {
			panic(&Error{op, sprintf("the last vector along the nested axis %d lacks lanes; use it before Vectorize", i), ErrView})
		}
	}
	lay, off := d.apply(op, &v.grid.lay)
	out := v.part(v.grid.like(lay, off), func(axis int) (start, step int) { return d.at(axis) })
	if lay.Size() > 0 && d.w != (layout.Swizzle{}) {
		whole, frag := v.Lanes(), out.Lanes()
		out.grid = v.grid.like(lay, d.swizzle(op, &whole.lay, &frag.lay, off, v.ElemLen()))
	}
	return out
}
