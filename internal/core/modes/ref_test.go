package modes_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

func Example() {
	l := layout.MustParse("(4,6):(6,1)")
	r := walk.Ref(&l)
	fmt.Println(r.Rank(), r.Dim(1), r.Size(), r.IsRowMajor())
	ext, str, rank := r.Plain()
	fmt.Println(ext[:rank], str[:rank])
	nested := layout.MustParse("((2,2),6):((6,12),1)")
	_, _, rank = walk.Ref(&nested).Plain()
	fmt.Println(rank > modes.Inline)
	// Output:
	// 2 6 24 true
	// [4 6] [6 1]
	// true
}

// walk.Ref sees the only field that a Layout has.
func TestRefIsLayout(t *testing.T) {
	l := reflect.TypeFor[layout.Layout]()
	r := reflect.TypeFor[modes.Ref]()
	f := l.Field(l.NumField() - 1)
	if f.Type != r || f.Offset != 0 || l.Size() != r.Size() {
		t.Errorf("a Layout has %d bytes, with %v at %d; a Ref has %d", l.Size(), f.Type, f.Offset, r.Size())
	}
}

// The answers are those of Layout, for flat, nested and deep ones, and so are the errors.
func TestAnswers(t *testing.T) {
	for _, text := range []string{"():()", "5:1", "(4,6):(6,1)", "(4,0):(6,1)", "((2,2),6):((6,12),1)", "((2,(2,3)),6):((1,(2,4)),12)", "(2,2,2,2,2,2,2,2,2):(256,128,64,32,16,8,4,2,1)",
		"((2,2),2,2,2,2,2,2,2,2):((1,2),4,8,16,32,64,128,256,512)"} {
		l := layout.MustParse(text)
		r := walk.Ref(&l)
		if r.Rank() != l.Rank() || r.Leaves() != l.Leaves() || r.Flat() != l.Flat() || r.Size() != l.Size() || r.IsRowMajor() != l.IsRowMajor() || !r.Equal(r) || r.Equal(nil) {
			t.Errorf("%v: rank %d, %d leaves, flat %t, size %d, row-major %t", l, r.Rank(), r.Leaves(), r.Flat(), r.Size(), r.IsRowMajor())
		}
		for i := -1; i <= l.Leaves(); i++ {
			for name, f := range map[string][2]func() string{
				"Leaf":       {func() string { return fmt.Sprint(r.Leaf(i)) }, func() string { return fmt.Sprint(l.Leaf(i)) }},
				"Dim":        {func() string { return fmt.Sprint(r.Dim(i)) }, func() string { return fmt.Sprint(l.Dim(i)) }},
				"Stride":     {func() string { return fmt.Sprint(r.Stride(i)) }, func() string { return fmt.Sprint(l.Stride(i)) }},
				"ModeLeaves": {func() string { return fmt.Sprint(r.ModeLeaves(i)) }, func() string { return fmt.Sprint(l.ModeLeaves(i)) }},
			} {
				if got, want := said(f[0]), said(f[1]); got != want {
					t.Errorf("%v: %s(%d) is %s, want %s", l, name, i, got, want)
				}
			}
		}
	}
}

// said returns the result of f, or the error of package layout that it panics with.
func said(f func() string) (text string) {
	defer func() {
		if r := recover(); r != nil {
			var e *layout.Error
			if err, ok := r.(error); !ok || !errors.As(err, &e) {
				panic(r)
			}
			text = fmt.Sprint(r)
		}
	}()
	return f()
}
