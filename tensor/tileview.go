package tensor

import (
	"iter"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// A stretch is the positions start, start+step, … below stop of an axis, as many
// as it has; 0 ≤ start ≤ stop.
type stretch struct{ start, stop, step int }

// stretches is room for one per axis.
type stretches [modes.Inline]stretch

// pick makes w the elements in a stretch of each axis.
func pick(op string, w *where, s []stretch) {
	var few [modes.Inline]Index
	idx := few[:0]
	for _, x := range s {
		idx = append(idx, layout.Range(x.start, x.stop, x.step))
	}
	slice(op, w, idx)
}

// Tile returns a view of one tile of t cut into tiles of size: along axis i the
// size[i] elements from index coord[i]·size[i] on. A tile at the edge has as many
// as are left, one past the edge none; Clipped tells. It panics when there isn't
// one size and one coordinate per axis, a size isn't positive, a coordinate is
// negative, or a tile of a nested axis crosses its leaves unevenly.
func Tile[T num.Elem](t Tensor[T], size []int, coord ...int) Tensor[T] {
	pickTile("tensor.Tile", &t.a.where, size, coord)
	return t
}

func pickTile(op string, w *where, size, coord []int) {
	var few stretches
	pick(op, w, tile(few[:0], op, &w.lay, size, coord))
}

// tile appends the stretches of the tile at coord.
func tile(s []stretch, op string, lay *layout.Layout, size, coord []int) []stretch {
	checkSizes(op, lay, size)
	if len(coord) != len(size) {
		panic(&Error{op, sprintf("%d coordinates for the %d axes of %s", len(coord), len(size), lay.ShapeString()), ErrIndex})
	}
	for i, c := range coord {
		if c < 0 {
			panic(&Error{op, sprintf("coordinate %d of axis %d is negative; tiles are counted from 0", c, i), ErrIndex})
		}
		n := walk.Ref(lay).Dim(i)
		start := n
		if c <= n/size[i] {
			start = c * size[i]
		}
		s = append(s, stretch{start, start + min(size[i], n-start), 1})
	}
	return s
}

func checkSizes(op string, lay *layout.Layout, size []int) {
	if len(size) != walk.Ref(lay).Rank() {
		panic(&Error{op, sprintf("%d sizes for the %d axes of %s", len(size), walk.Ref(lay).Rank(), lay.ShapeString()), ErrShape})
	}
	for i, n := range size {
		if n <= 0 {
			panic(&Error{op, sprintf("size %d of axis %d; a tile has at least one element", n, i), ErrShape})
		}
	}
}

// Clipped reports whether a is smaller along some axis than size: whether the edge
// has cut a tile of that size. It panics when there isn't one size per axis.
func (a Any) Clipped(size ...int) bool {
	return clipped("tensor.Clipped", &a.lay, size)
}

func clipped(op string, lay *layout.Layout, size []int) bool {
	checkSizes(op, lay, size)
	for i, n := range size {
		if walk.Ref(lay).Dim(i) < n {
			return true
		}
	}
	return false
}

// Tiles enumerates the tiles that Tile gives, and their coordinates, in row-major
// order, the last axis fastest; together they hold each element once. The slice of
// coordinates is the same one in every round: clone it to keep it. It panics as
// Tile does.
func Tiles[T num.Elem](t Tensor[T], size ...int) iter.Seq2[[]int, Tensor[T]] {
	each := tiles("tensor.Tiles", &t.a.where, size)
	return func(yield func([]int, Tensor[T]) bool) {
		each(func(at []int, w where) bool { return yield(at, Tensor[T]{a: Any{st: t.a.st, where: w}}) })
	}
}

func tiles(op string, t *where, size []int) iter.Seq2[[]int, where] {
	checkSizes(op, &t.lay, size)
	size = slices.Clone(size)
	return func(yield func([]int, where) bool) {
		grid := make([]int, len(size))
		for i, n := range size {
			grid[i] = ceilDiv(walk.Ref(&t.lay).Dim(i), n)
		}
		for at := range positions(grid) {
			w := *t
			pickTile(op, &w, size, at)
			if !yield(at, w) {
				return
			}
		}
	}
}

// ceilDiv is n/d rounded up, for n ≥ 0 and d > 0.
func ceilDiv(n, d int) int {
	q := n / d
	if n%d != 0 {
		q++
	}
	return q
}

// Split cuts t along an axis into count views of Dim(axis)/count elements each,
// rounded up, in order; the last ones have the rest, or none. Each element is
// in one part. It panics when count isn't positive or is above 2^20, where SplitPart
// gives one part at a time, there is no such axis, or a part of a nested axis crosses
// its leaves unevenly.
func Split[T num.Elem](t Tensor[T], axis, count int) []Tensor[T] {
	const op = "tensor.Split"
	axis = checkParts(op, &t.a.lay, axis, count)
	var parts []Tensor[T]
	for i := range max(count, 1) {
		p := t
		pickPart(op, &p.a.where, axis, count, i, 1)
		parts = append(parts, p)
	}
	return parts
}

// checkParts returns the axis, and refuses more views than memory is likely to hold.
func checkParts(op string, lay *layout.Layout, axis, count int) int {
	axis = axisOf(op, axis, walk.Ref(lay).Rank())
	if count > 1<<20 {
		panic(&Error{op, sprintf("%d parts; the most is %d, and SplitPart gives one at a time", count, 1<<20), ErrMemory})
	}
	return axis
}

// SplitPart returns part i of count of t along an axis, as Split cuts it, but with
// the number of elements per part rounded up to a multiple of align. It panics as
// Split does, and unless 0 ≤ i < count and align is positive.
func SplitPart[T num.Elem](t Tensor[T], axis, count, i, align int) Tensor[T] {
	pickPart("tensor.SplitPart", &t.a.where, axis, count, i, align)
	return t
}

func pickPart(op string, w *where, axis, count, i, align int) {
	var few stretches
	pick(op, w, part(few[:0], op, &w.lay, axisOf(op, axis, walk.Ref(&w.lay).Rank()), count, i, align))
}

// part appends the stretches of part i of count.
func part(s []stretch, op string, lay *layout.Layout, axis, count, i, align int) []stretch {
	switch {
	case count <= 0 || align <= 0:
		panic(&Error{op, sprintf("%d parts of a multiple of %d elements; both are at least 1", count, align), ErrShape})
	case i < 0 || i >= count:
		panic(&Error{op, sprintf("part %d of %d; they are counted from 0", i, count), ErrIndex})
	}
	for k := range walk.Ref(lay).Rank() {
		n := walk.Ref(lay).Dim(k)
		if k != axis {
			s = append(s, stretch{0, n, 1})
			continue
		}
		size, start := n, n
		if q := ceilDiv(ceilDiv(n, count), align); q <= n/align {
			size = q * align
		}
		if size == 0 || i <= n/size {
			start = i * size
		}
		s = append(s, stretch{start, start + min(size, n-start), 1})
	}
	return s
}

// Slice2D returns a view of rank 2. Ranges r0 and r1, as R makes them, select along axis0
// and the later axis1. The other axes stand at the given indices, in the order of the axes.
// For a (3,4,5) tensor:
//
//	Slice2D(t, 0, 2, R(1, 3), R(0, 2), 1) is t[1:3, 1, 0:2]
//
// It panics unless axis0 < axis1, r0 and r1 are ranges, and each other axis has an index
// inside it.
func Slice2D[T num.Elem](t Tensor[T], axis0, axis1 int, r0, r1 Index, fixed ...int) Tensor[T] {
	slice2D("tensor.Slice2D", &t.a.where, axis0, axis1, r0, r1, fixed)
	return t
}

func slice2D(op string, w *where, axis0, axis1 int, r0, r1 Index, fixed []int) {
	a, b := axisOf(op, axis0, walk.Ref(&w.lay).Rank()), axisOf(op, axis1, walk.Ref(&w.lay).Rank())
	if a >= b {
		panic(&Error{op, sprintf("axes %d and %d are not in order; Transpose exchanges them afterwards", axis0, axis1), ErrAxis})
	}
	fix(op, w, 2, fixed, func(axis int) (Index, bool) {
		if axis == a {
			return r0, true
		}
		return r1, axis == b
	})
}

// Slice1D returns the view of rank 1 in which range r, as R makes it, selects along
// an axis, and the other axes stand at the given indices, in their order. It panics
// as Slice2D does.
func Slice1D[T num.Elem](t Tensor[T], axis int, r Index, fixed ...int) Tensor[T] {
	slice1D("tensor.Slice1D", &t.a.where, axis, r, fixed)
	return t
}

func slice1D(op string, w *where, axis int, r Index, fixed []int) {
	a := axisOf(op, axis, walk.Ref(&w.lay).Rank())
	fix(op, w, 1, fixed, func(axis int) (Index, bool) { return r, axis == a })
}

// fix slices w where along says how, and at the fixed indices elsewhere; rank axes
// are to be left.
func fix(op string, w *where, rank int, fixed []int, along func(axis int) (Index, bool)) {
	var few [modes.Inline]Index
	idx, used := few[:0], 0
	for axis := range walk.Ref(&w.lay).Rank() {
		x, ok := along(axis)
		if !ok {
			if used < len(fixed) {
				x = layout.Point(fixed[used])
			}
			used++
		}
		idx = append(idx, x)
	}
	if used != len(fixed) {
		panic(&Error{op, sprintf("%d indices for the %d other axes of %s", len(fixed), used, w.lay.ShapeString()), ErrIndex})
	}
	if slice(op, w, idx); walk.Ref(&w.lay).Rank() != rank {
		panic(&Error{op, "a point or another index stands where a range is wanted; make it with R", ErrIndex})
	}
}
