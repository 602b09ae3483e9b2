package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// ConstantOfShape is ONNX's: a tensor of the shape that the input lists, every
// element the attribute value, float32 0 without one. Typed programs call
// tensor.Full.
var constantOfShape = opN{about: about{name: "ConstantOfShape", flops: flops{free: true}, onnx: []int{9, 20, 21, 23, 24, 25}, attrs: []string{"value"}}, least: 1,
	planned: func(c *Call, p *Plan) {
		v, shape := fillValue(c), shapeArg("ConstantOfShape", c)
		p.gives(v.DType(), shape...)
		p.run = func() {
			out, err := tensor.Make(v.DType(), shape...)
			if err == nil {
				err = tensor.Copy(out, viewed(tensor.Reshape(v)))
			}
			if err != nil {
				panic(fail("ConstantOfShape", tensor.ErrShape, "%v", err))
			}
			p.to = one(out)
		}
	}}

func fillValue(c *Call) tensor.Any {
	v, ok := c.Attrs.Tensor("value")
	if !ok {
		return tensor.Scalar(float32(0)).Any()
	}
	if v.Len() != 1 {
		panic(fail("ConstantOfShape", tensor.ErrShape, "value is %s; want one element", tensor.Describe(v)))
	}
	return v
}

// shapeArg returns the shape that input 0 lists.
func shapeArg(name string, c *Call) []int {
	shape, _ := ints(name, c, 0)
	for i, e := range shape {
		if e < 0 {
			panic(fail(name, tensor.ErrShape, "extent %d of axis %d is negative", e, i))
		}
	}
	return shape
}
