package layout

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// small calls f with every flat layout of up to two leaves and with some of three.
func small(t *testing.T, f func(leaves []node, l Layout, table []int)) {
	t.Helper()
	lists := leafLists(2, 5, []int{-2, -1, 0, 1, 2, 3, 4, 5, 6, 10})
	lists = append(lists, leafLists(3, 3, []int{-1, 0, 1, 2, 3, 4, 6, 7})...)
	lists = append(lists, []node{{ext: 0, str: 1}}, []node{{ext: 2, str: 1}, {ext: 0, str: 2}, {ext: 3, str: 2}})
	for _, leaves := range lists {
		f(leaves, flatOf(t, leaves), (node{kids: leaves}).colex())
	}
}

// negative reports whether some leaf goes down, disordered whether leaves overlap
// or interleave, and uneven whether strides don't divide each other.
func faults(l Layout) (negative, disordered, uneven bool) {
	ext, str := coalesce(l.in.All())
	for i, e := range ext {
		if e == 0 {
			return false, false, false
		}
		negative = negative || str[i] < 0
		for k, d := range str {
			if k != i && d > 0 && str[i] > 0 && (d > str[i] || d == str[i] && k > i) {
				disordered = disordered || d < str[i]*e
				uneven = uneven || d%str[i] != 0
			}
		}
	}
	return negative, disordered, uneven
}

func distinct(table []int) []int {
	s := slices.Clone(table)
	slices.Sort(s)
	return slices.Compact(s)
}

