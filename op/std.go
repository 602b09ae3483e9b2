package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Std returns the standard deviations over axes, or over all when axes is nil: the
// square root of Var's value before it is rounded. The reduced axes go, unless
// KeepDims. NumPy std.
func Std[T num.Float | num.Narrow](a tensor.Tensor[T], axes []int, ddof int, opts ...Option) tensor.Tensor[T] {
	return reduceTo("Std", a, axes, opts, func() folder[T, T] { return varFolder[T](ddof, true) })
}

var stdOp = opN{about: about{name: "Std", attrs: []string{"axes", "ddof", "keepdims"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Std", c, 18) },
	run: perType{dtype.Float8E4M3: runStd[num.F8E4M3], dtype.Float8E5M2: runStd[num.F8E5M2],
		dtype.Float16: runStd[num.F16], dtype.BFloat16: runStd[num.BF16],
		dtype.Float32: runStd[float32], dtype.Float64: runStd[float64]}}

func runStd[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Std", c, 18)
	return one(Std(as[T]("Std", c, 0), axes, int(c.Attrs.Int("ddof", 0)), opts...))
}
