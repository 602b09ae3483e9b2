package op

import (
	"context"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// RandomUniform is ONNX's: a tensor of the shape and the float type that attributes name, float32
// without one, of numbers of [low, high), all equally likely: those of tensor.RandomUniform, which
// typed programs call, with narrow floats rounded from float64. RandomUniformLike has the shape
// and, without an attribute, the type of its input.
//
// Random operators have the same results always. Their seed is the bits of the attribute seed, a
// float32, as an integer. In this form of an operator it is 0 without one; a session of package
// onnx then takes one from the name of the node's first output, so nodes differ. Runs, and the
// turns of a loop, don't.
var randomUniform = opN{about: about{name: "RandomUniform", unsteady: true, onnx: []int{1, 22}, attrs: []string{"dtype", "high", "low", "seed", "shape"}},
	move: func(c *Call) *transfer { return uniformOf("RandomUniform", c, nil) }}

var randomUniformLike = opN{about: about{name: "RandomUniformLike", unsteady: true, onnx: []int{1, 22}, attrs: []string{"dtype", "high", "low", "seed"}}, least: 1,
	move: func(c *Call) *transfer { return uniformOf("RandomUniformLike", c, c.Inputs[:1]) }}

func uniformOf(name string, c *Call, like []tensor.Any) *transfer {
	low, high := float64(c.Attrs.Float("low", 0)), float64(c.Attrs.Float("high", 1))
	if !(low < high) || high-low > math.MaxFloat64 {
		panic(fail(name, tensor.ErrValue, "nothing lies between %v and %v; low must be less than high, and both finite", low, high))
	}
	return randomOf(name, c, like, uniforms, func(to numeric, i int, u float64) {
		to.setFloat(i, low+float64(u*(high-low)))
		if !(to.float(i) < high) {
			to.before(i)
		}
	})
}

// uniforms returns numbers of [0, 1).
func uniforms(seed uint64, n int) tensor.Any {
	return tensor.RandomUniform[float64](seed, 0, 1, n).Any()
}

// before moves element i of a float type to the next smaller number.
func (w numeric) before(i int) {
	v := w.bits(i)
	switch f := w.float(i); {
	case f > 0:
		v--
	case f < 0:
		v++
	default: // the smallest number below 0
		v = 1<<(8*w.size-1) | 1
	}
	w.setBits(i, v)
}

// randomOf is a tensor of numbers made of those of a generator.
func randomOf(name string, c *Call, like []tensor.Any, numbers func(seed uint64, n int) tensor.Any, set func(to numeric, i int, v float64)) *transfer {
	d, seed := dtype.Float32, seedOf(c)
	shape, ok := attrInts(c, "shape")
	if like != nil {
		d, shape, ok = like[0].DType(), like[0].Shape(), true
	}
	if !ok {
		panic(fail(name, tensor.ErrShape, "no attribute shape"))
	}
	if c.Attrs.Has("dtype") {
		d = typeOf(name, c.Attrs.Int("dtype", 0))
	}
	must(name, floats.has(d), d)
	spec(name, d, shape...) // refuses a negative extent
	return &transfer{name: name, d: d, shape: shape, in: like, scratch: bytesIn(8, shape), fill: func(ctx context.Context, dst words, _ []words) {
		u := numbers(seed, dst.len())
		to := numericOf(dst)
		exec.Split(name, ctx, dst.len(), 10, func(from, till int) {
			for i, v := range elemsOf[float64](&u)[from:till] {
				set(to, from+i, v)
			}
		})
		runtime.KeepAlive(&u)
	}}
}

// seedOf returns the seed of a random operator.
func seedOf(c *Call) uint64 { return uint64(math.Float32bits(c.Attrs.Float("seed", 0))) }
