package layout

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawPair draws a layout, often a dense one, and a tile or tiler that fits it
// more often than chance would have it.
func drawPair(t *rapid.T, size int) (a node, b node) {
	a = viewable(t)
	for a.size() > size {
		a.kids = a.kids[1:]
	}
	leaf := func() node {
		return node{ext: rapid.SampledFrom([]int{1, 2, 2, 3, 4, 6}).Draw(t, "extent"), str: rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3, 4, 6, 8}).Draw(t, "stride")}
	}
	b = node{kids: []node{leaf()}}
	if rapid.Bool().Draw(t, "second") {
		second := leaf()
		if rapid.Bool().Draw(t, "follows") {
			second.str = max(b.kids[0].ext*b.kids[0].str, 1)
		}
		b.kids = append(b.kids, second)
	}
	return a, b
}

// TestDivide compares the four divisions with a(b(i) + b*(j)).
func TestDivide(t *testing.T) {
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		an, bn := drawPair(t, 60)
		a, b := an.layout(t), bn.layout(t)
		rest, restErr := Complement(b, a.Size())
		d, err := LogicalDivide(a, b)
		if restErr != nil {
			if err == nil {
				t.Fatalf("%v / %v = %v, but %v", a, b, d, restErr)
			}
			return
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Op != "LogicalDivide" {
				t.Fatal(err)
			}
			return
		}
		answered++
		tile := bn.colex()
		var want []int
		for _, r := range colexOf(t, rest) {
			for _, c := range tile {
				want = append(want, extended(an.leaves(), c+r))
			}
		}
		same(t, "LogicalDivide", colexOf(t, d), want)
		same(t, "LogicalDivide", d.Shape(), []int{len(tile), rest.Size()})
		if len(want) == a.Size() && len(distinct(tile)) == len(tile) && wholeReaches(b) {
			x, y := slices.Clone(want), an.colex() // every element of a, once
			slices.Sort(x)
			slices.Sort(y)
			same(t, "elements", x, y)
		}
		for name, f := range map[string]func(a, b Layout) (Layout, error){"Zipped": ZippedDivide, "Tiled": TiledDivide, "Flat": FlatDivide} {
			o, err := f(a, b)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, colexOf(t, o), want)
			ranks := map[string]int{"Zipped": 2, "Tiled": 1 + rankIn(d, 1), "Flat": rankIn(d, 0) + rankIn(d, 1)}
			if o.Rank() != ranks[name] {
				t.Fatalf("%s %v / %v = %v", name, a, b, o)
			}
		}
	})
	if answered == 0 {
		t.Error("no division was answered: the test draws the wrong layouts")
	}
}

func rankIn(l Layout, i int) int {
	m := l.Mode(i)
	return m.Rank()
}

