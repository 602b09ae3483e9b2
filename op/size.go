package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Size is ONNX's: the number of elements of the input, as an int64 of rank 0.
// Typed programs call Tensor.Len.
var size = plan.Operator{About: plan.About{Name: "Size", Shapes: true, Moves: plan.Moves{In: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 13, 19, 21, 23, 24, 25}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) { p.Out = plan.One(tensor.Scalar(int64(c.In(0).Len())).Any()) }}
