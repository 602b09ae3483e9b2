package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Expand is ONNX's: the input and the given shape stretch to each other, so a 1 in
// the shape keeps the input's extent. A read-only view. Typed programs call
// Tensor.BroadcastTo.
var expand = opN{about: about{name: "Expand", flops: flops{free: true}, onnx: []int{8, 13}}, least: 2,
	planned: func(c *Call, p *Plan) {
		shape := expandTo(c)
		p.gives(c.in(0).DType(), shape...)
		p.view(func() tensor.Any { return viewed(tensor.BroadcastTo(c.in(0), shape...)) })
	}}

func expandTo(c *Call) []int {
	want, _ := ints("Expand", c, 1)
	for i, e := range want {
		if e < 0 {
			panic(fail("Expand", tensor.ErrShape, "extent %d of axis %d is negative", e, i))
		}
	}
	have, other := c.in(0).Layout(), spec("Expand", c.in(0).DType(), want...).Layout()
	return broadcastShape("Expand", nil, &have, &other)
}
