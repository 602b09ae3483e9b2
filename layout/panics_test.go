package layout

import (
	"errors"
	"math"
	"testing"
)

// TestAxisPanics has the functions without an error to return: they panic with an *Error.
func TestAxisPanics(t *testing.T) {
	var scalar Layout
	flat, nested, deep := MustParse("(2,3):(3,1)"), MustParse("((2,2),3):((1,6),2)"), MustParse("(1,1,1,1,1,1,1,2,3):(0,0,0,0,0,0,0,3,1)")
	for _, l := range []*Layout{&scalar, &flat, &nested, &deep} {
		for name, f := range map[string]func(i int){
			"Dim": func(i int) { l.Dim(i) }, "Stride": func(i int) { l.Stride(i) }, "Leaf": func(i int) { l.Leaf(i) }, "Mode": func(i int) { l.Mode(i) },
			"ModeLeaves": func(i int) { l.ModeLeaves(i) }, "Extents": func(i int) { e := l.Extents(); e.Entry(i + 1) },
		} {
			for _, i := range []int{math.MinInt, -2, 9, math.MaxInt - 1} {
				axisPanic(t, l.String()+" "+name, func() { f(i) })
			}
		}
		axisPanic(t, "Leaf", func() { l.Leaf(l.Leaves()) })
		axisPanic(t, "Dim", func() { l.Dim(l.Rank()) })
		axisPanic(t, "Stride", func() { l.Stride(l.Rank()) })
	}
	axisPanic(t, "Entry", func() { Int(3).Entry(1) })
	axisPanic(t, "Entry", func() { Hole().Entry(-1) })
	if e := Int(3).Entry(0); !e.Equal(Int(3)) {
		t.Error(e)
	}
	var none *Layout
	for _, outer := range []Map{nil, none} {
		if _, err := NewComposed(outer, 0, flat); !errors.Is(err, ErrShape) {
			t.Error(err)
		}
	}
	var zero Composed
	if off, err := zero.Offset(0); off != 0 || err != nil || zero.String() == "" {
		t.Error(off, err)
	}
}

func axisPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if e, ok := recover().(*Error); !ok || !errors.Is(e, ErrAxis) {
			t.Errorf("%s: %v", name, e)
		}
	}()
	f()
}
