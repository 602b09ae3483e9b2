package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Mean returns (ts[0] + ts[1] + …) ÷ len(ts), element by element: Sum, then Div.
// Shapes broadcast. It panics if they don't or there are no tensors. For the mean
// of the elements of one tensor see ReduceMean. ONNX Mean.
func Mean[T num.Float | num.Narrow](ts []tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if len(ts) == 0 {
		panic(fail("Mean", tensor.ErrShape, "no tensors; give at least one"))
	}
	s := ts[0]
	if len(ts) > 1 {
		s = Sum(ts)
	}
	return Div(s, tensor.Scalar(rounding[T]()(float64(len(ts)))), opts...)
}

var mean = opN{about: about{name: "Mean", onnx: []int{6, 8, 13}}, least: 1, most: -1,
	typed: perType{dtype.Float8E4M3: runMean[num.F8E4M3], dtype.Float8E5M2: runMean[num.F8E5M2], dtype.Float16: runMean[num.F16],
		dtype.BFloat16: runMean[num.BF16], dtype.Float32: runMean[float32], dtype.Float64: runMean[float64]},
	infer: func(c *Call) []tensor.Any {
		needs("Mean", c, len(c.Inputs))
		oneType("Mean", c.Inputs...)
		return one(spec("Mean", c.in(0).DType(), stretch("Mean", c.Inputs...)...))
	}}

func runMean[T num.Float | num.Narrow](c *Call) []tensor.Any {
	needs("Mean", c, len(c.Inputs))
	ts := make([]tensor.Tensor[T], len(c.Inputs))
	for i := range ts {
		ts[i] = as[T]("Mean", c, i)
	}
	return one(Mean(ts, options(c)...).Any())
}
