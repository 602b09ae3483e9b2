package judge_test

import (
	"errors"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// FactsOf, Compare and Holders agree with a look at every coordinate.
func TestFactsByLooking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := func(name string) layout.Composed {
			n := rapid.IntRange(0, 3).Draw(t, name)
			ext, str := make([]int, n), make([]int, n)
			for i := range n {
				ext[i], str[i] = rapid.IntRange(0, 5).Draw(t, "extent"), rapid.IntRange(-6, 12).Draw(t, "stride")
			}
			l, err := layout.New(ext, str)
			if err != nil {
				t.Fatal(err)
			}
			c, err := layout.NewComposed(layout.Swizzle{}, rapid.IntRange(0, 3).Draw(t, "base"), l)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b := one("a"), one("b")
		f := judge.FactsOf(a)
		holds := map[int]int{}
		least, most := 0, -1
		for i := range a.Size() {
			off, err := a.Offset(i)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				least, most = off, off
			}
			least, most = min(least, off), max(most, off)
			holds[off]++
		}
		if f.Size != a.Size() || f.Least != least || f.Most != most || *f.Injective != (len(holds) == a.Size()) || *f.Contiguous != (*f.Injective && most-least == a.Size()-1) {
			t.Fatalf("%v: %+v", a, f)
		}
		off := rapid.IntRange(-2, 20).Draw(t, "offset")
		coords, count, err := judge.Holders(a, off, 2)
		if err != nil || count != holds[off] || len(coords) != min(count, 2) {
			t.Fatalf("%v at %d: %v of %d, %v; there are %d", a, off, coords, count, err, holds[off])
		}
		for _, i := range coords {
			if got, err := a.Offset(i); err != nil || got != off {
				t.Fatalf("%v: coordinate %d has %d, not %d", a, i, got, off)
			}
		}
		d, err := judge.Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		equal, first := 0, -1
		for i := range min(a.Size(), b.Size()) {
			x, _ := a.Offset(i)
			y, _ := b.Offset(i)
			if x == y {
				equal++
			} else if first < 0 {
				first = i
			}
		}
		if first < 0 && a.Size() != b.Size() {
			first = min(a.Size(), b.Size())
		}
		if d.Equal != equal || (d.First == nil) != (first < 0) || d.First != nil && d.First.Index != first {
			t.Fatalf("%v and %v: %+v", a, b, d)
		}
	})
}

func TestFactsOfLarge(t *testing.T) {
	for text, want := range map[string][2]bool{"(4096,4096):(4096,1)": {true, true}, "(4096,4096):(0,1)": {false, false}, "(4096,4096):(8192,1)": {true, false}} {
		f := judge.FactsOf(judge.Plain(layout.MustParse(text)))
		if f.Injective == nil || f.Contiguous == nil || *f.Injective != want[0] || *f.Contiguous != want[1] {
			t.Errorf("%s: %+v", text, f)
		}
	}
	large := judge.Plain(layout.MustParse("(4096,4096):(4096,1)"))
	if _, err := judge.Compare(large, large); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("Compare of 2^24 elements: %v", err)
	}
	if _, _, err := judge.Holders(large, 0, 1); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("Holders of 2^24 elements: %v", err)
	}
}
