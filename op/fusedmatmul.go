package op

import (
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// FusedMatMul of the domain com.microsoft is alpha times MatMul of its operands, the last two
// axes of which are exchanged where transA or transB is set. transBatchA and transBatchB move
// the first axis before the last instead. The product is rounded, and the multiple of it again. Typed programs
// call tensor.Permute, MatMul and Mul. Source: docs/ContribOperators.md of
// github.com/microsoft/onnxruntime.
var fusedMatMul = plan.Operator{About: plan.About{Name: "FusedMatMul", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"alpha", "transA", "transB", "transBatchA", "transBatchB"}}, Least: 2, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "FusedMatMul"
		plan.OneType(name, c.Inputs...)
		c.With(name, 0)
		c.With(name, 1)
		a, b, alpha := turnedSide(c, 0, "A"), turnedSide(c, 1, "B"), c.Attrs.Float("alpha", 1)
		if !p.Brief {
			x := productOf(name, nil, a.LayoutRef(), b.LayoutRef())
			p.Gives(a.DType(), x.shape...)
			x.price(&p.Price, a.DType())
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) {
			matrixProduct(r, &a, &b, opts)
			if alpha != 1 {
				by := tensor.EmptyOf(r.DType())
				move.NumericOf(move.WordsOf(by)).SetFloat(0, float64(alpha))
				mul.Call(r, []Option{plan.WriteTo(r)}, r, &by)
			}
		})
	}}

// turnedSide returns an operand with the axes in the order that the attributes of its side say.
func turnedSide(c *plan.Use, i int, side string) tensor.Any {
	a := c.In(i)
	rank := a.Rank()
	if rank < 2 {
		return a // a vector has no axes to exchange
	}
	order := make([]int, rank)
	for k := range order {
		order[k] = k
	}
	if c.Attrs.Int("transBatch"+side, 0) != 0 && rank > 2 {
		copy(order, order[1:rank-1])
		order[rank-2] = 0
	}
	if c.Attrs.Int("trans"+side, 0) != 0 {
		order[rank-2], order[rank-1] = order[rank-1], order[rank-2]
	}
	if a.IsSpec() {
		shape := make([]int, rank)
		for k, from := range order {
			shape[k] = a.Dim(from)
		}
		return plan.Spec("FusedMatMul", a.DType(), shape...)
	}
	return pointwise.Viewed(tensor.Permute(a, order...))
}
