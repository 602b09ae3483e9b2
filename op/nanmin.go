package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanMin returns the smallest elements over axes, or over all when axes is nil,
// passing over NaN: NaN if there is nothing else, +∞ of nothing, −0 < +0. The
// reduced axes go, unless KeepDims. NumPy nanmin.
func NanMin[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T] {
	return reduceTo("NanMin", a, axes, opts, func() folder[T, T] { return &sighted[T]{folder: minFolder[T]()} })
}

var nanMinOp = opN{about: about{name: "NanMin", attrs: []string{"axes", "keepdims"}, why: "integers have no NaN: use ReduceMin"}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("NanMin", c, 18) },
	typed: perType{dtype.Float8E4M3: runNanMin[num.F8E4M3], dtype.Float8E5M2: runNanMin[num.F8E5M2],
		dtype.Float16: runNanMin[num.F16], dtype.BFloat16: runNanMin[num.BF16],
		dtype.Float32: runNanMin[float32], dtype.Float64: runNanMin[float64]}}

func runNanMin[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("NanMin", c, 18)
	return one(NanMin(as[T]("NanMin", c, 0), axes, opts...).Any())
}
