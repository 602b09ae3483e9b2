// Package layout says where the elements of a tensor are: a Layout maps
// coordinates to offsets. It knows integers only, no bytes and no types.
//
// A layout is a shape and a stride of the same nesting, written as in CuTe:
// (4,6):(6,1) has two modes, the second with stride 1. A mode may itself be a
// tuple of modes:
//
//	((2,2),4):((1,8),2)
//
// has shape (4,4). A coordinate of its first mode counts through (2,2), with the
// first entry fastest.
//
// Two orders occur, and each function that enumerates says in its first line
// which one it uses. The linear coordinate of the algebra (Offset) is
// colexicographic: the first mode is fastest. The logical order of a tensor
// (IsRowMajor, View) is row-major: the last mode is fastest. Inside a nested
// mode the first leaf is always fastest.
//
// Every product and sum of extents and strides is checked: a layout that
// exists has a size and offsets that fit an int.
package layout

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// Layout maps coordinates to offsets. It is an immutable value; the zero value
// is the layout of rank 0, ():(), with one element at offset 0. Use Equal to
// compare; == does not compile.
//
// Methods take a value, so that they chain: t.Layout().Coalesce().Size().
type Layout struct {
	_  [0]func()
	in modes.Ref
}

func init() {
	modes.Refuse = func(op, text string, args ...any) { panic(fail(op, ErrAxis, text, args...)) }
}

// maxRank is the highest rank that New and Parse accept, so that a file's header can't ask
// for a layout that takes much memory itself.
const maxRank = 1 << 16

// New returns the flat layout with the given extents and strides, which are
// copied. It fails when the lengths differ, an extent is negative, or the size
// or an offset does not fit an int.
func New(ext, str []int) (Layout, error) {
	if len(ext) != len(str) {
		return Layout{}, fail("New", ErrShape, "%d extents and %d strides; give one stride per extent", len(ext), len(str))
	}
	return build("New", ext, str, nil)
}

// RowMajor returns the dense layout of a shape whose last mode is fastest.
// It fails when an extent is negative or the size does not fit an int.
func RowMajor(ext ...int) (Layout, error) { return dense("RowMajor", ext, true) }

// ColMajor returns the dense layout of a shape whose first mode is fastest.
// It fails when an extent is negative or the size does not fit an int.
func ColMajor(ext ...int) (Layout, error) { return dense("ColMajor", ext, false) }

func dense(op string, ext []int, row bool) (Layout, error) {
	if len(ext) > maxRank {
		return Layout{}, fail(op, ErrLimit, "%d modes; the most is %d", len(ext), maxRank)
	}
	if _, err := shapeSize(op, ext); err != nil {
		return Layout{}, err
	}
	return compact(ext, row), nil
}

// compact is dense for a shape whose size fits.
func compact(ext []int, row bool) Layout {
	var l Layout
	if len(ext) > modes.Inline {
		l.in.Deep = &modes.Deep{Ext: slices.Clone(ext), Str: make([]int, len(ext)), Rank: len(ext)}
		denseStrides(ext, l.in.Deep.Str, row)
		return l
	}
	l.in.N, l.in.Modes = uint8(len(ext)), uint8(len(ext))
	copy(l.in.Ext[:], ext)
	denseStrides(ext, l.in.Str[:len(ext)], row)
	return l
}

// denseStrides fills str for a dense layout of a shape whose size fits. Extents
// of 0 count as 1 in the strides, as in NumPy.
func denseStrides(ext, str []int, row bool) {
	step := 1
	for k := range ext {
		i := k
		if row {
			i = len(ext) - 1 - k
		}
		str[i] = step
		step *= max(ext[i], 1)
	}
}

// build makes a checked layout of leaves and nest tokens; it copies its slices.
func build(op string, ext, str []int, nest []byte) (Layout, error) {
	if len(ext) > maxRank {
		return Layout{}, fail(op, ErrLimit, "%d modes; the most is %d", len(ext), maxRank)
	}
	if err := check(op, ext, str); err != nil {
		return Layout{}, err
	}
	var l Layout
	rank := len(ext)
	if nest != nil {
		rank = tokenRank(nest)
	}
	packed, fits := modes.Pack(nest)
	if len(ext) <= modes.Inline && fits {
		copy(l.in.Ext[:], ext)
		copy(l.in.Str[:], str)
		l.in.N, l.in.Modes, l.in.Nest = uint8(len(ext)), uint8(rank), packed
	} else {
		d := &modes.Deep{Ext: slices.Clone(ext), Str: slices.Clone(str), Rank: rank}
		if nest != nil {
			d.Nest, d.Modes = slices.Clone(nest), modes.Marks(nest, rank)
		}
		l.in.Deep = d
	}
	return l, nil
}

// check reports a negative extent, and a size or an offset that overflows.
func check(op string, ext, str []int) error {
	size := 1
	for i, e := range ext {
		if e < 0 {
			return fail(op, ErrShape, "extent %d of leaf %d is negative", e, i)
		}
		if e == 0 {
			continue
		}
		var ok bool
		if size, ok = modes.Mul(size, e); !ok {
			return fail(op, ErrOverflow, "the size of shape %s doesn't fit an int", tupleText(ext))
		}
	}
	if _, _, ok := span(ext, str); !ok {
		return fail(op, ErrOverflow, "the offsets of %s:%s reach over more than an int counts", tupleText(ext), tupleText(str))
	}
	return nil
}

