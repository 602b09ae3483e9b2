package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// InstanceNormalization is GroupNormalization with a group for each channel: each
// channel of each image of x [N, C, D1, …] is normalized for itself. ONNX
// InstanceNormalization.
func InstanceNormalization[T num.Floating](x, scale, bias tensor.Tensor[T], epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	instanceNormalized(x.Any(), scale.Any(), bias.Any(), epsilon).Into(exec.Ref(&r), opts)
	return r
}

func instanceNormalized(x, scale, bias tensor.Any, epsilon float64) *move.Transfer {
	const name = "InstanceNormalization"
	plan.Present(name, &x, &scale, &bias)
	lay := x.Layout()
	plan.Spatial(name, &lay)
	return groupNormalized(name, x, scale, bias, max(1, x.Dim(1)), epsilon, false)
}

var instanceNormalization = plan.Operator{About: plan.About{Name: "InstanceNormalization", FLOPs: plan.FLOPs{Each: 7}, Versions: []int{6, 22}, Attrs: []string{"epsilon"}}, Least: 3, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return instanceNormalized(c.In(0), c.In(1), c.In(2), float64(c.Attrs.Float("epsilon", 1e-5)))
	}}
