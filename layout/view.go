package layout

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// IsRowMajor reports whether the row-major order of the coordinates is the
// order of the offsets 0, 1, 2, …: a tensor with this layout is contiguous.
// Extents of 1 are ignored, and every empty layout is.
func (l Layout) IsRowMajor() bool { return l.in.IsRowMajor() }

// Permute returns the layout whose mode i is mode axes[i] of l. Axes count from
// the end when negative. It fails unless axes names each mode once.
func (l Layout) Permute(axes ...int) (Layout, error) {
	rank := l.in.Rank()
	if len(axes) != rank {
		return Layout{}, fail("Permute", ErrAxis, "%d axes for rank %d of %s", len(axes), rank, l.ShapeString())
	}
	if l.in.Deep == nil && l.in.N == l.in.Modes {
		out := Layout{in: modes.Ref{N: l.in.N, Modes: l.in.Modes}}
		seen := 0
		for i, a := range axes {
			if a < 0 {
				a += rank
			}
			if uint(a) >= uint(rank) || seen>>a&1 == 1 {
				return Layout{}, badAxes(axes, rank)
			}
			seen |= 1 << a
			out.in.Ext[i&7], out.in.Str[i&7] = l.in.Ext[a&7], l.in.Str[a&7]
		}
		return out, nil
	}
	seen := make([]bool, rank)
	var w writer
	for _, a := range axes {
		if a < 0 {
			a += rank
		}
		if uint(a) >= uint(rank) || seen[a] {
			return Layout{}, badAxes(axes, rank)
		}
		seen[a] = true
		w.mode(&l, a)
	}
	return w.layout("Permute")
}

func badAxes(axes []int, rank int) error {
	return fail("Permute", ErrAxis, "%s is not a permutation of the %d axes", tupleText(axes), rank)
}

// BroadcastTo returns l stretched to shape by the rule of NumPy and ONNX: shapes
// are aligned at the last axis; an axis of extent 1, or absent, is repeated with
// stride 0. It fails when another extent differs.
func (l Layout) BroadcastTo(shape ...int) (Layout, error) {
	extra := len(shape) - l.in.Rank()
	if extra < 0 {
		return Layout{}, fail("BroadcastTo", ErrShape, "%s has more axes than %s", l.ShapeString(), tupleText(shape))
	}
	var w writer
	flat := l.in.Deep == nil && l.in.N == l.in.Modes && len(shape) <= modes.Inline
	out := Layout{in: modes.Ref{N: uint8(len(shape)), Modes: uint8(len(shape))}}
	for i, want := range shape {
		if want < 0 {
			return Layout{}, fail("BroadcastTo", ErrShape, "extent %d of axis %d is negative", want, i)
		}
		have, step := 1, 0
		if i >= extra {
			have = l.in.Dim(i - extra)
		}
		if have != want && have != 1 {
			return Layout{}, fail("BroadcastTo", ErrShape, "%s doesn't stretch to %s: axis %d is %d, not 1 or %d",
				l.ShapeString(), tupleText(shape), i-extra, have, want)
		}
		if have == want && i >= extra {
			if !flat {
				w.mode(&l, i-extra)
				continue
			}
			step = l.in.Str[(i-extra)&7]
		}
		if !flat {
			w.leaf(want, 0)
			continue
		}
		out.in.Ext[i&7], out.in.Str[i&7] = want, step
	}
	if !flat {
		return w.layout("BroadcastTo")
	}
	if _, err := shapeSize("BroadcastTo", shape); err != nil { // the offsets are offsets of l
		return Layout{}, err
	}
	return out, nil
}

