package layout

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// positions lists what start:stop:step selects on an axis of n positions, by
// walking: Python's rule for negative and missing bounds, written out.
func positions(x Index, n int) []int {
	start, stop := x.start, x.stop
	switch {
	case start == None && x.step > 0:
		start = 0
	case start == None:
		start = n - 1
	case start < 0:
		start += n
	}
	switch {
	case stop == None && x.step > 0:
		stop = n
	case stop == None:
		stop = -1
	case stop < 0:
		stop = max(stop+n, -1)
	}
	if x.step > 0 {
		start = max(start, 0)
	} else {
		start = min(start, n-1)
	}
	list := []int{}
	for i := start; i >= 0 && i < n && (x.step > 0 && i < stop || x.step < 0 && i > stop); i += x.step {
		list = append(list, i)
	}
	return list
}

// A selection is what NumPy's basic indexing makes of a shape: for each axis that
// is left, the positions; for each axis of the operand, where they come from.
type selection struct {
	lists [][]int // per axis of the result
	from  []int   // the operand's axis, or -1
	fixed []int   // per axis of the operand: the point, or -1
}

// choose applies indices to dims; ok is false when NumPy raises an IndexError.
func choose(idx []Index, dims []int) (s selection, ok bool) {
	named, dots := 0, 0
	for _, x := range idx {
		switch x.kind {
		case rangeIndex, pointIndex:
			named++
		case ellipsis:
			dots++
		}
	}
	if named > len(dims) || dots > 1 {
		return s, false
	}
	if dots == 0 {
		idx = append(slices.Clone(idx), Ellipsis())
	}
	for _, x := range idx {
		axis := len(s.fixed)
		switch x.kind {
		case newAxis:
			s.lists, s.from = append(s.lists, []int{0}), append(s.from, -1)
		case ellipsis:
			for range len(dims) - named {
				s.lists = append(s.lists, positions(Range(None, None, 1), dims[len(s.fixed)]))
				s.from, s.fixed = append(s.from, len(s.fixed)), append(s.fixed, -1)
			}
		case rangeIndex:
			if x.step == 0 {
				return s, false
			}
			s.lists = append(s.lists, positions(x, dims[axis]))
			s.from, s.fixed = append(s.from, axis), append(s.fixed, -1)
		case pointIndex:
			i := x.start
			if i < 0 {
				i += dims[axis]
			}
			if i < 0 || i >= dims[axis] {
				return s, false
			}
			s.fixed = append(s.fixed, i)
		}
	}
	return s, true
}

func (s selection) rows(n node) (dims, table []int) {
	dims = []int{}
	for _, l := range s.lists {
		dims = append(dims, len(l))
	}
	return dims, enumerate(dims, func(c []int) int {
		coord := slices.Clone(s.fixed)
		for i, a := range s.from {
			if a >= 0 {
				coord[a] = s.lists[i][c[i]]
			}
		}
		return n.offset(coord)
	}, true)
}

func drawIndices(t *rapid.T, rank int) []Index {
	bound := rapid.SampledFrom([]int{None, None, 0, 1, 2, 3, 4, 6, 9, -1, -2, -3, -5, -9, math.MaxInt, math.MinInt + 1})
	step := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4, 6, -1, -1, -2, -3, -4, math.MaxInt, math.MinInt + 1, None, 0})
	point := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, -1, -1, -2, -4, 9, math.MaxInt, math.MinInt})
	kind := rapid.SampledFrom([]indexKind{rangeIndex, rangeIndex, rangeIndex, pointIndex, newAxis, ellipsis})
	var idx []Index
	for range rapid.IntRange(0, rank+2).Draw(t, "indices") {
		switch kind.Draw(t, "kind") {
		case rangeIndex:
			idx = append(idx, Range(bound.Draw(t, "start"), bound.Draw(t, "stop"), step.Draw(t, "step")))
		case pointIndex:
			idx = append(idx, Point(point.Draw(t, "point")))
		case newAxis:
			idx = append(idx, NewAxis())
		case ellipsis:
			idx = append(idx, Ellipsis())
		}
	}
	return idx
}

