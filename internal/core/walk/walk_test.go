package walk

import (
	"fmt"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

func Example() {
	dst, src := layout.MustParse("(4,6):(6,1)"), layout.MustParse("(4,6):(0,1)")
	p := New(&dst, &src)
	defer p.Free()
	fmt.Println(p.Loops[0].Ext, p.Loops[0].Str[:2], p.Loops[1].Ext, p.Loops[1].Str[:2], p.Outer())
	// Output: 6 [1 1] 4 [6 0] 1
}

// visit lists the offsets of all layouts in the order of the nest.
func visit(p *Nest, n int) map[[Max]int]int {
	seen := map[[Max]int]int{}
	for k := range p.Outer() {
		for i := range p.Loops[1].Ext {
			for j := range p.Loops[0].Ext {
				var at [Max]int
				for o := range n {
					at[o] = p.At(o, k) + i*p.Loops[1].Str[o] + j*p.Loops[0].Str[o]
				}
				seen[at]++
			}
		}
	}
	return seen
}

// define lists the offsets of all layouts coordinate by coordinate.
func define(ls []*layout.Layout) map[[Max]int]int {
	seen := map[[Max]int]int{}
	for i := range ls[0].Size() {
		c := make([]int, ls[0].Rank())
		for a := ls[0].Rank() - 1; a >= 0; a-- {
			c[a] = i % ls[0].Dim(a)
			i /= ls[0].Dim(a)
		}
		var at [Max]int
		for o, l := range ls {
			at[o], _ = l.At(c)
		}
		seen[at]++
	}
	return seen
}

// mode draws leaves whose product is n.
func mode(t *rapid.T, n int) (ext, str []int) {
	for n > 1 && rapid.Bool().Draw(t, "split") {
		var divisors []int
		for d := 2; d < n; d++ {
			if n%d == 0 {
				divisors = append(divisors, d)
			}
		}
		if len(divisors) == 0 {
			break
		}
		d := rapid.SampledFrom(divisors).Draw(t, "leaf")
		ext, str = append(ext, d), append(str, rapid.IntRange(-9, 9).Draw(t, "stride"))
		n /= d
	}
	return append(ext, n), append(str, rapid.IntRange(-9, 9).Draw(t, "stride"))
}

// TestNest checks that a nest visits what the layouts' definitions say, each
// combination of offsets as often: nested leaves that refine each other, that
// have no common refinement, reversed and repeated axes, extents of 0 and 1.
func TestNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 4, 6, 8}), 0, 4).Draw(t, "shape")
		var ls []*layout.Layout
		for range rapid.IntRange(1, Max).Draw(t, "layouts") {
			text, strides := "(", "("
			for _, n := range shape {
				e, s := mode(t, n)
				text += nest(e) + ","
				strides += nest(s) + ","
			}
			if len(shape) > 0 {
				text, strides = text[:len(text)-1], strides[:len(strides)-1]
			}
			l, err := layout.Parse(text + "):" + strides + ")")
			if err != nil {
				t.Fatal(err)
			}
			ls = append(ls, &l)
		}
		p := New(ls...)
		defer p.Free()
		if p.Loops[0].Table != nil || p.Loops[1].Table != nil {
			t.Fatalf("%v: a table in the two inner loops", ls)
		}
		for i, l := range p.Loops {
			if l.Table == nil && l.Str[0] < 0 && l.Ext > 0 {
				t.Fatalf("%v: loop %d runs backwards in the first layout", ls, i)
			}
		}
		got, want := visit(p, len(ls)), define(ls)
		if p.Size != ls[0].Size() {
			t.Fatalf("size %d, want %d", p.Size, ls[0].Size())
		}
		if len(got) != len(want) {
			t.Fatalf("%v: %d combinations, want %d", ls, len(got), len(want))
		}
		for at, n := range want {
			if got[at] != n {
				t.Fatalf("%v: offsets %v visited %d times, want %d", ls, at, got[at], n)
			}
		}
	})
}

func nest(v []int) string {
	if len(v) == 1 {
		return fmt.Sprint(v[0])
	}
	text := "("
	for i, x := range v {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(x)
	}
	return text + ")"
}

func TestMerging(t *testing.T) {
	for _, c := range []struct {
		dst, src string
		loops    int
	}{
		{"(4,6):(6,1)", "(4,6):(6,1)", 1},
		{"(4,6):(1,4)", "(4,6):(1,4)", 1},                 // permuted alike
		{"(4,6):(6,1)", "(4,6):(0,1)", 2},                 // a row
		{"(4,6):(6,1)", "(4,6):(1,4)", 2},                 // transposed
		{"((2,2),4):((1,8),2)", "(4,4):(4,1)", 3},         // tiled against flat
		{"((2,2),4):((1,8),2)", "((2,2),4):((1,8),2)", 1}, // tiled alike: dense
	} {
		d, s := layout.MustParse(c.dst), layout.MustParse(c.src)
		p := New(&d, &s)
		n := 0
		for _, l := range p.Loops {
			if l.Ext != 1 {
				n++
			}
		}
		if n != c.loops {
			t.Errorf("%s with %s: %d loops, want %d: %+v", c.dst, c.src, n, c.loops, p.Loops)
		}
		p.Free()
	}
}

// Planning allocates nothing: flat layouts, nested ones that refine each other, as
// many as a nest takes, of all inline leaves.
func TestAllocations(t *testing.T) {
	for _, texts := range [][]string{
		{"(4,6):(6,1)"},
		{"(4,6):(6,1)", "(4,6):(1,4)"},
		{"(4,6):(6,-1)", "(4,6):(0,1)", "(4,6):(0,0)", "(4,6):(1,0)", "(4,6):(12,2)"},
		{"((2,2),(3,2)):((1,12),(4,2))", "(4,6):(6,1)", "((2,2),6):((6,12),1)"},
		{"(2,2,2,2,2,2,2,2):(1,2,4,8,16,32,64,128)", "(2,2,2,2,2,2,2,2):(128,64,32,16,8,4,2,1)"},
	} {
		var ls []*layout.Layout
		for _, text := range texts {
			l := layout.MustParse(text)
			ls = append(ls, &l)
		}
		New(ls...).Free()
		sum := 0
		if n := testing.AllocsPerRun(1000, func() {
			p := New(ls...)
			for k := range p.Outer() {
				sum += p.At(0, k)
			}
			p.Free()
		}); n != 0 { // an average rounded down: the collector may empty the pool
			t.Errorf("%s: a nest takes %v allocations", texts, n)
		}
	}
}
