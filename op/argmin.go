package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArgMin returns where the smallest element along axis is: the first of equals, or
// the last when last is set; the first NaN if there is one; −0 < +0. The axis
// goes, unless KeepDims. It panics when the axis is empty. ONNX ArgMin.
func ArgMin[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, last bool, opts ...Option) tensor.Tensor[int64] {
	axis = axisOf("ArgMin", axis, a.Rank())
	refuseEmpty("ArgMin", exec.Ref(&a).LayoutRef(), axis)
	if last {
		return reduceTo("ArgMin", a, []int{axis}, opts, func() folder[T, int64] { return &position[T]{better: lessOf[T](), last: true} })
	}
	return reduceBy("ArgMin", &a, []int{axis}, opts, placeReducer[T](true))
}

var argMin = opN{about: about{name: "ArgMin", onnx: []int{1, 11, 12, 13}, attrs: []string{"axis", "keepdims", "select_last_index"}}, least: 1, fast: extremeFast,
	infer: func(c *Call) []tensor.Any { return inferArg("ArgMin", c) },
	typed: perType{dtype.Int8: runArgMin[int8], dtype.Int16: runArgMin[int16], dtype.Int32: runArgMin[int32],
		dtype.Int64: runArgMin[int64], dtype.Uint8: runArgMin[uint8], dtype.Uint16: runArgMin[uint16],
		dtype.Uint32: runArgMin[uint32], dtype.Uint64: runArgMin[uint64], dtype.Float8E4M3: runArgMin[num.F8E4M3],
		dtype.Float8E5M2: runArgMin[num.F8E5M2], dtype.Float16: runArgMin[num.F16],
		dtype.BFloat16: runArgMin[num.BF16], dtype.Float32: runArgMin[float32], dtype.Float64: runArgMin[float64],
		dtype.FP8x23: runArgMin[num.FP8x23], dtype.FP16x16: runArgMin[num.FP16x16], dtype.FP32x32: runArgMin[num.FP32x32], dtype.FP64x64: runArgMin[num.FP64x64]}}

func runArgMin[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	opts := options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return one(ArgMin(as[T]("ArgMin", c, 0), int(c.Attrs.Int("axis", 0)), c.Attrs.Int("select_last_index", 0) != 0, opts...).Any())
}
