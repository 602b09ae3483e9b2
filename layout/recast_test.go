package layout

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestRecast checks Upcast and Downcast against their equations, and that Upcast
// undoes Downcast.
func TestRecast(t *testing.T) {
	up, down := 0, 0
	small(t, func(leaves []node, l Layout, table []int) {
		for _, n := range []int{1, 2, 3, 4, 6, 12} {
			u, err := l.Upcast(n)
			if err == nil {
				up++
				upcastOf(t, l, u, leaves, n)
			} else if !errors.Is(err, ErrDivide) && !errors.Is(err, ErrOverlap) {
				t.Fatalf("%v by %d: %v", l, n, err)
			}
			d, err := l.Downcast(n)
			if err == nil {
				down++
				downcastOf(t, l, d, leaves, n)
				if back, err := d.Upcast(n); err == nil && !sameFunction(t, back, l) {
					t.Fatalf("%v by %d and back: %v, %v", l, n, d, back)
				}
			} else if !errors.Is(err, ErrDivide) {
				t.Fatalf("%v by %d: %v", l, n, err)
			}
			if r, err := l.Recast(8, 8*n); err == nil && !r.Equal(u) {
				t.Fatalf("%v from 8 to %d: %v, not %v", l, 8*n, r, u)
			}
		}
	})
	if up == 0 || down == 0 {
		t.Error("nothing was recast")
	}
	l := MustParse("(8,4):(1,8)")
	for _, n := range []int{0, -1, math.MinInt} {
		for _, err := range []error{only(l.Upcast(n)), only(l.Downcast(n)), only(l.Recast(n, 8)), only(l.Recast(8, n))} {
			if !errors.Is(err, ErrRange) {
				t.Error(n, err)
			}
		}
	}
	if _, err := l.Downcast(math.MaxInt / 2); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	if r, err := l.Recast(32, 48); err == nil {
		t.Errorf("%v: 32 to 48 bits", r)
	}
}

func only(_ Layout, err error) error { return err }

func sameFunction(t *testing.T, a, b Layout) bool {
	return slices.Equal(colexOf(t, a), colexOf(t, b))
}

// upcastOf checks n·U(c) = l(c'), and that the narrow elements between lie in the
// same wide one.
func upcastOf(t *testing.T, l, u Layout, leaves []node, n int) {
	factor := make([]int, len(leaves))
	for k, x := range leaves {
		factor[k] = 1
		if x.str%n != 0 {
			factor[k] = n / x.str
		}
	}
	enumerate(u.Shape(), func(c []int) int {
		wide, _ := u.At(c)
		between := enumerate(factor, func(f []int) int {
			fine := make([]int, len(c))
			for k := range c {
				fine[k] = c[k]*factor[k] + f[k]
			}
			off, axis := l.At(fine)
			if axis != -1 {
				t.Fatalf("%v by %d: %v reaches outside", l, n, u)
			}
			return off
		}, false)
		if between[0] != n*wide {
			t.Fatalf("%v by %d: %v: %d at %v, and %d before", l, n, u, wide, c, between[0])
		}
		for _, off := range between {
			if off < n*wide || off >= n*wide+n {
				t.Fatalf("%v by %d: %v: %d isn't in %d", l, n, u, off, wide)
			}
		}
		return 0
	}, false)
	size := u.Size()
	for _, f := range factor {
		size *= f
	}
	if size != l.Size() {
		t.Fatalf("%v by %d: %v has another size", l, n, u)
	}
}

// downcastOf checks D(c') = n·l(c).
func downcastOf(t *testing.T, l, d Layout, leaves []node, n int) {
	enumerate(l.Shape(), func(c []int) int {
		fine := make([]int, len(c))
		for k, x := range leaves {
			if fine[k] = c[k]; x.str == 1 {
				fine[k] = n * c[k]
			}
		}
		off, _ := l.At(c)
		if got, axis := d.At(fine); axis != -1 || got != n*off {
			t.Fatalf("%v by %d: %v: %d at %v, want %d", l, n, d, got, fine, n*off)
		}
		return 0
	}, false)
	for k, x := range leaves {
		want := x.ext
		if x.str == 1 {
			want *= n
		}
		if d.Dim(k) != want {
			t.Fatalf("%v by %d: %v", l, n, d)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ l, want string }{
		{"():()", "():()"}, {"(2,3):(3,-1)", "(2,3):(-9,3)"}, {"(0,4):(4,1)", "(0,4):(-12,-3)"}, {"(1,1,1,1,1,1,1,1,2):(9,8,7,6,5,4,3,2,1)", "(1,1,1,1,1,1,1,1,2):(-27,-24,-21,-18,-15,-12,-9,-6,-3)"},
	} {
		l := MustParse(c.l)
		if got, err := l.Spread(-3); err != nil || got.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.l, got, err, c.want)
		}
	}
	l := MustParse("(2,3):(3,1)")
	if got, err := l.Spread(math.MaxInt); !errors.Is(err, ErrOverflow) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := l.Spread(math.MaxInt / 3); !errors.Is(err, ErrOverflow) { // the strides fit, the offsets don't
		t.Errorf("got %v, %v", got, err)
	}
}
