package layout

import (
	"errors"
	"math"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// extended is the offset of linear coordinate x of leaves, the last one going on
// past its extent.
func extended(leaves []node, x int) int {
	off := 0
	for i, l := range leaves {
		if i == len(leaves)-1 {
			return off + x*l.str
		}
		off += x % l.ext * l.str
		x /= l.ext
	}
	return off
}

// hasLayout reports whether some layout with the leaves of b, each of them split
// or not, has the given offsets in colexicographic order.
func hasLayout(table []int, b []node) bool {
	parts := make([][]int, len(b))
	step := 1
	for k, l := range b {
		for c := range l.ext {
			parts[k] = append(parts[k], table[c*step])
		}
		if !isLayout(parts[k]) {
			return false
		}
		step *= l.ext
	}
	for i, off := range table {
		for k, l := range b {
			off -= parts[k][i%l.ext]
			i /= l.ext
		}
		if off != 0 {
			return false
		}
	}
	return true
}

// A tally counts what composition answered of what has an answer.
type tally struct{ pairs, exist, missed int }

// compose checks one composition against its definition.
func (c *tally) compose(t rapid.TB, a, b Layout, an, bn []node) {
	r, err := Compose(a, b)
	c.pairs++
	bt := (node{kids: bn}).colex()
	table := make([]int, len(bt))
	lowest := 0
	for i, x := range bt {
		if lowest = min(lowest, x); x >= 0 && a.Size() > 0 {
			table[i] = extended(an, x)
		}
	}
	switch {
	case len(bt) > 0 && (lowest < 0 || a.Size() == 0):
		if !errors.Is(err, ErrRange) {
			t.Fatalf("%v ∘ %v: %v, %v", a, b, r, err)
		}
		return
	case err != nil && !errors.Is(err, ErrDivide):
		t.Fatalf("%v ∘ %v: %v", a, b, err)
	case err != nil:
		if hasLayout(table, bn) {
			c.exist++
			c.missed++
		}
		return
	}
	c.exist++
	same(t, "modes of "+r.String(), r.Shape(), b.Shape())
	same(t, a.String()+" ∘ "+b.String()+" = "+r.String(), colexOf(t, r), table)
	for i := range r.Leaves() { // canonical: no stride where nothing moves
		if e, s := r.Leaf(i); e == 1 && s != 0 {
			t.Fatalf("%v ∘ %v = %v: leaf %d", a, b, r, i)
		}
	}
}

func flatOf(t rapid.TB, leaves []node) Layout {
	var ext, str []int
	for _, l := range leaves {
		ext, str = append(ext, l.ext), append(str, l.str)
	}
	l, err := New(ext, str)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// leafLists returns all lists of up to n leaves.
func leafLists(n, ext int, strides []int) [][]node {
	lists := [][]node{{}}
	for from := 0; n > 0; n-- {
		to := len(lists)
		for _, l := range lists[from:to] {
			for e := 1; e <= ext; e++ {
				for _, s := range strides {
					lists = append(lists, append(l[:len(l):len(l)], node{ext: e, str: s}))
				}
			}
		}
		from = to
	}
	return lists
}

// TestComposeAll tries all pairs of small flat layouts.
func TestComposeAll(t *testing.T) {
	var c tally
	as, bs := leafLists(2, 3, []int{-1, 0, 1, 2, 3, 5}), leafLists(2, 3, []int{-1, 0, 1, 2, 3, 4})
	for _, a := range as {
		for _, b := range bs {
			c.compose(t, flatOf(t, a), flatOf(t, b), a, b)
		}
	}
	if c.missed*100 > c.exist {
		t.Errorf("of %d compositions with a layout %d were refused", c.exist, c.missed)
	}
	t.Logf("%d pairs, %d with a layout, %d of them refused", c.pairs, c.exist, c.missed)
}

// TestCompose tries nested layouts of up to 12 leaves.
func TestCompose(t *testing.T) {
	var c tally
	rapid.Check(t, func(t *rapid.T) {
		a, b := nodes(3, 120).Draw(t, "a"), nodes(3, 24).Draw(t, "b")
		if len(a.leaves()) == 0 { // an empty product goes on as 1:0
			a = node{kids: []node{{ext: 1}}}
		}
		c.compose(t, a.layout(t), b.layout(t), a.leaves(), b.leaves())
	})
	if c.exist == c.missed {
		t.Error("no composition was answered: the test draws the wrong layouts")
	}
}

func TestComposeKnown(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"},
		{"(6,2):(8,2)", "3:4", ""},         // 0, 32, 18
		{"(6,2):(1,7)", "(3,2):(2,3)", ""}, // carries at (2,1)
		{"(4,6,8):(2,3,5)", "6:3", ""},
		{"(4,2):(1,10)", "(2,2):(2,4)", "(2,2):(2,10)"},
		{"20:2", "(5,4):(1,5)", "(5,4):(2,10)"},
		{"(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"},
		{"(4,3):(3,1)", "24:1", "((4,6)):((3,1))"},    // past the end
		{"(4,1):(1,100)", "8:1", "((4,2)):((1,100))"}, // also when the last extent is 1
		{"4:1", "(2,0):(9,9)", "(2,0):(0,0)"},
		{"(4,3):(-3,1)", "(2,2):(1,4)", "(2,2):(-3,1)"},
		{"(4,3):(0,1)", "12:1", "((4,3)):((0,1))"},
		{"12:1", "(2,3):(0,4)", "(2,3):(0,4)"},
		{"(2,2,2,2,2,2,2,2,2):(256,128,64,32,16,8,4,2,1)", "512:1", "((2,2,2,2,2,2,2,2,2)):((256,128,64,32,16,8,4,2,1))"},
		{"8:1", "():()", "():()"},
		{"():()", "():()", "():()"},
	} {
		r, err := Compose(MustParse(c.a), MustParse(c.b))
		if c.want == "" {
			if !errors.Is(err, ErrDivide) {
				t.Errorf("%s ∘ %s = %v, %v", c.a, c.b, r, err)
			}
			continue
		}
		if err != nil || r.String() != c.want {
			t.Errorf("%s ∘ %s = %v, %v; want %s", c.a, c.b, r, err, c.want)
		}
	}
}

// TestComposeLarge takes extents and strides at the limit of an int: an answer is
// right where it can be checked, and everything else is an error.
func TestComposeLarge(t *testing.T) {
	const top = math.MaxInt
	for _, c := range []struct {
		a, b [2][]int
		ok   bool
	}{
		{[2][]int{{top}, {1}}, [2][]int{{top}, {1}}, true},
		{[2][]int{{top}, {-1}}, [2][]int{{2}, {top - 1}}, true},
		{[2][]int{{2}, {1}}, [2][]int{{top}, {1}}, true},
		{[2][]int{{2}, {2}}, [2][]int{{top}, {1}}, false},
		{[2][]int{{2, 1}, {1, top / 2}}, [2][]int{{10}, {1}}, false},
		{[2][]int{{top/2 + 1, 1}, {0, 1}}, [2][]int{{2}, {top/2 + 1}}, true},
		{[2][]int{{top - 1, 1}, {0, 1}}, [2][]int{{2}, {top - 1}}, true},
		{[2][]int{{top - 1, 1}, {0, 1}}, [2][]int{{3}, {top / 2}}, false},
	} {
		a, err := New(c.a[0], c.a[1])
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(c.b[0], c.b[1])
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compose(a, b)
		if (err == nil) != c.ok {
			t.Errorf("%v ∘ %v = %v, %v", a, b, r, err)
			continue
		}
		if err != nil {
			continue
		}
		var leaves []node
		for i := range a.Leaves() {
			e, s := a.Leaf(i)
			leaves = append(leaves, node{ext: e, str: s})
		}
		for _, i := range []int{0, 1, b.Size() / 2, b.Size() - 1} {
			x, err := b.Offset(i)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.Offset(i); err != nil || got != extended(leaves, x) {
				t.Errorf("%v ∘ %v = %v: %d at %d, want %d", a, b, r, got, i, extended(leaves, x))
			}
		}
	}
}

func TestComposeByMode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := nodes(2, 60).Draw(t, "a")
		l := a.layout(t)
		var tiler []Layout
		for range rapid.IntRange(0, l.Rank()).Draw(t, "modes") {
			tiler = append(tiler, nodes(2, 6).Draw(t, "tile").layout(t))
		}
		r, err := ComposeByMode(l, tiler...)
		for i := range tiler {
			m, modeErr := Compose(l.Mode(i), tiler[i])
			if modeErr != nil {
				if err == nil {
					t.Fatalf("%v by %v: %v; mode %d fails: %v", l, tiler, r, i, modeErr)
				}
				return
			}
			if err == nil {
				mode := r.Mode(i)
				same(t, "mode", colexOf(t, mode), colexOf(t, m))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := len(tiler); i < l.Rank(); i++ {
			if m := r.Mode(i); !m.Equal(l.Mode(i)) {
				t.Fatalf("%v by %v: %v", l, tiler, r)
			}
		}
		if _, err := ComposeByMode(l, make([]Layout, l.Rank()+1)...); !errors.Is(err, ErrShape) {
			t.Fatal(err)
		}
	})
}
