package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/tensor"
)

// Unsqueeze is ONNX's: axes of extent 1 are inserted where axes names positions of
// the result, by an attribute before opset 13, by an input from there on. A view.
// Typed programs call Tensor.Unsqueeze.
var unsqueeze = plan.Operator{About: plan.About{Name: "Unsqueeze", Shapes: true, PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 11, 13, 21, 23, 24, 25}, Attrs: []string{"axes"}}, Least: 1, Most: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		added := unsqueezed(c)
		shape, idx, from := make([]int, len(added)), make([]tensor.Index, len(added)), 0
		for i := range shape {
			if shape[i], idx[i] = 1, tensor.NewAxis; !added[i] {
				shape[i], idx[i] = c.In(0).Dim(from), tensor.Colon
				from++
			}
		}
		p.Gives(c.In(0).DType(), shape...)
		p.View(func() tensor.Any { return pointwise.Viewed(tensor.Slice(c.In(0), idx...)) })
		p.Lay = plan.Sliced(idx)
	}}

// unsqueezed returns which axes of the result are new.
func unsqueezed(c *plan.Use) []bool {
	axes, ok := reduce.AxesArg("Unsqueeze", c, 13)
	if !ok {
		panic(plan.Fail("Unsqueeze", tensor.ErrAxis, "no axes; name the positions of the new ones"))
	}
	added := make([]bool, c.In(0).Rank()+len(axes))
	for _, x := range axes {
		i := plan.AxisOf("Unsqueeze", x, len(added))
		if added[i] {
			panic(plan.Fail("Unsqueeze", tensor.ErrAxis, "axis %d is named twice in %s", x, plan.ListText(axes)))
		}
		added[i] = true
	}
	return added
}
