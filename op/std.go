package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Std returns the standard deviations over axes, or over all when axes is nil: the
// square root of Var's value before it is rounded. The reduced axes go, unless
// KeepDims. NumPy std.
func Std[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return asFixed(a,
			func(a tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return spreadFixed("Std", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return spreadFixed("Std", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return spreadFixed("Std", a, axes, ddof, opts)
			},
			func(a tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return spreadFixed("Std", a, axes, ddof, opts)
			})
	}
	return reduceTo("Std", a, axes, opts, func() folder[T, T] { return varFolder[T](ddof, true) })
}

var stdOp = opN{about: about{name: "Std", attrs: []string{"axes", "ddof", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Std", c, 18) },
	typed: perType{dtype.Float8E4M3: runStd[num.F8E4M3], dtype.Float8E5M2: runStd[num.F8E5M2],
		dtype.Float16: runStd[num.F16], dtype.BFloat16: runStd[num.BF16],
		dtype.Float32: runStd[float32], dtype.Float64: runStd[float64],
		dtype.FP8x23: runStd[num.FP8x23], dtype.FP16x16: runStd[num.FP16x16], dtype.FP32x32: runStd[num.FP32x32], dtype.FP64x64: runStd[num.FP64x64]}}

func runStd[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Std", c, 18)
	return one(Std(as[T]("Std", c, 0), axes, int(c.Attrs.Int("ddof", 0)), opts...).Any())
}
