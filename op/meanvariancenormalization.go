package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// MeanVarianceNormalization returns (x − μ) / (√σ² + 10⁻⁹) over axes, which must differ:
// μ and σ² are the mean and the variance over them, as Mean and Var compute them before
// they round. Every step is rounded in float64, and the result once. ONNX
// MeanVarianceNormalization, whose axes are 0, 2 and 3 by default.
func MeanVarianceNormalization[T num.Float | num.Narrow](x tensor.Tensor[T], axes []int, opts ...Option) (r tensor.Tensor[T]) {
	varianceNormalized(x.Any(), axes).into(exec.Ref(&r), opts)
	return r
}

func varianceNormalized(x tensor.Any, axes []int) *transfer {
	const name = "MeanVarianceNormalization"
	present(name, &x)
	shape := x.Shape()
	gone := make([]bool, len(shape))
	for _, a := range axes {
		i := axisOf(name, a, len(shape))
		if gone[i] {
			panic(fail(name, tensor.ErrAxis, "axis %d is named twice in %s", a, listText(axes)))
		}
		gone[i] = true
	}
	return &transfer{name: name, d: x.DType(), shape: shape, in: operandsOf(x, tensor.Any{}), fill: func(ctx context.Context, dst words, in []words) {
		z := normalization{name: name, f: func(line []float64, _ int) {
			n := float64(len(line))
			mean := sumRow(line) / n
			d := math.Sqrt(sumSquares(line, mean)/n) + 1e-9
			for i, v := range line {
				line[i] = (v - mean) / d
			}
		}}
		z.lines, z.line = over(shape, gone)
		z.fill(ctx, dst, in[0], in[1], in[1])
	}}
}

var meanVarianceNormalization = opN{about: about{name: "MeanVarianceNormalization", takesUp: inAllLine, onnx: []int{9, 13}, attrs: []string{"axes"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer {
		axes, ok := attrInts(c, "axes")
		if !ok {
			axes = []int{0, 2, 3}
		}
		return varianceNormalized(c.in(0), axes)
	}}
