package tensor

import (
	"math/bits"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// A TileIterator is a tile that moves over a tensor in equal steps:
//
//	for it := tensor.TiledIterator(t, []int{16, 16}, 0, 0, 0); it.Valid(); it.Next(1) {
//		tile := it.Tile()
//	}
//
// It stops at the end, or begins again when it is circular.
type TileIterator[T num.Elem] struct {
	_  [0]func(T)
	st *storage
	steps
}

// steps is where the tiles of an iterator are.
type steps struct {
	tile     func(k int) where // k steps from the first
	at, n    int               // 0 ≤ at ≤ n; n is past the last
	circular bool
}

// TiledIterator returns an iterator over the tiles of t, as Tile cuts it, from the
// tile at start on along an axis. It panics as Tile does, or when there is no such
// axis.
func TiledIterator[T num.Elem](t Tensor[T], size []int, axis int, start ...int) *TileIterator[T] {
	return &TileIterator[T]{st: t.a.st, steps: tileSteps("tensor.TiledIterator", t.a.where, size, axis, start)}
}

func tileSteps(op string, row where, size []int, axis int, start []int) steps {
	axis = axisOf(op, axis, walk.Ref(&row.lay).Rank())
	var few stretches
	s := tile(few[:0], op, &row.lay, size, start)
	step := size[axis]
	s[axis] = stretch{0, walk.Ref(&row.lay).Dim(axis), 1}
	pick(op, &row, s) // all tiles that the iterator comes to
	n := ceilDiv(walk.Ref(&row.lay).Dim(axis), step)
	return steps{
		at: min(start[axis], n),
		n:  n,
		tile: func(k int) where {
			var few stretches
			s := few[:0]
			for i := range walk.Ref(&row.lay).Rank() {
				s = append(s, stretch{0, walk.Ref(&row.lay).Dim(i), 1})
			}
			s[axis].start = k * step
			s[axis].stop = k*step + min(step, walk.Ref(&row.lay).Dim(axis)-k*step)
			w := row
			pick(op, &w, s)
			return w
		},
	}
}

// Circular makes the iterator begin again with the first tile along the axis after
// the last one, and returns it.
func (it *TileIterator[T]) Circular() *TileIterator[T] {
	it.circular = true
	if it.n > 0 {
		it.at %= it.n
	}
	return it
}

// LayoutIterator returns an iterator over the tiles lay of t, which has rank 1: the
// first has its offset 0 at index start, each next one step further. It stops where
// lay would leave t. It panics when t doesn't have rank 1 and a single stride, lay has a
// negative stride, step isn't positive, or start is negative.
func LayoutIterator[T num.Elem](t Tensor[T], lay layout.Layout, step, start int) *TileIterator[T] {
	return &TileIterator[T]{st: t.a.st, steps: layoutSteps("tensor.LayoutIterator", t.a.where, lay, step, start, false)}
}

// CircularLayoutIterator is LayoutIterator that counts indices modulo Len, so it comes
// back to start. Tile panics where lay would leave t.
func CircularLayoutIterator[T num.Elem](t Tensor[T], lay layout.Layout, step, start int) *TileIterator[T] {
	return &TileIterator[T]{st: t.a.st, steps: layoutSteps("tensor.CircularLayoutIterator", t.a.where, lay, step, start, true)}
}

func layoutSteps(op string, t where, lay layout.Layout, step, start int, circular bool) steps {
	if walk.Ref(&t.lay).Rank() != 1 {
		panic(&Error{op, sprintf("%s has rank %d, not 1", t.lay.ShapeString(), walk.Ref(&t.lay).Rank()), ErrShape})
	}
	lo, hi := lay.Span()
	switch {
	case step <= 0 || start < 0:
		panic(&Error{op, sprintf("from %d by %d; the start is at least 0 and the step at least 1", start, step), ErrIndex})
	case lo < 0:
		panic(&Error{op, sprintf("%v has a negative stride", lay), ErrShape})
	}
	size, stride := walk.Ref(&t.lay).Size(), strideOf(op, &t.lay, 0)
	tile, err := layout.Compose(leaf(op, max(size, 1), stride), lay)
	if err != nil {
		panic(Wrap(op, err))
	}
	it := steps{circular: circular && size > 0}
	if it.circular {
		start, step = start%size, step%size
		it.n = size / gcd(step, size)
	} else if hi < size && start < size-max(hi, 0) {
		it.n = (size-1-max(hi, 0)-start)/step + 1
	}
	circular = it.circular
	it.tile = func(k int) where {
		at := start + k*step
		if circular {
			high, low := bits.Mul64(uint64(k), uint64(step))
			at = int((bits.Rem64(high, low, uint64(size)) + uint64(start)) % uint64(size))
			if hi >= size-at {
				panic(&Error{"tensor.TileIterator.Tile", sprintf("%v at index %d leaves the %d elements", lay, at, size), ErrIndex})
			}
		}
		w := t
		move(&w, &tile, at*stride)
		return w
	}
	return it
}

// Valid reports whether the iterator stands at a tile: a circular one always does
// if there is one.
func (it *TileIterator[T]) Valid() bool { return it.at < it.n }

// Tile returns the tile the iterator stands at. It panics when that is past the
// last.
func (it *TileIterator[T]) Tile() Tensor[T] {
	return Tensor[T]{a: Any{st: it.st, where: it.now("tensor.TileIterator.Tile")}}
}

func (it *steps) now(op string) where {
	if it.at >= it.n {
		panic(&Error{op, sprintf("the iterator is past the last of %d tiles; ask Valid", it.n), ErrIndex})
	}
	return it.tile(it.at)
}

// Next moves the iterator by n tiles, n ≥ 0, but not further than past the last one
// unless it is circular.
func (it *TileIterator[T]) Next(n int) { it.next("tensor.TileIterator.Next", n) }

func (it *steps) next(op string, n int) {
	switch {
	case n < 0:
		panic(&Error{op, sprintf("%d tiles; it goes forward only", n), ErrIndex})
	case it.circular && it.n > 0:
		it.at = (it.at + n%it.n) % it.n
	default:
		it.at += min(n, it.n-it.at)
	}
}
