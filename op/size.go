package op

import (
	"github.com/ashlar-go/ashlar/tensor"
)

// Size is ONNX's: the number of elements of the input, as an int64 of rank 0.
// Typed programs call Tensor.Len.
var size = opN{about: about{name: "Size", flops: flops{free: true}, onnx: []int{1, 13, 19, 21, 23, 24, 25}}, least: 1,
	planned: func(c *Call, p *Plan) { p.out = one(tensor.Scalar(int64(c.in(0).Len())).Any()) }}
