package layout

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// A node is a layout as the definition has it: a leaf, or a list of nodes whose
// first entry is fastest. The tests compare a Layout with it, coordinate by
// coordinate.
type node struct {
	ext, str int
	kids     []node
}

func (n node) isLeaf() bool { return n.kids == nil }

func (n node) size() int {
	if n.isLeaf() {
		return n.ext
	}
	size := 1
	for _, k := range n.kids {
		size *= k.size()
	}
	return size
}

// at returns the offset of coordinate c, 0 ≤ c < size.
func (n node) at(c int) int {
	if n.isLeaf() {
		return c * n.str
	}
	off := 0
	for _, k := range n.kids {
		off += k.at(c % k.size())
		c /= k.size()
	}
	return off
}

func (n node) leaves() []node {
	if n.isLeaf() {
		return []node{n}
	}
	var all []node
	for _, k := range n.kids {
		all = append(all, k.leaves()...)
	}
	return all
}

// text writes the extents or the strides, brackets around single entries included.
func (n node) text(value func(node) int) string {
	if n.isLeaf() {
		return strconv.Itoa(value(n))
	}
	var entries []string
	for _, k := range n.kids {
		entries = append(entries, k.text(value))
	}
	return "(" + strings.Join(entries, ",") + ")"
}

func (n node) String() string {
	return n.text(func(n node) int { return n.ext }) + ":" + n.text(func(n node) int { return n.str })
}

// layout makes the Layout that the node describes; n.kids are its modes.
func (n node) layout(t rapid.TB) Layout {
	t.Helper()
	l, err := Parse(n.String())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// nodes draws a list of modes with at most size coordinates (an extent of 0 aside),
// nested to the given depth.
func nodes(depth, size int) *rapid.Generator[node] {
	return rapid.Custom(func(t *rapid.T) node {
		left := size
		n := drawNode(t, depth, &left, rapid.IntRange(0, 5).Draw(t, "rank"))
		if rapid.IntRange(0, 9).Draw(t, "deep") == 0 { // more leaves than fit inline
			for range 9 {
				n.kids = append(n.kids, drawNode(t, min(depth-1, 1), &left, 2))
			}
		}
		return n
	})
}

func drawNode(t *rapid.T, depth int, left *int, rank int) node {
	if depth == 0 {
		e := rapid.IntRange(0, 12).Draw(t, "extent")
		switch {
		case e > 7:
			e -= 6
		case e == 0 && rapid.IntRange(0, 3).Draw(t, "empty") != 0:
			e = 2
		}
		if e > *left {
			e = 1
		}
		*left /= max(e, 1)
		str := rapid.SampledFrom([]int{0, 1, 1, 2, 3, 4, 6, 8, 12, 24, -1, -2, -5, -6}).Draw(t, "stride")
		return node{ext: e, str: str}
	}
	n := node{kids: []node{}}
	for range rank {
		d := rapid.IntRange(0, depth-1).Draw(t, "depth")
		n.kids = append(n.kids, drawNode(t, d, left, rapid.IntRange(1, 3).Draw(t, "entries")))
	}
	return n
}

func (n node) dims() []int {
	d := []int{}
	for _, k := range n.kids {
		d = append(d, k.size())
	}
	return d
}

// offset returns the offset of a coordinate per mode.
func (n node) offset(coord []int) int {
	off := 0
	for i, k := range n.kids {
		off += k.at(coord[i])
	}
	return off
}

// colex returns the offsets in colexicographic order, rows in row-major order.
func (n node) colex() []int {
	return enumerate(n.dims(), n.offset, false)
}

func (n node) rows() []int {
	return enumerate(n.dims(), n.offset, true)
}

func enumerate(dims []int, offset func([]int) int, rowMajor bool) []int {
	size := 1
	for _, d := range dims {
		size *= d
	}
	table := make([]int, size)
	for i := range table {
		c, left := make([]int, len(dims)), i
		for k := range dims {
			a := k
			if rowMajor {
				a = len(dims) - 1 - k
			}
			c[a] = left % dims[a]
			left /= dims[a]
		}
		table[i] = offset(c)
	}
	return table
}

// colexOf and rowsOf enumerate a Layout by At.
func colexOf(t rapid.TB, l Layout) []int { return enumerate(l.Shape(), atOf(t, l), false) }
func rowsOf(t rapid.TB, l Layout) []int  { return enumerate(l.Shape(), atOf(t, l), true) }

func atOf(t rapid.TB, l Layout) func([]int) int {
	return func(c []int) int {
		off, axis := l.At(c)
		if axis != -1 {
			t.Fatalf("%v: At(%v): axis %d", l, c, axis)
		}
		return off
	}
}

func same(t rapid.TB, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func coalesce(ext, str []int) (ce, cs []int) {
	var p leaves
	p.coalesce(ext, str)
	return p.slices()
}
