package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// InstanceNormalization is GroupNormalization with a group for each channel: each
// channel of each image of x [N, C, D1, …] is normalized for itself. ONNX
// InstanceNormalization.
func InstanceNormalization[T num.Float | num.Narrow](x, scale, bias tensor.Tensor[T], epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	instanceNormalized(x.Any(), scale.Any(), bias.Any(), epsilon).into(exec.Ref(&r), opts)
	return r
}

func instanceNormalized(x, scale, bias tensor.Any, epsilon float64) *transfer {
	const name = "InstanceNormalization"
	present(name, &x, &scale, &bias)
	lay := x.Layout()
	spatial(name, &lay)
	return groupNormalized(name, x, scale, bias, max(1, x.Dim(1)), epsilon, false)
}

var instanceNormalization = opN{about: about{name: "InstanceNormalization", takesUp: inGroupLine, flops: flops{each: 7}, onnx: []int{6, 22}, attrs: []string{"epsilon"}}, least: 3, takes: floats,
	move: func(c *Call) *transfer {
		return instanceNormalized(c.in(0), c.in(1), c.in(2), float64(c.Attrs.Float("epsilon", 1e-5)))
	}}
