package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	present("Inner", a, b)
	switch {
	case a.Rank() > 0 && b.Rank() > 0:
		dotProduct(r, a, b, []int{-1}, []int{-1}, opts)
	case a.DType() == dtype.Bool:
		and.call(r, opts, a, b)
	default:
		mul.call(r, opts, a, b)
	}
}

var innerOp = opN{about: about{name: "Inner"}, least: 2, takes: every,
	planned: func(c *Call, p *Plan) {
		oneType("Inner", c.Inputs[:2]...)
		a, b := c.like("Inner", 0, 0), c.like("Inner", 1, 0)
		switch {
		case a.Rank() == 0 || b.Rank() == 0:
			p.stretched(a.DType(), c, 2)
		case !p.brief:
			p.gives(a.DType(), dotOf("Inner", a, b, []int{-1}, []int{-1}).shape...)
		}
		p.by(c, 0, func(r *tensor.Any, opts []Option) { innerProduct(r, a, b, opts) })
	}}
