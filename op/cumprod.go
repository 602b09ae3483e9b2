package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CumProd is CumSum for products: the empty one is 1. Products of fixed point
// are rounded one after the other, so that the last need not equal ReduceProd. ONNX CumProd, numpy.cumprod.
func CumProd[T num.Real](a tensor.Tensor[T], axis int, o CumOptions, opts ...Option) (r tensor.Tensor[T]) {
	accumulated(exec.Ref(&r), "CumProd", exec.Ref(&a), axis, o, &multiplyUp, opts)
	return r
}

var multiplyUp = cumulation{none: 1, start: 1, times: true,
	word: func(acc, v uint64) uint64 { return acc * v }}

var cumProd = plan.Operator{About: plan.About{Name: "CumProd", FLOPs: plan.FLOPs{Read: 1}, Versions: []int{26}, Attrs: []string{"exclusive", "reverse"}}, Least: 2, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) { planCumulation(p, "CumProd", c, &multiplyUp) }}
