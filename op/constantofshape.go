package op

import (
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// ConstantOfShape is ONNX's: a tensor of the shape that the input lists, every
// element the attribute value, float32 0 without one. Typed programs call
// tensor.Full.
var constantOfShape = plan.Operator{About: plan.About{Name: "ConstantOfShape", Shapes: true, PerAxis: 0b1, FLOPs: plan.FLOPs{Free: true}, Versions: []int{9, 20, 21, 23, 24, 25}, Attrs: []string{"value"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		v, shape := fillValue(c), shapeArg("ConstantOfShape", c)
		p.Gives(v.DType(), shape...)
		p.Run = func() {
			out, err := tensor.Make(v.DType(), shape...)
			if err == nil {
				err = tensor.Copy(out, pointwise.Viewed(tensor.Reshape(v)))
			}
			if err != nil {
				panic(plan.Fail("ConstantOfShape", tensor.ErrShape, "%v", err))
			}
			p.To = plan.One(out)
		}
	}}

func fillValue(c *plan.Use) tensor.Any {
	v, ok := c.Attrs.Tensor("value")
	if !ok {
		return tensor.Scalar(float32(0)).Any()
	}
	if v.Len() != 1 {
		panic(plan.Fail("ConstantOfShape", tensor.ErrShape, "value is %s; want one element", tensor.Describe(v)))
	}
	return v
}

// shapeArg returns the shape that input 0 lists.
func shapeArg(name string, c *plan.Use) []int {
	shape, _ := move.Ints(name, c, 0)
	for i, e := range shape {
		if e < 0 {
			panic(plan.Fail(name, tensor.ErrShape, "extent %d of axis %d is negative", e, i))
		}
	}
	return shape
}
