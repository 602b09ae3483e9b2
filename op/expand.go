package op

import (
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Expand is ONNX's: the input and the given shape stretch to each other, so a 1 in
// the shape keeps the input's extent. A read-only view. Typed programs call
// Tensor.BroadcastTo.
var expand = plan.Operator{About: plan.About{Name: "Expand", Shapes: true, PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{8, 13}}, Least: 2,
	Planned: func(c *plan.Use, p *plan.Draft) {
		shape := expandTo(c)
		p.Gives(c.In(0).DType(), shape...)
		p.View(func() tensor.Any { return pointwise.Viewed(tensor.BroadcastTo(c.In(0), shape...)) })
		p.Lay = plan.OneLay(func(l *layout.Layout) (layout.Layout, error) { return l.BroadcastTo(shape...) })
	}}

func expandTo(c *plan.Use) []int {
	want, _ := move.Ints("Expand", c, 1)
	for i, e := range want {
		if e < 0 {
			panic(plan.Fail("Expand", tensor.ErrShape, "extent %d of axis %d is negative", e, i))
		}
	}
	have, other := c.In(0).Layout(), plan.Spec("Expand", c.In(0).DType(), want...).Layout()
	return plan.BroadcastShape("Expand", nil, &have, &other)
}
