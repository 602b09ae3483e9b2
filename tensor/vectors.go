package tensor

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
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
	_    [0]func(T)
	grid Tensor[T] // of the vectors' first elements
	cut
}

// A cut is the block of elements that makes a vector.
type cut struct {
	elem layout.Layout // from a vector's first element to its lanes
	edge []int         // the extents of the last vector along each axis; nil: no lane is missing
}

// Vectorize returns the tensor of the blocks of the given shape that t is made of, as
// vectors. For a (16,16) tensor:
//
//	Vectorize(t, 4, 4) has shape (4,4) and vectors of 16 lanes
//
// Blocks at the edge of t lack the lanes outside it. It panics when there isn't one extent
// per axis, one isn't positive, or blocks of a nested axis cross its leaves unevenly.
func Vectorize[T num.Elem](t Tensor[T], shape ...int) Vectors[T] {
	b := vectorize("tensor.Vectorize", &t.a.lay, shape)
	return Vectors[T]{grid: t, cut: b}
}

// vectorize makes lay that of the blocks' first elements.
func vectorize(op string, lay *layout.Layout, shape []int) cut {
	checkSizes(op, lay, shape)
	var starts, lanes []layout.Layout
	var b cut
	for i, n := range shape {
		start, lane, err := blocks(lay, i, n)
		if err != nil {
			panic(Wrap(op, err))
		}
		starts, lanes = append(starts, start), append(lanes, lane)
		if rest := walk.Ref(lay).Dim(i) % n; rest != 0 {
			if b.edge == nil {
				b.edge = slices.Clone(shape)
			}
			b.edge[i] = rest
		}
	}
	b.elem = join(op, lanes)
	*lay = join(op, starts)
	return b
}

