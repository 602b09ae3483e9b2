package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NanArgMin returns where the smallest element along axis is, passing over NaN: the
// first of equals, −0 < +0, and 0 where all are NaN. The axis goes, unless KeepDims.
// It panics when the axis is empty. NumPy nanargmin, which refuses a row of NaNs.
func NanArgMin[T num.Float | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[int64] {
	axis = axisOf("NanArgMin", axis, a.Rank())
	refuseEmpty("NanArgMin", exec.Ref(&a).LayoutRef(), axis)
	better := lessOf[T]()
	return reduceTo("NanArgMin", a, []int{axis}, opts, func() folder[T, int64] {
		return &position[T]{better: func(v, best T) bool { return !isNaN(v) && (isNaN(best) || better(v, best)) }}
	})
}

var nanArgMinOp = opN{about: about{name: "NanArgMin", attrs: []string{"axis", "keepdims"}, why: "integers have no NaN: use ArgMin"}, least: 1,
	infer: func(c *Call) []tensor.Any { return inferArg("NanArgMin", c) },
	typed: perType{dtype.Float8E4M3: runNanArgMin[num.F8E4M3], dtype.Float8E5M2: runNanArgMin[num.F8E5M2],
		dtype.Float16: runNanArgMin[num.F16], dtype.BFloat16: runNanArgMin[num.BF16],
		dtype.Float32: runNanArgMin[float32], dtype.Float64: runNanArgMin[float64]}}

func runNanArgMin[T num.Float | num.Narrow](c *Call) []tensor.Any {
	opts := options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return one(NanArgMin(as[T]("NanArgMin", c, 0), int(c.Attrs.Int("axis", 0)), opts...).Any())
}
