package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Det returns the determinants of the matrices in the last two axes of x: in float64, by
// elimination column by column with the element of the largest magnitude as pivot, the
// first NaN before all and else the first of equals; a pivot of 0 makes it +0. Rows are reduced from the top, with products and differences rounded
// for themselves, and the diagonal is multiplied from the top. The result is rounded
// once. Of no rows it is 1. It panics unless the matrices are square. ONNX Det.
func Det[T num.Floating](x tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	determinants(x.Any()).Into(exec.Ref(&r), opts)
	return r
}

func determinants(x tensor.Any) *move.Transfer {
	plan.Present("Det", &x)
	shape := x.Shape()
	r := len(shape)
	if r < 2 || shape[r-1] != shape[r-2] {
		panic(plan.Fail("Det", tensor.ErrShape, "the operand is %s; want square matrices in the last two axes", tensor.Describe(x)))
	}
	n := shape[r-1]
	return &move.Transfer{Name: "Det", D: x.DType(), Shape: shape[:r-2], In: move.OperandsOf(x), Price: plan.Taking(0, plan.BytesIn(8, shape[r-2:])), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split("Det", ctx, dst.Len(), n*n*max(n, 1), func(from, till int) {
			m := plan.RoomFor[float64]("Det", n, n)
			for u := from; u < till; u++ {
				for i := range m {
					m[i] = src.Float(u*n*n + i)
				}
				to.SetFloat(u, determinant(m, n))
			}
		})
	}}
}

// determinant uses the matrix up.
func determinant(m []float64, n int) float64 {
	det := 1.0
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if v, best := math.Abs(m[i*n+k]), math.Abs(m[p*n+k]); v > best || v != v && best == best {
				p = i
			}
		}
		if p != k {
			for j := k; j < n; j++ {
				m[p*n+j], m[k*n+j] = m[k*n+j], m[p*n+j]
			}
			det = -det
		}
		pivot := m[k*n+k]
		if pivot == 0 {
			return 0
		}
		det *= pivot
		for i := k + 1; i < n; i++ {
			f := m[i*n+k] / pivot
			for j := k + 1; j < n; j++ {
				m[i*n+j] -= float64(f * m[k*n+j])
			}
		}
	}
	return det
}

var det = plan.Operator{About: plan.About{Name: "Det", Versions: []int{11, 22}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover { return determinants(c.In(0)) }}
