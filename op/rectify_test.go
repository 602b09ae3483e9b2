package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Under Rectify the bits are as with Relu after the operator, whatever the shapes, c and the target.
func TestRectify(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	some := func(shape ...int) tensor.Tensor[float32] {
		x := tensor.New[float32](shape...)
		for i, e := 0, x.Elems(); i < len(e); i++ {
			if e[i] = float32(rng.NormFloat64()); rng.IntN(60) == 0 {
				e[i] = []float32{float32(math.NaN()), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1))}[rng.IntN(4)]
			}
		}
		return x
	}
	both := func(what string, f func(opts ...Option) tensor.Tensor[float32]) {
		t.Helper()
		want := Relu(f())
		same(t, what, f(Rectify()), want)
		turned := tensor.New[float32](want.Dim(-1), want.Len()/max(1, want.Dim(-1)))
		into := turned.Transpose().View(want.Shape()...)
		same(t, what+" into columns", f(Rectify(), Into(into)), want)
	}
	for range 60 {
		m, n, k := 1+rng.IntN(70), 1+rng.IntN(70), rng.IntN(600)
		if rng.IntN(4) == 0 {
			m, n = 300, 1+rng.IntN(5)
		}
		a, b := some(m, k), some(k, n)
		for _, c := range []tensor.Tensor[float32]{{}, some(n), some(m, n), some(m, 1), some(n, m).Transpose(), some(1, 1), some(n).Flip(0)} {
			for _, f := range [][2]float64{{1, 1}, {0.5, 1}, {1, -2}, {1, 0}} {
				both(fmt.Sprintf("Gemm %dx%dx%d, %v", m, n, k, f), func(opts ...Option) tensor.Tensor[float32] { return Gemm(a, b, c, f[0], f[1], GemmOptions{}, opts...) })
			}
		}
		same(t, "in place", Gemm(a, b, some(m, n), 1, 0, GemmOptions{}, Rectify()), Relu(MatMul(a, b)))
		x := some(m, n)
		want := Relu(Gemm(a, b, x, 1, 1, GemmOptions{}))
		same(t, "over c", Gemm(a, b, x, 1, 1, GemmOptions{}, Rectify(), Into(x)), want)
	}
	for range 40 {
		group := 1 + rng.IntN(3)
		x, w, bias := some(1+rng.IntN(2), 4*group, 1+rng.IntN(12), 1+rng.IntN(40)), some(group*(1+rng.IntN(20)), 4, 1+rng.IntN(3), 1+rng.IntN(3)), tensor.Tensor[float32]{}
		if rng.IntN(3) > 0 {
			bias = some(w.Dim(0))
		}
		win := Window{Pads: []int{2, 2, 2, 2}, Strides: []int{1, 1 + rng.IntN(2)}}
		both(fmt.Sprintf("Conv of %v by %v", x.Shape(), w.Shape()), func(opts ...Option) tensor.Tensor[float32] { return Conv(x, w, bias, win, group, opts...) })
	}
	h, hw := Cast[num.F16](some(1, 3, 6, 6)), Cast[num.F16](some(5, 3, 3, 3))
	same(t, "float16", Conv(h, hw, tensor.Tensor[num.F16]{}, Window{}, 1, Rectify()), Relu(Conv(h, hw, tensor.Tensor[num.F16]{}, Window{}, 1)))
	p, q := fp16s(1, -2, 3, 4).Reshape(2, 2), fp16s(-1, 2, 3, -4).Reshape(2, 2)
	same(t, "fixed point", Gemm(p, q, tensor.Tensor[fixed.FP16x16]{}, 1, 0, GemmOptions{}, Rectify()), Relu(MatMul(p, q)))
	if _, ok := withRelu(as(plan.OpOf(&add))); ok {
		t.Error("Add is Rectified")
	}
}
