package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TensorDot sums the products of a and b over pairs of axes: axis axesA[i] of a goes
// with axis axesB[i] of b. The result has a's other axes, then b's. Sums of
// products are MatMul's, the pairs in the order given, the last one fastest.
// It panics when the lists differ in length, name an axis twice or one that doesn't
// exist, or extents of a pair differ. NumPy tensordot.
func TensorDot[T bool | num.Number](a, b tensor.Tensor[T], axesA, axesB []int, opts ...Option) (r tensor.Tensor[T]) {
	dotProduct(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), axesA, axesB, opts)
	return r
}

// dotProduct is TensorDot for operands of one run-time element type.
func dotProduct(r, a, b *tensor.Any, axesA, axesB []int, opts []Option) {
	plan.Present("TensorDot", a, b)
	s := plan.Read("TensorDot", opts)
	x := dotOf("TensorDot", a, b, axesA, axesB)
	plan.AimShape(r, "TensorDot", &s, a.DType(), x.shape)
	if r.Len() == 0 {
		return
	}
	left, right := a.Permute(x.orderA...).Reshape(x.m, x.k), b.Permute(x.orderB...).Reshape(x.k, x.n)
	var p tensor.Any
	matrixProduct(&p, &left, &right, s.Quiet())
	r.CopyFrom(p.Reshape(x.shape...))
}

// dot is a TensorDot as a matrix product.
type dot struct {
	orderA, orderB []int // the axes: of a the axes that stay first, of b the axes that go first
	m, k, n        int
	shape          []int
}

func dotOf(name string, a, b *tensor.Any, axesA, axesB []int) dot {
	if len(axesA) != len(axesB) {
		panic(plan.Fail(name, tensor.ErrAxis, "%d axes of the first operand and %d of the second; they go in pairs", len(axesA), len(axesB)))
	}
	x := dot{m: 1, k: 1, n: 1}
	var goneA, goneB []int
	for i := range axesA {
		p, q := plan.AxisOf(name, axesA[i], a.Rank()), plan.AxisOf(name, axesB[i], b.Rank())
		if slices.Contains(goneA, p) || slices.Contains(goneB, q) {
			panic(plan.Fail(name, tensor.ErrAxis, "an axis is named twice in %s or %s", plan.ListText(axesA), plan.ListText(axesB)))
		}
		if a.Dim(p) != b.Dim(q) {
			panic(plan.Fail(name, tensor.ErrShape, "%s and %s: axis %d has extent %d, axis %d has %d", tensor.Describe(*a), tensor.Describe(*b), p, a.Dim(p), q, b.Dim(q)))
		}
		goneA, goneB = append(goneA, p), append(goneB, q)
		x.k *= a.Dim(p)
	}
	for i := range a.Rank() {
		if !slices.Contains(goneA, i) {
			x.orderA, x.shape = append(x.orderA, i), append(x.shape, a.Dim(i))
			x.m *= a.Dim(i)
		}
	}
	x.orderA, x.orderB = append(x.orderA, goneA...), goneB
	for i := range b.Rank() {
		if !slices.Contains(goneB, i) {
			x.orderB, x.shape = append(x.orderB, i), append(x.shape, b.Dim(i))
			x.n *= b.Dim(i)
		}
	}
	return x
}

var tensorDotOp = plan.Operator{About: plan.About{Name: "TensorDot", Attrs: []string{"axes_a", "axes_b"}}, Least: 2, Takes: plan.Every,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "TensorDot"
		plan.OneType(name, c.Inputs[:2]...)
		a, b := c.Like(name, 0, 0), c.Like(name, 1, 0)
		axesA, axesB := pairedAxes(c)
		if !p.Brief {
			p.Gives(a.DType(), dotOf(name, a, b, axesA, axesB).shape...)
		}
		blocksOf(&p.Price, c.Inputs)
		p.Copies(0, 2, 1)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { dotProduct(r, a, b, axesA, axesB, opts) })
	}}

func pairedAxes(c *plan.Use) (axesA, axesB []int) {
	axesA, _ = plan.AttrInts(c, "axes_a")
	axesB, _ = plan.AttrInts(c, "axes_b")
	return axesA, axesB
}
