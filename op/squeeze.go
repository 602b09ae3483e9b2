package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
)

// Squeeze is ONNX's: the axes of extent 1 that are named go, or all of them when
// none is named. Named by an attribute before opset 13, by an input from there
// on. A view. Typed programs call Tensor.Squeeze.
var squeeze = plan.Operator{About: plan.About{Name: "Squeeze", Shapes: true, PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 11, 13, 21, 23, 24, 25}, Attrs: []string{"axes"}}, Least: 1, Most: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		gone := squeezed(c)
		shape, idx := []int{}, make([]tensor.Index, len(gone))
		for i := range gone {
			idx[i] = tensor.Colon
			if gone[i] {
				idx[i] = tensor.I(0)
				continue
			}
			shape = append(shape, c.In(0).Dim(i))
		}
		p.Gives(c.In(0).DType(), shape...)
		p.View(func() tensor.Any { return pointwise.Viewed(tensor.Slice(c.In(0), idx...)) })
		p.Lay = plan.Sliced(idx)
	}}

// squeezed returns which axes go.
func squeezed(c *plan.Use) []bool {
	a := c.In(0)
	gone := make([]bool, a.Rank())
	axes, ok := reduce.AxesArg("Squeeze", c, 13)
	if !ok {
		for i := range gone {
			gone[i] = a.Dim(i) == 1
		}
	}
	for _, x := range axes {
		i := plan.AxisOf("Squeeze", x, a.Rank())
		if a.Dim(i) != 1 {
			panic(plan.Fail("Squeeze", tensor.ErrShape, "axis %d of %s has extent %d, not 1", x, tensor.Describe(a), a.Dim(i)))
		}
		gone[i] = true
	}
	return gone
}