// TestSlice compares Slice with lists of positions. A range of a nested mode may
// have no layout; then, and only then, Slice may refuse what NumPy accepts.
func TestSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(rapid.IntRange(1, 3).Draw(t, "depth"), 60).Draw(t, "layout")
		l := n.layout(t)
		idx := drawIndices(t, l.Rank())
		want, ok := choose(idx, n.dims())
		m, off, err := l.Slice(idx...)
		if !ok {
			if !errors.Is(err, ErrAxis) && !errors.Is(err, ErrRange) && !errors.Is(err, ErrView) {
				t.Fatalf("%v%v: %v, %v; NumPy refuses", l, idx, m, err)
			}
			return
		}
		if errors.Is(err, ErrView) && !l.Flat() && crossesUnevenly(n, want) {
			return
		}
		if err != nil {
			t.Fatalf("%v%v: %v", l, idx, err)
		}
		dims, table := want.rows(n)
		same(t, "shape", m.Shape(), dims)
		if len(table) == 0 && off != 0 {
			t.Fatalf("%v%v: offset %d of an empty selection", l, idx, off)
		}
		got := rowsOf(t, m)
		for i := range got {
			got[i] += off
		}
		same(t, l.String()+" → "+m.String(), got, table)
		for _, e := range m.Shape() { // the result could have been made by New
			if e < 0 {
				t.Fatal(m)
			}
		}
	})
}

// crossesUnevenly reports whether some nested mode's positions have no layout at all.
func crossesUnevenly(n node, s selection) bool {
	for i, a := range s.from {
		if a < 0 || len(n.kids[a].leaves()) == 1 {
			continue
		}
		list := s.lists[i]
		var table []int
		for _, c := range list {
			table = append(table, n.kids[a].at(c)-n.kids[a].at(list[0]))
		}
		if fewestModes(table) > len(table) {
			return true
		}
	}
	return false
}

// TestResolve pins Python's rule on every small axis.
func TestResolve(t *testing.T) {
	bounds := []int{None}
	for v := -7; v <= 7; v++ {
		bounds = append(bounds, v)
	}
	for n := range 6 {
		for _, start := range bounds {
			for _, stop := range bounds {
				for _, step := range []int{1, 2, 3, 7, -1, -2, -3, -7, math.MaxInt, math.MinInt + 1} {
					x := Range(start, stop, step)
					want := positions(x, n)
					from, count, by := x.resolve(n)
					got := []int{}
					for i := range count {
						got = append(got, from+i*by)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%v of %d: %v, want %v", x, n, got, want)
					}
				}
			}
		}
	}
}

// TestSliceNumPy has results of NumPy itself: a = np.arange(24).reshape(2, 3, 4).
func TestSliceNumPy(t *testing.T) {
	a := MustParse("(2,3,4):(12,4,1)")
	for _, c := range []struct {
		text, want string
		offset     int
	}{
		{"", "(2,3,4):(12,4,1)", 0},
		{"1", "(3,4):(4,1)", 12},
		{"-1, 2, 3", "():()", 23},
		{"..., 0", "(2,3):(12,4)", 0},
		{"0, ..., ::-1", "(3,4):(4,-1)", 3},
		{"::-1, ::-1, ::-1", "(2,3,4):(-12,-4,-1)", 23},
		{":, 1:, ::2", "(2,2,2):(12,4,2)", 4},
		{":, -100:2, 100:-100:-2", "(2,2,2):(12,4,-2)", 3},
		{"None, :, 1, newaxis", "(1,2,1,4):(0,12,0,1)", 4},
		{":, 5:", "(2,0,4):(12,4,1)", 0},
		{":, 2:1, 3", "(2,0):(12,4)", 0},
		{"..., None", "(2,3,4,1):(12,4,1,0)", 0},
	} {
		idx, err := ParseSlice(c.text)
		if err != nil {
			t.Fatal(err)
		}
		l, off, err := a.Slice(idx...)
		if err != nil || l.String() != c.want || off != c.offset {
			t.Errorf("a[%s] is %v at %d (%v), want %s at %d", c.text, l, off, err, c.want, c.offset)
		}
	}
}

// TestSliceNested slices modes across their leaves, forwards and backwards.
func TestSliceNested(t *testing.T) {
	l := MustParse("((4,4)):((1,10))")
	for text, want := range map[string]string{
		"2:6":    "((2,2)):((1,8))", // half of one row, half of the next
		"4:12":   "((4,2)):((1,10))",
		"::2":    "((2,4)):((2,10))",
		"::4":    "4:10",
		"1::4":   "4:10",
		"::5":    "4:11", // the diagonal
		"3:13:3": "4:9",  // 3, 12, 21, 30: a carry at every step
		"3::3":   "",     // and the fifth, 33, without one
		"5:2:-1": "",
		"5:1:-1": "((2,2)):((-1,-8))",
		"::-1":   "((4,4)):((-1,-10))",
		"1:4":    "3:1",
		"3:5":    "2:7",
		"2:7":    "",
	} {
		idx, err := ParseSlice(text)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := l.Slice(idx...)
		if want == "" {
			if !errors.Is(err, ErrView) {
				t.Errorf("%s: %v, %v", text, m, err)
			}
			continue
		}
		if err != nil || m.String() != want {
			t.Errorf("%s: %v, %v; want %s", text, m, err, want)
		}
	}
}
