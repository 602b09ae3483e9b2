package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
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
func RMSNormalization[T num.Float | num.Narrow | num.Fixed](x, scale tensor.Tensor[T], axis int, epsilon float64, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return asFixed(x,
			func(x tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return rmsFixed(x, as1[num.FP8x23](scale), axis, epsilon, opts)
			},
			func(x tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return rmsFixed(x, as1[num.FP16x16](scale), axis, epsilon, opts)
			},
			func(x tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return rmsFixed(x, as1[num.FP32x32](scale), axis, epsilon, opts)
			},
			func(x tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return rmsFixed(x, as1[num.FP64x64](scale), axis, epsilon, opts)
			})
	}
	return moved[T](rmsNormalized(x.Any(), scale.Any(), axis, epsilon), opts)
}

func rmsNormalized(x, scale tensor.Any, axis int, epsilon float64) *transfer {
	return linesNormalized("RMSNormalization", x, scale, tensor.Any{}, axis, func(line []float64, _ int) {
		factor := 1 / math.Sqrt(sumSquares(line, 0)/float64(len(line))+epsilon)
		affine(line, line, 0, factor, math.Copysign(0, -1))
	})
}

var rmsNormalization = opN{about: about{name: "RMSNormalization", onnx: []int{23}, attrs: []string{"axis", "epsilon", "stash_type"}}, least: 2, takes: floats,
	typed: perType{dtype.FP8x23: runRMSFixed[num.FP8x23], dtype.FP16x16: runRMSFixed[num.FP16x16], dtype.FP32x32: runRMSFixed[num.FP32x32], dtype.FP64x64: runRMSFixed[num.FP64x64]},
	move: func(c *Call) *transfer {
		return rmsNormalized(c.in(0), c.in(1), int(c.Attrs.Int("axis", -1)), float64(c.Attrs.Float("epsilon", 1e-5)))
	}}

func runRMSFixed[T num.Fixed](c *Call) []tensor.Any {
	const name = "RMSNormalization"
	oneType(name, c.Inputs...)
	return one(RMSNormalization(as[T](name, c, 0), as[T](name, c, 1), int(c.Attrs.Int("axis", -1)), float64(c.Attrs.Float("epsilon", 1e-5)), options(c)...).Any())
}
