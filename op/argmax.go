package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArgMax returns where the largest element along axis is: the first of equals, or
// the last when last is set; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMax.
func ArgMax[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, last bool, opts ...Option) tensor.Tensor[int64] {
	axis = axisOf("ArgMax", axis, a.Rank())
	refuseEmpty("ArgMax", exec.Ref(&a).LayoutRef(), axis)
	if last {
		return reduceTo("ArgMax", a, []int{axis}, opts, func() folder[T, int64] { return &position[T]{better: greaterOf[T](), last: true} })
	}
	return reduceBy("ArgMax", &a, []int{axis}, opts, placeReducer[T](false))
}

var argMax = opN{about: about{name: "ArgMax", onnx: []int{1, 11, 12, 13}, attrs: []string{"axis", "keepdims", "select_last_index"}}, least: 1, fast: extremeFast,
	infer: func(c *Call) []tensor.Any { return inferArg("ArgMax", c) },
	typed: perType{dtype.Int8: runArgMax[int8], dtype.Int16: runArgMax[int16], dtype.Int32: runArgMax[int32],
		dtype.Int64: runArgMax[int64], dtype.Uint8: runArgMax[uint8], dtype.Uint16: runArgMax[uint16],
		dtype.Uint32: runArgMax[uint32], dtype.Uint64: runArgMax[uint64], dtype.Float8E4M3: runArgMax[num.F8E4M3],
		dtype.Float8E5M2: runArgMax[num.F8E5M2], dtype.Float16: runArgMax[num.F16],
		dtype.BFloat16: runArgMax[num.BF16], dtype.Float32: runArgMax[float32], dtype.Float64: runArgMax[float64],
		dtype.FP8x23: runArgMax[num.FP8x23], dtype.FP16x16: runArgMax[num.FP16x16], dtype.FP32x32: runArgMax[num.FP32x32], dtype.FP64x64: runArgMax[num.FP64x64]}}

func runArgMax[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	opts := options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return one(ArgMax(as[T]("ArgMax", c, 0), int(c.Attrs.Int("axis", 0)), c.Attrs.Int("select_last_index", 0) != 0, opts...).Any())
}
