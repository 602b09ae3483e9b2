package layout

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// tuple writes the extents or strides of a canonical node as a Tuple.
func (n node) tuple(value func(node) int) Tuple {
	if n.isLeaf() {
		return Int(value(n))
	}
	var e []Tuple
	for _, k := range n.kids {
		e = append(e, k.tuple(value))
	}
	return List(e...)
}

func extent(n node) int { return n.ext }
func stride(n node) int { return n.str }

// TestOf takes layouts apart into tuples and puts them together.
func TestOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(4, 200).Draw(t, "layout")
		l := n.layout(t)
		m, err := Of(n.tuple(extent), n.tuple(stride))
		if err != nil || !m.Equal(l) {
			t.Fatalf("%v: Of gives %v, %v", l, m, err)
		}
		if again, err := Of(l.Extents(), l.Strides()); err != nil || !again.Equal(l) {
			t.Fatalf("%v: %v:%v is %v, %v", l, l.Extents(), l.Strides(), again, err)
		}
		if s := l.Extents().String() + ":" + l.Strides().String(); s != l.String() {
			t.Fatalf("%v: %s", l, s)
		}
	})
	for _, c := range []struct {
		shape, stride string
		err           error
	}{
		{"(2,(2,2))", "(1,2)", ErrShape}, {"(2,3)", "(1,2,3)", ErrShape}, {"4", "(1)", ErrShape}, {"(2,_)", "(1,_)", ErrShape},
		{"(2,())", "(1,())", ErrShape}, {"(-1,2)", "(1,1)", ErrShape}, {"_", "_", ErrShape},
	} {
		if l, err := Of(MustParseTuple(c.shape), MustParseTuple(c.stride)); !errors.Is(err, c.err) {
			t.Errorf("%s:%s: %v, %v", c.shape, c.stride, l, err)
		}
	}
	deep := Int(1)
	for range maxDepth + 1 {
		deep = List(deep)
	}
	if _, err := Of(deep, deep); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

// coordinate draws a coordinate of n, any part of it as one integer, with a hole
// here and there, and returns for each coordinate of the holes, the first fastest,
// the linear coordinate within n.
func coordinate(t *rapid.T, n node, holes bool) (c Tuple, where []int) {
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	switch {
	case holes && kind == 0:
		return Hole(), upTo(n.size())
	case n.isLeaf() || kind == 1:
		i := rapid.IntRange(0, n.size()-1).Draw(t, "coordinate")
		c = Int(i)
		if kind == 2 {
			c = List(c) // a list of one entry is its entry
		}
		return c, []int{i}
	}
	var entries []Tuple
	where, step := []int{0}, 1
	for _, k := range n.kids {
		e, inner := coordinate(t, k, holes)
		entries = append(entries, e)
		var all []int
		for _, x := range inner {
			for _, w := range where {
				all = append(all, w+x*step)
			}
		}
		where, step = all, step*k.size()
	}
	return List(entries...), where
}

// TestFix compares OffsetAt, CoordOf and Fix with the definition.
func TestFix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 200).Draw(t, "layout")
		l := n.layout(t)
		if l.Size() == 0 {
			for _, c := range []Tuple{Int(0), Ints(make([]int, l.Rank())...)} {
				if off, err := l.OffsetAt(c); err == nil {
					t.Fatalf("%v has offset %d at %v", l, off, c)
				}
			}
			return
		}
		want := n.canonical()
		if len(n.kids) == 1 && !want.isLeaf() {
			want = node{kids: []node{want}}
		}
		table := n.colex()
		c, where := coordinate(t, want, false)
		if off, err := l.OffsetAt(c); err != nil || off != table[where[0]] {
			t.Fatalf("%v at %v: %d, %v; want %d", l, c, off, err, table[where[0]])
		}
		full, err := l.CoordOf(where[0])
		if err != nil || !Congruent(full, l.Extents()) {
			t.Fatalf("%v: CoordOf(%d) = %v, %v", l, where[0], full, err)
		}
		if off, err := l.OffsetAt(full); err != nil || off != table[where[0]] {
			t.Fatalf("%v at %v: %d, %v", l, full, off, err)
		}

		c, where = coordinate(t, want, true)
		kept, off, err := l.Fix(c)
		if err != nil {
			t.Fatal(err)
		}
		got := colexOf(t, kept)
		for i := range got {
			got[i] += off
			where[i] = table[where[i]]
		}
		same(t, l.String()+" at "+c.String()+" is "+kept.String(), got, where)
		if _, err := l.OffsetAt(c); (err == nil) != (kept.Rank() == 0) && l.Rank() > 0 {
			t.Fatalf("%v at %v: %v", l, c, err)
		}
	})
	empty := MustParse("(3,0):(5,1)")
	if m, off, err := empty.Fix(MustParseTuple("(2,_)")); err != nil || m.Size() != 0 || off != 0 {
		t.Errorf("%v from %d, %v", m, off, err)
	}
	l := MustParse("((2,2),5):((1,2),4)")
	for _, c := range []string{"((1,0,0),2)", "(4,0)", "(0,5)", "(0,-1)", "20", "-1", "(0)", "(0,0,0)", "((0,2),0)", "((0,0),(0,0))", "()"} {
		if off, err := l.OffsetAt(MustParseTuple(c)); !errors.Is(err, ErrShape) && !errors.Is(err, ErrRange) {
			t.Errorf("%v at %s: %d, %v", l, c, off, err)
		}
		if m, _, err := l.Fix(MustParseTuple(c)); err == nil {
			t.Errorf("%v at %s: %v", l, c, m)
		}
	}
}