// TestComplement checks that the offsets increase, that the sums with those of the
// layout are all different, and that they cover what they promise to.
func TestComplement(t *testing.T) {
	small(t, func(leaves []node, l Layout, table []int) {
		negative, disordered, _ := faults(l)
		for _, n := range []int{0, 1, 7, 24, 100} {
			c, err := Complement(l, n)
			if negative || disordered {
				if !errors.Is(err, ErrRange) && !errors.Is(err, ErrOverlap) {
					t.Fatalf("%v up to %d: %v, %v", l, n, c, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%v up to %d: %v", l, n, err)
			}
			gaps := colexOf(t, c)
			for i := 1; i < len(gaps); i++ {
				if gaps[i] <= gaps[i-1] {
					t.Fatalf("%v up to %d: %v isn't ordered", l, n, c)
				}
			}
			own := distinct(table)
			var sums []int
			for _, a := range own {
				for _, g := range gaps {
					sums = append(sums, a+g)
				}
			}
			if len(own) == 0 {
				sums = gaps
			}
			covered := distinct(sums)
			if len(covered) != len(sums) {
				t.Fatalf("%v up to %d: %v: sums coincide", l, n, c)
			}
			if wholeReaches(l) && (len(covered) < n || !isIota(covered[:n])) {
				t.Fatalf("%v up to %d: %v covers %v", l, n, c, covered)
			}
		}
		if _, err := Complement(l, -1); !errors.Is(err, ErrRange) {
			t.Fatal(err)
		}
	})
	if c, err := Complement(MustParse("2:3"), math.MaxInt/2); err != nil || c.Size() < math.MaxInt/4 {
		t.Error(c, err)
	}
	l, err := New([]int{2}, []int{math.MaxInt - 1})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Complement(l, 10); !errors.Is(err, ErrOverflow) {
		t.Error(c, err)
	}
}

// wholeReaches reports whether each stride is a multiple of the reach below it.
func wholeReaches(l Layout) bool {
	ext, str := coalesce(l.in.All())
	reach := 1
	for range ext {
		next := -1
		for k, d := range str {
			if d >= reach && (next < 0 || d < str[next]) {
				next = k
			}
		}
		if next < 0 {
			break
		}
		if str[next]%reach != 0 {
			return false
		}
		reach = str[next] * ext[next]
	}
	return true
}

func TestRightInverse(t *testing.T) {
	small(t, func(leaves []node, l Layout, table []int) {
		r := RightInverse(l)
		if len(table) == 0 {
			if r.Size() != 0 {
				t.Fatalf("%v: %v", l, r)
			}
			return
		}
		for i, x := range colexOf(t, r) {
			if x >= len(table) || table[x] != i {
				t.Fatalf("%v: %v is no inverse at %d", l, r, i)
			}
		}
		ext, str := coalesce(l.in.All())
		if want := longestChain(ext, str, 1); r.Size() != want {
			t.Fatalf("%v: %v, of size %d; want %d", l, r, r.Size(), want)
		}
		if l.IsCompact() && r.Size() != l.Size() {
			t.Fatalf("%v: %v doesn't cover it", l, r)
		}
		if c := r.Coalesce(); !c.Equal(r) {
			t.Fatalf("%v: %v isn't coalesced", l, r)
		}
	})
}

// longestChain searches for the leaves that follow each other furthest from at.
func longestChain(ext, str []int, at int) int {
	best := at
	for k, e := range ext {
		if str[k] == at && e > 1 {
			best = max(best, longestChain(ext, str, at*e))
		}
	}
	return best
}

func TestLeftInverse(t *testing.T) {
	small(t, func(leaves []node, l Layout, table []int) {
		r, err := LeftInverse(l)
		negative, disordered, uneven := faults(l)
		if negative || disordered || uneven {
			if !errors.Is(err, ErrRange) && !errors.Is(err, ErrOverlap) && !errors.Is(err, ErrDivide) {
				t.Fatalf("%v: %v, %v", l, r, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%v: %v", l, err)
		}
		injective := len(distinct(table)) == len(table)
		for i, off := range table {
			back, err := r.Offset(off)
			if err != nil || table[back] != off || injective && back != i {
				t.Fatalf("%v: %v sends %d to %d (%v)", l, r, off, back, err)
			}
		}
	})
}

func TestFilterAndNullspace(t *testing.T) {
	small(t, func(leaves []node, l Layout, table []int) {
		f, n := l.Filter(), l.Nullspace()
		same(t, "offsets", distinct(colexOf(t, f)), distinct(table))
		moving, still := 1, 1
		for _, k := range leaves {
			if k.str == 0 {
				still *= k.ext
			} else {
				moving *= k.ext
			}
		}
		if len(table) == 0 {
			moving, still = 0, 0
		}
		if f.Size() != moving || n.Size() != still {
			t.Fatalf("%v: %v and %v", l, f, n)
		}
		if c := f.Coalesce(); !c.Equal(f) {
			t.Fatalf("%v: %v isn't coalesced", l, f)
		}
		places := colexOf(t, n)
		if len(distinct(places)) != len(places) {
			t.Fatalf("%v: %v repeats", l, n)
		}
		for _, x := range places {
			if table[x] != 0 {
				t.Fatalf("%v: %v leads to %d", l, n, table[x])
			}
		}
	})
}

// TestMaxCommonVector tries all lengths of runs.
func TestMaxCommonVector(t *testing.T) {
	lists := leafLists(2, 4, []int{0, 1, 2, 4})
	lists = append(lists, []node{{4, 1, nil}, {2, 4, nil}, {3, 8, nil}}, []node{{2, 1, nil}, {2, 12, nil}, {3, 2, nil}, {2, 6, nil}}, []node{{ext: 0}})
	for _, x := range lists {
		a, at := flatOf(t, x), (node{kids: x}).colex()
		for _, y := range lists {
			b := flatOf(t, y)
			r := colexOf(t, RightInverse(b))
			want := 0
			for n := 1; n <= len(r) && len(at) > 0; n++ {
				if i := r[n-1]; i >= len(at) || at[i] != n-1 {
					break
				}
				if isLayout(r[:n]) {
					want = n
				}
			}
			got := MaxCommonVector(a, b)
			if got != want {
				t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
			}
			same(t, "MaxCommonLayout", colexOf(t, MaxCommonLayout(a, b)), r[:got])
		}
	}
}
