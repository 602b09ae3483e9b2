package layout

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// The inverses of a swizzled layout take offsets back, wherever there is one.
func TestSwizzledInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shape, stride []int
		at := 0 // the bits of offsets, dealt to the leaves in some order
		leaves := rapid.IntRange(1, 4).Draw(t, "leaves")
		for range leaves {
			at += rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "gap")
			n := rapid.IntRange(0, 3).Draw(t, "extent")
			shape, stride = append(shape, 1<<n), append(stride, 1<<at)
			at += n
		}
		order := rapid.Permutation([]int{0, 1, 2, 3}[:leaves]).Draw(t, "order")
		l := must(New(shape, stride))
		l, err := l.Permute(order...)
		if err != nil {
			t.Fatal(err)
		}
		b := rapid.IntRange(1, 3).Draw(t, "bits")
		shift := rapid.IntRange(b, 5).Draw(t, "shift") * rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
		a := fmt.Sprintf("(Sw<%d,%d,%d> o %v)", b, rapid.IntRange(0, 3).Draw(t, "base"), shift, l)
		inverses(t, a)
	})
	for _, a := range []string{"(Sw<1,0,1> o 8:1)", "(Sw<2,1,3> o (8,8):(1,8))", "(Sw<2,1,3> o 32:1)", "(Sw<3,4,3> o (4,8):(8,1))"} {
		if inverses(t, a) != 2 {
			t.Errorf("%s has a left and a right inverse", a)
		}
	}
}

// inverses compares the inverses of a layout, and returns how many there are.
func inverses(t rapid.TB, a string) (found int) {
	t.Helper()
	f, err := Eval(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"left", "right"} {
		g, err := Eval(side + "_inverse " + a)
		if err != nil {
			continue // no swizzle after a layout
		}
		found++
		first, then := f, g
		if side == "right" {
			first, then = g, f
		}
		for i := range first.Size() {
			y, err := first.Offset(i)
			if err != nil {
				t.Fatal(err)
			}
			if y >= then.Size() {
				t.Fatalf("%s_inverse %s is %v: %d is taken to %d, outside", side, a, g, i, y)
			}
			if x, err := then.Offset(y); err != nil || x != i {
				t.Fatalf("%s_inverse %s is %v: %d is taken to %d and that to %d, %v", side, a, g, i, y, x, err)
			}
		}
	}
	return found
}
