package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsFinite reports which elements are neither infinite nor NaN. NumPy isfinite.
func IsFinite[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[bool] {
	return classify("IsFinite", &a, kernel[float32, bool]{one: isFiniteRow[float32]}, kernel[float64, bool]{one: isFiniteRow[float64]}, opts)
}

// isFiniteRow defines IsFinite.
func isFiniteRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x == 0
	}
}

var isFiniteOp = opN{about: about{name: "IsFinite", why: "integers are finite"}, least: 1,
	run: perType{dtype.Float8E4M3: runIsFinite[num.F8E4M3], dtype.Float8E5M2: runIsFinite[num.F8E5M2], dtype.Float16: runIsFinite[num.F16],
		dtype.BFloat16: runIsFinite[num.BF16], dtype.Float32: runIsFinite[float32], dtype.Float64: runIsFinite[float64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("IsFinite", dtype.Bool, tensor.Shape(c.in(0))...))
	}}

func runIsFinite[T num.Float | num.Narrow](c *Call) []tensor.Any {
	return one(IsFinite(as[T]("IsFinite", c, 0), options(c)...))
}
