package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumProd is CumSum for products: the empty one is 1. Those of fixed point
// are rounded one after the other, so that the last need not equal ReduceProd. ONNX CumProd, numpy.cumprod.
func CumProd[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, exclusive, reverse bool, opts ...Option) (r tensor.Tensor[T]) {
	accumulated(exec.Ref(&r), "CumProd", exec.Ref(&a), axis, exclusive, reverse, &multiplyUp, opts)
	return r
}

var multiplyUp = cumulation{none: 1, start: 1, times: true,
	word: func(acc, v uint64) uint64 { return acc * v }}

var cumProd = opN{about: about{name: "CumProd", flops: flops{read: 1}, onnx: []int{26}, attrs: []string{"exclusive", "reverse"}}, least: 2, takes: reals | fixeds,
	planned: func(c *Call, p *Plan) { planCumulation(p, "CumProd", c, &multiplyUp) }}
