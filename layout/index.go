package layout

import (
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// None stands for an omitted start, stop or step of a Range.
const None = math.MinInt

// Index selects along one axis, or inserts or skips axes. It is one entry of a list
// such as [1:3, ::-1, ..., 2] in NumPy's basic indexing.
type Index struct {
	kind              indexKind
	start, stop, step int
}

type indexKind uint8

const (
	rangeIndex indexKind = iota // start:stop:step
	pointIndex                  // start; the axis goes
	newAxis
	ellipsis
)

// Range selects start, start+step, … before stop. Negative bounds count from
// the end; bounds beyond the axis are clamped, so a range never fails; None
// stands for an omitted bound or step. The step must not be 0.
func Range(start, stop, step int) Index {
	if step == None {
		step = 1
	}
	return Index{rangeIndex, start, stop, step}
}

// Point selects one position and drops the axis. -1 is the last.
func Point(i int) Index { return Index{kind: pointIndex, start: i} }

// NewAxis inserts an axis of extent 1.
func NewAxis() Index { return Index{kind: newAxis} }

// Ellipsis stands for all axes that the other indices don't name; once at most.
func Ellipsis() Index { return Index{kind: ellipsis} }

// String writes the index as NumPy does between brackets, in the form that
// ParseSlice reads: 1:3, ::-1, 2, None, and three dots for an ellipsis.
func (x Index) String() string {
	switch x.kind {
	case pointIndex:
		return strconv.Itoa(x.start)
	case newAxis:
		return "None"
	case ellipsis:
		return "..."
	}
	var b strings.Builder
	bound(&b, x.start)
	b.WriteByte(':')
	bound(&b, x.stop)
	if x.step != 1 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(x.step))
	}
	return b.String()
}

func bound(b *strings.Builder, v int) {
	if v != None {
		b.WriteString(strconv.Itoa(v))
	}
}

// resolve gives the first position, the count and the step on an axis of extent
// n: Python's slice.indices.
func (x Index) resolve(n int) (start, count, step int) {
	step = x.step
	lo, hi := 0, n // where start and stop are clamped to
	if step < 0 {
		lo, hi = -1, n-1
	}
	clamp := func(v, omitted int) int {
		switch {
		case v == None:
			return omitted
		case v < 0:
			return max(v+n, lo)
		}
		return min(v, hi)
	}
	if step > 0 {
		start = clamp(x.start, 0)
		if d := clamp(x.stop, n) - start; d > 0 {
			count = (d-1)/step + 1
		}
		return start, count, step
	}
	start = clamp(x.start, n-1)
	if d := start - clamp(x.stop, -1); d > 0 {
		count = (d-1)/-step + 1
	}
	return start, count, step
}

// Slice applies indices axis by axis, as NumPy's basic indexing, and returns the
// layout of the selection and the offset of its first element, 0 when it is empty;
// axes without an index are kept whole. It fails when there are more indices than
// axes, two ellipses, a point outside its axis, or a step of 0. It also fails when
// a range of a nested mode crosses its leaves unevenly; a copy of the tensor can be
// sliced.
func (l Layout) Slice(idx ...Index) (out Layout, offset int, err error) {
	named, dots := 0, 0
	for _, x := range idx {
		switch x.kind {
		case ellipsis:
			dots++
		case rangeIndex, pointIndex:
			named++
		}
	}
	rank := l.in.Rank()
	if named > rank {
		return Layout{}, 0, fail("Slice", ErrAxis, "%d indices for the %d axes of %s", named, rank, l.ShapeString())
	}
	if dots > 1 {
		return Layout{}, 0, fail("Slice", ErrAxis, "%d ellipses; one at most is allowed", dots)
	}
	if l.in.Deep != nil || l.in.N != l.in.Modes || len(idx) > modes.Inline {
		return l.sliceNested(idx, rank-named)
	}
	axis, n := 0, 0
	fits, empty := true, false
	put := func(e, s int) {
		if n == modes.Inline {
			fits = false
			return
		}
		out.in.Ext[n], out.in.Str[n] = e, s
		n++
		empty = empty || e == 0
	}
	for _, x := range idx {
		switch x.kind {
		case newAxis:
			put(1, 0)
		case ellipsis:
			for range rank - named {
				put(l.in.Ext[axis&7], l.in.Str[axis&7])
				axis++
			}
		case pointIndex:
			i, ok := point(x.start, l.in.Ext[axis&7])
			if !ok {
				return Layout{}, 0, badPoint(axis, x.start, l.in.Ext[axis&7])
			}
			offset += i * l.in.Str[axis&7]
			axis++
		default:
			if x.step == 0 {
				return Layout{}, 0, zeroStep(axis)
			}
			start, count, step := x.resolve(l.in.Ext[axis&7])
			s := l.in.Str[axis&7]
			if count > 0 {
				offset += start * s
			}
			if count > 1 { // else the step goes nowhere
				s *= step
			}
			put(count, s)
			axis++
		}
	}
	for ; axis < rank; axis++ {
		put(l.in.Ext[axis&7], l.in.Str[axis&7])
	}
	if !fits {
		return l.sliceNested(idx, rank-named)
	}
	if empty {
		offset = 0
	}
	out.in.N, out.in.Modes = uint8(n), uint8(n)
	return out, offset, nil
}

