package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Quantile returns the elements below which the part q of those over axes lies, or
// of all when axes is nil: at position q·(n − 1) of the sorted elements, between two
// the straight line between them, in float64 and rounded once. NaN if any is NaN,
// and of nothing. The reduced axes go, unless KeepDims. It panics when q is outside
// [0, 1]. NumPy quantile with method linear.
func Quantile[T num.Float | num.Narrow](a tensor.Tensor[T], q float64, axes []int, opts ...Option) tensor.Tensor[T] {
	if !(q >= 0 && q <= 1) {
		panic(fail("Quantile", tensor.ErrValue, "q is %v; it must be between 0 and 1", q))
	}
	roomToSort("Quantile", &a)
	return reduceTo("Quantile", a, axes, opts, func() folder[T, T] { return quantileFolder[T](q) })
}

var quantileOp = opN{about: about{name: "Quantile", attrs: []string{"axes", "keepdims", "q"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any { return inferReduce("Quantile", c, 18) },
	typed: perType{dtype.Float8E4M3: runQuantile[num.F8E4M3], dtype.Float8E5M2: runQuantile[num.F8E5M2],
		dtype.Float16: runQuantile[num.F16], dtype.BFloat16: runQuantile[num.BF16],
		dtype.Float32: runQuantile[float32], dtype.Float64: runQuantile[float64]}}

func runQuantile[T num.Float | num.Narrow](c *Call) []tensor.Any {
	axes, opts := reduceArgs("Quantile", c, 18)
	return one(Quantile(as[T]("Quantile", c, 0), float64(c.Attrs.Float("q", 0.5)), axes, opts...).Any())
}
