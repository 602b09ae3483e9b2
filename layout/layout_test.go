package layout

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDefinition compares everything a layout tells about itself with the
// enumeration of its definition.
func TestDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 200).Draw(t, "layout")
		l := n.layout(t)
		want, leaves := n.colex(), n.leaves()

		if l.Rank() != len(n.kids) || l.Size() != len(want) || l.Leaves() != len(leaves) {
			t.Fatalf("%v: rank %d, size %d, %d leaves", l, l.Rank(), l.Size(), l.Leaves())
		}
		same(t, "Shape", l.Shape(), n.dims())
		for i, want := range leaves {
			if e, s := l.Leaf(i); e != want.ext || s != want.str {
				t.Fatalf("%v: leaf %d is %d:%d, not %d:%d", l, i, e, s, want.ext, want.str)
			}
		}
		same(t, "At", colexOf(t, l), want)

		lo, hi := 0, -1
		if len(want) > 0 {
			lo, hi = slices.Min(want), slices.Max(want)
		}
		if a, b := l.Span(); a != lo || b != hi {
			t.Fatalf("%v: span %d, %d; want %d, %d", l, a, b, lo, hi)
		}
		if got := l.IsRowMajor(); got != isIota(n.rows()) {
			t.Fatalf("%v: IsRowMajor %v", l, got)
		}
		sorted := n.rows()
		slices.Sort(sorted)
		if got := l.IsCompact(); got != isIota(sorted) {
			t.Fatalf("%v: IsCompact %v", l, got)
		}
		ext, str := l.Runs() // the fastest first: a colexicographic layout of the row-major order
		if runs, err := New(ext, str); err != nil {
			t.Fatal(err)
		} else {
			same(t, "Runs", colexOf(t, runs), n.rows())
			if fewest := fewestModes(n.rows()); len(ext) != fewest && len(sorted) > 0 {
				t.Fatalf("%v: runs %v:%v; want %d", l, ext, str, fewest)
			}
		}

		for i, off := range want {
			got, err := l.Offset(i)
			if err != nil || got != off {
				t.Fatalf("%v: Offset(%d) = %d, %v; want %d", l, i, got, err, off)
			}
			c, err := l.Coord(i)
			if err != nil {
				t.Fatal(err)
			}
			if back, left := 0, 1; true {
				for k, d := range n.dims() {
					back, left = back+c[k]*left, left*d
				}
				if back != i {
					t.Fatalf("%v: Coord(%d) = %v, which is %d", l, i, c, back)
				}
			}
		}
		for _, i := range []int{-1, len(want), math.MinInt, math.MaxInt} {
			if _, err := l.Offset(i); !errors.Is(err, ErrRange) {
				t.Fatalf("%v: Offset(%d): %v", l, i, err)
			}
			if _, err := l.Coord(i); !errors.Is(err, ErrRange) {
				t.Fatalf("%v: Coord(%d): %v", l, i, err)
			}
		}
		checkModes(t, n, l)
		checkOutside(t, n, l)
	})
}

func isIota(v []int) bool {
	for i, x := range v {
		if x != i {
			return false
		}
	}
	return true
}

// checkModes compares each mode, alone and through ModeLeaves and Stride.
func checkModes(t *rapid.T, n node, l Layout) {
	from, flat := 0, true
	for i, k := range n.kids {
		flat = flat && len(k.leaves()) == 1
		lo, hi := l.ModeLeaves(i)
		if lo != from || hi != from+len(k.leaves()) {
			t.Fatalf("%v: mode %d has leaves %d to %d", l, i, lo, hi)
		}
		from = hi
		if l.Dim(i) != k.size() {
			t.Fatalf("%v: Dim(%d) = %d", l, i, l.Dim(i))
		}
		table := node{kids: []node{k}}.colex()
		m := l.Mode(i)
		same(t, "Mode", colexOf(t, m), table)
		for len(k.kids) == 1 { // a tuple of one entry is its entry
			k = k.kids[0]
		}
		if want := max(len(k.kids), 1); m.Rank() != want {
			t.Fatalf("%v: Mode(%d) = %v, rank %d; want %d", l, i, m, m.Rank(), want)
		}
		s, single := l.Stride(i)
		steady := true
		for c, off := range table {
			steady = steady && off == c*s
		}
		if single != (steady || fewestModes(table) <= 1) || single && !steady && len(table) > 0 {
			t.Fatalf("%v: Stride(%d) = %d, %v of %v", l, i, s, single, table)
		}
	}
	if l.Flat() != flat {
		t.Fatalf("%v: Flat %v", l, l.Flat())
	}
}

