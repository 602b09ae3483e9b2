package ml

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Normalizer divides the lines of x along the last axis by their norm: "MAX", the largest
// magnitude; "L1", the sum of magnitudes; or "L2", the root of the sum of squares. The
// result is float32, computed in float64 in order and rounded once. A line whose norm is 0
// stays as it is; NaN in a line makes all of it NaN. It panics for another norm, or when x
// has no axis. Normalizer of the domain ai.onnx.ml.
func Normalizer[T float32 | float64 | int32 | int64](x tensor.Tensor[T], norm string, opts ...op.Option) (r tensor.Tensor[float32]) {
	normed(x.Any(), norm).Into(exec.Ref(&r), opts)
	return r
}

func normed(x tensor.Any, norm string) *move.Transfer {
	const name = "Normalizer"
	plan.Present(name, &x)
	n := columnsOf(name, x)
	if norm != "MAX" && norm != "L1" && norm != "L2" {
		panic(plan.Fail(name, tensor.ErrValue, "norm is %.40q; want MAX, L1 or L2", norm))
	}
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: x.Shape(), In: move.OperandsOf(x), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split(name, ctx, dst.Len()/n, 20*n, func(from, till int) {
			for first := from * n; first < till*n; first += n {
				e, by := normOf(src, first, n, norm)
				for i := first; i < first+n; i++ {
					v := src.Real(i)
					if by != 0 {
						v = math.Ldexp(v, -e) / by
					}
					to.SetFloat(i, v)
				}
			}
		})
	}}
}

// normOf returns the norm of n elements over 2^e. e isn't 0 where squares of float64 could
// get out of range.
func normOf(src move.Numeric, first, n int, norm string) (e int, by float64) {
	var top float64
	for i := first; i < first+n; i++ {
		top = max(top, math.Abs(src.Real(i)))
	}
	if norm == "MAX" || top == 0 || top != top {
		return 0, top
	}
	if !math.IsInf(top, 0) && (top > 0x1p400 || top < 0x1p-400) {
		_, e = math.Frexp(top)
	}
	for i := first; i < first+n; i++ {
		v := math.Abs(math.Ldexp(src.Real(i), -e))
		if norm == "L2" {
			v = float64(v * v) // not fused with the sum
		}
		by += v
	}
	if norm == "L2" {
		by = math.Sqrt(by)
	}
	return e, by
}

var normalizer = plan.Operator{About: plan.About{Name: "Normalizer", Domain: mlDomain, Versions: []int{1}, Attrs: []string{"norm"}, Why: mlWhy}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover { return normed(c.In(0), c.Attrs.Str("norm", "MAX")) }}
