package op

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RMSNormalization returns, for each line of x over axis and all axes after it,
//
//	y = x·(1/√(mean of x² + epsilon))·scale
//
// The squares are added in the fixed order of this package; scale stretches to x's
// shape. Every step is rounded in float64, and the result once. NaN in a line makes it
// NaN. ONNX RMSNormalization.
func RMSNormalization[T num.Float | num.Narrow](x, scale tensor.Tensor[T], axis int, epsilon float64, opts ...Option) tensor.Tensor[T] {
	return moved[T](rmsNormalized(x, scale, axis, epsilon), opts)
}

func rmsNormalized(x, scale tensor.Any, axis int, epsilon float64) *transfer {
	return linesNormalized("RMSNormalization", x, scale, nil, axis, func(line []float64, _ int) {
		factor := 1 / math.Sqrt(sumSquares(line, 0)/float64(len(line))+epsilon)
		for i, v := range line {
			line[i] = float64(v * factor)
		}
	})
}

var rmsNormalization = opN{about: about{name: "RMSNormalization", onnx: []int{23}, attrs: []string{"axis", "epsilon", "stash_type"}}, least: 2, takes: floatsOnly,
	move: func(c *Call) *transfer {
		return rmsNormalized(c.in(0), c.in(1), int(c.Attrs.Int("axis", -1)), float64(c.Attrs.Float("epsilon", 1e-5)))
	}}
