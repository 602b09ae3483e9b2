package op

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// RandomNormal is ONNX's: a tensor of the shape and the float type that attributes name, float32
// without one, of numbers of the normal distribution with the attributes mean and scale, its
// standard deviation: those of tensor.RandomNormal, which typed programs call, with narrow floats
// rounded from float64. RandomNormalLike has the shape and, without an attribute, the type of its
// input. The seed is that of RandomUniform.
var randomNormal = opN{about: about{name: "RandomNormal", unsteady: true, onnx: []int{1, 22}, attrs: []string{"dtype", "mean", "scale", "seed", "shape"}},
	move: func(c *Call) *transfer { return normalOf("RandomNormal", c, nil) }}

var randomNormalLike = opN{about: about{name: "RandomNormalLike", unsteady: true, onnx: []int{1, 22}, attrs: []string{"dtype", "mean", "scale", "seed"}}, least: 1,
	move: func(c *Call) *transfer { return normalOf("RandomNormalLike", c, c.Inputs[:1]) }}

func normalOf(name string, c *Call, like []tensor.Any) *transfer {
	mean, scale := float64(c.Attrs.Float("mean", 0)), float64(c.Attrs.Float("scale", 1))
	if mean-mean != 0 || !(0 <= scale && scale <= math.MaxFloat64) {
		panic(fail(name, tensor.ErrValue, "mean %v and standard deviation %v; both must be finite, and the second at least 0", mean, scale))
	}
	return randomOf(name, c, like, func(seed uint64, n int) tensor.Any {
		return tensor.RandomNormal[float64](seed, 0, 1, n).Any()
	}, func(to numeric, i int, x float64) {
		to.setFloat(i, mean+float64(scale*x))
	})
}
