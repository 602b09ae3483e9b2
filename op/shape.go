package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shape is ONNX's: the extents of the input's axes from start to end, as int64.
// Typed programs call Tensor.Shape.
var shapeOp = plan.Operator{About: plan.About{Name: "Shape", Shapes: true, Moves: plan.Moves{In: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 13, 15, 19, 21, 23, 24, 25}, Attrs: []string{"end", "start"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) { p.Out = plan.One(shapeOf(c)) }}

func shapeOf(c *plan.Use) tensor.Any {
	rank := c.In(0).Rank()
	bound := func(name string, def int) int {
		v := int(c.Attrs.Int(name, int64(def)))
		if v < 0 {
			v += rank
		}
		return min(max(v, 0), rank)
	}
	from, to := bound("start", 0), bound("end", rank)
	dims := []int64{}
	for i := from; i < to; i++ {
		dims = append(dims, int64(c.In(0).Dim(i)))
	}
	return tensor.FromSlice(dims).Any()
}