// TestDivideByMode compares the four forms with the divisions of the modes.
func TestDivideByMode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := viewable(t).layout(t)
		var tiler, parts []Layout
		var failed error
		for i := range rapid.IntRange(0, min(a.Rank(), 3)).Draw(t, "modes") {
			_, bn := drawPair(t, 1)
			tiler = append(tiler, bn.layout(t))
			p, err := LogicalDivide(a.Mode(i), tiler[i])
			if err != nil {
				failed = err
			}
			parts = append(parts, p)
		}
		l, err := LogicalDivideByMode(a, tiler...)
		if (err == nil) != (failed == nil) {
			t.Fatalf("%v by %v: %v, %v; a mode: %v", a, tiler, l, err, failed)
		}
		z, zippedErr := ZippedDivideByMode(a, tiler...)
		d, tiledErr := TiledDivideByMode(a, tiler...)
		f, flatErr := FlatDivideByMode(a, tiler...)
		if err != nil {
			if zippedErr == nil || tiledErr == nil || flatErr == nil {
				t.Fatal(z, d, f)
			}
			return
		}
		for i := len(tiler); i < a.Rank(); i++ {
			parts = append(parts, a.Mode(i))
		}
		whole, err := Join(parts...)
		if err != nil || len(parts) > 0 && !slices.Equal(l.Shape(), whole.Shape()) || l.Size() < 1000 && !slices.Equal(colexOf(t, l), colexOf(t, whole)) {
			t.Fatalf("%v by %v: %v, %v", a, tiler, l, whole)
		}
		if len(tiler) == 0 {
			return
		}
		var tiles, rests []Layout // the modes of the flat form
		for i, p := range parts {
			if i < len(tiler) {
				tiles, rests = append(tiles, p.Mode(0)), append(rests, p.Mode(1))
			} else {
				rests = append(rests, p)
			}
		}
		want, err := Join(append(slices.Clone(tiles), rests...)...)
		if err != nil || !f.Equal(want) {
			t.Fatalf("%v by %v: flat %v, want %v", a, tiler, f, want)
		}
		flat := want.Flatten()
		for _, o := range []Layout{z, d} {
			if p := o.Flatten(); !p.Equal(flat) { // the same leaves in the same order
				t.Fatalf("%v by %v: %v, want the leaves of %v", a, tiler, o, want)
			}
		}
		size := 1
		for _, x := range tiles {
			size *= x.Size()
		}
		if z.Rank() != 2 || z.Dim(0) != size || d.Rank() != 1+len(rests) || d.Dim(0) != size {
			t.Fatalf("%v by %v: %v and %v", a, tiler, z, d)
		}
	})
	if _, err := LogicalDivideByMode(MustParse("(4,5):(1,4)"), make([]Layout, 3)...); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

// TestProduct compares the six products with a(i) + a*(b(j)).
func TestProduct(t *testing.T) {
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		an, bn := drawPair(t, 24)
		a, b := an.layout(t), bn.layout(t)
		_, hi := b.Span()
		gaps, gapsErr := Complement(a, a.Size()*(hi+1))
		p, err := LogicalProduct(a, b)
		if a.Size() == 0 {
			if err != nil || p.Dim(0) != 0 || p.Dim(1) != b.Size() {
				t.Fatalf("%v × %v = %v, %v", a, b, p, err)
			}
			return
		}
		if gapsErr != nil || err != nil {
			if err == nil {
				t.Fatalf("%v × %v = %v, but %v", a, b, p, gapsErr)
			}
			return
		}
		answered++
		block := an.colex()
		var copies []int
		for _, j := range bn.colex() {
			x := node{}
			for k := range gaps.Leaves() {
				e, s := gaps.Leaf(k)
				x.kids = append(x.kids, node{ext: e, str: s})
			}
			copies = append(copies, extended(x.kids, j))
		}
		var want []int
		for _, c := range copies {
			for _, o := range block {
				want = append(want, o+c)
			}
		}
		same(t, "LogicalProduct", colexOf(t, p), want)
		same(t, "LogicalProduct", p.Shape(), []int{len(block), len(copies)})
		for name, f := range map[string]func(a, b Layout) (Layout, error){"Zipped": ZippedProduct, "Tiled": TiledProduct, "Flat": FlatProduct} {
			o, err := f(a, b)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, colexOf(t, o), want)
			ranks := map[string]int{"Zipped": 2, "Tiled": 1 + b.Rank(), "Flat": a.Rank() + b.Rank()}
			if o.Rank() != ranks[name] {
				t.Fatalf("%s %v × %v = %v", name, a, b, o)
			}
		}

		blocked, err := BlockedProduct(a, b)
		if err != nil {
			t.Fatal(err)
		}
		raked, err := RakedProduct(a, b)
		if err != nil {
			t.Fatal(err)
		}
		rank := max(a.Rank(), b.Rank())
		if blocked.Rank() != rank || raked.Rank() != rank {
			t.Fatalf("%v × %v = %v and %v", a, b, blocked, raked)
		}
		for i, off := range want { // the same element in the order of the modes
			x, y := i%len(block), i/len(block)
			var c, r []int
			for k := range rank {
				ax, bx := 1, 1
				if k < a.Rank() {
					ax = a.Dim(k)
				}
				if k < b.Rank() {
					bx = b.Dim(k)
				}
				c, r = append(c, x%ax+ax*(y%bx)), append(r, y%bx+bx*(x%ax))
				x, y = x/ax, y/bx
			}
			if got, _ := blocked.At(c); got != off {
				t.Fatalf("%v × %v blocked: %v: %d at %v, want %d", a, b, blocked, got, c, off)
			}
			if got, _ := raked.At(r); got != off {
				t.Fatalf("%v × %v raked: %v: %d at %v, want %d", a, b, raked, got, r, off)
			}
		}
	})
	if answered == 0 {
		t.Error("no product was answered: the test draws the wrong layouts")
	}
	l, err := New([]int{2}, []int{math.MaxInt / 4})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := LogicalProduct(MustParse("8:1"), l); !errors.Is(err, ErrOverflow) {
		t.Error(p, err)
	}
}

