package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Before opset 7 operands of ONNX had one shape, unless an attribute broadcast said
// that the second stretches to the first, with its axes from one called axis on. The
// forms below are those calls as later opsets write them.

// perChannel returns a call of PRelu, whose slopes were one for each channel.
func perChannel(c *plan.Use) *plan.Use {
	a, slope := c.In(0), c.In(1)
	if c.Opset != 6 || slope.Rank() != 1 || a.Rank() < 2 || slope.Dim(0) == 1 {
		return c
	}
	shape := []int{slope.Dim(0)}
	for len(shape) < a.Rank()-1 {
		shape = append(shape, 1)
	}
	later := *c
	later.Inputs, later.Opset = []tensor.Any{a, pointwise.ReshapedTo("PRelu", slope, shape)}, 7
	return &later
}
