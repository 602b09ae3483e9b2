package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Shape is ONNX's: the extents of the input's axes from start to end, as int64.
// Typed programs call Tensor.Shape.
var shapeOp = opN{about: about{name: "Shape", flops: flops{free: true}, onnx: []int{1, 13, 15, 19, 21, 23, 24, 25}, attrs: []string{"end", "start"}}, least: 1,
	planned: func(c *Call, p *Plan) { p.out = one(shapeOf(c)) }}

func shapeOf(c *Call) tensor.Any {
	rank := c.in(0).Rank()
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
		dims = append(dims, int64(c.in(0).Dim(i)))
	}
	return tensor.FromSlice(dims).Any()
}
