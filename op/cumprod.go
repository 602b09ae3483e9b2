package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumProd is CumSum for products: the empty one is 1. Those of fixed point
// are rounded one after the other, so that the last need not equal ReduceProd. ONNX CumProd, numpy.cumprod.
func CumProd[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, exclusive, reverse bool, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		axis := axisOf("CumProd", axis, a.Rank())
		return asFixed(a,
			func(a tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return cumulateFixed("CumProd", a, axis, exclusive, reverse, true, opts)
			},
			func(a tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return cumulateFixed("CumProd", a, axis, exclusive, reverse, true, opts)
			},
			func(a tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return cumulateFixed("CumProd", a, axis, exclusive, reverse, true, opts)
			},
			func(a tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return cumulateFixed("CumProd", a, axis, exclusive, reverse, true, opts)
			})
	}
	return moved[T](cumulated("CumProd", a.Any(), axisOf("CumProd", axis, a.Rank()), exclusive, reverse, multiplyUp), opts)
}

var multiplyUp = cumulation{none: 1, start: 1, times: true,
	word: func(acc, v uint64) uint64 { return acc * v }}

var cumProd = opN{about: about{name: "CumProd", onnx: []int{26}, attrs: []string{"exclusive", "reverse"}}, least: 2, takes: reals,
	typed: perType{dtype.FP8x23: runCumProd[num.FP8x23], dtype.FP16x16: runCumProd[num.FP16x16], dtype.FP32x32: runCumProd[num.FP32x32], dtype.FP64x64: runCumProd[num.FP64x64]},
	move:  func(c *Call) *transfer { return cumulatedCall("CumProd", c, multiplyUp) }}

func runCumProd[T num.Fixed](c *Call) []tensor.Any {
	v, _ := ints("CumProd", c, 1)
	if len(v) != 1 {
		panic(fail("CumProd", tensor.ErrShape, "the axis has %d elements; want one", len(v)))
	}
	return one(CumProd(as[T]("CumProd", c, 0), v[0], c.Attrs.Int("exclusive", 0) != 0, c.Attrs.Int("reverse", 0) != 0, options(c)...).Any())
}
