package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MeanVarianceNormalization returns (x − μ) / (√σ² + 10⁻⁹) over axes, which must differ:
// μ and σ² are the mean and the variance over them, as Mean and Var compute them before
// they round. Every step is rounded in float64, and the result once. ONNX
// MeanVarianceNormalization, whose axes are 0, 2 and 3 by default.
func MeanVarianceNormalization[T num.Floating](x tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	varianceNormalized(x.Any(), axes).Into(exec.Ref(&r), opts)
	return r
}

func varianceNormalized(x tensor.Any, axes []int) *move.Transfer {
	const name = "MeanVarianceNormalization"
	plan.Present(name, &x)
	shape := x.Shape()
	gone := make([]bool, len(shape))
	for _, a := range axes {
		i := plan.AxisOf(name, a, len(shape))
		if gone[i] {
			panic(plan.Fail(name, tensor.ErrAxis, "axis %d is named twice in %s", a, plan.ListText(axes)))
		}
		gone[i] = true
	}
	return &move.Transfer{Name: name, D: x.DType(), Shape: shape, In: move.OperandsOf(x), Price: plan.Taking(0, 24*plan.BytesIn(1, shape)), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		lines, line := over(shape, gone)
		lineByLine(name, ctx, dst, in[0], lines, line, func(line []float64) {
			n := float64(len(line))
			mean := reduce.SumRow(line) / n
			d := math.Sqrt(reduce.SumSquares(line, mean)/n) + 1e-9
			for i, v := range line {
				line[i] = (v - mean) / d
			}
		})
	}}
}

var meanVarianceNormalization = plan.Operator{About: plan.About{Name: "MeanVarianceNormalization", Versions: []int{9, 13}, Attrs: []string{"axes"}}, Least: 1, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		axes, ok := plan.AttrInts(c, "axes")
		if !ok {
			axes = []int{0, 2, 3}
		}
		return varianceNormalized(c.In(0), axes)
	}}
