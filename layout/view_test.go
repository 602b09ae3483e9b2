package layout

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 100).Draw(t, "layout")
		l := n.layout(t)
		axes := rapid.Permutation(upTo(len(n.kids))).Draw(t, "axes")
		want := node{kids: []node{}}
		for i, a := range axes {
			want.kids = append(want.kids, n.kids[a])
			if rapid.Bool().Draw(t, "negative") {
				axes[i] -= len(axes)
			}
		}
		m, err := l.Permute(axes...)
		if err != nil {
			t.Fatal(err)
		}
		if w := want.layout(t); !m.Equal(w) {
			t.Fatalf("%v permuted by %v: %v, want %v", l, axes, m, w)
		}
		if len(axes) == 0 {
			return
		}
		i := rapid.IntRange(0, len(axes)-1).Draw(t, "spoil")
		for _, bad := range []int{axes[(i+1)%len(axes)], len(axes), -len(axes) - 1, math.MinInt, math.MaxInt} {
			spoilt := slices.Clone(axes)
			if spoilt[i] = bad; bad == axes[i] {
				continue
			}
			if m, err := l.Permute(spoilt...); !errors.Is(err, ErrAxis) {
				t.Fatalf("%v permuted by %v: %v, %v", l, spoilt, m, err)
			}
		}
		if m, err := l.Permute(axes[1:]...); !errors.Is(err, ErrAxis) {
			t.Fatalf("%v permuted by %v: %v, %v", l, axes[1:], m, err)
		}
	})
}

func upTo(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

func TestBroadcastTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 40).Draw(t, "layout")
		l := n.layout(t)
		extra := rapid.IntRange(0, 3).Draw(t, "extra")
		shape := make([]int, extra, extra+l.Rank())
		for i := range shape {
			shape[i] = rapid.IntRange(0, 3).Draw(t, "extent")
		}
		fits := true
		for _, d := range n.dims() {
			want := d
			if rapid.IntRange(0, 3).Draw(t, "stretch") == 0 {
				want = rapid.IntRange(0, 3).Draw(t, "extent")
			}
			fits = fits && (want == d || d == 1)
			shape = append(shape, want)
		}
		m, err := l.BroadcastTo(shape...)
		if !fits {
			if !errors.Is(err, ErrShape) {
				t.Fatalf("%v stretched to %v: %v, %v", l, shape, m, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, "shape", m.Shape(), shape)
		same(t, "offsets", rowsOf(t, m), enumerate(shape, func(c []int) int {
			coord := slices.Clone(c[extra:])
			for i, d := range n.dims() {
				coord[i] = min(coord[i], d-1)
			}
			return n.offset(coord)
		}, true))
		if _, err := l.BroadcastTo(append([]int{-1}, shape...)...); !errors.Is(err, ErrShape) {
			t.Fatalf("negative extent: %v", err)
		}
		if l.Rank() > 0 {
			if _, err := l.BroadcastTo(shape[:l.Rank()-1]...); !errors.Is(err, ErrShape) {
				t.Fatalf("too few axes: %v", err)
			}
		}
		if l.Size() > 0 {
			if _, err := l.BroadcastTo(append([]int{math.MaxInt, 2}, n.dims()...)...); !errors.Is(err, ErrOverflow) {
				t.Fatalf("overflow: %v", err)
			}
		}
	})
}

// drawShape draws a shape of the given size.
func drawShape(t *rapid.T, size int) []int {
	var shape []int
	if size == 0 {
		return rapid.SampledFrom([][]int{{0}, {0, 3}, {2, 0, 2}, {math.MaxInt, 0}}).Draw(t, "empty")
	}
	for size > 1 || len(shape) == 0 {
		e := 1
		if size > 1 {
			for e = rapid.IntRange(1, size).Draw(t, "extent"); size%e != 0; e-- {
			}
		}
		shape, size = append(shape, e), size/max(e, 1)
		if e == 1 && len(shape) > 9 {
			return append(shape, size)
		}
	}
	if rapid.Bool().Draw(t, "one") {
		shape = append(shape, 1)
	}
	return shape
}

// TestView checks that a view has the same offsets in row-major order, and that
// whenever a flat layout of the shape has them, View finds it; from a flat layout
// it finds nothing else.
func TestView(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		n := viewable(t)
		l := n.layout(t)
		shape := drawShape(t, l.Size())
		rows := n.rows()
		m, err := l.View(shape...)
		exists := flatLayout(rows, shape)
		if err != nil {
			if !errors.Is(err, ErrView) || exists {
				t.Fatalf("%v viewed as %v: %v; a flat layout exists: %v", l, shape, err, exists)
			}
			refused++
			return
		}
		if l.Flat() && !m.Flat() || m.Flat() && !exists {
			t.Fatalf("%v viewed as %v: %v; a flat layout exists: %v", l, shape, m, exists)
		}
		same(t, "shape", m.Shape(), shape)
		same(t, l.String()+" → "+m.String(), rowsOf(t, m), rows)
		for _, wrong := range [][]int{append(slices.Clone(shape), l.Size()+2), {-1}, {-1, -l.Size()}} {
			if v, err := l.View(wrong...); !errors.Is(err, ErrShape) && l.Size() > 0 {
				t.Fatalf("%v viewed as %v: %v, %v", l, wrong, v, err)
			}
		}
	})
	if refused == 0 {
		t.Error("every view was possible: the test draws the wrong layouts")
	}
}

