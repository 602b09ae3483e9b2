package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LpNormalization returns each line of x along axis divided by its norm: with p 1 the sum
// of its magnitudes, with p 2 the root of the sum of its squares, added in the fixed
// order of this package. A line whose norm is 0 is +0. The norm and the quotient are
// in float64, the result is rounded once. NaN in a line makes it NaN. It panics
// unless p is 1 or 2. ONNX LpNormalization.
func LpNormalization[T num.Float | num.Narrow](x tensor.Tensor[T], axis, p int, opts ...Option) (r tensor.Tensor[T]) {
	lpNormalized(x.Any(), axis, p).into(exec.Ref(&r), opts)
	return r
}

func lpNormalized(x tensor.Any, axis, p int) *transfer {
	const name = "LpNormalization"
	present(name, &x)
	shape := x.Shape()
	axis = axisOf(name, axis, len(shape))
	if p != 1 && p != 2 {
		panic(fail(name, tensor.ErrValue, "p is %d; want 1 or 2", p))
	}
	return &transfer{name: name, d: x.DType(), shape: shape, in: operandsOf(x, tensor.Any{}), fill: func(ctx context.Context, dst words, in []words) {
		gone := make([]bool, len(shape))
		gone[axis] = true
		z := normalization{name: name, f: func(line []float64, _ int) {
			norm := lpNorm(line, float64(p))
			for i, v := range line {
				if line[i] = v / norm; norm == 0 {
					line[i] = 0
				}
			}
		}}
		z.lines, z.line = over(shape, gone)
		z.fill(ctx, dst, in[0], in[1], in[1])
	}}
}

// lpNorm returns (Σ|x|ᵖ)^(1/p), the powers in float64, added in the fixed order.
func lpNorm(x []float64, p float64) float64 {
	if p == 2 {
		return math.Sqrt(sumSquares(x, 0))
	}
	powers := make([]float64, len(x))
	for i, v := range x {
		if powers[i] = math.Abs(v); p != 1 {
			powers[i] = num.Pow64(powers[i], p)
		}
	}
	if p == 1 {
		return sumRow(powers)
	}
	return num.Pow64(sumRow(powers), 1/p)
}

var lpNormalization = opN{about: about{name: "LpNormalization", takesUp: inAxisLine, onnx: []int{1, 22}, attrs: []string{"axis", "p"}}, least: 1, takes: floats,
	move: func(c *Call) *transfer {
		return lpNormalized(c.in(0), attrInt(c, "axis", -1), attrInt(c, "p", 2))
	}}
