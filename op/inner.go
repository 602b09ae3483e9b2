package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Inner returns the sums of products along the last axes of a and b, for every
// pair of the other axes: TensorDot over the last axis of each. With a scalar it is
// Mul, or And. It panics when the last axes differ. NumPy inner.
func Inner[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	innerProduct(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

// innerProduct is Inner for operands of one run-time element type.
func innerProduct(r, a, b *tensor.Any, opts []Option) {
	plan.Present("Inner", a, b)
	switch {
	case a.Rank() > 0 && b.Rank() > 0:
		dotProduct(r, a, b, []int{-1}, []int{-1}, opts)
	case a.DType() == dtype.Bool:
		and.Call(r, opts, a, b)
	default:
		mul.Call(r, opts, a, b)
	}
}

var innerOp = plan.Operator{About: plan.About{Name: "Inner"}, Least: 2, Takes: plan.Every,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("Inner", c.Inputs[:2]...)
		a, b := c.Like("Inner", 0, 0), c.Like("Inner", 1, 0)
		switch {
		case a.Rank() == 0 || b.Rank() == 0:
			p.Stretched(a.DType(), c, 2)
		case !p.Brief:
			p.Gives(a.DType(), dotOf("Inner", a, b, []int{-1}, []int{-1}).shape...)
		}
		blocksOf(&p.Price, c.Inputs)
		p.Copies(0, 2, 1)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { innerProduct(r, a, b, opts) })
	}}