// checkOutside hands At coordinates that are too short, too long or outside.
func checkOutside(t *rapid.T, n node, l Layout) {
	dims := n.dims()
	for _, c := range [][]int{make([]int, len(dims)+1), make([]int, max(len(dims)-1, 0))} {
		if _, axis := l.At(c); len(c) != len(dims) && axis != len(dims) {
			t.Fatalf("%v: At(%v): axis %d", l, c, axis)
		}
	}
	for i, d := range dims {
		for _, bad := range []int{-1, d, math.MaxInt, math.MinInt} {
			c := make([]int, len(dims))
			c[i] = bad
			first := slices.IndexFunc(dims, func(d int) bool { return d == 0 })
			if first < 0 || i < first {
				first = i
			}
			if _, axis := l.At(c); axis != first {
				t.Fatalf("%v: At(%v): axis %d, not %d", l, c, axis, first)
			}
		}
	}
}

// fewestModes searches all flat layouts with a table of offsets for the one of
// fewest modes, extents of 1 aside; it returns a large number when there is none.
func fewestModes(table []int) int {
	if len(table) <= 1 {
		return len(table) ^ 1 // 1 for no element at all, written 0:0
	}
	best := 1 << 20
	for e := 2; e <= len(table); e++ {
		if len(table)%e != 0 || !splits(table, e) {
			continue
		}
		var rest []int
		for i := 0; i < len(table); i += e {
			rest = append(rest, table[i])
		}
		best = min(best, 1+fewestModes(rest))
	}
	return best
}

// splits reports whether a first mode of extent e is possible.
func splits(table []int, e int) bool {
	for i, off := range table {
		if off != table[i/e*e]+i%e*table[1] {
			return false
		}
	}
	return true
}

func TestCoalesce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 100).Draw(t, "layout")
		l := n.layout(t)
		c := l.Coalesce()
		same(t, l.String()+" → "+c.String(), colexOf(t, c), n.colex())
		if want := max(fewestModes(n.colex()), 1); c.Leaves() != want || !c.Flat() {
			t.Fatalf("%v → %v; want %d modes", l, c, want)
		}
	})
	for in, want := range map[string]string{
		"():()": "1:0", "(1,1):(5,7)": "1:0", "1:9": "1:0", "(3,0):(1,2)": "0:0",
		"(2,3):(0,0)": "6:0", "(2,2):(-1,-2)": "4:-1", "(2,(1,6)):(1,(6,2))": "12:1",
	} {
		l := MustParse(in)
		if got := l.Coalesce().String(); got != want {
			t.Errorf("%s → %s, want %s", in, got, want)
		}
	}
}

// TestConstructors compares New, RowMajor and ColMajor with the definition.
func TestConstructors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(1, 200).Draw(t, "layout")
		var ext, str []int
		for _, k := range n.kids {
			ext, str = append(ext, k.ext), append(str, k.str)
		}
		l, err := New(ext, str)
		if err != nil {
			t.Fatal(err)
		}
		want := n.colex()
		for i := range ext { // the arguments are copied
			ext[i], str[i] = -7, -7
		}
		same(t, "New", colexOf(t, l), want)
		if m := n.layout(t); !l.Equal(m) || !m.Equal(l) {
			t.Fatalf("New gives %v, Parse %v", l, m)
		}

		row, err := RowMajor(n.dims()...)
		if err != nil || !row.IsRowMajor() || !isIota(rowsOf(t, row)) {
			t.Fatalf("RowMajor%v = %v, %v", n.dims(), row, err)
		}
		col, err := ColMajor(n.dims()...)
		if err != nil || !isIota(colexOf(t, col)) {
			t.Fatalf("ColMajor%v = %v, %v", n.dims(), col, err)
		}
		same(t, "RowMajor", row.Shape(), n.dims())
		same(t, "ColMajor", col.Shape(), n.dims())
		same(t, "strides of RowMajor", denseModel(n.dims()), stridesOf(row))
	})
}

// denseModel has NumPy's strides of a new array, extents of 0 counted as 1.
func denseModel(dims []int) []int {
	s := make([]int, len(dims))
	for i := range dims {
		s[i] = 1
		for _, d := range dims[i+1:] {
			s[i] *= max(d, 1)
		}
	}
	return s
}

