package op

import "github.com/ashlar-go/ashlar/tensor"

// FusedMatMul of the domain com.microsoft is alpha times MatMul of its operands, the last two
// axes of which are exchanged where transA or transB is set. transBatchA and transBatchB move
// the first axis before the last instead. The product is rounded, and the multiple of it again. Typed programs
// call tensor.Permute, MatMul and Mul. Source: docs/ContribOperators.md of
// github.com/microsoft/onnxruntime.
var fusedMatMul = opN{about: about{name: "FusedMatMul", takesUp: inBlocks, flops: flops{rule: productFLOPs}, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"alpha", "transA", "transB", "transBatchA", "transBatchB"}}, least: 2, takes: floats, fast: productFast,
	planned: func(c *Call, p *Plan) {
		const name = "FusedMatMul"
		oneType(name, c.Inputs...)
		c.with(name, 0)
		c.with(name, 1)
		a, b, alpha := turnedSide(c, 0, "A"), turnedSide(c, 1, "B"), c.Attrs.Float("alpha", 1)
		if !p.brief {
			p.gives(a.DType(), productOf(name, nil, a.LayoutRef(), b.LayoutRef()).shape...)
		}
		p.by(c, 0, func(r *tensor.Any, opts []Option) {
			matrixProduct(r, &a, &b, opts)
			if alpha != 1 {
				by := tensor.EmptyOf(r.DType())
				numericOf(wordsOf(by)).setFloat(0, float64(alpha))
				mul.call(r, []Option{{into: r}}, r, &by)
			}
		})
	}}

// turnedSide returns an operand with the axes in the order that the attributes of its side say.
func turnedSide(c *Call, i int, side string) tensor.Any {
	a := c.in(i)
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
		return spec("FusedMatMul", a.DType(), shape...)
	}
	return viewed(tensor.Permute(a, order...))
}
