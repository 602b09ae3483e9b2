package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// byColumns lists the elements with the first axis fastest, by their indices.
func byColumns(x tensor.Tensor[int32]) []int32 {
	shape := x.Shape()
	slices.Reverse(shape)
	list := make([]int32, 0, x.Len())
	for _, c := range coords(shape) {
		slices.Reverse(c)
		list = append(list, x.At(c...))
	}
	return list
}

// A reshape in column order keeps the elements as the first axis enumerates them,
// and shares exactly where the transposed tensor does.
func TestReshapeIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		x := p.t
		shape := drawShape(t, x.Len())
		got := tensor.ReshapeIn(x, tensor.OrderF, shape...)
		if !slices.Equal(got.Shape(), shape) || !slices.Equal(byColumns(got), byColumns(x)) {
			t.Fatalf("%v to %v: %v, want the order %v", x.Layout(), shape, got, byColumns(x))
		}
		if f := tensor.Flatten(x, tensor.OrderF); !slices.Equal(f.Elems(), byColumns(x)) || f.Any().SameData(x.Any()) {
			t.Fatalf("Flatten of %v: %v, want %v", x.Layout(), f, byColumns(x))
		}
		back := slices.Clone(shape)
		slices.Reverse(back)
		if can := x.Transpose().Any().CanView(back...); can != got.Any().SameData(x.Any()) {
			t.Fatalf("%v to %v shares: %v, want %v", x.Layout(), shape, got.Any().SameData(x.Any()), can)
		}
		rows := tensor.ReshapeIn(x, tensor.OrderC, shape...)
		if want := x.Reshape(shape...); !slices.Equal(values(rows), values(want)) || !slices.Equal(values(tensor.Flatten(x, tensor.OrderC)), values(x)) {
			t.Fatalf("OrderC gives %v, want %v", rows, want)
		}
	})
	x := tensor.Arange[int32](0, 6, 1).View(2, 3)
	if got := tensor.ReshapeIn(x, tensor.OrderF, 3, -1); !slices.Equal(values(got), []int32{0, 4, 3, 2, 1, 5}) {
		t.Errorf("got %v", got)
	}
	for _, f := range []func(){
		func() { tensor.ReshapeIn(x, 2, 6) },
		func() { tensor.Flatten(x, 2) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("got %v", err)
		}
	}
	if err := tensor.Try(func() { tensor.ReshapeIn(x, tensor.OrderF, 4, 2) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("got %v", err)
	}
}

func TestIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		var got [][]int
		for i := range p.t.Any().Indices() {
			got = append(got, slices.Clone(i))
			if len(i) > 0 {
				i[0] = 99 // is the caller's until the next round
			}
		}
		want := coords(p.m.shape)
		if len(p.m.at) == 0 {
			want = nil
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Fatalf("%v: %v, want %v", p.m.shape, got, want)
		}
	})
	for range tensor.New[int8](3).Any().Indices() {
		break
	}
}

func TestAxis(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(2, 3, 4)
	for axis := -3; axis < 3; axis++ {
		next := 0
		for i, v := range tensor.Axis(x, axis) {
			idx := []tensor.Index{tensor.Colon, tensor.Colon, tensor.Colon}
			idx[(axis+3)%3] = tensor.I(i)
			want := x.Slice(idx...)
			if i != next || !slices.Equal(v.Shape(), want.Shape()) || !slices.Equal(values(v), values(want)) || !v.Any().SameData(x.Any()) {
				t.Errorf("axis %d, %d: %v, want %v", axis, i, v, want)
			}
			next++
		}
		if next != x.Dim(axis) {
			t.Errorf("axis %d: %d rounds", axis, next)
		}
	}
	for range tensor.Axis(x, 0) {
		break
	}
	if err := tensor.Try(func() { tensor.Axis(x, 3) }); !errors.Is(err, tensor.ErrAxis) {
		t.Errorf("got %v", err)
	}
}

// Windows gives one by one the windows that SlidingWindow gives at once.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := tensor.Arange[int32](0, 60, 1).View(3, 4, 5).Permute(rapid.Permutation([]int{0, 1, 2}).Draw(t, "axes")...)
		var size []int
		all := x
		for k := range 3 {
			size = append(size, rapid.IntRange(0, x.Dim(k)).Draw(t, "size"))
			all = tensor.SlidingWindow(all, k, size[k])
		}
		at := coords(all.Shape()[:3])
		for i, w := range tensor.Windows(x, size...) {
			want := all.Slice(tensor.I(i[0]), tensor.I(i[1]), tensor.I(i[2]))
			if !slices.Equal(i, at[0]) || !slices.Equal(w.Shape(), size) || !slices.Equal(values(w), values(want)) || !w.Any().SameData(x.Any()) {
				t.Fatalf("%v of %v: %v, want %v at %v", size, i, w, want, at[0])
			}
			at = at[1:]
		}
		if len(at) > 0 {
			t.Fatalf("%d windows are missing", len(at))
		}
	})
	x := tensor.New[int8](3, 4)
	for _, size := range [][]int{{1}, {4, 1}, {1, -1}} {
		if err := tensor.Try(func() { tensor.Windows(x, size...) }); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%v: %v", size, err)
		}
	}
	n := 0
	for range tensor.Windows(tensor.Scalar(1.0)) {
		n++
	}
	for range tensor.Windows(x, 1, 1) {
		break
	}
	if n != 1 {
		t.Errorf("%d windows of a scalar", n)
	}
}

func TestAtOr(t *testing.T) {
	x := tensor.Arange[int32](0, 6, 1).View(2, 3).Transpose()
	for i := -2; i < 5; i++ {
		for j := -2; j < 4; j++ {
			want := int32(-7)
			if i >= 0 && i < 3 && j >= 0 && j < 2 {
				want = x.At(i, j)
			}
			if got := tensor.AtOr(x, -7, i, j); got != want {
				t.Errorf("(%d,%d): %d, want %d", i, j, got, want)
			}
		}
	}
	for _, idx := range [][]int{nil, {0}, {0, 0, 0}, {9}} {
		if err := tensor.Try(func() { tensor.AtOr(x, 0, idx...) }); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("%v: %v", idx, err)
		}
	}
	if got := tensor.AtOr(tensor.New[int8](0), 5, 0); got != 5 {
		t.Errorf("of an empty tensor: %d", got)
	}
}
