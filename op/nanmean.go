package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMean returns the means of what isn't NaN over axes, or over all when axes is
// nil: NanSum's value before it is rounded, divided by the number of elements that
// aren't NaN; NaN if there is none. The reduced axes go, unless KeepDims. NumPy
// nanmean.
func NanMean[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceTo("NanMean", a, axes, opts, nanMeanFolder[T])
}

func nanMeanFolder[T num.Elem]() folder[T, T] {
	return floatFolder[T](func() folder[float32, float64] { return &nanless[float32]{mean: true} },
		func() folder[float64, float64] { return &nanless[float64]{mean: true} })
}

var nanMeanOp = opN{about: about{name: "NanMean", attrs: []string{"axes", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("NanMean", c, 18) },
	typed: perType{dtype.Float8E4M3: runNanMean[num.F8E4M3], dtype.Float8E5M2: runNanMean[num.F8E5M2],
		dtype.Float16: runNanMean[num.F16], dtype.BFloat16: runNanMean[num.BF16],
		dtype.Float32: runNanMean[float32], dtype.Float64: runNanMean[float64]}}

func runNanMean[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("NanMean", c, 18)
	return one(NanMean(as[T]("NanMean", c, 0), axes, opts...).Any())
}
