package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Before opset 7 operands of ONNX had one shape, unless an attribute broadcast said
// that the second stretches to the first, with its axes from one called axis on. The
// forms below are those calls as later opsets write them.

// early returns a call of an operator of two operands in its later form.
func early(name string, c *Call) *Call {
	if c.Opset == 0 || c.Opset > 6 {
		return c
	}
	needs(name, c, 2)
	a, b := c.in(0), c.in(1)
	shape, of := a.Shape(), b.Shape()
	la := a.Layout()
	if c.Attrs.Int("broadcast", 0) == 0 {
		if !sameShape(&la, of) {
			panic(fail(name, tensor.ErrShape, "shapes %s and %s differ, and broadcast is 0; opset 7 stretches them", shapeText(shape), shapeText(of)))
		}
		return c
	}
	if c.Attrs.Has("axis") {
		axis := axisOf(name, attrInt(c, "axis", 0), len(shape))
		for len(of) > 0 && axis+len(of) > len(shape) && of[len(of)-1] == 1 {
			of = of[:len(of)-1]
		}
		for axis+len(of) < len(shape) {
			of = append(of, 1)
		}
		b = reshapedTo(name, b, of)
	}
	if !sameShape(&la, stretch(name, a, b)) {
		panic(fail(name, tensor.ErrShape, "shape %s doesn't stretch to the first operand's, %s", shapeText(of), shapeText(shape)))
	}
	later := *c
	later.Inputs, later.Opset = append([]tensor.Any{a, b}, c.Inputs[2:]...), 7
	return &later
}

// perChannel returns a call of PRelu, whose slopes were one for each channel.
func perChannel(c *Call) *Call {
	a, slope := c.in(0), c.in(1)
	if c.Opset != 6 || slope.Rank() != 1 || a.Rank() < 2 || slope.Dim(0) == 1 {
		return c
	}
	shape := []int{slope.Dim(0)}
	for len(shape) < a.Rank()-1 {
		shape = append(shape, 1)
	}
	later := *c
	later.Inputs, later.Opset = []tensor.Any{a, reshapedTo("PRelu", slope, shape)}, 7
	return &later
}

// reshapedTo returns a tensor or a Spec with another shape.
func reshapedTo(name string, a tensor.Any, shape []int) tensor.Any {
	if a.IsSpec() {
		return spec(name, a.DType(), shape...)
	}
	return viewed(tensor.Reshape(a, shape...))
}