// blocks cuts axis i into blocks of n, the last of which may cross the edge: where
// they start, and their elements. All blocks of an axis must be alike.
func blocks(lay *layout.Layout, i, n int) (start, lane layout.Layout, err error) {
	dim := walk.Ref(lay).Dim(i)
	count := ceilDiv(dim, n)
	if s, ok := walk.Ref(lay).Stride(i); ok {
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
	all := fromLayout(op, data, join(op, lanes(&lay, &elem)))
	all.a.lay = lay
	return Vectors[T]{grid: all, cut: cut{elem: elem}}
}

// lanes returns the modes of both.
func lanes(lay, elem *layout.Layout) []layout.Layout {
	var modes []layout.Layout
	for _, l := range []*layout.Layout{lay, elem} {
		for i := range walk.Ref(l).Rank() {
			modes = append(modes, l.Mode(i))
		}
	}
	return modes
}

// Rank returns the number of axes of the tensor of vectors.
func (v Vectors[T]) Rank() int { return walk.Ref(&v.grid.a.lay).Rank() }

// Dim returns how many vectors there are along an axis. Negative axes count from
// the end. It panics when there is no such axis.
func (v Vectors[T]) Dim(axis int) int { return v.grid.Dim(axis) }

// Shape returns how many vectors there are along each axis in a new slice.
func (v Vectors[T]) Shape() []int { return v.grid.Shape() }

// Len returns the number of vectors.
func (v Vectors[T]) Len() int { return walk.Ref(&v.grid.a.lay).Size() }

// Layout returns how coordinates map to the storage offsets of the vectors' first
// elements, counted from that of vector 0.
func (v Vectors[T]) Layout() layout.Layout { return v.grid.a.lay }

// ElemLayout returns where the lanes of a vector are, counted from its first
// element, missing ones included.
func (v Vectors[T]) ElemLayout() layout.Layout { return v.elem }

// ElemLen returns the number of lanes of a vector.
func (v Vectors[T]) ElemLen() int { return walk.Ref(&v.elem).Size() }

// Clipped reports whether some vector lacks lanes.
func (v Vectors[T]) Clipped() bool { return v.edge != nil && v.Len() > 0 }

// Full reports whether the vector at idx has all its lanes. It panics as Load does.
func (v Vectors[T]) Full(idx ...int) bool {
	offsetAt("tensor.Vectors.Full", &v.grid.a.where, idx)
	return full(&v.grid.a.lay, &v.cut, idx)
}

func full(grid *layout.Layout, b *cut, idx []int) bool {
	for i := range b.edge {
		if extent(grid, b, idx, i) < walk.Ref(&b.elem).Dim(i) {
			return false
		}
	}
	return true
}

// extent returns how many lanes the vector at idx of the grid has along axis i of its
// block.
func extent(grid *layout.Layout, b *cut, idx []int, i int) int {
	if b.edge != nil && idx[i] == walk.Ref(grid).Dim(i)-1 {
		return b.edge[i]
	}
	return walk.Ref(&b.elem).Dim(i)
}

// offsetAt returns where in the storage the element at idx is.
func offsetAt(op string, w *where, idx []int) int {
	off, axis := w.lay.At(idx)
	if axis >= 0 {
		panic(badIndex(op, &w.lay, idx, axis))
	}
	return w.origin() + off
}

// fastest returns the axis of a block that is fastest among the lanes.
func fastest(block *layout.Layout) int {
	for i := range walk.Ref(block).Rank() {
		if s, ok := walk.Ref(block).Stride(i); ok && s == 1 && walk.Ref(block).Dim(i) > 1 {
			return i
		}
	}
	return 0
}

// eachLane calls f with every lane of the vector at idx of the grid that isn't missing
// and its offset from the vector's first element.
func eachLane(grid *layout.Layout, b *cut, idx []int, f func(lane, off int)) {
	rank := walk.Ref(&b.elem).Rank()
	var few [modes.Inline]int
	at := few[:0]
	for range rank {
		at = append(at, 0)
	}
	fast := fastest(&b.elem)
	for lane := range walk.Ref(&b.elem).Size() {
		here := true
		for i := range b.edge {
			here = here && at[i] < extent(grid, b, idx, i)
		}
		if here {
			off, _ := b.elem.At(at)
			f(lane, off)
		}
		for k := range rank { // the fastest axis, then the others from the first on
			i := k - 1
			if k == 0 {
				i = fast
			} else if i >= fast {
				i = k
			}
			if at[i]++; at[i] < walk.Ref(&b.elem).Dim(i) {
				break
			}
			at[i] = 0
		}
	}
}

// Load copies the lanes of the vector at idx to dst, which has ElemLen elements,
// and 0 for missing ones; it returns how many weren't missing. dst may share memory with
// the tensor. It panics when dst
// has another length, the number of indices isn't the rank, or an index is outside
// its axis.
func (v Vectors[T]) Load(dst []T, idx ...int) int {
	const op = "tensor.Vectors.Load"
	data, from := read[T](&v.grid.a, op), offsetAt(op, &v.grid.a.where, idx)
	checkLanes(op, &v.elem, len(dst))
	if conv.Overlap(dst, data) {
		lanes := make([]T, len(dst))
		n := v.Load(lanes, idx...)
		copy(dst, lanes)
		return n
	}
	clear(dst)
	n := 0
	eachLane(&v.grid.a.lay, &v.cut, idx, func(lane, off int) {
		dst[lane] = data[from+off]
		n++
	})
	runtime.KeepAlive(v.grid.a.st)
	return n
}

// count returns the elements of the storage.
func (a *Any) count(op string) int {
	a.pointer(op)
	return a.st.n
}

// At returns the lanes of the vector at idx in a new slice, as Load gives them. It panics for
// more lanes than both 2^24 and the elements of the storage.
func (v Vectors[T]) At(idx ...int) []T {
	const most = 1 << 24
	if n := v.ElemLen(); n > max(most, v.grid.a.count("tensor.Vectors.Load")) { // a broadcast axis makes lanes that no storage has
		panic(&Error{"tensor.Vectors.At", sprintf("%d lanes are too many for a new slice; Load takes one of yours", n), ErrMemory})
	}
	lanes := make([]T, v.ElemLen())
	v.Load(lanes, idx...)
	return lanes
}

// Store sets the lanes of the vector at idx to src, which has ElemLen elements;
// missing lanes are passed over. Where the two overlap it is as if src had been read in
// full first. It returns how many weren't missing. It panics as Load does, and when the tensor is read-only.
func (v Vectors[T]) Store(src []T, idx ...int) int {
	const op = "tensor.Vectors.Store"
	data, from := writable[T](&v.grid.a, op), offsetAt(op, &v.grid.a.where, idx)
	checkLanes(op, &v.elem, len(src))
	if conv.Overlap(src, data) {
		src = slices.Clone(src)
	}
	n := 0
	eachLane(&v.grid.a.lay, &v.cut, idx, func(lane, off int) {
		data[from+off] = src[lane]
		n++
	})
	runtime.KeepAlive(v.grid.a.st)
	return n
}

func checkLanes(op string, elem *layout.Layout, n int) {
	if want := walk.Ref(elem).Size(); n != want {
		panic(&Error{op, sprintf("%d elements for vectors of %d lanes", n, want), ErrShape})
	}
}

// Fill sets every lane of every vector to x, and returns v. It panics when the
// tensor is read-only.
func (v Vectors[T]) Fill(x T) Vectors[T] {
	v.grid.a.check("tensor.Vectors.Fill")
	row := Empty[T](v.ElemLen())
	defer row.Close()
	lanes := row.Elems()
	conv.Fill(lanes, x)
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
	v.grid.a.check(op)
	src.grid.a.pointer(op)
	vectors, n := walk.Ref(&v.grid.a.lay).Size(), walk.Ref(&v.elem).Size()
	checkVectors(op, vectors, n, walk.Ref(&src.grid.a.lay).Size(), walk.Ref(&src.elem).Size())
	whole := Empty[T](vectors, n)
	defer whole.Close()
	all := whole.Elems()
	for i := range vectors {
		idx, _ := src.grid.a.lay.Coord(i)
		src.Load(all[i*n:(i+1)*n], idx...)
	}
	for i := range vectors {
		idx, _ := v.grid.a.lay.Coord(i)
		v.Store(all[i*n:(i+1)*n], idx...)
	}
}

func checkVectors(op string, vectors, lanes, ofSrc, lanesOfSrc int) {
	if vectors != ofSrc || lanes != lanesOfSrc {
		panic(&Error{op, sprintf("%d vectors of %d lanes into %d of %d", ofSrc, lanesOfSrc, vectors, lanes), ErrShape})
	}
}

// Lanes returns the view of all lanes as a tensor of rank Rank plus that of
// ElemLayout: the axes of the vectors, and behind them the axes of the block. It panics
// when a vector lacks lanes.
func (v Vectors[T]) Lanes() Tensor[T] {
	t := v.grid
	t.a.lay = allLanes("tensor.Vectors.Lanes", &t.a.lay, &v.cut)
	return t
}

func allLanes(op string, grid *layout.Layout, b *cut) layout.Layout {
	if b.edge != nil && walk.Ref(grid).Size() > 0 {
		panic(&Error{op, "vectors at the edge lack lanes; Tile cuts them off", ErrShape})
	}
	return join(op, lanes(grid, &b.elem))
}

// pickVectors is pick of a grid of vectors.
func pickVectors(op string, w *where, b *cut, s []stretch) {
	grid := w.lay
	pick(op, w, s)
	partOfGrid(b, &grid, &w.lay, func(axis int) (start, step int) { return s[axis].start, s[axis].step })
}

// partOfGrid makes b that of the vectors in part, which along each axis of the grid is
// those from start by step.
func partOfGrid(b *cut, grid, part *layout.Layout, from func(axis int) (start, step int)) {
	edge := b.edge
	b.edge = nil
	for i := range edge {
		start, step := from(i)
		n := walk.Ref(part).Dim(i)
		if n == 0 || edge[i] == walk.Ref(&b.elem).Dim(i) || start+(n-1)*step < walk.Ref(grid).Dim(i)-1 {
			continue
		}
		if b.edge == nil {
			b.edge = b.elem.Shape()
		}
		b.edge[i] = edge[i]
	}
}

// Tile returns a view of one tile of the vectors, as the function Tile of elements.
func (v Vectors[T]) Tile(size []int, coord ...int) Vectors[T] {
	tileVectors("tensor.Vectors.Tile", &v.grid.a.where, &v.cut, size, coord)
	return v
}

func tileVectors(op string, w *where, b *cut, size, coord []int) {
	var few stretches
	pickVectors(op, w, b, tile(few[:0], op, &w.lay, size, coord))
}

// Split cuts the vectors along an axis into count views, as the function Split elements.
func (v Vectors[T]) Split(axis, count int) []Vectors[T] {
	const op = "tensor.Vectors.Split"
	axis = checkParts(op, &v.grid.a.lay, axis, count)
	var parts []Vectors[T]
	for i := range max(count, 1) {
		p := v
		partOfVectors(op, &p.grid.a.where, &p.cut, axis, count, i)
		parts = append(parts, p)
	}
	return parts
}

func partOfVectors(op string, w *where, b *cut, axis, count, i int) {
	var few stretches
	pickVectors(op, w, b, part(few[:0], op, &w.lay, axis, count, i, 1))
}

// Distribute returns a view of the vectors that belong to one thread, as the function
// Distribute of elements; Swizzled counts offsets in vectors.
func (v Vectors[T]) Distribute(threads layout.Layout, thread int, opts *DistributeOptions) Vectors[T] {
	distributeVectors("tensor.Vectors.Distribute", &v.grid.a.where, &v.cut, &threads, thread, opts)
	return v
}

func distributeVectors(op string, w *where, b *cut, threads *layout.Layout, thread int, o *DistributeOptions) {
	d := newDistribution(op, &w.lay, threads, thread, o)
	for i, n := range b.edge {
		if n < walk.Ref(&b.elem).Dim(i) && d.alike(&w.lay, i) {
			panic(&Error{op, sprintf("the last vector along the nested axis %d lacks lanes; use it before Vectorize", i), ErrView})
		}
	}
	lay, off := d.apply(op, &w.lay)
	all := *b
	partOfGrid(b, &w.lay, &lay, func(axis int) (start, step int) { return d.at(axis) })
	if lay.Size() > 0 && d.w != (layout.Swizzle{}) {
		const op1 = "tensor.Vectors.Lanes"
		whole, frag := allLanes(op1, &w.lay, &all), allLanes(op1, &lay, b)
		off = d.swizzle(op, &whole, &frag, off, walk.Ref(&b.elem).Size())
	}
	move(w, &lay, off)
}
