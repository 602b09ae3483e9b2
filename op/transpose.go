package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Transpose is ONNX's: axis i of the result is axis perm[i]; without perm the
// axes are reversed. A view. Typed programs call Tensor.Permute or
// Tensor.Transpose.
var transpose = opN{about: about{name: "Transpose", flops: flops{free: true}, onnx: []int{1, 13, 21, 23, 24, 25}, attrs: []string{"perm"}}, least: 1,
	planned: func(c *Call, p *Plan) {
		perm := permOf(c)
		shape := make([]int, len(perm))
		for i, at := range perm {
			shape[i] = c.in(0).Dim(axisOf("Transpose", at, len(perm)))
		}
		p.gives(c.in(0).DType(), shape...)
		p.view(func() tensor.Any { return viewed(tensor.Permute(c.in(0), perm...)) })
	}}

func permOf(c *Call) []int {
	rank := c.in(0).Rank()
	perm, ok := attrInts(c, "perm")
	if !ok {
		for i := rank - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	lay := c.in(0).Layout()
	if _, err := lay.Permute(perm...); err != nil {
		panic(fail("Transpose", tensor.ErrAxis, "perm %s is not a permutation of the %d axes of %s", listText(perm), rank, tensor.Describe(c.in(0))))
	}
	return perm
}