// TestOrdered sorts the leaves by their numbers and lays them out one by one.
func TestOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(2, 200).Draw(t, "shape")
		shape := n.tuple(extent)
		leaves := n.leaves()
		row, err := RowMajorOf(shape)
		if err != nil {
			t.Fatal(err)
		}
		col, err := ColMajorOf(shape)
		if err != nil || !isIota(colexOf(t, col)) {
			t.Fatalf("%v: %v, %v", shape, col, err)
		}
		same(t, "RowMajorOf", col.Shape(), row.Shape())
		var ext []int
		for _, k := range leaves {
			ext = append(ext, k.ext)
		}
		flat := row.Flatten()
		same(t, "RowMajorOf", stridesOf(flat), denseModel(ext))

		numbers := rapid.SliceOfN(rapid.IntRange(-2, 2), len(leaves), len(leaves)).Draw(t, "order")
		i := 0
		order := n.tuple(func(node) int { i++; return numbers[i-1] })
		l, err := Ordered(shape, order)
		if err != nil {
			t.Fatal(err)
		}
		step := 1
		for number := -2; number <= 2; number++ {
			for k, e := range ext {
				if numbers[k] != number {
					continue
				}
				if _, s := l.Leaf(k); s != step {
					t.Fatalf("%v by %v: %v, leaf %d", shape, order, l, k)
				}
				step *= max(e, 1)
			}
		}
		if all, err := Ordered(shape, Int(7)); err != nil || !all.Equal(col) {
			t.Fatalf("%v by one number: %v, %v", shape, all, err)
		}
		if _, err := Ordered(shape, List(order, order, order, order)); err == nil && shape.Rank() != 4 {
			t.Fatalf("%v by a list of 4: no error", shape)
		}
	})
}

func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []Layout
		want := node{kids: []node{}}
		for range rapid.IntRange(0, 4).Draw(t, "layouts") {
			n := nodes(2, 10).Draw(t, "layout")
			if len(n.kids) == 0 {
				continue
			}
			parts, want.kids = append(parts, n.layout(t)), append(want.kids, n)
		}
		l, err := Join(parts...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "Join", colexOf(t, l), want.colex())
		same(t, "Join", l.Shape(), want.dims())
		flat := l.Flatten()
		if !flat.Flat() || flat.Leaves() != l.Leaves() || !slices.Equal(colexOf(t, flat), want.colex()) {
			t.Fatalf("%v flattened: %v", l, flat)
		}
	})
	if _, err := Join(Layout{}); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

// TestCoalesceByMode coalesces some of the modes.
func TestCoalesceByMode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(3, 100).Draw(t, "layout")
		l := n.layout(t)
		k := rapid.IntRange(0, l.Rank()).Draw(t, "modes")
		m, err := l.CoalesceByMode(Ints(make([]int, k)...))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "shape", m.Shape(), l.Shape())
		same(t, "offsets", colexOf(t, m), n.colex())
		for i := range k {
			mode := m.Mode(i)
			if want := max(fewestModes(node{kids: n.kids[i : i+1]}.colex()), 1); mode.Leaves() != want {
				t.Fatalf("%v → %v; mode %d needs %d leaves", l, m, i, want)
			}
		}
		if whole, err := l.CoalesceByMode(Int(1)); err != nil || !whole.Equal(l.Coalesce()) {
			t.Fatalf("%v → %v, %v", l, whole, err)
		}
		if _, err := l.CoalesceByMode(Ints(make([]int, l.Rank()+1)...)); !errors.Is(err, ErrShape) {
			t.Fatal(err)
		}
	})
	l := MustParse("((2,(2,2)),4):((1,(2,4)),8)")
	for profile, want := range map[string]string{
		"()": "((2,(2,2)),4):((1,(2,4)),8)", "((1,1),1)": "((2,4),4):((1,2),8)", "(1)": "(8,4):(1,8)", "1": "32:1", "(())": "((2,(2,2)),4):((1,(2,4)),8)",
	} {
		m, err := l.CoalesceByMode(MustParseTuple(profile))
		if err != nil || m.String() != want {
			t.Errorf("%v by %s: %v, %v; want %s", l, profile, m, err, want)
		}
	}
	if _, err := l.CoalesceByMode(Hole()); err == nil {
		t.Error("a hole as a profile")
	}
}
