package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanArgMax returns where the largest element along axis is, passing over NaN: the
// first of equals, −0 < +0, and 0 where all are NaN. The axis goes, unless KeepDims.
// It panics when the axis is empty. NumPy nanargmax, which refuses a row of NaNs.
func NanArgMax[T num.Float | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[int64] {
	axis = axisOf("NanArgMax", axis, a.Rank())
	refuseEmpty("NanArgMax", exec.Ref(&a).LayoutRef(), axis)
	better := greaterOf[T]()
	return reduceTo("NanArgMax", a, []int{axis}, opts, func() folder[T, int64] {
		return &position[T]{better: func(v, best T) bool { return !isNaN(v) && (isNaN(best) || better(v, best)) }}
	})
}

var nanArgMaxOp = opN{about: about{name: "NanArgMax", attrs: []string{"axis", "keepdims"}, why: "integers have no NaN: use ArgMax"}, least: 1,
	infer: func(c *Call) []tensor.Any { return inferArg("NanArgMax", c) },
	typed: perType{dtype.Float8E4M3: runNanArgMax[num.F8E4M3], dtype.Float8E5M2: runNanArgMax[num.F8E5M2],
		dtype.Float16: runNanArgMax[num.F16], dtype.BFloat16: runNanArgMax[num.BF16],
		dtype.Float32: runNanArgMax[float32], dtype.Float64: runNanArgMax[float64]}}

func runNanArgMax[T num.Float | num.Narrow](c *Call) []tensor.Any {
	opts := options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return one(NanArgMax(as[T]("NanArgMax", c, 0), int(c.Attrs.Int("axis", 0)), opts...).Any())
}