// TestViewAll views all flat layouts of two modes in all shapes of up to three axes.
func TestViewAll(t *testing.T) {
	for _, leaves := range leafLists(2, 8, []int{1, 3, 8}) {
		l := flatOf(t, leaves)
		rows := (node{kids: leaves}).rows()
		size := l.Size()
		for a := 1; a <= size; a++ {
			for b := 1; a*b <= size; b++ {
				if size%(a*b) != 0 {
					continue
				}
				shape := []int{a, b, size / (a * b)}
				m, err := l.View(shape...)
				if exists := flatLayout(rows, shape); exists != (err == nil) {
					t.Fatalf("%v viewed as %v: %v, %v; a flat layout exists: %v", l, shape, m, err, exists)
				}
				if err == nil {
					same(t, l.String()+" → "+m.String(), rowsOf(t, m), rows)
				}
			}
		}
	}
}

// viewable draws a layout; half of them are permuted dense ones, where axes merge.
func viewable(t *rapid.T) node {
	n := nodes(rapid.IntRange(1, 3).Draw(t, "depth"), 64).Draw(t, "layout")
	if rapid.Bool().Draw(t, "any strides") {
		return n
	}
	leaves := n.leaves()
	step := 1
	strides := make([]int, len(leaves))
	for _, i := range rapid.Permutation(upTo(len(leaves))).Draw(t, "order") {
		strides[i] = step
		step *= max(leaves[i].ext, 1)
	}
	var set func(n node) node
	set = func(n node) node {
		if n.isLeaf() {
			n.str, strides = strides[0], strides[1:]
			return n
		}
		for i, k := range n.kids {
			n.kids[i] = set(k)
		}
		return n
	}
	return set(n)
}

// flatLayout reports whether one stride per axis gives the row-major table.
func flatLayout(rows, shape []int) bool {
	if len(rows) == 0 {
		return true
	}
	strides, below := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] > 1 {
			strides[i] = rows[below]
		}
		below *= shape[i]
	}
	return slices.Equal(rows, enumerate(shape, func(c []int) int {
		off := 0
		for i, x := range c {
			off += x * strides[i]
		}
		return off
	}, true))
}

// TestViewNumPy has results of NumPy's reshape without a copy, and modes that stay
// nested.
func TestViewNumPy(t *testing.T) {
	for _, c := range []struct {
		from  string
		shape []int
		want  string // "" for an error
	}{
		{"(2,3,4):(12,4,1)", []int{6, 4}, "(6,4):(4,1)"},
		{"(3,4,2):(4,1,12)", []int{12, 2}, "(12,2):(1,12)"},
		{"(3,4,2):(4,1,12)", []int{3, 8}, ""},
		{"(3,4,2):(4,1,12)", []int{3, 2, 2, 2}, "(3,2,2,2):(4,2,1,12)"},
		{"(4,3):(-3,-1)", []int{12}, "12:-1"},
		{"(4,3):(-3,1)", []int{12}, ""},
		{"(4,6):(0,0)", []int{3, 8}, "(3,8):(0,0)"},
		{"(4,6):(12,2)", []int{2, 12}, "(2,12):(24,2)"},
		{"(2,1,3):(3,77,1)", []int{1, 6, 1}, "(1,6,1):(6,1,1)"},
		{"(2,1,3):(6,77,2)", []int{1, 6, 1}, "(1,6,1):(0,2,0)"},
		{"(4,0):(1,5)", []int{0, 7}, "(0,7):(7,1)"},
		{"((2,2),4):((1,8),2)", []int{4, 2, 2}, "((2,2),2,2):((1,8),4,2)"},
		{"((2,2),4):((1,8),2)", []int{4, 1, 4}, "((2,2),1,4):((1,8),0,2)"},
		{"((2,2),4):((1,8),2)", []int{2, 2, 4}, "(2,2,4):(8,1,2)"},
		{"((2,2),4):((1,8),2)", []int{16}, ""},
		{"((2,3),4):((1,8),2)", []int{2, 3, 4}, ""},
	} {
		l := MustParse(c.from)
		m, err := l.View(c.shape...)
		if c.want == "" {
			if !errors.Is(err, ErrView) {
				t.Errorf("%s viewed as %v: %v, %v", c.from, c.shape, m, err)
			}
			continue
		}
		if err != nil || m.String() != c.want {
			t.Errorf("%s viewed as %v: %v, %v; want %s", c.from, c.shape, m, err, c.want)
		}
	}
	top := MustParse("(2,2):(1,2)")
	if _, err := top.View(math.MaxInt, 2, 2); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
}
