package judge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// at is the offset of a linear coordinate, computed here from the text of a layout: the first mode fastest, the last goes on.
func at(l layout.Layout, x int) (off int) {
	for k := range l.Leaves() {
		e, s := l.Leaf(k)
		if k == l.Leaves()-1 {
			return off + x*s
		}
		off += x % e * s
		x /= e
	}
	return off
}

func mustLayout(t *testing.T, s string) layout.Layout {
	t.Helper()
	l, err := layout.Parse(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return l
}

// sumsDiffer reports whether the offsets of two layouts, added, are all different, for those of the first that differ.
func sumsDiffer(a, b layout.Layout) bool {
	left, seen := map[int]bool{}, map[int]bool{}
	for i := range a.Size() {
		left[at(a, i)] = true
	}
	for x := range left {
		for j := range b.Size() {
			if seen[x+at(b, j)] {
				return false
			}
			seen[x+at(b, j)] = true
		}
	}
	return true
}

// holds checks the claim of a step by looking at every coordinate.
func holds(t *testing.T, s Step) error {
	t.Helper()
	same := func(left, right func(int) int, n int) error {
		for i := range n {
			if left(i) != right(i) {
				return fmt.Errorf("at %d it is %d, not %d", i, right(i), left(i))
			}
		}
		return nil
	}
	of := func(l layout.Layout) func(int) int { return func(i int) int { return at(l, i) } }
	switch s.Rule {
	case "coalesce", "extend", "join":
		if s.Rule == "join" {
			_, args, _ := strings.Cut(s.Left, " ")
			a, b, _ := strings.Cut(args, " ")
			l, m, r := mustLayout(t, a), mustLayout(t, b), mustLayout(t, s.Right)
			if r.Size() != l.Size()*m.Size() {
				return errors.New("the size")
			}
			return same(func(i int) int { return at(l, i%l.Size()) + at(m, i/l.Size()) }, of(r), r.Size())
		}
		l, r := mustLayout(t, s.Left), mustLayout(t, s.Right)
		n := l.Size()
		if s.Rule == "extend" {
			if n = s.Numbers[0] + 1; r.Size() < n {
				return errors.New("it is too short")
			}
		} else if r.Size() != n {
			return errors.New("the sizes differ")
		}
		for k := 1; k < r.Leaves(); k++ {
			e, d := r.Leaf(k - 1)
			if f, g := r.Leaf(k); s.Rule == "coalesce" && (e*d == g || f == 1 || e == 1) {
				return errors.New("leaves merge")
			}
		}
		return same(of(l), of(r), n)
	case "leaf":
		if s.Right == "" {
			return nil // the condition that failed: see below
		}
		a, _, _ := strings.Cut(s.Left, " o ")
		l, r := mustLayout(t, a), mustLayout(t, s.Right)
		if r.Size() != s.Numbers[0] {
			return errors.New("the size")
		}
		return same(func(j int) int { return at(l, j*s.Numbers[1]) }, of(r), r.Size())
	case "compose":
		a, b, _ := strings.Cut(s.Left, " o ")
		l, m, r := mustLayout(t, a), mustLayout(t, b), mustLayout(t, s.Right)
		if r.Size() != m.Size() || !slices.Equal(r.Shape(), m.Shape()) {
			return errors.New("the shapes differ")
		}
		return same(func(i int) int { return at(l, at0(m, i)) }, of(r), r.Size())
	case "gap", "complement":
		if l, r := mustLayout(t, s.Left), mustLayout(t, s.Right); !sumsDiffer(l, r) {
			return errors.New("sums are equal")
		}
	case "chain":
		l, r := mustLayout(t, s.Left), mustLayout(t, s.Right)
		return same(func(i int) int { return i }, func(i int) int { return at(l, at(r, i)) }, r.Size())
	case "place":
		if s.Right == "" {
			return nil
		}
		l, r := mustLayout(t, s.Left), mustLayout(t, s.Right)
		for i := range l.Size() {
			want, x := 0, i
			for k, p := range s.Numbers {
				e, _ := l.Leaf(k)
				want += x % e * p
				x /= e
			}
			if got := at(r, at(l, i)); got != want {
				return fmt.Errorf("offset %d goes to %d, not %d", at(l, i), got, want)
			}
		}
	case "inverse":
		l, r := mustLayout(t, s.Left), mustLayout(t, s.Right)
		right := same(func(i int) int { return i }, func(i int) int { return at(l, at(r, i)) }, r.Size())
		left := same(func(i int) int { return at(l, i) }, func(i int) int { return at(l, at(r, at(l, i))) }, l.Size())
		if right != nil && left != nil {
			return fmt.Errorf("it is neither inverse: %v, %v", right, left)
		}
	case "swizzle":
		l, c := mustLayout(t, s.Left), mustEval(t, s.Right)
		to, from, n := s.Numbers[0], s.Numbers[1], s.Numbers[2]
		for i := range l.Size() {
			x := at(l, i) + c.Base()
			want := x
			for k := range n {
				want ^= x >> (from + k) & 1 << (to + k)
			}
			if got, err := c.Offset(i); err != nil || got != want {
				return fmt.Errorf("coordinate %d has %d, not %d", i, got, want)
			}
		}
	case "regroup", "function":
		c, err := layout.Eval(s.Left)
		if err != nil || text(c) != s.Right {
			return fmt.Errorf("%v, %v", c, err)
		}
	}
	return nil
}

// at0 is the offset of a linear coordinate in range, whatever the last mode is.
func at0(l layout.Layout, i int) int { off, _ := l.Offset(i); return off }

// carries checks the steps that add remainders, of a composition of two layouts.
func carries(a, b layout.Layout, s Step) error {
	end, sum := s.Numbers[0], s.Numbers[1]
	most := 0
	for k := range b.Leaves() {
		e, d := b.Leaf(k)
		largest := 0
		for j := range e {
			largest = max(largest, j*d%end)
		}
		most += largest
	}
	if most != sum {
		return fmt.Errorf("the remainders by %d add up to %d, not %d", end, most, sum)
	}
	return nil
}

// Every step of random expressions claims the truth, the answer is Eval's, and a step that blames published rules has an input
// for which they are wrong.
func TestExplainByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 3))
	rules, blamed, refused := map[string]int{}, map[string]int{}, 0
	for n := 0; n < *cases; n++ {
		a, b := draw(r), draw(r)
		var expr string
		switch k := r.IntN(12); k {
		case 0, 1, 2:
			expr = fmt.Sprintf("%v o %v", a, b)
		case 3:
			expr = fmt.Sprintf("coalesce %v", a)
		case 4:
			expr = fmt.Sprintf("complement %v %d", a, r.IntN(40))
		case 5:
			expr = fmt.Sprintf("left_inverse %v", a)
		case 6:
			expr = fmt.Sprintf("right_inverse %v", a)
		case 7:
			expr = fmt.Sprintf("Sw<%d,%d,%d> o %d o %v", r.IntN(3), r.IntN(3), pick(r, 2, 3, -2), r.IntN(4), a)
		case 8:
			expr = fmt.Sprintf("%v / <%v,%v>", a, b.Mode(0), draw(r).Mode(0))
		default:
			expr = fmt.Sprintf("%s %v %v", pick(r, "logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "logical_product", "zipped_product", "tiled_product", "flat_product"), a, b)
		}
		e, err := Explain(expr)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		for _, s := range e.Steps {
			rules[s.Rule]++
			if err := holds(t, s); err != nil {
				t.Fatalf("%s: %s %s: %v\n%v", expr, s.Rule, s.Text, err, e)
			}
			for _, p := range s.Published {
				blamed[p.Rules+" "+s.Rule]++
				if !p.Silent() || p.Wrong == nil {
					t.Fatalf("%s: %+v is blamed", expr, p)
				}
			}
			if s.Rule == "carry" {
				if left, right, ok := strings.Cut(expr, " o "); ok && strings.Contains(right, ":") && !strings.HasPrefix(expr, "Sw") {
					if err := carries(mustLayout(t, left), mustLayout(t, right), s); err != nil {
						t.Fatalf("%s: %v", expr, err)
					}
				}
			}
		}
		want, err := layout.Eval(expr)
		if err != nil {
			refused++
			if e.Answer != "" || e.Why == "" {
				t.Fatalf("%s: %v, but it is %v", expr, err, e)
			}
			if left, right, ok := strings.Cut(expr, " o "); ok && e.Missing != nil {
				missingHolds(t, mustLayout(t, left), mustLayout(t, right), e)
			}
			continue
		}
		if e.Answer != text(want) || e.Why != "" || len(e.Steps) == 0 {
			t.Fatalf("%s is %v: %v", expr, want, e)
		}
		last := e.Steps[len(e.Steps)-1]
		if s := last.Right; s != "" && s != e.Answer && !strings.Contains(expr, "<") {
			t.Fatalf("%s ends with %s, and the answer is %s", expr, s, e.Answer)
		}
	}
	t.Logf("rules: %v\nblamed: %v\nrefused: %d", rules, blamed, refused)
	for _, rule := range []string{"coalesce", "extend", "leaf", "carry", "compose", "gap", "complement", "overlap", "chain", "place", "inverse", "swizzle", "join", "regroup", "mode"} {
		if rules[rule] == 0 {
			t.Errorf("no case uses the rule %s", rule)
		}
	}
	for _, b := range []string{"pycute leaf", "pycute carry", "cutegen regroup"} {
		if blamed[b] == 0 {
			t.Errorf("no case blames %s", b)
		}
	}
}

// missingHolds checks the coordinate that shows a failed composition: its offset isn't what the leaves of a layout that is
// right before it add up to, or no progression has it.
func missingHolds(t *testing.T, a, b layout.Layout, e *Explanation) {
	t.Helper()
	f := func(i int) int { return at(a, at0(b, i)) }
	if e.Missing.Want != f(e.Missing.Index) {
		t.Fatalf("%v: %+v, right is %d", e.Text, *e.Missing, f(e.Missing.Index))
	}
	// No layout of the shape agrees up to the coordinate: with all splits of the leaves tried.
	if fits(b.Extents(), f, e.Missing.Index) || !fits(b.Extents(), f, e.Missing.Index-1) {
		t.Fatalf("%v: %d isn't the first coordinate", e.Text, e.Missing.Index)
	}
}

// fits reports whether a layout of the shape agrees with f up to n, with every split of each leaf into two tried.
func fits(shape layout.Tuple, f func(int) int, n int) bool {
	ext, _ := shape.Flatten()
	// The stride of each part is its first value, as far as that is below n.
	var try func(k, before int, parts [][2]int) bool
	try = func(k, before int, parts [][2]int) bool {
		if k == len(ext) {
			for i := 0; i <= n; i++ {
				x, sum := i, 0
				for _, p := range parts {
					sum += x % p[0] * p[1]
					x /= p[0]
				}
				if sum != f(i)-f(0) {
					return false
				}
			}
			return true
		}
		value := func(at int) int {
			if at > n {
				return 0 // free
			}
			return f(at) - f(0)
		}
		var split func(left, at int, parts [][2]int) bool
		split = func(left, at int, parts [][2]int) bool {
			if left == 1 {
				return try(k+1, at, parts)
			}
			for e := 2; e <= left; e++ {
				if left%e == 0 && split(left/e, at*e, append(parts[:len(parts):len(parts)], [2]int{e, value(at)})) {
					return true
				}
			}
			return false
		}
		return split(ext[k], before, parts)
	}
	return try(0, 1, nil)
}

func TestExplainRefuses(t *testing.T) {
	for expr, want := range map[string]error{
		"": layout.ErrSyntax, "(4,4):(4,1)": layout.ErrSyntax, "(4,4):(4,1) o": layout.ErrSyntax, "frobnicate 4:1": layout.ErrSyntax, "Sw<1,0,1>": layout.ErrSyntax,
		strings.Repeat("coalesce (", 40) + "4:1" + strings.Repeat(")", 40): nil,
		"4:1" + strings.Repeat(" o 4:1", 600):                              layout.ErrLimit,
		"coalesce (row_major (" + strings.Repeat("1,", 3000) + "4))":       layout.ErrLimit, // a layout of 12,000 bytes
		"(1048576,1048576):(1,1048576) o (1024,1048576):(1048576,1)":       nil,
		"(9223372036854775807):(1) * 4:1":                                  nil,
		"complement (2,2):(1,4611686018427387904) 9223372036854775807":     nil,
		"(4,(2,3)):(6,(3,1))[1:3] / <(2,2):(1,2)>":                         nil,
		"left_inverse (Sw<2,0,3> o (8,8):(8,1))":                           nil,
		"(Sw<2,0,3> o (8,8):(8,1)) / <2:1,4:1>":                            nil,
		"permute (4,6):(6,1) (1,0)":                                        nil,
		"(1000003,1000003):(1,1000003) o (1000,1000):(999983,7)":           nil,
		"row_major (4,4)": nil,
		"():() o ():()":   nil,
		"4:1 o 4:-1":      nil,
		"0:1 o 4:1":       nil,
	} {
		if _, err := Explain(expr); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v", clip(expr), err)
		}
	}
}

// FuzzExplain wants of every expression that Eval reads the same answer.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{"(6,2):(8,2) o (4,3):(3,1)", "(8,8):(8,1) / <2:1,4>", "left_inverse (4,2):(1,5)", "Sw<2,0,3> o 8 o (8,8):(8,1)", "complement (2,2):(1,6) 24", "1:5 o 3:2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		c, err := layout.Eval(expr)
		if err == nil && c.Size() > 1<<12 {
			return
		}
		e, wrong := Explain(expr)
		if wrong != nil {
			return
		}
		_ = e.String()
		if (err == nil) != (e.Why == "") || err == nil && e.Answer != text(c) {
			t.Fatalf("%q: %v, %v, but Eval says %v, %v", expr, e, wrong, c, err)
		}
	})
}

func BenchmarkExplain(b *testing.B) {
	for _, expr := range []string{"(6,2):(1,7) o (3,2):(2,3)", "(128,128):(128,1) / <32:1,64:1>", "(1048576,1048576):(1,1048576) o (1024,1048576):(1048576,1)"} {
		b.Run(expr, func(b *testing.B) {
			for range b.N {
				if _, err := Explain(expr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
