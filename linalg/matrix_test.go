package linalg_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/linalg"
	"github.com/ashlar-go/ashlar/tensor"
	"gonum.org/v1/gonum/mat"
)

func Example() {
	t := tensor.FromSlice([]float64{2, 1, 1, 3}, 2, 2)
	m, shared := linalg.Dense(t)
	var inverse mat.Dense
	if err := inverse.Inverse(m); err != nil {
		fmt.Println(err)
		return
	}
	back, _ := linalg.FromMatrix(&inverse)
	fmt.Printf("%v\n%.1f\n", shared, back)
	m.Set(0, 0, 7)
	fmt.Println(t.At(0, 0))
	// Output:
	// true
	// [[ 0.6 -0.2]
	//  [-0.2  0.4]]
	// 7
}

func same(t *testing.T, what string, x tensor.Tensor[float64], m mat.Matrix) {
	t.Helper()
	if r, c := m.Dims(); r != x.Dim(0) || c != x.Dim(1) {
		t.Errorf("%s: %d×%d, want %v", what, r, c, x.Shape())
		return
	}
	for i, v := range x.All() {
		if got := m.At(i[0], i[1]); got != v {
			t.Errorf("%s: %v at %v, want %v", what, got, i, v)
		}
	}
}

func TestDense(t *testing.T) {
	base := func() tensor.Tensor[float64] { return tensor.Arange(0.0, 30, 1).View(5, 6) }
	large := tensor.Arange(0.0, 90_000, 1).View(300, 300)
	for _, c := range []struct {
		name   string
		x      tensor.Tensor[float64]
		shared bool
	}{
		{"whole", base(), true},
		{"rows", base().S("1:4"), true},
		{"columns", base().S(":, 2:5"), true},
		{"every other row", base().S("::2"), true},
		{"one row", base().S("2:3, 1:"), true},
		{"a row backwards", base().S("2:3, ::-1"), false},
		{"one column", base().S(":, 3:4"), true},
		{"one element", base().S("1:2, 1:2"), true},
		{"every other column", base().S(":, ::2"), false},
		{"reversed", base().S("::-1"), false},
		{"transposed", base().Transpose(), false},
		{"stretched", base().S("0").BroadcastTo(3, 6), false},
		{"read-only", base().ReadOnly(), false},
		{"nested", tensor.FromLayout(make([]float64, 16), layout.MustParse("((2,2),4):((1,8),2)")), false},
		{"large", large.S("10:, 5:"), true},
	} {
		m, shared := linalg.Dense(c.x)
		if shared != c.shared {
			t.Errorf("%s: shared is %v", c.name, shared)
		}
		same(t, c.name, c.x, m)
		same(t, c.name+", as Matrix", c.x, linalg.Matrix(c.x))
		same(t, c.name+", as Matrix, turned", c.x.Transpose(), linalg.Matrix(c.x).T())
		if m.Set(0, 0, -1); (c.x.At(0, 0) == -1) != c.shared {
			t.Errorf("%s: a write through the matrix shows: %v", c.name, !c.shared)
		}
		back, shared := linalg.FromMatrix(m)
		same(t, c.name+", back", back, m)
		if back.Set(-2, 0, 0); !shared || m.At(0, 0) != -2 {
			t.Errorf("%s: the way back doesn't share", c.name)
		}
	}
	if m, _ := linalg.Dense(tensor.New[float64](0, 0)); !m.IsEmpty() {
		t.Error("no matrix without elements")
	}
	for _, x := range []tensor.Tensor[float64]{tensor.New[float64](3), tensor.New[float64](0, 2)} {
		for _, f := range []func(){func() { linalg.Dense(x) }, func() { linalg.Matrix(x) }} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrShape) {
				t.Errorf("%v: %v", x.Shape(), err)
			}
		}
	}
}

func TestFromMatrix(t *testing.T) {
	d := mat.NewDense(4, 5, nil)
	for i := range 20 {
		d.Set(i/5, i%5, float64(i))
	}
	for _, c := range []struct {
		name   string
		m      mat.Matrix
		shared bool
	}{
		{"dense", d, true},
		{"slice", d.Slice(1, 3, 2, 5), true},
		{"transpose", d.T(), true},
		{"slice of it", d.Slice(1, 3, 2, 5).T(), true},
		{"symmetric", mat.NewSymDense(2, []float64{1, 2, 2, 3}), false},
		{"diagonal", mat.NewDiagDense(3, []float64{1, 2, 3}), false},
		{"empty", &mat.Dense{}, false},
		{"vector", mat.NewVecDense(3, []float64{1, 2, 3}), false},
	} {
		x, shared := linalg.FromMatrix(c.m)
		if shared != c.shared {
			t.Errorf("%s: shared is %v", c.name, shared)
		}
		same(t, c.name, x, c.m)
	}
	x, _ := linalg.FromMatrix(d.T())
	if x.Set(-1, 4, 0); d.At(0, 4) != -1 {
		t.Error("the transpose doesn't share")
	}
}

func TestVec(t *testing.T) {
	base := func() tensor.Tensor[float64] { return tensor.Arange(0.0, 12, 1) }
	for _, c := range []struct {
		name   string
		x      tensor.Tensor[float64]
		shared bool
	}{
		{"whole", base(), true},
		{"a column", base().View(4, 3).S(":, 1"), true},
		{"every other", base().S("1::2"), true},
		{"one", base().S("-1:"), true},
		{"reversed", base().S("::-1"), false},
		{"read-only", base().ReadOnly(), false},
	} {
		v, shared := linalg.Vec(c.x)
		if shared != c.shared || v.Len() != c.x.Len() {
			t.Errorf("%s: shared is %v, length %d", c.name, shared, v.Len())
		}
		back := linalg.FromVec(v)
		for i, want := range c.x.All() {
			if v.AtVec(i[0]) != want || back.At(i[0]) != want {
				t.Errorf("%s: %v and %v at %v, want %v", c.name, v.AtVec(i[0]), back.At(i[0]), i, want)
			}
		}
		if v.SetVec(0, -1); (c.x.At(0) == -1) != c.shared || back.At(0) != -1 {
			t.Errorf("%s: a write shows: %v", c.name, !c.shared)
		}
	}
	if v, _ := linalg.Vec(tensor.New[float64](0)); v.Len() != 0 || linalg.FromVec(v).Len() != 0 {
		t.Error("no vector without elements")
	}
	if err := tensor.Try(func() { linalg.Vec(tensor.New[float64](1, 1)) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("got %v", err)
	}
}
