package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Transpose is ONNX's: axis i of the result is axis perm[i]; without perm the
// axes are reversed. A view. Typed programs call Tensor.Permute or
// Tensor.Transpose.
var transpose = plan.Operator{About: plan.About{Name: "Transpose", Shapes: true, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 13, 21, 23, 24, 25}, Attrs: []string{"perm"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		perm := permOf(c)
		shape := make([]int, len(perm))
		for i, at := range perm {
			shape[i] = c.In(0).Dim(plan.AxisOf("Transpose", at, len(perm)))
		}
		p.Gives(c.In(0).DType(), shape...)
		p.View(func() tensor.Any { return pointwise.Viewed(tensor.Permute(c.In(0), perm...)) })
		p.Lay = plan.OneLay(func(l *layout.Layout) (layout.Layout, error) { return l.Permute(perm...) })
	}}

func permOf(c *plan.Use) []int {
	rank := c.In(0).Rank()
	perm, ok := plan.AttrInts(c, "perm")
	if !ok {
		for i := rank - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	lay := c.In(0).Layout()
	if _, err := lay.Permute(perm...); err != nil {
		panic(plan.Fail("Transpose", tensor.ErrAxis, "perm %s is not a permutation of the %d axes of %s", plan.ListText(perm), rank, tensor.Describe(c.In(0))))
	}
	return perm
}