func stridesOf(l Layout) []int {
	s := make([]int, l.Rank())
	for i := range s {
		s[i], _ = l.Stride(i)
	}
	return s
}

func TestEqual(t *testing.T) {
	texts := []string{"():()", "1:1", "4:1", "4:2", "(2,2):(1,2)", "((2,2)):((1,2))", "((2,2),1):((1,2),1)", "(2,(2,1)):(1,(2,1))", "(2,2,1):(1,2,1)",
		"(1,1,1,1,1,1,1,1,1):(1,1,1,1,1,1,1,1,1)", "(1,1,1,1,1,1,1,1,1):(1,1,1,1,1,1,1,1,2)", "(1,1,1,1,1,1,1,1,(1,1)):(1,1,1,1,1,1,1,1,(1,1))",
		"(1,1,1,1,1,1,1,1,1,1):(1,1,1,1,1,1,1,1,1,1)", "((1,1),1,1,1,1,1,1,1,1):((1,1),1,1,1,1,1,1,1,1)"}
	for i, a := range texts {
		for j, b := range texts {
			l, m := MustParse(a), MustParse(b)
			if l.Equal(m) != (i == j) {
				t.Errorf("%s equal to %s: %v", a, b, i != j)
			}
		}
	}
	if zero := (Layout{}); !zero.Equal(MustParse("():()")) || zero.Size() != 1 || !zero.IsRowMajor() {
		t.Error("the zero value is not the layout of rank 0")
	}
}

// TestOverflow tries extents and strides at the limit of an int: every layout that
// is made has a size, offsets and a span that fit.
func TestOverflow(t *testing.T) {
	const top = math.MaxInt
	good := []struct{ ext, str []int }{
		{[]int{top}, []int{1}},
		{[]int{top}, []int{-1}},
		{[]int{2}, []int{top - 1}},
		{[]int{2, 2}, []int{1 - top/2, top / 2}},
		{[]int{1}, []int{math.MinInt}},
		{[]int{0}, []int{math.MinInt}},
		{[]int{top, 0}, []int{1, top}},
		{[]int{top/3 + 1, 2}, []int{1, top / 3}},
	}
	for _, c := range good {
		l, err := New(c.ext, c.str)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if lo, hi := l.Span(); l.Size() > 0 && (lo > 0 || hi < 0 || hi-lo+1 <= 0) {
			t.Errorf("%v: span %d, %d", l, lo, hi)
		}
	}
	bad := []struct{ ext, str []int }{
		{[]int{top, 2}, []int{0, 0}},
		{[]int{1 << 20, 1 << 20, 1 << 20, 1 << 20}, []int{0, 0, 0, 0}},
		{[]int{top, 2, 0}, []int{0, 0, 0}},
		{[]int{2}, []int{top}}, // offsets 0 and MaxInt: the span's length doesn't fit
		{[]int{2}, []int{math.MinInt}},
		{[]int{3}, []int{top/2 + 1}},
		{[]int{2, 2}, []int{top - 1, 1}},
		{[]int{2, 2}, []int{-top, -top}},
		{[]int{2, 2}, []int{-top / 2, top/2 + 1}},
		{[]int{2, 2}, []int{math.MinInt, top}},
		{[]int{3, top / 2}, []int{0, -3}},
	}
	for _, c := range bad {
		l, err := New(c.ext, c.str)
		if !errors.Is(err, ErrOverflow) {
			t.Errorf("%v: %v, %v", c, l, err)
		}
		if !l.Equal(Layout{}) {
			t.Errorf("%v: a failed call gave %v", c, l)
		}
	}
	for _, dense := range []func(...int) (Layout, error){RowMajor, ColMajor} {
		if l, err := dense(top, 1); err != nil || l.Size() != top {
			t.Errorf("%v, %v", l, err)
		}
		if l, err := dense(0, top, 1, 0); err != nil || l.Size() != 0 {
			t.Errorf("%v, %v", l, err)
		}
		for _, shape := range [][]int{{top, 2}, {2, top/2 + 1}, {0, top, 3}, {2, 2, 2, 2, 2, 2, 2, 2, 2, top / 2}} {
			if l, err := dense(shape...); !errors.Is(err, ErrOverflow) {
				t.Errorf("%v: %v, %v", shape, l, err)
			}
		}
		if _, err := dense(make([]int, maxRank+1)...); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
	}
}