// View returns the layout that gives the elements of l, in row-major order, the
// given shape, without moving any. It is the rule of NumPy's reshape without a
// copy: axes of extent 1 come and go, an axis splits, and neighbours merge when
// the outer stride is the inner one times its extent. A nested mode stays nested
// when its leaves stay together. The error says which axes break the rule.
func (l Layout) View(shape ...int) (Layout, error) {
	if len(shape) > maxRank {
		return Layout{}, fail("View", ErrLimit, "%d axes; the most is %d", len(shape), maxRank)
	}
	size, err := shapeSize("View", shape)
	if err != nil {
		return Layout{}, err
	}
	if n := l.in.Size(); n != size {
		return Layout{}, fail("View", ErrShape, "%s has %d elements, %s has %d", l.ShapeString(), n, tupleText(shape), size)
	}
	if size == 0 || l.in.IsRowMajor() {
		return compact(shape, true), nil
	}
	var buf [modes.Inline]run
	runs := l.rowRuns(buf[:0])
	at, left, step := -1, 1, 0 // the run being used up, its remaining extent, its stride there
	if len(runs) > 0 {
		at, left, step = 0, runs[0].ext, runs[0].str
	}
	flat := l.in.Flat() && len(shape) <= modes.Inline // then each axis lies in one run
	out := Layout{in: modes.Ref{N: uint8(len(shape)), Modes: uint8(len(shape))}}
	var groups [][2][]int // else the leaves of each axis, the last axis first
	for i := len(shape) - 1; i >= 0; i-- {
		var ce, cs []int
		from := -1 // the run this axis took from last
		if flat {
			out.in.Ext[i&7] = shape[i]
		}
		for need := shape[i]; need > 1; {
			if left == 1 {
				at++
				left, step = runs[at].ext, runs[at].str
			}
			take := min(left, need)
			if left%take != 0 || need%take != 0 {
				return Layout{}, l.noView(shape, "%d and %d don't divide each other", left, need)
			}
			if from >= 0 && runs[from].outer != runs[at].inner {
				return Layout{}, l.noView(shape, "axes %d and %d don't follow each other in memory", runs[at].inner, runs[from].outer)
			}
			if flat {
				out.in.Str[i&7] = step
			} else {
				ce, cs = append(ce, take), append(cs, step)
			}
			from, left, need = at, left/take, need/take
			step *= take
		}
		if !flat {
			groups = append(groups, [2][]int{ce, cs})
		}
	}
	if flat {
		return out, nil // the same offsets as l
	}
	var w writer
	for _, g := range slices.Backward(groups) {
		w.group(g[0], g[1])
	}
	return w.layout("View")
}

// run is a stretch of the row-major order with one stride.
type run struct {
	ext, str     int
	inner, outer int // the modes its fastest and slowest ends belong to
}

// rowRuns appends the runs of the row-major order, the fastest first.
func (l *Layout) rowRuns(runs []run) []run {
	for i := l.in.Rank() - 1; i >= 0; i-- {
		lo, hi := l.in.ModeLeaves(i)
		for k := lo; k < hi; k++ {
			e, s := l.in.Leaf(k)
			if e == 1 {
				continue
			}
			if n := len(runs) - 1; n >= 0 && modes.Follows(runs[n].ext, runs[n].str, s) {
				runs[n].ext *= e
				runs[n].outer = i
				continue
			}
			runs = append(runs, run{e, s, i, i})
		}
	}
	return runs
}

// shapeSize returns the number of elements of a shape.
func shapeSize(op string, shape []int) (int, error) {
	size, empty := 1, false
	for i, e := range shape {
		if e < 0 {
			return 0, fail(op, ErrShape, "extent %d of axis %d is negative", e, i)
		}
		if e == 0 {
			empty = true
			continue
		}
		var ok bool
		if size, ok = modes.Mul(size, e); !ok {
			return 0, fail(op, ErrOverflow, "the size of shape %s doesn't fit an int", tupleText(shape))
		}
	}
	if empty {
		return 0, nil
	}
	return size, nil
}

func (l *Layout) noView(shape []int, format string, args ...any) error {
	return fail("View", ErrView, "%v has no view of shape %s: "+format+"; Reshape copies", append([]any{*l, tupleText(shape)}, args...)...)
}
