package layout

import (
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/modes"
)

// TestProgression tries every progression on every layout of up to three leaves of
// small extents and strides. What progression answers must be right, and it must
// answer whenever some layout exists, but for the few where a rise of one
// staircase cancels a rise of another.
func TestProgression(t *testing.T) {
	exist, missed := 0, 0
	each := func(ext, str []int) {
		if ce, _ := coalesce(ext, str); len(ce) != len(ext) {
			return
		}
		n := node{}
		for k := range ext {
			n.kids = append(n.kids, node{ext: ext[k], str: str[k]})
		}
		table := n.colex()
		for start := range table {
			for step := 1; start+step < len(table); step++ {
				for count := 2; start+(count-1)*step < len(table); count++ {
					want := make([]int, count)
					for j := range want {
						want[j] = table[start+j*step] - table[start]
					}
					var p leaves
					bad, _ := p.progression(ext, str, nil, start, count, step)
					ce, cs := p.slices()
					exists := isLayout(want)
					if exists {
						exist++
					}
					if bad >= 0 {
						if exists {
							missed++
						}
						continue
					}
					for j, off := range want {
						if got := offsetAt(ce, cs, j); got != off {
							t.Fatalf("%v:%v from %d by %d: %v:%v gives %d at %d, not %d", ext, str, start, step, ce, cs, got, j, off)
						}
					}
					if k, _ := coalesce(ce, cs); modes.Product(ce) != count || len(k) != len(ce) {
						t.Fatalf("%v:%v from %d by %d: %v:%v isn't coalesced or not of %d", ext, str, start, step, ce, cs, count)
					}
				}
			}
		}
	}
	const top = 3
	strides := []int{-3, -1, 0, 1, 2, 4, 6}
	for a := 2; a <= top; a++ {
		for _, x := range strides {
			each([]int{a}, []int{x})
			for b := 2; b <= top; b++ {
				for _, y := range strides {
					each([]int{a, b}, []int{x, y})
					for c := 2; c <= top; c++ {
						for _, z := range strides {
							each([]int{a, b, c}, []int{x, y, z})
						}
					}
				}
			}
		}
	}
	if missed*100 > exist {
		t.Errorf("%d of %d progressions with a layout were refused", missed, exist)
	}
	t.Logf("%d progressions with a layout, %d of them refused", exist, missed)
}

// TestStairs compares with the staircase itself: there is a layout exactly when
// stairs says so, it has to be cut where stairs says, and the peak is the largest
// remainder.
func TestStairs(t *testing.T) {
	for p := uint(1); p <= 9; p++ {
		for a := range p {
			for r := range p {
				for n := uint(2); n <= 24; n++ {
					table := make([]int, n)
					top := uint(0)
					for j := range n {
						table[j] = int((a + j*r) / p)
						top = max(top, (a+j*r)%p)
					}
					q, g, peak, ok := stairs(a, r, p, n)
					if ok != isLayout(table) {
						t.Fatalf("⌊(%d+%d·j)/%d⌋, j < %d: %v, stairs says %v", a, r, p, n, table, ok)
					}
					if !ok {
						continue
					}
					cuts := []int{1, int(n)}
					for _, c := range []uint{q, g} {
						if cuts, ok = addCut(cuts, int(max(c, 1))); !ok {
							t.Fatalf("⌊(%d+%d·j)/%d⌋, j < %d: %d doesn't fit %v", a, r, p, n, c, cuts)
						}
					}
					var l leaves
					for i, c := range cuts[:len(cuts)-1] {
						l.merge(cuts[i+1]/c, table[c]-table[0])
					}
					ext, str := l.slices()
					for j := range n {
						if offsetAt(ext, str, int(j)) != table[j]-table[0] {
							t.Fatalf("⌊(%d+%d·j)/%d⌋, j < %d: cut at %v it is %v:%v", a, r, p, n, cuts, ext, str)
						}
					}
					if a == 0 && peak != top {
						t.Fatalf("%d·j by %d, j < %d: peak %d, not %d", r, p, n, peak, top)
					}
				}
			}
		}
	}
}

// isLayout decides by the greedy way, which needs no search: the first mode of a
// coalesced layout ends where the table stops being a multiple of its entry 1.
func isLayout(table []int) bool {
	for len(table) > 1 {
		e := 1
		for e < len(table) && table[e] == e*table[1] {
			e++
		}
		if len(table)%e != 0 || !splits(table, e) {
			return false
		}
		var rest []int
		for i := 0; i < len(table); i += e {
			rest = append(rest, table[i])
		}
		table = rest
	}
	return true
}
