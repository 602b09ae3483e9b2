package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// RandomUniform is ONNX's: a tensor of the shape and the float type that attributes name, float32
// without one, of numbers of [low, high), all equally likely: the numbers of tensor.RandomUniform, which
// typed programs call, with narrow floats rounded from float64. RandomUniformLike has the shape
// and, without an attribute, the type of its input.
//
// Random operators have the same results always. Their seed is the bits of the attribute seed, a
// float32, as an integer. In this form of an operator it is 0 without one; a session of package
// onnx then takes one from the name of the node's first output, so nodes differ. Runs, and the
// turns of a loop, don't.
var randomUniform = plan.Operator{About: plan.About{Name: "RandomUniform", Unsteady: true, Versions: []int{1, 22}, Attrs: []string{"dtype", "high", "low", "seed", "shape"}},
	Move: func(c *plan.Use) plan.Mover { return uniformOf("RandomUniform", c, nil) }}

var randomUniformLike = plan.Operator{About: plan.About{Name: "RandomUniformLike", Unsteady: true, Versions: []int{1, 22}, Attrs: []string{"dtype", "high", "low", "seed"}}, Least: 1,
	Move: func(c *plan.Use) plan.Mover { return uniformOf("RandomUniformLike", c, c.Inputs[:1]) }}

func uniformOf(name string, c *plan.Use, like []tensor.Any) *move.Transfer {
	low, high := float64(c.Attrs.Float("low", 0)), float64(c.Attrs.Float("high", 1))
	if !(low < high) || high-low > math.MaxFloat64 {
		panic(plan.Fail(name, tensor.ErrValue, "nothing lies between %v and %v; low must be less than high, and both finite", low, high))
	}
	return randomOf(name, c, like, uniforms, func(to move.Numeric, i int, u float64) {
		to.SetFloat(i, low+float64(u*(high-low)))
		if !(to.Float(i) < high) {
			to.Before(i)
		}
	})
}

// uniforms returns numbers of [0, 1).
func uniforms(seed uint64, n int) tensor.Any {
	return tensor.RandomUniform[float64](seed, 0, 1, n).Any()
}

// randomOf is a tensor of numbers made of the numbers of a generator.
func randomOf(name string, c *plan.Use, like []tensor.Any, numbers func(seed uint64, n int) tensor.Any, set func(to move.Numeric, i int, v float64)) *move.Transfer {
	d, seed := dtype.Float32, seedOf(c)
	shape, ok := plan.AttrInts(c, "shape")
	if like != nil {
		d, shape, ok = like[0].DType(), like[0].Shape(), true
	}
	if !ok {
		panic(plan.Fail(name, tensor.ErrShape, "no attribute shape"))
	}
	if c.Attrs.Has("dtype") {
		d = pointwise.TypeOf(name, c.Attrs.Int("dtype", 0))
	}
	plan.Must(name, plan.Floats.Has(d), d)
	plan.Spec(name, d, shape...) // refuses a negative extent
	return &move.Transfer{Name: name, D: d, Shape: shape, In: like, Price: plan.Taking(plan.BytesIn(8, shape), 0), Fill: func(ctx context.Context, dst move.Words, _ []move.Words) {
		u := numbers(seed, dst.Len())
		to := move.NumericOf(dst)
		exec.Split(name, ctx, dst.Len(), 10, func(from, till int) {
			for i, v := range move.ElemsOf[float64](&u)[from:till] {
				set(to, from+i, v)
			}
		})
		runtime.KeepAlive(&u)
	}}
}

// seedOf returns the seed of a random operator.
func seedOf(c *plan.Use) uint64 { return uint64(math.Float32bits(c.Attrs.Float("seed", 0))) }
