package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Squeeze is ONNX's: the axes of extent 1 that are named go, or all of them when
// none is named. Named by an attribute before opset 13, by an input from there
// on. A view. Typed programs call Tensor.Squeeze.
var squeeze = opN{about: about{name: "Squeeze", flops: flops{free: true}, onnx: []int{1, 11, 13, 21, 23, 24, 25}, attrs: []string{"axes"}}, least: 1, most: 2,
	planned: func(c *Call, p *Plan) {
		gone := squeezed(c)
		shape, idx := []int{}, make([]tensor.Index, len(gone))
		for i := range gone {
			idx[i] = tensor.Colon
			if gone[i] {
				idx[i] = tensor.I(0)
				continue
			}
			shape = append(shape, c.in(0).Dim(i))
		}
		p.gives(c.in(0).DType(), shape...)
		p.view(func() tensor.Any { return viewed(tensor.Slice(c.in(0), idx...)) })
	}}

// squeezed returns which axes go.
func squeezed(c *Call) []bool {
	a := c.in(0)
	gone := make([]bool, a.Rank())
	axes, ok := axesArg("Squeeze", c, 13)
	if !ok {
		for i := range gone {
			gone[i] = a.Dim(i) == 1
		}
	}
	for _, x := range axes {
		i := axisOf("Squeeze", x, a.Rank())
		if a.Dim(i) != 1 {
			panic(fail("Squeeze", tensor.ErrShape, "axis %d of %s has extent %d, not 1", x, tensor.Describe(a), a.Dim(i)))
		}
		gone[i] = true
	}
	return gone
}

// axesArg returns the axes of a node: input 1 from the opset that made them an
// input, an attribute before. ok is false when there are none.
func axesArg(name string, c *Call, inputSince int) (axes []int, ok bool) {
	if c.Opset < inputSince {
		takes(name, c, 1)
		return attrInts(c, "axes")
	}
	return ints(name, c, 1)
}