func point(i, n int) (int, bool) {
	if i < 0 {
		i += n
	}
	return i, uint(i) < uint(n)
}

func badPoint(axis, i, n int) error {
	return fail("Slice", ErrRange, "index %d is outside axis %d of extent %d", i, axis, n)
}

func zeroStep(axis int) error {
	return fail("Slice", ErrRange, "the step of axis %d is 0; -1 reverses, 1 keeps", axis)
}

// sliceNested is Slice for every layout: modes are handled one at a time.
func (l *Layout) sliceNested(idx []Index, rest int) (Layout, int, error) {
	var w writer
	axis, offset := 0, 0
	for _, x := range idx {
		switch x.kind {
		case newAxis:
			w.leaf(1, 0)
		case ellipsis:
			for range rest {
				w.mode(l, axis)
				axis++
			}
		case pointIndex:
			n := l.in.Dim(axis)
			i, ok := point(x.start, n)
			if !ok {
				return Layout{}, 0, badPoint(axis, x.start, n)
			}
			ext, str := l.in.RunOf(axis)
			offset += offsetAt(ext, str, i)
			axis++
		default:
			if x.step == 0 {
				return Layout{}, 0, zeroStep(axis)
			}
			start, count, step := x.resolve(l.in.Dim(axis))
			off, ok := w.cut(l, axis, start, count, step)
			if !ok {
				return Layout{}, 0, fail("Slice", ErrView, "%v crosses the leaves of mode %d of %v unevenly; copy the tensor (Contiguous) or cut whole leaves", x, axis, *l)
			}
			offset += off
			axis++
		}
	}
	for ; axis < l.in.Rank(); axis++ {
		w.mode(l, axis)
	}
	out, err := w.layout("Slice")
	if err != nil {
		return Layout{}, 0, err
	}
	if out.in.Size() == 0 {
		offset = 0
	}
	return out, offset, nil
}

// cut appends count positions of mode i from start by step, and returns the
// offset of the first; ok is false when the positions don't form a layout.
func (w *writer) cut(l *Layout, i, start, count, step int) (offset int, ok bool) {
	ext, str := l.in.RunOf(i)
	switch {
	case start == 0 && count == modes.Product(ext):
		w.mode(l, i)
		return 0, true
	case count == 0:
		w.leaf(0, str[0])
		return 0, true
	case count == 1:
		w.leaf(1, str[0])
		return offsetAt(ext, str, start), true
	}
	offset = offsetAt(ext, str, start)
	back := step < 0
	if back { // from the other end, and turned round
		start, step = start+(count-1)*step, -step
	}
	var whole, chosen leaves
	whole.coalesce(ext, str)
	ext, str = whole.slices()
	if bad, _ := chosen.progression(ext, str, nil, start, count, step); bad >= 0 {
		return 0, false
	}
	ext, str = chosen.slices()
	for k := range str {
		if back {
			str[k] = -str[k]
		}
	}
	w.group(ext, str)
	return offset, true
}
