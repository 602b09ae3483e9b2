package op

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// RandomNormal is ONNX's: a tensor of the shape and the float type that attributes name, float32
// without one, of numbers of the normal distribution with the attributes mean and scale, its
// standard deviation: the numbers of tensor.RandomNormal, which typed programs call, with narrow floats
// rounded from float64. RandomNormalLike has the shape and, without an attribute, the type of its
// input. The seed is that of RandomUniform.
var randomNormal = plan.Operator{About: plan.About{Name: "RandomNormal", Unsteady: true, Versions: []int{1, 22}, Attrs: []string{"dtype", "mean", "scale", "seed", "shape"}},
	Move: func(c *plan.Use) plan.Mover { return normalOf("RandomNormal", c, nil) }}

var randomNormalLike = plan.Operator{About: plan.About{Name: "RandomNormalLike", Unsteady: true, Versions: []int{1, 22}, Attrs: []string{"dtype", "mean", "scale", "seed"}}, Least: 1,
	Move: func(c *plan.Use) plan.Mover { return normalOf("RandomNormalLike", c, c.Inputs[:1]) }}

func normalOf(name string, c *plan.Use, like []tensor.Any) *move.Transfer {
	mean, scale := float64(c.Attrs.Float("mean", 0)), float64(c.Attrs.Float("scale", 1))
	if mean-mean != 0 || !(0 <= scale && scale <= math.MaxFloat64) {
		panic(plan.Fail(name, tensor.ErrValue, "mean %v and standard deviation %v; both must be finite, and the second at least 0", mean, scale))
	}
	return randomOf(name, c, like, func(seed uint64, n int) tensor.Any {
		return tensor.RandomNormal[float64](seed, 0, 1, n).Any()
	}, func(to move.Numeric, i int, x float64) {
		to.SetFloat(i, mean+float64(scale*x))
	})
}
