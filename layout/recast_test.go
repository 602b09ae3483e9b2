package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
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
			for _, w := range [][2]int{{8, 8 * n}, {8 * n, 8}} {
				if r, err := l.Recast(w[0], w[1]); err == nil {
					sameMemory(t, l, r, w[0]/8, w[1]/8)
				}
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

// TestRecastExact checks that a layout of elements of another width reaches the same
// bytes, each as often and in the order of the contiguous leaf; what it reaches lies in
// the storage then. Run it with -rapid.checks for more.
func TestRecastExact(t *testing.T) {
	exact := 0
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		from, to := rapid.IntRange(1, 16).Draw(t, "from"), rapid.IntRange(1, 16).Draw(t, "to")
		if rapid.Bool().Draw(t, "powers") {
			from, to = 1<<(from%5), 1<<(to%5)
		}
		r, err := l.Recast(from, to)
		switch {
		case err == nil:
			exact++
			sameMemory(t, l, r, from, to)
		case !errors.Is(err, ErrDivide):
			t.Fatalf("%v from %d to %d: %v", l, from, to, err)
		case from%to == 0 && l.IsRowMajor() && l.Rank() > 0, from == to:
			t.Fatalf("%v from %d to %d: %v", l, from, to, err)
		}
	})
	if exact == 0 {
		t.Error("nothing was recast")
	}
	t.Logf("%d answers", exact)
}

// anyLayout draws a layout: row-major ones, and ones with any strides, nested or flat.
func anyLayout(t *rapid.T) Layout {
	ext := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 2, 3, 4, 6, 8, 0}), 0, 4).Draw(t, "extents")
	l, err := RowMajor(ext...)
	if rapid.Bool().Draw(t, "strided") {
		str := make([]int, len(ext))
		for i := range str {
			str[i] = rapid.SampledFrom([]int{1, 1, 0, 2, 3, 4, 8, 16, 24, -1, -2, -4, -8}).Draw(t, "stride")
		}
		l, err = New(ext, str)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := l.Rank(); n > 1 && rapid.Bool().Draw(t, "nested") {
		at := rapid.IntRange(1, n).Draw(t, "at")
		first := make([]Layout, at)
		for i := range first {
			first[i] = l.Mode(i)
		}
		outer := []Layout{must(Join(first...))}
		for i := at; i < n; i++ {
			outer = append(outer, l.Mode(i))
		}
		l = must(Join(outer...))
	}
	return l
}

// sameMemory checks that r, of elements of to bytes, is l, of from bytes.
func sameMemory(t interface{ Fatalf(string, ...any) }, l, r Layout, from, to int) {
	bag := make(map[int]int)
	for i := range l.Size() {
		off, _ := l.Offset(i)
		for b := range from {
			bag[off*from+b]++
		}
	}
	for i := range r.Size() {
		off, _ := r.Offset(i)
		for b := range to {
			bag[off*to+b]--
		}
	}
	for b, n := range bag {
		if n != 0 {
			t.Fatalf("%v from %d to %d: %v: %d of byte %d too few", l, from, to, r, n, b)
		}
	}
	if l.Size() == 0 || from == to {
		return
	}
	// Both leaves count the same bytes along the contiguous leaf, which has changed.
	k := -1
	for i := range l.Leaves() {
		e, _ := l.Leaf(i)
		if f, _ := r.Leaf(i); e != f {
			if k >= 0 || e*from != f*to {
				t.Fatalf("%v from %d to %d: %v: leaf %d", l, from, to, r, i)
			}
			k = i
		}
	}
	if k < 0 {
		t.Fatalf("%v from %d to %d: %v", l, from, to, r)
	}
	for i := range l.Leaves() {
		e, s := l.Leaf(i)
		_, u := r.Leaf(i)
		if i == k && (u != 1 || e > 1 && s != 1) || i != k && e > 1 && s*from != u*to {
			t.Fatalf("%v from %d to %d: %v: leaf %d", l, from, to, r, i)
		}
	}
}

// TestRecastOnes has the answers for extents of 1 and what has no answer.
func TestRecastOnes(t *testing.T) {
	for _, c := range []struct {
		l        string
		from, to int
		want     string // "" for an error
	}{
		{"(4,3,1):(3,1,1)", 4, 1, "(4,12,1):(12,1,4)"},
		{"(1,1,1):(1,1,1)", 4, 2, "(1,1,2):(2,2,1)"},
		{"(3,1):(2,7)", 4, 1, "(3,4):(8,1)"},
		{"(3,1):(-1,1)", 2, 1, "(3,2):(-2,1)"},
		{"(2,3):(1,-1)", 2, 1, "(4,3):(1,-2)"},
		{"(3,2):(1,1)", 2, 1, "(3,4):(2,1)"}, // a window: each byte as often as before
		{"(1,8):(3,1)", 1, 4, "(1,2):(0,1)"},
		{"(2,1,8):(8,1,1)", 2, 8, "(2,1,2):(2,0,1)"},
		{"(2,8):(0,1)", 1, 8, "(2,1):(0,1)"},
		{"(3,0):(1,1)", 4, 1, "(3,0):(4,1)"},
		{"(0,3):(3,1)", 4, 1, "(0,12):(12,1)"},
		{"(0,8):(3,1)", 1, 4, "(0,2):(0,1)"},
		{"(2,6):(12,1)", 4, 6, "(2,4):(8,1)"},
		{"8:2", 4, 4, "8:2"},
		{"():()", 4, 4, "():()"},
		{"(3,8):(8,2)", 4, 8, ""},
		{"3:8", 4, 8, ""},
		{"1:0", 4, 8, ""},
		{"():()", 4, 8, ""},
		{"():()", 8, 4, ""},
		{"8:2", 4, 1, ""},
		{"8:-1", 4, 1, ""},
		{"8:-1", 1, 4, ""},
		{"(2,8):(6,1)", 1, 4, ""},
	} {
		l := MustParse(c.l)
		r, err := l.Recast(c.from, c.to)
		if got := r.String(); err == nil && got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s from %d to %d: %v, %v, want %s", c.l, c.from, c.to, got, err, c.want)
		}
		if err == nil {
			sameMemory(t, l, r, c.from, c.to)
		}
	}
	const huge = math.MaxInt/2 + 1
	l := MustParse(fmt.Sprintf("(%d,1):(1,%d)", huge, huge))
	if _, err := l.Recast(4, 1); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	l = MustParse(fmt.Sprintf("(4,1):(1,%d)", huge))
	if r, err := l.Recast(4, 1); err != nil || r.String() != "(16,1):(1,0)" {
		t.Error(r, err)
	}
}
