package op_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// complexes draws a tensor of small whole complex numbers, whose sums and products
// are exact, in some layout.
func complexes(t *rapid.T, label string, shape ...int) tensor.Tensor[complex128] {
	a := tensor.New[complex128](shape...)
	for i := range a.Any().Indices() {
		a.Set(complex(float64(rapid.IntRange(-9, 9).Draw(t, label)), float64(rapid.IntRange(-9, 9).Draw(t, label))), i...)
	}
	if len(shape) == 2 && rapid.Bool().Draw(t, label+" by columns") {
		return a.Permute(1, 0).Contiguous().Permute(1, 0)
	}
	return a
}

func TestComplexArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(0, 5).Draw(t, "m"), rapid.IntRange(1, 40).Draw(t, "n")
		a, b := complexes(t, "a", m, n), complexes(t, "b", m, n)
		sum, diff, prod, quot, neg := op.Add(a, b), op.Sub(a, b), op.Mul(a, b), op.Div(op.Mul(a, b), b), op.Neg(a)
		same, other := op.Equal(a, b), op.NotEqual(a, b)
		for i := range a.Any().Indices() {
			x, y := a.At(i...), b.At(i...)
			if sum.At(i...) != x+y || diff.At(i...) != x-y || prod.At(i...) != x*y || neg.At(i...) != -x {
				t.Fatalf("of %v and %v: %v, %v, %v, %v", x, y, sum.At(i...), diff.At(i...), prod.At(i...), neg.At(i...))
			}
			if got := quot.At(i...); y != 0 && cmplx.Abs(got-x) > 1e-13 {
				t.Fatalf("%v · %v ÷ %v = %v", x, y, y, got)
			}
			if same.At(i...) != (x == y) || other.At(i...) != (x != y) {
				t.Fatalf("%v and %v: equal %v", x, y, same.At(i...))
			}
		}
		if got := op.Add(a, b, op.Into(a)); !got.Any().SameData(a.Any()) || !op.All(op.Equal(a, sum), nil).At() {
			t.Fatal("in place it differs")
		}
	})
}

func TestComplexSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, y, product, quotient complex128 }{
		{complex(1, 2), 0, 0, complex(inf, inf)},
		{complex(0, 2), 0, complex(0, 0), complex(nan, inf)},
		{complex(inf, 0), complex(1, 0), complex(inf, nan), complex(inf, nan)},
		{complex(1e300, 1e300), complex(1e300, 1e300), complex(nan, inf), 1},
		{complex(3, 4), complex(0, 2), complex(-8, 6), complex(2, -1.5)},
		{complex(3, 4), complex(2, 0), complex(6, 8), complex(1.5, 2)},
	} {
		for name, got := range map[string]complex128{"Mul": op.Mul(tensor.Scalar(c.x), tensor.Scalar(c.y)).At(), "Div": op.Div(tensor.Scalar(c.x), tensor.Scalar(c.y)).At()} {
			want := c.product
			if name == "Div" {
				want = c.quotient
			}
			for _, p := range [2][2]float64{{real(got), real(want)}, {imag(got), imag(want)}} {
				if p[0] != p[1] && !(p[0] != p[0] && p[1] != p[1]) {
					t.Errorf("%s(%v, %v) = %v, want %v", name, c.x, c.y, got, want)
				} else if p[0] != p[0] && math.Float64bits(p[0]) != 0x7ff8000000000000 {
					t.Errorf("%s(%v, %v): NaN %x", name, c.x, c.y, math.Float64bits(p[0]))
				}
			}
		}
	}
}

func TestComplexProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n, k := rapid.IntRange(0, 4).Draw(t, "m"), rapid.IntRange(0, 4).Draw(t, "n"), rapid.IntRange(0, 300).Draw(t, "k")
		a, b := complexes(t, "a", m, k), complexes(t, "b", k, n)
		got, ein := op.MatMul(a, b), op.Einsum("ik,kj->ij", []tensor.Tensor[complex128]{a, b})
		for i := range m {
			for j := range n {
				var want complex128
				for l := range k {
					want += a.At(i, l) * b.At(l, j)
				}
				if got.At(i, j) != want || ein.At(i, j) != want {
					t.Fatalf("at %d, %d: %v and %v, want %v", i, j, got.At(i, j), ein.At(i, j), want)
				}
			}
		}
		if m == k && k == n {
			if op.MatMul(a, b, op.Into(a)); !op.All(op.Equal(a, got), nil).At() {
				t.Fatal("into an operand it differs")
			}
		}
		sum := op.ReduceSum(complexes(t, "c", 3, k), []int{1}, op.KeepDims())
		if s := sum.Shape(); s[0] != 3 || s[1] != 1 {
			t.Fatalf("shape %v", s)
		}
		rows := op.ReduceSum(a, []int{1})
		for i := range m {
			var want complex128
			for l := range k {
				want += a.At(i, l)
			}
			if rows.At(i) != want {
				t.Fatalf("sum of row %d: %v, want %v", i, rows.At(i), want)
			}
		}
	})
	if got := op.ReduceMean(tensor.FromSlice([]complex64{1 + 2i, 3}, 2), nil).At(); got != 2+1i {
		t.Errorf("mean %v", got)
	}
}

// The product of matrices of truth values is whether any pair is true, however many are.
func TestBoolProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n, k := rapid.IntRange(0, 4).Draw(t, "m"), rapid.IntRange(0, 4).Draw(t, "n"), rapid.IntRange(0, 300).Draw(t, "k")
		draw := func(r, c int) tensor.Tensor[bool] {
			a := tensor.New[bool](r, c)
			for i := range a.Any().Indices() {
				a.Set(rapid.IntRange(0, 3).Draw(t, "x") == 0, i...)
			}
			return a
		}
		a, b := draw(m, k), draw(k, n)
		got := op.MatMul(a, b)
		for i := range m {
			for j := range n {
				want := false
				for l := range k {
					want = want || a.At(i, l) && b.At(l, j)
				}
				if got.At(i, j) != want {
					t.Fatalf("at %d, %d: %v", i, j, !want)
				}
			}
		}
	})
	if x := tensor.Scalar(true); !op.Inner(x, x).At() {
		t.Error("Inner of scalars isn't And")
	}
}
