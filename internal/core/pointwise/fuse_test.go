package pointwise_test

import (
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// A product and a sum are one step where nobody else needs the product, and both are rounded; so are some functions of such a sum.
func TestFuseMulAdd(t *testing.T) {
	type T = tensor.Tensor[float32]
	made := func(seed float32) T {
		x := op.Add(tensor.Arange[float32](0, 37*51, 1).Reshape(37, 51), tensor.Scalar(seed))
		x = op.Sin(x)
		x.Set(float32(math.Inf(1)), 3, int(seed))
		x.Set(float32(math.NaN()), 5, int(seed))
		return x
	}
	a, b, c := made(1), made(2), made(3)
	row := c.Slice(tensor.I(1))
	for _, w := range []struct {
		name  string
		steps int // with the row of both, and else
		apart int
		f     func(a T, lazy func(T) T) T
	}{
		{"a·b + c", 1, 2, func(a T, lazy func(T) T) T { return op.Add(op.Mul(a, b), c) }},
		{"c + a·b", 1, 2, func(a T, lazy func(T) T) T { return op.Add(c, op.Mul(b, a)) }},
		{"a·row + row", 1, 2, func(a T, lazy func(T) T) T { return op.Add(op.Mul(a, row), row) }},
		{"a·b + b·c", 2, 3, func(a T, lazy func(T) T) T { return op.Add(op.Mul(a, b), op.Mul(lazy(b), c)) }},
		{"y + y", 2, 2, func(a T, lazy func(T) T) T { y := op.Mul(a, b); return op.Add(y, y) }},
		{"y + c + y", 3, 3, func(a T, lazy func(T) T) T { y := op.Mul(a, b); return op.Add(op.Add(y, c), y) }},
		{"(a·b + c)·b + c", 2, 4, func(a T, lazy func(T) T) T { return op.Add(op.Mul(op.Add(op.Mul(a, b), c), b), c) }},
		{"row·row + a", 1, 1, func(a T, lazy func(T) T) T { return op.Add(op.Mul(lazy(row), row), a) }},
		{"a·b − c", 2, 2, func(a T, lazy func(T) T) T { return op.Sub(op.Mul(a, b), c) }},
		{"relu(a·b + row)", 1, 3, func(a T, lazy func(T) T) T { return op.Relu(op.Add(op.Mul(a, b), row)) }},
		{"fast exp(a·b + c)", 1, 3, func(a T, lazy func(T) T) T { return op.Exp(op.Add(op.Mul(a, b), c), op.Fast()) }},
		{"fast log(fast sigmoid(c + a·b))", 2, 4, func(a T, lazy func(T) T) T { return op.Log(op.Sigmoid(op.Add(c, op.Mul(a, b)), op.Fast()), op.Fast()) }},
		{"relu(y) + y, y = a·b + c", 3, 4, func(a T, lazy func(T) T) T { y := op.Add(op.Mul(a, b), c); return op.Add(op.Relu(y), y) }},
		{"relu(a·b + c + c)", 3, 4, func(a T, lazy func(T) T) T { return op.Relu(op.Add(op.Add(op.Mul(a, b), c), c)) }},
		{"relu(a·b + c)·b + c", 2, 5, func(a T, lazy func(T) T) T { return op.Add(op.Mul(op.Relu(op.Add(op.Mul(a, b), c)), b), c) }},
		{"neg(a·b + c)", 2, 3, func(a T, lazy func(T) T) T { return op.Neg(op.Add(op.Mul(a, b), c)) }},
		{"relu(row·row + row) + a", 1, 1, func(a T, lazy func(T) T) T { return op.Add(op.Relu(op.Add(op.Mul(lazy(row), row), row)), a) }},
		{"tanh(a·b + c)", tanhSteps(), 3, func(a T, lazy func(T) T) T { return op.Tanh(op.Add(op.Mul(a, b), c)) }},
	} {
		y := w.f(op.Lazy(a), op.Lazy[float32])
		if !tensortest.Equal(t, op.Fuse(y).Any(), w.f(a, func(t T) T { return t }).Any()) {
			t.Error(w.name)
		}
		dst, want := tensor.New[float32](37, 51), w.steps
		if simd.MulAdd.Best() == nil {
			want = w.apart
		}
		if got := pointwise.StepsOf(exec.Ref(&y), exec.Ref(&dst)); got != want {
			t.Errorf("%s: %d steps, want %d", w.name, got, want)
		}
	}
}

// tanhSteps is how many steps a correctly rounded tanh of a product and a sum is: one where there is a row of all three.
func tanhSteps() int {
	if r := simd.Tanh.Best(); r != nil && r.MulAddF32 != nil {
		return 1
	}
	return 2
}
