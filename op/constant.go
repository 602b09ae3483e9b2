package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Constant is ONNX's: the value that one of its attributes gives.
var constant = plan.Operator{About: plan.About{Name: "Constant", FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 9, 11, 12, 13, 19, 21, 23, 24, 25},
	Attrs: []string{"value", "value_float", "value_floats", "value_int", "value_ints"}},
	Planned: func(c *plan.Use, p *plan.Draft) { p.Out = plan.One(constantOf(c)) }}

func constantOf(c *plan.Use) tensor.Any {
	if v, ok := c.Attrs.Tensor("value"); ok {
		return v
	}
	if v, ok := c.Attrs.Floats("value_floats"); ok {
		return tensor.FromSlice(v, len(v)).Any()
	}
	if v, ok := c.Attrs.Ints("value_ints"); ok {
		return tensor.FromSlice(v, len(v)).Any()
	}
	if c.Attrs.Has("value_float") {
		return tensor.Scalar(c.Attrs.Float("value_float", 0)).Any()
	}
	if c.Attrs.Has("value_int") {
		return tensor.Scalar(c.Attrs.Int("value_int", 0)).Any()
	}
	panic(plan.Fail("Constant", tensor.ErrValue, "no attribute gives a value; want value, value_float(s) or value_int(s)"))
}
