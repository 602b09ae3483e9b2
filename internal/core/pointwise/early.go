package pointwise

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Early returns a call of an operator of two operands in its later form.
func Early(name string, c *plan.Use) *plan.Use {
	if c.Opset == 0 || c.Opset > 6 {
		return c
	}
	plan.Needs(name, c, 2)
	a, b := c.In(0), c.In(1)
	shape, of := a.Shape(), b.Shape()
	la := a.Layout()
	if c.Attrs.Int("broadcast", 0) == 0 {
		if !plan.SameShape(&la, of) {
			panic(plan.Fail(name, tensor.ErrShape, "shapes %s and %s differ, and broadcast is 0; opset 7 stretches them", plan.ShapeText(shape), plan.ShapeText(of)))
		}
		return c
	}
	if c.Attrs.Has("axis") {
		axis := plan.AxisOf(name, plan.AttrInt(c, "axis", 0), len(shape))
		for len(of) > 0 && axis+len(of) > len(shape) && of[len(of)-1] == 1 {
			of = of[:len(of)-1]
		}
		for axis+len(of) < len(shape) {
			of = append(of, 1)
		}
		b = ReshapedTo(name, b, of)
	}
	if !plan.SameShape(&la, plan.Stretch(name, a, b)) {
		panic(plan.Fail(name, tensor.ErrShape, "shape %s doesn't stretch to the first operand's, %s", plan.ShapeText(of), plan.ShapeText(shape)))
	}
	later := *c
	later.Inputs, later.Opset = append([]tensor.Any{a, b}, c.Inputs[2:]...), 7
	return &later
}

// Viewed unwraps a view of a run-time tensor.
func Viewed(a tensor.Any, err error) tensor.Any {
	if err != nil {
		panic(plan.Fail("View", tensor.ErrShape, "%v", err))
	}
	return a
}

// ReshapedTo returns a tensor or a Spec with another shape.
func ReshapedTo(name string, a tensor.Any, shape []int) tensor.Any {
	if a.IsSpec() {
		return plan.Spec(name, a.DType(), shape...)
	}
	return Viewed(tensor.Reshape(a, shape...))
}
