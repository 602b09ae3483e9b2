package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LpNormalization returns each line of x along axis divided by its norm: with p 1 the sum
// of its magnitudes, with p 2 the root of the sum of its squares, added in the fixed
// order of this package. A line whose norm is 0 is +0. The norm and the quotient are
// in float64, the result is rounded once. NaN in a line makes it NaN. It panics
// unless p is 1 or 2. ONNX LpNormalization.
func LpNormalization[T num.Floating](x tensor.Tensor[T], axis, p int, opts ...Option) (r tensor.Tensor[T]) {
	lpNormalized(x.Any(), axis, p).Into(exec.Ref(&r), opts)
	return r
}

func lpNormalized(x tensor.Any, axis, p int) *move.Transfer {
	const name = "LpNormalization"
	plan.Present(name, &x)
	shape := x.Shape()
	axis = plan.AxisOf(name, axis, len(shape))
	if p != 1 && p != 2 {
		panic(plan.Fail(name, tensor.ErrValue, "p is %d; want 1 or 2", p))
	}
	return &move.Transfer{Name: name, D: x.DType(), Shape: shape, In: move.OperandsOf(x), Price: plan.Taking(0, 24*float64(shape[axis])), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		gone := make([]bool, len(shape))
		gone[axis] = true
		lines, line := over(shape, gone)
		lineByLine(name, ctx, dst, in[0], lines, line, func(line []float64) {
			norm := lpNorm(line, float64(p))
			for i, v := range line {
				if line[i] = v / norm; norm == 0 {
					line[i] = 0
				}
			}
		})
	}}
}

// lpNorm returns (Σ|x|ᵖ)^(1/p), the powers in float64, added in the fixed order.
func lpNorm(x []float64, p float64) float64 {
	if p == 2 {
		return math.Sqrt(reduce.SumSquares(x, 0))
	}
	powers := make([]float64, len(x))
	for i, v := range x {
		if powers[i] = math.Abs(v); p != 1 {
			powers[i] = float.Pow64(powers[i], p)
		}
	}
	if p == 1 {
		return reduce.SumRow(powers)
	}
	return float.Pow64(reduce.SumRow(powers), 1/p)
}

var lpNormalization = plan.Operator{About: plan.About{Name: "LpNormalization", Versions: []int{1, 22}, Attrs: []string{"axis", "p"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return lpNormalized(c.In(0), plan.AttrInt(c, "axis", -1), plan.AttrInt(c, "p", 2))
	}}