func TestLogicalProductByMode(t *testing.T) {
	p, err := LogicalProductByMode(MustParse("(2,5,3):(5,1,10)"), MustParse("3:5"), MustParse("4:6"))
	if err != nil || p.String() != "((2,3),(5,4),3):((5,10),(1,30),10)" {
		t.Error(p, err)
	}
	if _, err := LogicalProductByMode(MustParse("2:1"), make([]Layout, 2)...); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	if _, err := LogicalProductByMode(MustParse("(2,2):(-1,1)"), MustParse("2:1")); err == nil {
		t.Error("a negative stride has no complement")
	}
}

// TestTileToShape lays dense blocks: each copy has the block's offsets, shifted, and
// together they fill memory without holes, in the order asked for.
func TestTileToShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 3).Draw(t, "rank")
		var dims, shape, copies []int
		for range rank {
			d, c := rapid.IntRange(1, 3).Draw(t, "extent"), rapid.IntRange(0, 4).Draw(t, "copies")
			dims, copies, shape = append(dims, d), append(copies, c), append(shape, d*c)
		}
		block, err := RowMajor(dims[:rapid.IntRange(1, rank).Draw(t, "block")]...)
		if err != nil {
			t.Fatal(err)
		}
		for i := block.Rank(); i < rank; i++ {
			copies[i] = shape[i]
		}
		order := rapid.Permutation(upTo(rank)).Draw(t, "order")
		l, err := TileToShape(block, shape, order...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "shape", l.Shape(), shape)
		counts, err := Ordered(Ints(copies...), Ints(order...))
		if err != nil {
			t.Fatal(err)
		}
		same(t, l.String(), colexOf(t, l), enumerate(shape, func(c []int) int {
			in, at := make([]int, block.Rank()), make([]int, rank)
			for i := range c {
				at[i] = c[i]
				if i < block.Rank() {
					in[i], at[i] = c[i]%dims[i], c[i]/dims[i]
				}
			}
			inner, _ := block.At(in)
			outer, _ := counts.At(at)
			return outer*block.Size() + inner
		}, false))
		plain, err := TileToShape(block, shape)
		if err != nil {
			t.Fatal(err)
		}
		if slices.IsSorted(order) && !plain.Equal(l) {
			t.Fatalf("%v and %v", plain, l)
		}
	})
	b := MustParse("(2,5):(5,1)")
	for _, c := range []struct{ shape, order []int }{{[]int{6}, nil}, {[]int{6, 21}, nil}, {[]int{6, 20}, []int{1}}, {[]int{-2, 5}, nil}, {[]int{math.MaxInt - 1, 20}, nil}} {
		if l, err := TileToShape(b, c.shape, c.order...); err == nil {
			t.Errorf("%v by %v: %v", c.shape, c.order, l)
		}
	}
}