// span returns the smallest and the largest offset, leaves of extent 0 aside; ok
// is false when hi-lo+1 doesn't fit an int.
func span(ext, str []int) (lo, hi int, ok bool) {
	for i, e := range ext {
		d, ok := modes.Mul(max(e, 1)-1, str[i])
		if ok && d < 0 {
			lo, ok = add(lo, d)
		} else if ok {
			hi, ok = add(hi, d)
		}
		if !ok {
			return 0, 0, false
		}
	}
	d := hi - lo
	return lo, hi, d >= 0 && d < math.MaxInt
}

func add(a, b int) (int, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

// Rank returns the number of modes.
func (l Layout) Rank() int { return l.in.Rank() }

// Leaves returns the number of leaves: the rank of the flattened layout.
func (l Layout) Leaves() int { return l.in.Leaves() }

// Flat reports whether no mode is nested.
func (l Layout) Flat() bool { return l.in.Flat() }

// Leaf returns the extent and the stride of leaf i. It panics with an *Error unless
// 0 ≤ i < Leaves.
func (l Layout) Leaf(i int) (ext, str int) { return l.in.Leaf(i) }

// Dim returns the extent of mode i: the product of its leaves. It panics with an *Error
// unless 0 ≤ i < Rank.
func (l Layout) Dim(i int) int { return l.in.Dim(i) }

// Stride returns the stride of mode i and whether the mode has a single one:
// it is a leaf, or its leaves coalesce to one. It panics with an *Error
// unless 0 ≤ i < Rank.
func (l Layout) Stride(i int) (int, bool) { return l.in.Stride(i) }

// Shape returns the extents of the modes in a new slice.
func (l Layout) Shape() []int {
	s := make([]int, l.in.Rank())
	for i := range s {
		s[i] = l.in.Dim(i)
	}
	return s
}

// Size returns the number of coordinates: the product of the extents, 1 for rank 0.
func (l Layout) Size() int { return l.in.Size() }

// Span returns the smallest and the largest offset. An empty layout gives 0, -1,
// so that hi-lo+1 is always the number of storage elements it reaches over.
func (l Layout) Span() (lo, hi int) {
	ext, str := l.in.All()
	for i, e := range ext {
		if e == 0 {
			return 0, -1
		}
		if d := (e - 1) * str[i]; d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}

// Equal reports whether l and m have the same nesting, extents and strides.
// It compares the description, not the function:
//
//	4:1 and (2,2):(1,2) differ
func (l Layout) Equal(m Layout) bool { return l.in.Equal(&m.in) }

// Offset returns the offset of linear coordinate i in colexicographic order:
// the first mode is fastest. It fails unless 0 ≤ i < Size.
func (l Layout) Offset(i int) (int, error) {
	if n := l.in.Size(); i < 0 || i >= n {
		return 0, fail("Offset", ErrRange, "coordinate %d is outside the %d of %v", i, n, l)
	}
	ext, str := l.in.All()
	return offsetAt(ext, str, i), nil
}

// At returns the offset of a coordinate per mode. The coordinate of a nested
// mode counts through its leaves, the first one fastest. It returns axis ≥ 0,
// and no offset, when the coordinate of that axis is outside [0, Dim(axis)),
// and axis = Rank when the number of coordinates isn't the rank; else axis is -1.
func (l Layout) At(coord []int) (off, axis int) {
	if l.in.Deep == nil && l.in.N == l.in.Modes {
		if len(coord) != int(l.in.N) {
			return 0, int(l.in.Modes)
		}
		for i, c := range coord {
			if uint(c) >= uint(l.in.Ext[i&7]) {
				return 0, i
			}
			off += c * l.in.Str[i&7]
		}
		return off, -1
	}
	return l.atNested(coord)
}

// atNested goes through the nesting once: rest is the part of a mode's
// coordinate that its leaves so far leave.
func (l *Layout) atNested(coord []int) (off, axis int) {
	if len(coord) != l.in.Rank() {
		return 0, l.in.Rank()
	}
	if l.in.Deep != nil {
		for i, c := range coord {
			ext, str := l.in.RunOf(i)
			if uint(c) >= uint(modes.Product(ext)) {
				return 0, i
			}
			off += offsetAt(ext, str, c)
		}
		return off, -1
	}
	v, depth, k := l.in.Nest, 0, 0
	for i, c := range coord {
		if c < 0 {
			return 0, i
		}
		rest := uint(c)
		for {
			if v&1 == 0 {
				ext, str := uint(l.in.Ext[k&7]), l.in.Str[k&7]
				switch {
				case rest < ext:
					off += int(rest) * str
					rest = 0
				case ext == 0:
					return 0, i
				default:
					q := rest / ext
					off += int(rest-q*ext) * str
					rest = q
				}
				v >>= 1
				k++
			} else {
				depth += 1 - int(v&2)
				v >>= 2
			}
			if depth == 0 {
				break
			}
		}
		if rest > 0 {
			return 0, i
		}
	}
	return off, -1
}

// Coord returns the coordinate per mode of linear coordinate i in colexicographic
// order, the first mode fastest: At(Coord(i)) is Offset(i). It fails unless
// 0 ≤ i < Size.
func (l Layout) Coord(i int) ([]int, error) {
	if n := l.in.Size(); i < 0 || i >= n {
		return nil, fail("Coord", ErrRange, "coordinate %d is outside the %d of %v", i, n, l)
	}
	c := make([]int, l.in.Rank())
	for k := range c {
		n := l.in.Dim(k)
		c[k], i = i%n, i/n
	}
	return c, nil
}
