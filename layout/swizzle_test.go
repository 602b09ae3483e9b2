package layout

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// swizzles calls f with all small swizzles.
func swizzles(t *testing.T, f func(w Swizzle)) {
	t.Helper()
	for b := range 4 {
		for m := range 4 {
			for s := -4; s <= 4; s++ {
				w, err := NewSwizzle(b, m, s)
				if max(s, -s) < b {
					if !errors.Is(err, ErrRange) {
						t.Fatalf("%d, %d, %d: %v, %v", b, m, s, w, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				f(w)
			}
		}
	}
}

// TestSwizzle flips the bits one by one, and checks that every block is permuted
// and that twice is nothing.
func TestSwizzle(t *testing.T) {
	swizzles(t, func(w Swizzle) {
		seen := make([]bool, 2*w.Size())
		for x := range seen {
			want := x
			for i := range w.Bits() {
				from, to := w.Base()+w.Shift()+i, w.Base()+i
				if w.Shift() < 0 {
					from, to = w.Base()+i, w.Base()-w.Shift()+i
				}
				want ^= x >> from & 1 << to
			}
			y := w.At(x)
			if y != want || w.At(y) != x || x/w.Size() != y/w.Size() || seen[y] {
				t.Fatalf("%v(%d) = %d, want %d", w, x, y, want)
			}
			seen[y] = true
			if n := w.At(-x - 1); w.At(n) != -x-1 || n >= 0 {
				t.Fatalf("%v(%d) = %d", w, -x-1, n)
			}
		}
	})
	if w := (Swizzle{}); w.At(123) != 123 || w.Size() != 1 {
		t.Error("the zero value changes something")
	}
	for _, c := range [][3]int{{-1, 0, 3}, {1, -1, 3}, {2, 0, 1}, {2, 0, -1}, {1, 0, 0}, {math.MaxInt, math.MaxInt, math.MaxInt}, {1, 0, math.MinInt},
		{1, 0, strconv.IntSize}, {1, strconv.IntSize, 1}, {0, math.MaxInt, math.MaxInt}} {
		if w, err := NewSwizzle(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %v", c, w)
		}
	}
}

// TestSwizzleCast compares the swizzle of wider and narrower elements with that of
// the elements they are made of.
func TestSwizzleCast(t *testing.T) {
	swizzles(t, func(w Swizzle) {
		for _, n := range []int{1, 2, 4, 8, 16, 64} {
			within := true // whether the bits inside a wide element don't decide where it goes
			for x := range 4 * w.Size() {
				within = within && w.At(x)/n == w.At(x/n*n)/n
			}
			u, err := w.Upcast(n)
			if (err == nil) != within {
				t.Fatalf("%v by %d: %v, %v", w, n, u, err)
			}
			for x := range 4 * w.Size() {
				if err == nil && u.At(x/n) != w.At(x)/n {
					t.Fatalf("%v by %d: %v sends %d to %d", w, n, u, x/n, u.At(x/n))
				}
			}
			d, err := w.Downcast(n)
			if err != nil {
				t.Fatal(err)
			}
			for x := range 2 * w.Size() {
				for i := range n {
					if d.At(n*x+i) != n*w.At(x)+i {
						t.Fatalf("%v by %d: %v sends %d to %d", w, n, d, n*x+i, d.At(n*x+i))
					}
				}
			}
			if back, err := d.Upcast(n); err != nil || back != w {
				t.Fatalf("%v by %d and back: %v, %v", w, n, back, err)
			}
		}
	})
	w, err := NewSwizzle(2, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, -2, 3, math.MinInt} {
		if _, err := w.Upcast(n); !errors.Is(err, ErrDivide) {
			t.Error(n, err)
		}
		if _, err := w.Downcast(n); !errors.Is(err, ErrDivide) {
			t.Error(n, err)
		}
	}
	if _, err := w.Downcast(math.MaxInt/2 + 1); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
}

// TestComposed compares with the three functions one after the other.
func TestComposed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(2, 60).Draw(t, "inner")
		inner := n.layout(t)
		offset := rapid.IntRange(-5, 60).Draw(t, "offset")
		on := nodes(2, 60).Draw(t, "outer")
		if len(on.leaves()) == 0 {
			on = node{kids: []node{{ext: 3, str: 2}}}
		}
		w, err := NewSwizzle(2, rapid.IntRange(0, 2).Draw(t, "base"), rapid.SampledFrom([]int{-3, 2, 3}).Draw(t, "shift"))
		if err != nil {
			t.Fatal(err)
		}
		table := n.colex()
		lowest := 0
		for _, x := range table {
			lowest = min(lowest, offset+x)
		}
		outer := on.layout(t)
		c, err := NewComposed(outer, offset, inner)
		if bad := len(table) > 0 && (lowest < 0 || on.size() == 0); bad != (err != nil) {
			t.Fatalf("%v ∘ %d ∘ %v: %v", outer, offset, inner, err)
		}
		s, swizzleErr := NewComposed(w, offset, inner)
		if swizzleErr != nil {
			t.Fatal(swizzleErr)
		}
		for i, x := range table {
			coord, coordErr := inner.CoordOf(i)
			if coordErr != nil {
				t.Fatal(coordErr)
			}
			if got, err := s.Offset(i); err != nil || got != w.At(offset+x) {
				t.Fatalf("%v: %d at %d (%v)", s, got, i, err)
			}
			if got, err := s.OffsetAt(coord); err != nil || got != w.At(offset+x) {
				t.Fatalf("%v: %d at %d (%v)", s, got, i, err)
			}
			if fixed, err := s.Fix(coord); err != nil || fixed.Size() != 1 || fixed.Base() != offset+x {
				t.Fatalf("%v at %v: %v, %v", s, coord, fixed, err)
			}
			if err != nil {
				continue
			}
			if got, err := c.Offset(i); err != nil || got != extended(on.leaves(), offset+x) {
				t.Fatalf("%v: %d at %d (%v)", c, got, i, err)
			}
		}
		if _, err := s.Offset(len(table)); !errors.Is(err, ErrRange) {
			t.Fatal(err)
		}
	})
	big, err := New([]int{2}, []int{math.MaxInt - 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		outer  Map
		offset int
	}{{Swizzle{}, 5}, {MustParse("2:1"), 5}, {MustParse("2:3"), 0}} {
		if x, err := NewComposed(c.outer, c.offset, big); !errors.Is(err, ErrOverflow) {
			t.Errorf("%v: %v", x, err)
		}
	}
}
