package op

import (
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumProd is CumSum for products: the empty one is 1. ONNX CumProd, numpy.cumprod.
func CumProd[T num.Native | num.Narrow](a tensor.Tensor[T], axis int, exclusive, reverse bool, opts ...Option) tensor.Tensor[T] {
	return moved[T](cumulated("CumProd", a, axisOf("CumProd", axis, a.Rank()), exclusive, reverse, multiplyUp), opts)
}

var multiplyUp = cumulation{none: 1, start: 1, times: true,
	word: func(acc, v uint64) uint64 { return acc * v }}

var cumProd = opN{about: about{name: "CumProd", onnx: []int{26}, attrs: []string{"exclusive", "reverse"}}, least: 2, takes: isReal,
	move: func(c *Call) *transfer { return cumulatedCall("CumProd", c, multiplyUp) }}
